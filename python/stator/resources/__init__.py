"""Resources with a life of their own: scopes, cleanups, buffers, allocators. Each part is loaded on first use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stator.resources._allocators import DeviceAllocator, TorchAllocator
    from stator.resources._arena import BufferArena
    from stator.resources._buffers import BufferDescriptor
    from stator.resources._managed import AccessHints, MigrationStatistics, UnifiedAllocation

_MODULES = {
    "AccessHints": "_managed",
    "BufferArena": "_arena",
    "BufferDescriptor": "_buffers",
    "DeviceAllocator": "_allocators",
    "MigrationStatistics": "_managed",
    "TorchAllocator": "_allocators",
    "UnifiedAllocation": "_managed",
}

__all__ = [
    "AccessHints",
    "BufferArena",
    "BufferDescriptor",
    "DeviceAllocator",
    "MigrationStatistics",
    "TorchAllocator",
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
