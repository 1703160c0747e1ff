"""The functions that a backend calls when no memory is left."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING

from stator._recovery.hook import unraisable
from stator._shared import kept

if TYPE_CHECKING:
    from stator._backend import Backend

_NAME = "_memory_callbacks"  # of the attribute of a backend
FAILURE_ROUNDS = 16  # of an allocation, in which the failure callback is asked; the spill callback has the others too


class MemoryCallbacks:
    """What a backend asks for memory. It owns them and C++ does not, so that all can be collected."""

    failure: Callable[[int], object] | None = None
    spill: Callable[[int], object] | None = None

    def ask(self, nbytes: int, attempt: int) -> bool:
        """Whether something was freed, so that the allocation is to be tried again. Raises only interrupts."""
        from stator.scopes._outside import outside

        try:
            with outside():
                if self.failure is not None and attempt < FAILURE_ROUNDS and self.failure(nbytes):
                    return True
                if self.spill is None:
                    return False
                moved = self.spill(nbytes)
                return isinstance(moved, int) and moved > 0
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            unraisable(error)
        return False


def callbacks_of(backend: Backend) -> MemoryCallbacks:
    """The backend's callbacks, which the first call installs."""
    from stator.memory import _memory

    def install() -> MemoryCallbacks:  # twice where two threads ask at once: both hooks ask the callbacks that are kept
        holder = weakref.ref(backend)

        def ask(nbytes: int, attempt: int) -> bool:
            owner = holder()
            callbacks: MemoryCallbacks | None = None if owner is None else vars(owner).get(_NAME)
            return callbacks is not None and callbacks.ask(nbytes, attempt)

        _memory.set_memory_hook(backend, ask)
        return MemoryCallbacks()

    return kept(backend, _NAME, install)
