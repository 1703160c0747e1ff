"""be.scoped() frees what it made, and what is kept outlives it; calls of other threads make what is their own."""

import asyncio
import concurrent.futures
import threading

import numpy as np
import pytest

import stator
from stator.errors import (
    BackendClosedError,
    CleanupError,
    DTypeError,
    InFlightError,
    InvalidValueError,
    OutOfMemoryError,
)


def live(be):
    return be.scopes.active_resource_count()["buffer"]


def test_the_end_frees_what_the_block_made(be):
    before = be.memory.stats()["live_bytes"]
    outer = be.ones(1000)
    with be.scoped() as scope:
        x = be.ones(1000)
        y = x + outer
        event = be.current_stream.record()
        assert live(be) == 3
    assert (scope.closed, scope.released) == (True, 3)
    assert live(be) == 1
    assert be.memory.stats()["live_bytes"] - before == outer.nbytes + (-outer.nbytes % 512)
    for use in (x.tolist, lambda: y + 1, lambda: x[0].item(), event.synchronize, lambda: stator.matmul(outer, x)):
        with pytest.raises(BackendClosedError, match="scope that has ended"):
            use()
    assert (outer + 1).tolist()[:2] == [2.0, 2.0]


def test_the_memory_is_given_to_the_next_in_order(be):
    """What a pending kernel reads is not overwritten by arrays that are given its memory."""
    kept = be.zeros(1 << 16)
    for i in range(4):
        with be.scoped():
            x = be.full(1 << 16, float(i))
            kept += x * 2
        other = be.full(1 << 16, -1.0)
        del other
    assert stator.min(kept).item() == stator.max(kept).item() == 12.0


def test_what_is_kept_outlives_the_block_and_views_keep_their_memory(be):
    with be.scoped() as scope:
        x = be.arange(6)
        y, other = scope.keep((x[2:4], {"sum": stator.sum(x)}))
        gone = x + 1
    assert (y.tolist(), other["sum"].item(), x.tolist()[:2]) == ([2, 3], 15, [0, 1])
    with pytest.raises(BackendClosedError):
        gone.tolist()


def test_sparse_matrices_and_resources_are_kept(be):
    log = []
    with be.scoped() as scope:
        s = scope.keep(stator.sparse.csr_from_dense(be.asarray([[0.0, 2.0], [3.0, 0.0]])))
        held = scope.keep(be.scopes.create_resource(lambda device: "a", log.append))
        other = be.scopes.create_resource(lambda device: "b", log.append)
    assert log == ["b"]
    assert not other.is_available()
    assert s.to_dense().tolist() == [[0.0, 2.0], [3.0, 0.0]]
    assert be.scopes.active_resource_count()["resource"] == 1
    held.close()
    assert log == ["b", "a"]


def test_scopes_nest_and_what_is_kept_belongs_to_the_outer_one(be):
    with be.scoped():
        a = be.ones(2)
        with be.scoped() as inner:
            b = inner.keep(be.ones(2))
            inner.keep(a)
            c = be.ones(2)
        with pytest.raises(BackendClosedError):
            c.tolist()
        assert (a + b).tolist() == [2.0, 2.0]
    for x in (a, b):
        with pytest.raises(BackendClosedError):
            x.tolist()


def test_the_outer_scope_is_not_taken_from_arrays_that_an_inner_one_keeps(be):
    outside = be.ones(2)
    with be.scoped(), be.scoped() as inner:
        inner.keep(outside)
    assert outside.tolist() == [1.0, 1.0]


def test_an_exception_ends_the_scope(be):
    with pytest.raises(KeyError), be.scoped():
        x = be.ones(2)
        raise KeyError
    assert live(be) == 0
    del x


def test_graphs_of_the_block_are_freed_and_those_that_are_kept_for_later_are_not(be):
    step = be.graph(lambda x: x * 2 + 1)
    given = be.ones(4)
    with be.scoped() as scope:
        with be.capture() as graph:
            y = given + 1
        results = [step(given) for _ in range(3)]
        assert scope.keep(step(given)).tolist() == [3.0] * 4
        kept = be.graphs.get_or_create("key", lambda: captured(be, given))
    assert be.scopes.active_resource_count()["graph"] >= 2
    with pytest.raises(BackendClosedError):
        graph.launch()
    for x in (*results, y):
        with pytest.raises(BackendClosedError):
            x.tolist()
    kept.launch()
    assert step(given).tolist() == [3.0] * 4
    be.graphs.clear_cache()


def captured(be, given):
    with be.capture() as graph:
        given * 3
    return graph


def test_a_graph_that_reads_what_a_scope_made_says_so(be):
    graph, given = None, be.ones(4)
    with be.scoped():
        x = be.ones(4)
        outer = be.graph(lambda: given + x)
        assert outer().tolist() == [2.0] * 4
    with pytest.raises(BackendClosedError):
        outer()
    del graph


