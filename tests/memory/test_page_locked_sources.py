"""Page-locked memory of the host belongs to its owner again as soon as a call that copies it has returned."""

import threading

import pytest

import stator


def assigned(be, h):
    x = be.zeros(h.shape, dtype=h.dtype)
    x[...] = h
    return x


def assigned_by_mask(be, h):
    x = be.zeros(h.shape, dtype=h.dtype)
    x[be.ones(h.shape, dtype="bool")] = h
    return x


DOORS = {
    "asarray": lambda be, h: be.asarray(h),
    "asarray, copy=True": lambda be, h: be.asarray(h, copy=True),
    "asarray of another dtype": lambda be, h: be.asarray(h, dtype="float32"),
    "asarray of every second element": lambda be, h: be.asarray(h[::2]),
    "asarray of a reversed view": lambda be, h: be.asarray(h[::-1]),
    "array": lambda be, h: stator.numpy.array(h),
    "frombuffer": lambda be, h: stator.numpy.frombuffer(h, dtype=h.dtype),
    "an assignment": assigned,
    "an assignment by a mask": assigned_by_mask,
    "copy_from": lambda be, h: (x := be.zeros(h.shape), x.copy_from(h))[0],
    "full": lambda be, h: be.full(h.shape, h),
    "where": lambda be, h: stator.where(be.ones(h.shape, dtype="bool"), be.asarray(h), 0.0),
}


@pytest.mark.parametrize("size", [4, 100_000])
@pytest.mark.parametrize("door", DOORS)
def test_a_call_has_read_page_locked_memory_when_it_returns(be, door, size):
    h = stator.memory.pinned_empty(size, dtype="float64", device=be)
    h[:] = 1
    go = threading.Event()
    be.current_stream.add_callback(go.wait)  # the stream is busy when the call is made
    threading.Timer(0.02, go.set).start()
    x = DOORS[door](be, h)
    h[:] = 7
    assert (x.to_numpy() == 1).all()
