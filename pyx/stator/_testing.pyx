# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
# cython: annotation_typing=False, freethreading_compatible=True
"""Injected failures, for tests and `python -m stator demo --prove`."""
from libc.stdint cimport int64_t, uint64_t

from stator._backend cimport as_backend, settle
from stator._convert cimport to_choice, to_flag, to_int
from stator.cpp cimport backend as cpp_backend
from stator.cpp cimport testing as cpp


def inject(backend: Backend, *, fail_at: int = -1, until_lifted: bool = False, drop_wait_at: int = -1,
           allocations: bool = False) -> None:
    """Makes a runtime call fail, or drops a stream wait, counted from now.

    fail_at: the index of the call that fails, with until_lifted also every call after it. drop_wait_at: the index of
    the stream wait that is not performed. -1: none. allocations: only allocations of device and page-locked memory
    count, and fail, as where there is no memory.
    """
    cdef cpp.Injection injection
    injection.fail_at = to_int(fail_at, "testing.inject", "fail_at")
    injection.until_lifted = to_flag(until_lifted, "testing.inject", "until_lifted")
    injection.allocations = to_flag(allocations, "testing.inject", "allocations")
    injection.drop_wait_at = to_int(drop_wait_at, "testing.inject", "drop_wait_at")
    cpp.inject(as_backend(backend, "testing.inject").c, injection)


def lift(backend: Backend) -> int:
    """Ends an injection; returns the number of runtime calls since inject, where asked for that of allocations."""
    return cpp.lift(as_backend(backend, "testing.lift").c)


def hold_warnings(hold: bool) -> int:
    """With True counts warnings instead of showing them; returns their number since the last call."""
    return cpp.hold_warnings(to_flag(hold, "testing.hold_warnings", "hold"))


def fault_next_launch(backend: Backend) -> None:
    """On cpu, makes the next launch fail asynchronously; the fault is sticky, as a device fault is."""
    cpp.fault_next_launch(as_backend(backend, "testing.fault_next_launch").c)


def leak_buffer(backend: Backend, nbytes: int) -> None:
    """Allocates memory that is not tracked, which leak checks must find."""
    cdef int64_t count = to_int(nbytes, "testing.leak_buffer", "nbytes")
    cpp.leak_buffer(as_backend(backend, "testing.leak_buffer").c, <size_t>count)


def outstanding(kind: str) -> dict[str, int]:
    """The outstanding objects of the runtime of "cpu" or "cuda", by its own count."""
    cdef bint cuda = to_choice(kind, ("cpu", "cuda"), "testing.outstanding", "kind") == 1
    cdef cpp_backend.DeviceType type = cpp_backend.cuda if cuda else cpp_backend.cpu
    cdef cpp.Counts counts
    settle()
    with nogil:
        counts = cpp.outstanding(type)
    return {"memory": counts[0], "pinned": counts[1], "streams": counts[2], "events": counts[3], "contexts": counts[4],
            "graphs": counts[5]}


def set_block_seed(backend: Backend, seed: int) -> None:
    """Sets the seed of the order of blocks and fibers in the checked target."""
    cdef int64_t value = to_int(seed, "testing.set_block_seed", "seed")
    cpp.set_block_seed(as_backend(backend, "testing.set_block_seed").c, <uint64_t>value)
