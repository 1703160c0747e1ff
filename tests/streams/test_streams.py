"""What the streams of a backend share: memory that one frees and another takes, and copies through the host.

An emulated device runs nothing before a thread waits for it, so that an order that is missing shows each time.
"""

import weakref

import numpy as np
import pytest

import stator

COUNT = 1000


def filled(be, number, value):
    with be.stream(number):
        return stator.full((COUNT,), value, dtype="float64")


def read(be, number, x):
    with be.stream(number):
        return x.to_numpy().tolist()


@pytest.fixture
def fresh(be):
    """The backend without cached memory: what is freed next is taken next."""
    be.synchronize()
    be.memory.empty_cache()
    return be


@pytest.mark.parametrize(("reader", "writer"), [(1, 2), (2, 1)], ids=["of another stream", "that another stream used"])
def test_memory_is_written_after_the_work_that_uses_it(fresh, reader, writer):
    be = fresh
    first = filled(be, 1, 2.0)
    address = first.data_ptr
    be.stream(reader).wait(be.stream(1).record())
    with be.stream(reader):
        more = first + 1
    del first
    second = filled(be, writer, 5.0)
    assert second.data_ptr == address
    assert read(be, writer, second) == [5.0] * COUNT
    assert read(be, reader, more) == [3.0] * COUNT
    assert read(be, writer, second) == [5.0] * COUNT


def test_an_index_beyond_the_streams_is_out_of_range(be):
    count = len(be.streams)
    assert be.streams[-1] == be.stream(count - 1)
    for index in (count, -count - 1):
        with pytest.raises(stator.errors.OutOfRangeError, match=f"Got index={index}. Pass an index from -{count} to"):
            be.streams[index]
    with pytest.raises(stator.errors.DTypeError, match="Pass an integer or a slice"):
        be.streams["1"]


def test_work_behind_an_event_runs_after_what_was_recorded(be):
    first = filled(be, 1, 2.0)
    be.stream(2).wait(be.stream(1).record())
    with be.stream(2):
        more = first + 1
    assert read(be, 2, more) == [3.0] * COUNT


class Seen:
    """What another library knows of an array: it keeps the array's owner, and this is only the memory."""

    def __init__(self, address):
        self.__cuda_array_interface__ = {"version": 3, "shape": (COUNT,), "typestr": "<f8", "data": (address, False)}


def test_memory_lent_to_another_library_is_written_after_the_work_of_its_stream(fresh, cuda, device):
    be = fresh
    lent = be.full((COUNT,), 2.0, dtype="float64")
    address = lent.data_ptr
    with stator.Backend(device) as other:
        with other.use():
            capsule = lent.__dlpack__(stream=other.stream(0).native)
            more = stator.asarray(Seen(address), copy=False) + 1
        del capsule, lent
        second = be.full((COUNT,), 5.0, dtype="float64")
        assert second.data_ptr == address
        assert second.to_numpy().tolist() == [5.0] * COUNT
        assert more.to_numpy().tolist() == [3.0] * COUNT


def test_the_stream_of_another_library_waits_for_the_work_on_what_it_borrows(cuda, device):
    lent = cuda.full((COUNT,), 2.0, dtype="float64")
    with stator.Backend(device) as other, other.use():
        capsule = lent.__dlpack__(stream=other.stream(0).native)
        more = stator.asarray(Seen(lent.data_ptr), copy=False) + 1
        assert more.to_numpy().tolist() == [3.0] * COUNT
        del capsule


def test_borrowed_memory_is_given_back_after_the_work_on_it(cuda):
    owned = cuda.full((COUNT,), 2.0, dtype="float64")
    cuda.synchronize()
    given_back = []

    def write():
        given_back.append(True)
        owned[...] = 5.0
        cuda.synchronize()

    owner = Seen(owned.data_ptr)
    weakref.finalize(owner, write)
    with cuda.stream(1):
        borrowed = stator.asarray(owner, copy=False)
        more = borrowed + 1
    del owner, borrowed
    for _ in range(2):  # one call sees that the memory can be freed, the next one does it
        cuda.zeros(1)
    assert read(cuda, 1, more) == [3.0] * COUNT
    for _ in range(2):
        cuda.zeros(1)
    assert given_back


def test_cached_memory_is_given_to_the_driver_after_its_work(fresh):
    be = fresh
    first = filled(be, 1, 2.0)
    be.stream(2).wait(be.stream(1).record())
    with be.stream(2):
        more = first + 1
    del first
    be.memory.empty_cache()
    be.stream(1).synchronize()
    assert read(be, 2, more) == [3.0] * COUNT


@pytest.mark.parametrize("count", [3, 100, 100_000])
def test_an_array_of_another_backend_has_the_same_values(be, cpu, count):
    values = np.arange(count) + 0.5
    x = cpu.asarray(values).to_device(be.device)
    assert x.to_device("cpu").to_numpy().tolist() == values.tolist()


def test_the_first_stream_is_current_outside_a_with_block(be):
    assert be.current_stream.index == 0
    with be.stream(1):
        assert be.current_stream.index == 1
        with be.stream(2):
            assert be.current_stream.index == 2
        assert be.current_stream.index == 1
    assert be.current_stream.index == 0


def test_a_stream_that_was_waited_for_has_finished(be):
    filled(be, 1, 2.0)
    be.stream(1).synchronize()
    assert be.stream(1).done()
