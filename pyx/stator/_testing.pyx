# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=python
# cython: annotation_typing=False, freethreading_compatible=True
"""Failures on purpose, for tests and `python -m stator demo --prove`."""
from stator._backend cimport Backend, settle
from stator.cpp cimport backend as cpp_backend
from stator.cpp cimport testing as cpp


def inject(backend: Backend, *, fail_at: int = -1, until_lifted: bool = False, drop_wait_at: int = -1) -> None:
    """The k-th runtime call from now fails (and every one after it); the k-th stream wait is not performed."""
    cdef cpp.Injection injection
    injection.fail_at = fail_at
    injection.until_lifted = until_lifted
    injection.drop_wait_at = drop_wait_at
    cpp.inject((<Backend?>backend).c, injection)


def lift(backend: Backend) -> int:
    """Ends it; how many runtime calls were made under it."""
    return cpp.lift((<Backend?>backend).c)


def hold_warnings(hold: bool) -> int:
    """Counts warnings instead of showing them; how many since the last call."""
    return cpp.hold_warnings(hold)


def fault_next_launch(backend: Backend) -> None:
    """cpu: the next launch fails asynchronously and for good, as a device fault does."""
    cpp.fault_next_launch((<Backend?>backend).c)


def leak_buffer(backend: Backend, nbytes: int) -> None:
    """Allocates memory behind the Tracker: a canary for leak checks."""
    cpp.leak_buffer((<Backend?>backend).c, nbytes)


def outstanding(kind: str) -> dict[str, int]:
    """What the runtime of "cpu" or "cuda" handed out and has not got back, by its own count."""
    cdef cpp_backend.DeviceType type = cpp_backend.cuda if kind == "cuda" else cpp_backend.cpu
    cdef cpp.Counts counts
    settle()
    with nogil:
        counts = cpp.outstanding(type)
    return {"memory": counts[0], "pinned": counts[1], "streams": counts[2], "events": counts[3], "contexts": counts[4]}


def set_block_seed(backend: Backend, seed: int) -> None:
    """Order of blocks and fibers in the checked target."""
    cpp.set_block_seed((<Backend?>backend).c, seed)
