"""The package itself, for modules that it imports."""

import sys
from types import ModuleType


def root() -> ModuleType:
    """The package stator, which is loaded before anything of it is called. An import of it would be circular."""
    return sys.modules["stator"]
