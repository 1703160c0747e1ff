"""Backend.scopes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TypeVar

from stator._accessor import Accessor
from stator._device import Device, device_of
from stator.errors import BackendClosedError
from stator.scopes._held import ManagedResource, hold, require_function
from stator.scopes._scope import stack_of

T = TypeVar("T")

KINDS = ("buffer", "pinned", "managed", "event", "graph", "stream", "library", "program")


class ScopeAccessor(Accessor):
    """What lives on a backend, as Backend.scopes: resources with a cleanup, and counts of all live objects."""

    __slots__ = ()

    def create_resource(self, factory: Callable[[Device], T], cleanup: Callable[[T], object]) -> ManagedResource[T]:
        """What factory(device) returns, with a cleanup that runs once: by its holder, or at the latest by close().

        cleanup(resource) runs at the end of the holder's `with`, when the holder is collected, at the end of the scope
        that it was made in, when the backend closes, or at the end of the process, whichever comes first; of several
        the newest first. One that raises stops no other: close() then raises CleanupError when all is closed, and at
        the end of the process sys.unraisablehook is called.

        >>> log = []
        >>> other = stator.Backend("cpu")
        >>> a = other.scopes.create_resource(lambda device: "a", log.append)
        >>> b = other.scopes.create_resource(lambda device: "b", log.append)
        >>> other.close()
        >>> log
        ['b', 'a']
        """
        op = "Backend.scopes.create_resource"
        backend = self._backend
        require_function(factory, op, "factory")
        require_function(cleanup, op, "cleanup")
        stack_of(backend, op)
        resource = factory(device_of(backend))
        try:
            stack = stack_of(backend, op)
        except BackendClosedError:  # by another thread, or the factory
            cleanup(resource)
            raise
        made: ManagedResource[T] = hold(ManagedResource, resource, cleanup, stack, backend)
        return made

    def active_resource_count(self) -> dict[str, int]:
        """How many objects of each kind are alive, as resources() lists them; "resource": those with a cleanup.

        >>> x = be.ones(3)
        >>> be.scopes.active_resource_count()["buffer"]
        1
        """
        found = Counter(resource["kind"] for resource in self._backend.resources())
        counts = {kind: found.pop(kind, 0) for kind in KINDS} | dict(found)
        return counts | {"resource": len(vars(self._backend).get("_cleanups", ()))}
