"""Backends of other packages beside stator's own.

A package is found by an entry point of the group `stator.backends`. stator's functions never call what it provides: a
backend's arrays are worked on by the functions of its own namespace().
"""

from stator.backends._extensions import BackendExtension, ExtensionRegistry
from stator.backends._gpu import gpu_backend, has_gpu_backend, register_gpu_backend
from stator.backends._protocols import BackendProvider, ProviderBackend, ProviderMetadata
from stator.backends._questions import ProviderWarning
from stator.backends._registry import BackendRegistry

registry = BackendRegistry(discover=True)
"""The registry of the process: stator's own providers, and those of installed packages."""

__all__ = [
    "BackendExtension",
    "BackendProvider",
    "BackendRegistry",
    "ExtensionRegistry",
    "ProviderBackend",
    "ProviderMetadata",
    "ProviderWarning",
    "gpu_backend",
    "has_gpu_backend",
    "register_gpu_backend",
    "registry",
]


def __dir__() -> list[str]:
    return [*__all__]
