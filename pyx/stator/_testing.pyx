# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
# cython: annotation_typing=False, freethreading_compatible=True
"""Injected failures, for tests and `python -m stator demo --prove`."""
from stator._backend cimport Backend, settle
from stator.cpp cimport backend as cpp_backend
from stator.cpp cimport testing as cpp


def inject(backend: Backend, *, fail_at: int = -1, until_lifted: bool = False, drop_wait_at: int = -1) -> None:
    """Makes a runtime call fail, or drops a stream wait, counted from now.

    fail_at: the index of the call that fails, with until_lifted also every call after it. drop_wait_at: the index of
    the stream wait that is not performed. -1: none.
    """
    cdef cpp.Injection injection
    injection.fail_at = fail_at
    injection.until_lifted = until_lifted
    injection.drop_wait_at = drop_wait_at
    cpp.inject((<Backend?>backend).c, injection)


def lift(backend: Backend) -> int:
    """Ends an injection; returns the number of runtime calls since inject."""
    return cpp.lift((<Backend?>backend).c)


def hold_warnings(hold: bool) -> int:
    """With True counts warnings instead of showing them; returns their number since the last call."""
    return cpp.hold_warnings(hold)


def fault_next_launch(backend: Backend) -> None:
    """On cpu, makes the next launch fail asynchronously; the fault is sticky, as a device fault is."""
    cpp.fault_next_launch((<Backend?>backend).c)


def leak_buffer(backend: Backend, nbytes: int) -> None:
    """Allocates memory that is not tracked, which leak checks must find."""
    cpp.leak_buffer((<Backend?>backend).c, nbytes)


def outstanding(kind: str) -> dict[str, int]:
    """The objects that the runtime of "cpu" or "cuda" handed out and has not got back, by its own count."""
    cdef cpp_backend.DeviceType type = cpp_backend.cuda if kind == "cuda" else cpp_backend.cpu
    cdef cpp.Counts counts
    settle()
    with nogil:
        counts = cpp.outstanding(type)
    return {"memory": counts[0], "pinned": counts[1], "streams": counts[2], "events": counts[3], "contexts": counts[4]}


def set_block_seed(backend: Backend, seed: int) -> None:
    """Sets the seed of the order of blocks and fibers in the checked target."""
    cpp.set_block_seed((<Backend?>backend).c, seed)
