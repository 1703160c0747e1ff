"""`python -m stator verify`: whether stator works on a device, without a checkout of the project or pytest."""
