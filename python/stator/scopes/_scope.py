"""Scopes: what a `with` block makes of a backend's memory, events, graphs and resources is freed at its end."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from stator import _backend, _sparse
from stator._array import Array
from stator._backend import Entered, Event
from stator.errors import BackendClosedError, DTypeError, InFlightError, InvalidValueError
from stator.memory._arguments import byte_count
from stator.scopes import _scopes
from stator.scopes._cleanups import CleanupStack, cleanups_of, raise_collected
from stator.scopes._held import ScopedResource
from stator.scopes._outside import number_in

if TYPE_CHECKING:
    from stator._backend import Backend

T = TypeVar("T")

PATIENCE = 5.0  # seconds for calls of other threads that are under way

_open: weakref.WeakValueDictionary[int, Scope] = weakref.WeakValueDictionary()


def innermost(backend: Backend) -> tuple[int, Scope | None]:
    """The number of the backend's innermost scope, and the scope; 0 and None where there is none."""
    number = number_in(_backend.current_scopes(), backend)
    return number, _open.get(number)


def stack_of(backend: Backend, op: str) -> CleanupStack:
    """The cleanups of the backend's innermost scope, else its own. BackendClosedError where it is closed."""
    if backend.closed:
        raise BackendClosedError(f"The backend on {backend.device_name} is closed", op=op, remedy="Open a new Backend.")
    scope = innermost(backend)[1]
    return cleanups_of(backend) if scope is None else scope._cleanups


def scope_of_its_own(backend: Backend) -> Entered:
    """Inside, calls make what belongs to a new scope in the innermost one. Gives it; end() ends it."""
    held = _scopes.HeldScope(backend)
    held.open(innermost(backend)[0])
    return Entered(held.enter, _backend.set_scopes, held)


def end(backend: Backend, number: int, op: str, again: str = "") -> int:
    """Frees what belongs to the scope: the number of objects. InFlightError where other threads still use some."""
    closed = _scopes.end_scope(backend, number, PATIENCE)
    if closed < 0:
        raise InFlightError(
            f"Calls of other threads with the backend went on for {PATIENCE:g} seconds, so that nothing was freed",
            op=op,
            remedy=f"Let the other threads end their calls{again}.",
        )
    return closed


class Scope(Entered):
    """What Backend.scoped() returns: a `with` block that frees what it made."""

    def __init__(self, backend: Backend, budget: int | None = None, name: str | None = None) -> None:
        most = 0 if budget is None else byte_count(budget, "budget", "Backend.scoped", 1)
        if name is not None and not isinstance(name, str):
            raise DTypeError(f"Got name of type {type(name).__name__}", op="Backend.scoped", remedy="Give a string.")
        self._held = _scopes.HeldScope(backend, most, None if name is None else f"the scope {name!r}")
        super().__init__(self._held.enter_within, self._held.leave, gives_itself=True)
        self._backend = backend
        self._number = 0
        self._around: tuple[int, Scope | None] = 0, None
        self._cleanups = CleanupStack()
        self._closed = False
        self._released = 0

    @property
    def closed(self) -> bool:
        """Whether what it made was freed."""
        return self._closed

    @property
    def released(self) -> int:
        """The number of buffers, events and graphs that the end has freed; others were freed before, by themselves."""
        return self._released

    def _before(self) -> None:
        """Checks that it can be entered, and opens its budget."""
        op = "Backend.scoped"
        if self._number:
            raise InvalidValueError("The scope was entered before", op=op, remedy="Call scoped() again.")
        if self._backend.closed:
            raise BackendClosedError(
                f"The backend on {self._backend.device_name} is closed", op=op, remedy="Open a new Backend."
            )
        self._around = innermost(self._backend)
        self._held.open(self._around[0])
        self._number = self._held.number
        _open[self._number] = self

    def _after(self, ended: None) -> None:
        """Frees what it made, also where an interrupt comes meanwhile."""
        try:
            self.close()
        except Exception:
            raise
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Runs the cleanups of resources that it made, the newest first, and frees the rest. Idempotent.

        CleanupError where cleanups raised; the rest is freed all the same. InFlightError as of scoped(), and then a
        second call tries again.
        """
        if self._closed or not self._number:
            return
        self._held.leave()
        raised = self._cleanups.run()
        self._released = end(self._backend, self._number, "Backend.scoped", ", and call close() of the scope again")
        self._closed = True
        raise_collected(raised, "Backend.scoped")

    def keep(self, value: T) -> T:
        """Lets arrays, events and resources with a cleanup outlive the scope; they belong to the scope around, if any.

        value: one of these, a sparse matrix, or nested tuples, lists and dicts of them; it is returned. An array keeps
        the whole memory that it is a view of. What the scope did not make stays what it was. DTypeError for others.

        >>> with be.scoped() as scope:
        ...     x = be.arange(3)
        ...     y = scope.keep(x * 2)
        >>> y.tolist()
        [0, 2, 4]
        """
        if self._closed:
            raise InvalidValueError("The scope has ended", op="Scope.keep", remedy="Keep it inside the with-block.")
        for part in _parts(value):
            if isinstance(part, ScopedResource):
                self._keep_resource(part)
            else:
                _scopes.change_scope(part, self._number, self._around[0])
        return value

    def _keep_resource(self, resource: ScopedResource[Any]) -> None:
        if resource._entry.stack is self._cleanups:
            around = self._around[1]
            (cleanups_of(self._backend) if around is None else around._cleanups).push(resource._entry)

    def __repr__(self) -> str:
        return f"<stator.Scope of {self._backend!r}{' that has ended' if self._closed else ''}>"


def _parts(value: object) -> Iterator[Any]:
    """The arrays, events and resources of a structure."""
    if isinstance(value, (Array, Event, ScopedResource)):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from _parts(item)
    elif isinstance(value, dict):
        yield from _parts(list(value.values()))
    elif isinstance(value, (_sparse.CSR, _sparse.CSC)):
        yield from (value.data, value.indices, value.indptr)
    elif isinstance(value, _sparse.COO):
        yield from (value.data, value.row, value.col)
    else:
        raise DTypeError(
            f"Got value of type {type(value).__name__}",
            op="Scope.keep",
            remedy="Give arrays, events and resources, or tuples, lists and dicts.",
        )
