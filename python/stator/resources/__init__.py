"""Resources with a life of their own: scopes, cleanups and buffers of bytes. Each part is loaded on first use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stator.resources._buffers import BufferDescriptor
    from stator.resources._held import ManagedResource, ScopedResource
    from stator.resources._managed import AccessHints, MigrationStatistics, UnifiedAllocation
    from stator.resources._scopes import Scope

_MODULES = {
    "AccessHints": "_managed",
    "BufferDescriptor": "_buffers",
    "ManagedResource": "_held",
    "MigrationStatistics": "_managed",
    "Scope": "_scopes",
    "ScopedResource": "_held",
    "UnifiedAllocation": "_managed",
}

__all__ = [
    "AccessHints",
    "BufferDescriptor",
    "ManagedResource",
    "MigrationStatistics",
    "Scope",
    "ScopedResource",
    "UnifiedAllocation",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return [*__all__]