def test_memory_that_numpy_shares_stays_until_numpy_lets_go(cpu):
    with cpu.scoped():
        x = cpu.full(4, 7.0)
        shared = np.from_dlpack(x)
    with pytest.raises(BackendClosedError):
        x.tolist()
    assert shared.tolist() == [7.0] * 4


def test_arrays_of_other_threads_are_their_own(be):
    """Also those of a thread that made arrays in the scope before."""
    inside, made = threading.Event(), []
    with concurrent.futures.ThreadPoolExecutor(1) as pool, be.scoped():
        future = pool.submit(lambda: (inside.wait(), made.append(be.ones(3)), be.current_stream.record()))
        x = be.ones(3)
        inside.set()
        future.result()
    assert made[0].tolist() == [1.0] * 3
    with pytest.raises(BackendClosedError):
        x.tolist()


def test_tasks_have_scopes_of_their_own(be):
    async def scoped(mine, other):
        with be.scoped() as scope:
            x = be.ones(3)
            mine.set()
            await other.wait()
            y = x + 1
            z = await asyncio.to_thread(lambda: y + 1)
        assert scope.released >= 3
        return x, y, z

    async def plain(ready, others):
        await ready.wait()
        x = be.ones(3)
        for other in others:
            other.set()
        return (x,)

    async def work():
        a, b, c = asyncio.Event(), asyncio.Event(), asyncio.Event()
        return await asyncio.gather(scoped(a, b), plain(a, [b, c]), scoped(asyncio.Event(), c))

    first, free, second = asyncio.run(work())
    assert free[0].tolist() == [1.0] * 3
    for x in (*first, *second):
        with pytest.raises(BackendClosedError):
            x.tolist()


def test_the_end_waits_for_calls_of_other_threads(be):
    """They use memory whose handle they hold; afterwards they find it closed."""
    stop, errors = threading.Event(), []

    def use():
        while not stop.is_set():
            try:
                shared[0] + 1
            except BackendClosedError:
                pass
            except Exception as error:
                errors.append(error)

    shared = [be.ones(64)]
    threads = [threading.Thread(target=use) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(30):
        with be.scoped():
            shared[0] = be.ones(64)
    stop.set()
    for thread in threads:
        thread.join()
    assert errors == []


def test_an_end_that_calls_of_others_hold_up_frees_nothing_and_can_be_repeated(be, monkeypatch):
    monkeypatch.setattr("stator.scopes._scope.PATIENCE", 0)
    go, begun = threading.Event(), threading.Event()

    def asks():  # the call for which the callback is asked is under way until the callback has answered
        with pytest.raises(OutOfMemoryError):
            be.empty(1 << 60, dtype="uint8")

    be.memory.set_failure_callback(lambda _: bool(begun.set() or not go.wait()))
    waiting = threading.Thread(target=asks)
    scope = be.scoped()
    with pytest.raises(InFlightError, match="close"), scope:
        x = be.ones(3)
        waiting.start()
        begun.wait()
    assert not scope.closed
    go.set()
    waiting.join()
    be.memory.set_failure_callback(None)
    assert x.tolist() == [1.0] * 3
    scope.close()
    assert (scope.closed, scope.released) == (True, 1)
    with pytest.raises(BackendClosedError):
        x.tolist()


def test_backends_have_scopes_of_their_own(be):
    with stator.Backend(be.device_name) as other, be.scoped():
        x = other.ones(2)
        with other.scoped():
            y, z = be.ones(2), other.ones(2)
        assert (x.tolist(), y.tolist()) == ([1.0, 1.0], [1.0, 1.0])
        for gone in (z,):
            with pytest.raises(BackendClosedError):
                gone.tolist()
    with pytest.raises(BackendClosedError):
        y.tolist()


def test_a_cleanup_that_raises_in_a_scope_frees_the_rest(be):
    with pytest.raises(CleanupError, match=r"Backend\.scoped"), be.scoped():
        x = be.ones(2)
        held = be.scopes.create_resource(lambda device: x, lambda x: 1 // 0)
    assert not held.is_available()
    assert live(be) == 0
    assert be.ones(1).item() == 1.0


def test_a_scope_is_entered_once_and_closed_as_often_as_one_likes(be):
    scope = be.scoped()
    scope.close()
    with scope:
        x = be.ones(2)
        scope.close()
        assert scope.released == 1
        y = be.ones(2)
    assert y.tolist() == [1.0, 1.0]
    with pytest.raises(InvalidValueError, match="entered before"), scope:
        pass
    with pytest.raises(InvalidValueError, match=r"Scope\.keep"):
        scope.keep(y)
    with be.scoped() as other, pytest.raises(DTypeError, match=r"Scope\.keep"):
        other.keep(1)
    del x


def test_a_scope_may_outlive_its_backend(device):
    with stator.Backend(device) as be, be.scoped() as scope:
        x = be.ones(2)
        be.close()
    assert scope.closed
    with pytest.raises(BackendClosedError, match=r"(?i)backend on .* is closed"):
        x.tolist()
    with pytest.raises(BackendClosedError, match="scoped"), be.scoped():
        pass
