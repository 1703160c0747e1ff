"""The policies driver and arena, trimming, the peak, fragmentation, and the pool of page-locked memory."""

import gc

import numpy as np
import pytest
from runtime_calls import emulated_free_memory

import stator
from stator import _backend, testing
from stator.errors import BackendClosedError, DTypeError, InvalidValueError, OutOfMemoryError

MIB = 2**20


STEP = 32 * MIB  # what CUDA's stream-ordered pool takes from the driver at once


def mebibytes(be, count):
    return be.empty(count * MIB, dtype="uint8")


def asked_of_the_device(be):
    return be.statistics()["calls"]["allocate"]


def is_emulated(be):
    return be.device.type == "cuda" and _backend.emulated("cuda")


def test_the_policy_driver_asks_the_driver_each_time_which_keeps_the_memory(device):
    with stator.Backend(device, pool_policy="driver") as be:
        be.zeros(3).tolist()
        before = asked_of_the_device(be)
        free = emulated_free_memory() if is_emulated(be) else None
        for _ in range(3):
            mebibytes(be, 4)
        be.synchronize()
        stats = be.memory.stats()
        assert asked_of_the_device(be) - before == 3
        assert stats["reuses"] == 0
        if be.device.type == "cpu":
            assert stats["cached_bytes"] == 0
            return
        assert stats["cached_bytes"] >= 4 * MIB
        assert stats["fragmentation"] is stats["largest_cached_bytes"] is None
        if free is None:  # a driver takes memory in steps, of which something is in use
            be.memory.empty_cache()
            assert be.memory.stats()["cached_bytes"] < STEP
            return
        assert free - emulated_free_memory() >= 4 * MIB - 4096
        assert be.memory.trim(2 * MIB) >= 2 * MIB
        assert be.memory.stats()["cached_bytes"] <= 2 * MIB
        be.memory.empty_cache()
        assert be.memory.stats()["cached_bytes"] == 0
        assert emulated_free_memory() >= free


def test_the_driver_keeps_no_more_than_the_limit(device):
    with stator.Backend(device, pool_policy="driver", memory_limit=4 * MIB) as be:
        x = mebibytes(be, 2)
        mebibytes(be, 2)
        assert mebibytes(be, 2).nbytes == x.nbytes
        with pytest.raises(OutOfMemoryError):
            mebibytes(be, 3)
        be._set_memory_limit(2 * MIB)
        del x
        mebibytes(be, 1)
        be.synchronize()
        limit = 2 * MIB if be.device.type == "cpu" or is_emulated(be) else STEP
        assert be.memory.stats()["cached_bytes"] <= limit


@pytest.fixture
def arena(device):
    """A backend whose arena has 8 MiB."""
    with stator.Backend(device, pool_policy="arena", memory_pool_size=8 * MIB) as be:
        yield be


