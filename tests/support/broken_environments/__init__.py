"""Broken environments: a module per subject registers its own in BROKEN."""

from broken_environments import caches, devices, driver, libraries, package, system, variables
from broken_environments.registry import BROKEN

__all__ = ["BROKEN", "caches", "devices", "driver", "libraries", "package", "system", "variables"]
