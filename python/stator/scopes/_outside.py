"""What is kept for later calls belongs to no scope (stator.scopes), though it is made inside one."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

from stator import _backend
from stator._backend import Entered

if TYPE_CHECKING:
    from stator._array import Array
    from stator._backend import Backend

    Scopes = tuple[tuple[_backend.Backend, int], ...]


def outside() -> Entered:
    """A `with` block whose arrays, events and graphs belong to no scope. Gives the scopes around it."""
    return Entered(partial(_backend.set_scopes, ()), _backend.set_scopes)


def belong(arrays: Iterable[Array], scopes: Scopes, backend: Backend) -> None:
    """Lets arrays that were made outside belong to the innermost of the backend's scopes, since they are results."""
    number = number_in(scopes, backend)
    if number:
        from stator.scopes._scopes import change_scope

        for x in arrays:
            change_scope(x, 0, number)


def number_in(scopes: Scopes, backend: Backend) -> int:
    """The innermost scope of the backend; 0 where there is none."""
    return next((number for owner, number in reversed(scopes) if owner is backend), 0)
