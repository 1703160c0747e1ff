"""ScopedResource and ManagedResource: an object with its cleanup, which runs once or is cancelled."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from stator.errors import DTypeError, ResourceClosedError
from stator.scopes._cleanups import Cleanup, CleanupStack, of_process

if TYPE_CHECKING:
    from stator._backend import Backend

T = TypeVar("T")
R = TypeVar("R")


def require_function(function: object, op: str, name: str) -> None:
    """DTypeError for what cannot be called."""
    if not callable(function):
        raise DTypeError(f"Got {name} of type {type(function).__name__}", op=op, remedy="Give a function.")


class ScopedResource(Generic[T]):
    """A resource that is cleaned up at the end of a `with`, by close(), or when it is no longer referenced.

    cleanup: called with the resource, once; None for a resource that needs none. What it raises comes out of the `with`
    or of close(), and the resource counts as cleaned up.

    >>> closed = []
    >>> with stator.scopes.ScopedResource("file", closed.append) as resource:
    ...     resource
    'file'
    >>> closed
    ['file']
    """

    def __init__(self, resource: T, cleanup: Callable[[T], object] | None = None) -> None:
        if cleanup is not None:
            require_function(cleanup, type(self).__name__, "cleanup")
        self._entry = Cleanup(resource, cleanup)

    def get(self) -> T:
        """The resource. ResourceClosedError once it was taken or cleaned up."""
        return self._found(self._entry.look(), "get")

    get_mut = get

    def take(self) -> T:
        """The resource, which is the caller's from now on: its cleanup will not run. Else as get()."""
        return self._found(self._entry.take(), "take")

    def with_resource(self, function: Callable[[T], R]) -> R:
        """What the function returns for the resource. ResourceClosedError as of get()."""
        require_function(function, f"{type(self).__name__}.with_resource", "function")
        return function(self._found(self._entry.look(), "with_resource"))

    def is_available(self) -> bool:
        """Whether the resource was neither taken nor cleaned up."""
        return self._entry.look() is not None

    def close(self) -> None:
        """Cleans the resource up, unless that was done or it was taken."""
        self._entry.run()

    def _found(self, resource: tuple[T] | None, method: str) -> T:
        if resource is not None:
            return resource[0]
        raise ResourceClosedError(
            "The resource was taken or cleaned up",
            op=f"{type(self).__name__}.{method}",
            remedy="Check is_available() first, or use it before the end of its scope or backend.",
        )

    def __enter__(self) -> T:
        return self._found(self._entry.look(), "__enter__")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        entry = getattr(self, "_entry", None)  # missing where the constructor raised
        if entry is not None:
            entry.run()

    def __repr__(self) -> str:
        held = self._entry.look()
        return f"<stator.{type(self).__name__} {'that is closed' if held is None else f'of {held[0]!r}'}>"


class ManagedResource(ScopedResource[T]):
    """As ScopedResource; the cleanup also runs when its backend closes, and at the end of the process.

    Of several the newest is cleaned up first. Backend.scopes.create_resource makes those of a backend; made by
    this constructor it belongs to the process.
    """

    _owner: Backend | None = None  # whose cleanups have it, kept alive by it

    def __init__(self, resource: T, cleanup: Callable[[T], object] | None = None) -> None:
        super().__init__(resource, cleanup)
        of_process.push(self._entry)


def hold(
    kind: Any, resource: object, cleanup: Callable[[Any], object], stack: CleanupStack, owner: Backend | None
) -> Any:
    """A holder of the class `kind`, whose cleanup the stack has."""
    made = kind.__new__(kind)
    made._entry = Cleanup(resource, cleanup)
    made._owner = owner
    stack.push(made._entry)
    return made
