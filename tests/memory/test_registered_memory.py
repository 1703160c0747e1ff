"""stator.memory.register_host: memory of NumPy arrays that is page-locked for a time."""

import gc
import weakref

import numpy as np
import pytest
import runtime_calls

import stator
from stator import _backend, testing
from stator.errors import BackendClosedError, CudaError, DTypeError, InvalidValueError, OutOfMemoryError

OP = r"^memory\.register_host"
register = stator.memory.register_host


def pinned(be):
    return [(r["bytes"], r["origin"]) for r in be.resources() if r["kind"] == "pinned"]


def test_memory_is_registered_until_the_end_of_the_block(be):
    x = np.arange(10_000.0)
    with register(x, device=be) as same:
        assert same is x
        assert pinned(be) == [(x.nbytes, "memory.register_host")]
        y = be.zeros(10_000)
        y.copy_from(x)
        np.testing.assert_array_equal((y + 1).to_numpy(), x + 1)
        y.copy_to(x)
    assert not pinned(be)
    with register(x, device=be) as again:
        assert again is x


def test_the_runtime_is_asked_once_and_told_once(be):
    kind = be.device.type
    before = testing.outstanding(kind)["pinned"]
    held = register(np.zeros(100), device=be)
    assert testing.outstanding(kind)["pinned"] == before + 1
    held.close()
    held.close()
    assert held.closed
    assert testing.outstanding(kind)["pinned"] == before


@pytest.mark.parametrize("part", [slice(None), slice(10, 20), slice(0, 1), slice(99, 100)])
def test_a_part_of_memory_that_is_registered_is_refused(be, part):
    x = np.zeros(100)
    with register(x, device=be):
        with pytest.raises(InvalidValueError, match=OP):
            register(x[part], device=be)
        assert len(pinned(be)) == 1
    with register(x[part], device=be):
        assert len(pinned(be)) == 1


def test_what_cannot_be_registered_is_refused(be):
    read_only = np.zeros(10)
    read_only.flags.writeable = False
    for wrong, text in ((read_only, "read-only"), (np.zeros(10)[::2], "contiguous"), (np.zeros(0), "empty")):
        with pytest.raises(InvalidValueError, match=text):
            register(wrong, device=be)
    with pytest.raises(DTypeError, match=OP):
        register(bytearray(10), device=be)
    assert not pinned(be)


def test_the_end_of_the_backend_and_of_a_scope_end_the_registration(be):
    x = np.zeros(100)
    with stator.Backend(be.device_name) as other:
        held = register(x, device=other)
    held.close()
    with be.scoped():
        register(x, device=be)
    assert not pinned(be)
    with pytest.raises(BackendClosedError, match=OP):
        register(x, device=other)
    register(x, device=be).close()


def test_the_array_lives_as_long_as_its_registration(be):
    x = np.zeros(1000).view(type("Array", (np.ndarray,), {}))
    seen = weakref.ref(x)
    held = register(x, device=be)
    del x
    assert seen() is not None
    held.close()
    assert seen() is None
    held = register(np.zeros(1000), device=be)
    del held
    gc.collect()
    assert not pinned(be)


def test_copies_that_are_enqueued_end_before_the_memory_is_pageable_again(cuda):
    x = np.arange(100_000.0)
    y = cuda.zeros(100_000)
    held = register(x, device=cuda)
    cuda.transfers.write_ranges([(y, 0, x)])
    held.close()
    np.testing.assert_array_equal(y.to_numpy(), x)


@pytest.mark.parametrize(("status", "error"), [(999, CudaError), (2, OutOfMemoryError), (712, InvalidValueError)])
def test_a_registration_that_fails_is_a_typed_error(cuda, status, error):
    if not _backend.emulated("cuda"):
        pytest.skip("about emulated devices")
    x = np.zeros(100)
    with runtime_calls.answered("host_register", status), pytest.raises(error, match=OP):
        register(x, device=cuda)
    assert not pinned(cuda)
    register(x, device=cuda).close()
