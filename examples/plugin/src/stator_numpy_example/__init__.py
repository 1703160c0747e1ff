"""A provider of backends for stator, whose arrays are NumPy's. docs/backends.md of stator explains it."""

from stator_numpy_example.provider import NumPyBackend, NumPyProvider

__all__ = ["NumPyBackend", "NumPyProvider"]
