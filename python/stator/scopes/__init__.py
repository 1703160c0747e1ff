"""Scopes, and objects with a cleanup. Each part is loaded on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stator._namespace import on_first_use

if TYPE_CHECKING:
    from stator.scopes._held import ManagedResource, ScopedResource
    from stator.scopes._scope import Scope

__all__ = [
    "ManagedResource",
    "Scope",
    "ScopedResource",
]

__getattr__ = on_first_use(
    __name__,
    {
        "ManagedResource": "_held",
        "Scope": "_scope",
        "ScopedResource": "_held",
    },
)


def __dir__() -> list[str]:
    return [*__all__]