def test_an_arena_never_asks_the_device_again(arena):
    stats = arena.memory.stats()
    assert (stats["cached_bytes"], stats["largest_cached_bytes"], stats["fragmentation"]) == (8 * MIB, 8 * MIB, 0)
    (arena.ones(3) + 1).tolist()
    before = asked_of_the_device(arena)
    x = arena.ones(MIB // 8)
    for _ in range(5):
        x = stator.sqrt(x) + arena.zeros(MIB // 8)
    assert x.to_numpy().max() == 1
    assert asked_of_the_device(arena) == before
    del x
    stats = arena.memory.stats()
    assert stats["live_bytes"] + stats["cached_bytes"] == 8 * MIB
    assert stats["allocations"] == stats["reuses"]
    assert arena.memory.trim() == 0
    assert arena.memory.stats()["cached_bytes"] == stats["cached_bytes"]


def test_beyond_the_arena_there_is_no_memory(arena):
    x = mebibytes(arena, 5)
    with pytest.raises(OutOfMemoryError, match=r"largest owner 5\.0 MiB empty") as caught:
        mebibytes(arena, 4)
    assert caught.value.requested == 4 * MIB
    del x, caught
    gc.collect()
    assert mebibytes(arena, 8).nbytes == 8 * MIB


def test_free_neighbours_of_an_arena_are_joined(arena):
    parts = [mebibytes(arena, 2) for _ in range(4)]
    del parts[0], parts[1]
    stats = arena.memory.stats()
    assert (stats["cached_bytes"], stats["largest_cached_bytes"], stats["fragmentation"]) == (4 * MIB, 2 * MIB, 0.5)
    with pytest.raises(OutOfMemoryError):
        mebibytes(arena, 3)
    del parts[0]
    assert arena.memory.stats()["fragmentation"] == 0
    assert mebibytes(arena, 6).nbytes == 6 * MIB


def test_an_arena_takes_the_smallest_block_that_fits(arena):
    large, between, small, rest = (mebibytes(arena, n) for n in (3, 1, 2, 2))
    hole = small.data_ptr
    del large, small
    x = mebibytes(arena, 2)
    assert x.data_ptr == hole
    assert mebibytes(arena, 3).nbytes + between.nbytes + rest.nbytes == 6 * MIB


def test_streams_share_an_arena_in_order(arena):
    one, two = arena.stream(1), arena.stream(2)
    for round_ in range(4):
        with one:
            x = arena.full(MIB // 8, round_)
            y = x * 2
        two.wait(one.record())
        with two:
            z = y + x
            z = z + 1
        del x, y
        with one:
            w = arena.full(MIB // 8, -1.0)
        assert z[::1000].tolist() == [3 * round_ + 1] * len(z[::1000])
        assert w[0].item() == -1
        del z, w


def test_graphs_take_their_memory_from_an_arena(arena):
    x = arena.ones(1000)
    with arena.capture() as graph:
        y = (x + 1) * 2
    for _ in range(2):
        graph.launch()
    assert y[0].item() == 4
    f = arena.graph(lambda a: a + a)
    assert f(x)[1].item() == f(y)[1].item() / 4
    del x, y, f, graph
    arena.synchronize()
    assert arena.memory.stats()["cached_bytes"] == 8 * MIB


def test_exported_memory_of_an_arena_outlives_the_backend(device):
    if not device.startswith("cpu"):
        pytest.skip("about memory that NumPy shares")
    before = testing.outstanding("cpu")
    be = stator.Backend(device, pool_policy="arena", memory_pool_size=MIB)
    x = be.arange(1000)
    shared = np.from_dlpack(x)
    with be.scoped() as scope:
        inner = np.from_dlpack(be.full(10, 7))
    assert scope.released == 1
    assert inner.tolist() == [7] * 10
    live = be.memory.stats()["live_bytes"]
    del inner
    assert be.memory.stats()["live_bytes"] == live
    be.close()
    assert shared.tolist() == list(range(1000))
    assert testing.outstanding("cpu")["memory"] == before["memory"] + 1
    del shared, x
    be.memory.stats()
    assert testing.outstanding("cpu")["memory"] == before["memory"]


def test_an_array_of_a_closed_backend_does_not_keep_the_arena(device):
    kind = device.partition(":")[0]
    before = testing.outstanding(kind)
    with stator.Backend(device, pool_policy="arena", memory_pool_size=MIB) as be:
        x = be.ones(3)
        graph = be.graph(lambda a: a + 1)
        y = graph(x)
    assert testing.outstanding(kind) == before
    assert (x.shape, y.shape) == ((3,), (3,))


def test_an_arena_has_a_size(device):
    with pytest.raises(InvalidValueError, match="memory_pool_size"):
        stator.Backend(device, pool_policy="arena")


def test_trimming_keeps_what_was_asked_for(device):
    with stator.Backend(device) as be:
        parts = [mebibytes(be, n) for n in (2, 4, 6)]
        del parts
        stats = be.memory.stats()
        assert (stats["cached_bytes"], stats["largest_cached_bytes"], stats["fragmentation"]) == (
            12 * MIB,
            6 * MIB,
            0.5,
        )
        assert be.memory.trim(keep=12 * MIB) == 0
        assert be.memory.trim(keep=5 * MIB) == 10 * MIB
        assert be.memory.stats()["cached_bytes"] == 2 * MIB
        assert be.memory.trim() == 2 * MIB
        assert be.memory.stats()["fragmentation"] == 0


def test_the_peak_can_begin_anew(device):
    with stator.Backend(device) as be:
        x = mebibytes(be, 2)
        mebibytes(be, 4)
        assert be.memory.stats()["peak_bytes"] == 6 * MIB
        be.memory.reset_peak()
        assert be.memory.stats()["peak_bytes"] == x.nbytes
        mebibytes(be, 2)
        assert be.memory.stats()["peak_bytes"] == 4 * MIB
    with pytest.raises(BackendClosedError, match=r"^Backend\.memory\.reset_peak: "):
        be.memory.reset_peak()


def test_page_locked_memory_has_a_limit_and_figures_of_its_own(device):
    with stator.Backend(device, pinned_memory_limit=4 * MIB) as be:
        x = stator.memory.pinned_empty(2 * MIB, "uint8", device=be)
        y = stator.memory.pinned_empty(2 * MIB, "uint8", device=be)
        stats = be.memory.stats()
        assert (stats["pinned_live_bytes"], stats["pinned_cached_bytes"], stats["pinned_limit"]) == (
            4 * MIB,
            0,
            4 * MIB,
        )
        assert stats["live_bytes"] == 4 * MIB
        with pytest.raises(OutOfMemoryError):
            stator.memory.pinned_empty(MIB, "uint8", device=be)
        assert mebibytes(be, 8).nbytes == 8 * MIB
        del y
        gc.collect()
        be.synchronize()
        assert be.memory.stats()["pinned_cached_bytes"] == 2 * MIB
        # What is cached in another size makes room.
        y = stator.memory.pinned_empty(MIB, "uint8", device=be)
        assert be.memory.stats()["pinned_cached_bytes"] == 0
        del y
        gc.collect()
        be.synchronize()
        cached = be.memory.stats()["cached_bytes"]
        assert be.memory.trim_pinned(keep=MIB) == 0
        assert be.memory.trim_pinned() == MIB
        stats = be.memory.stats()
        assert (stats["pinned_cached_bytes"], stats["cached_bytes"]) == (0, cached - MIB)
        assert x.nbytes == stats["pinned_live_bytes"]


def test_copies_do_without_page_locked_memory_beyond_its_limit(device):
    with stator.Backend(device, pinned_memory_limit=512) as be:
        x = be.asarray(np.arange(1000.0))
        assert x.tolist() == list(range(1000))


@pytest.mark.parametrize("name", ["trim", "trim_pinned"])
def test_what_is_kept_is_a_number_of_bytes(device, name):
    with stator.Backend(device) as be:
        for value, error in (
            ("1 MiB", DTypeError),
            (True, DTypeError),
            (-1, InvalidValueError),
            (2**63, InvalidValueError),
        ):
            with pytest.raises(error, match=name):
                getattr(be.memory, name)(value)
