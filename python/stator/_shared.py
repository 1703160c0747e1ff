"""What the backends of a process share: those that are open, the shared one of each device, and the seed."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from typing import TypeVar

from stator import _random
from stator._backend import Backend

T = TypeVar("T")

backends: dict[tuple[int, str], Backend] = {}  # by process, since a forked child has its own, and by device
lock = threading.RLock()
opened: weakref.WeakSet[Backend] = weakref.WeakSet()
seed: int | None = None  # of seed_all(); None: each backend draws its own


def open_backend(name: str) -> Backend | None:
    """The shared backend of a device where it is open."""
    backend = backends.get((os.getpid(), name))
    return None if backend is None or backend.closed else backend


def kept(backend: Backend, name: str, make: Callable[[], T]) -> T:
    """What a service keeps on a backend, made at first use: the same one for threads that ask at once."""
    found: T | None = vars(backend).get(name)
    return vars(backend).setdefault(name, make()) if found is None else found


def seed_all(value: int) -> None:
    """Seeds the generators of all open and future backends."""
    global seed
    value = _random.checked_seed(value)
    with lock:
        for backend in list(opened):
            _random.Generator(backend).seed(value)
        seed = value
