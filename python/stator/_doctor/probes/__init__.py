"""The probes, in a module per subject: each inspects an Environment and yields what it finds."""
