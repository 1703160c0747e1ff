"""Threads that capture, and others that use the same streams meanwhile."""

import threading

import numpy as np
import pytest

import stator
from stator.errors import CaptureError


def test_threads_may_call_one_function(be):
    f = be.graph(lambda x: x * 2 + 1)
    wrong = []

    def work(value):
        for _ in range(30):
            x = be.full((64,), float(value))
            if f(x).tolist() != [2 * value + 1] * 64:
                wrong.append(value)

    f(be.zeros(64))
    f(be.ones(64))
    threads = [threading.Thread(target=work, args=(i,)) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def run_in_thread(work):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def test_a_function_is_launched_while_another_thread_captures_its_stream(be):
    f, said = be.graph(lambda x: x * 2 + 1), []
    for value in range(3):
        f(be.full(3, float(value)))
    with be.capture() as graph:
        y = f(be.ones(3)) + 1
        run_in_thread(lambda: said.append(f(be.full(3, 5.0)).tolist()))
    graph.launch()
    assert said == [[11.0] * 3] and y.tolist() == [4.0] * 3
    assert f.cache_info().captures == 2


def test_another_thread_uses_the_captured_stream_as_before(be):
    x, m, said = be.ones(3), be.asarray(np.eye(40, dtype=np.float32)), []

    def work():
        assert not be.graphs.is_capturing
        said.append((x + 1).tolist())
        said.append((m @ m).to_numpy().sum())
        be.synchronize()

    with be.capture() as graph:
        y = x + 2
        z = m @ m
        run_in_thread(work)
    graph.launch()
    assert said == [[2, 2, 2], 40]
    assert y.tolist() == [3, 3, 3] and z.to_numpy().sum() == 40 and len(graph) == 2


def test_two_threads_capture_the_same_stream_at_once(be):
    x, begun, said = be.ones(3), threading.Barrier(2), {}

    def work(k):
        with be.capture() as graph:
            begun.wait(30)
            y = x * k
            begun.wait(30)
        begun.wait(30)
        graph.launch()
        said[k] = y.tolist(), len(graph)

    threads = [threading.Thread(target=work, args=(k,)) for k in (2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert said == {2: ([2, 2, 2], 1), 3: ([3, 3, 3], 1)}


def test_what_another_thread_draws_is_not_in_the_graph(be):
    rng, other = stator.random.Generator(be, seed=5), stator.random.Generator(be, seed=5)
    said = []
    with be.capture() as graph:
        y = rng.normal(size=4)
        run_in_thread(lambda: said.append(rng.normal(size=4).tolist()))
    graph.launch()
    assert [said[0], y.tolist()] == [other.normal(size=4).tolist(), other.normal(size=4).tolist()]


def test_a_stream_that_waits_for_a_capture_is_refused_in_other_threads(be):
    x, said = be.ones(3), []

    def work():
        try:
            with be.stream(1):
                x + 1
        except CaptureError as error:
            said.append(str(error))

    with be.capture() as graph:
        be.stream(1).wait(be.current_stream.record())
        with be.stream(1):
            y = x + 2
        run_in_thread(work)
        be.current_stream.wait(be.stream(1).record())
    graph.launch()
    assert "captured by another thread" in said[0] and y.tolist() == [3, 3, 3]


def test_a_backend_closes_while_a_thread_that_is_gone_was_capturing(device):
    be = stator.Backend(device)
    x = be.ones(3)

    def work():
        be.graphs.begin_capture()
        x + 1

    run_in_thread(work)
    assert (x + 2).tolist() == [3, 3, 3]
    be.close()
    stator.random.seed(3)  # of all backends that there are


def test_threads_that_begin_and_end_captures_get_their_own_graphs(be):
    begun, graphs, x = threading.Barrier(2), {}, be.ones(3)

    def work(number):
        be.graphs.begin_capture(be.stream(number))
        begun.wait()
        y = x * (number + 2)
        begun.wait()
        graphs[number] = be.graphs.end_capture(), y

    threads = [threading.Thread(target=work, args=(number,)) for number in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, (graph, y) in graphs.items():
        graph.launch()
        assert y.tolist() == [number + 2.0] * 3
    with pytest.raises(CaptureError, match="No capture was begun in this thread"):
        be.graphs.end_capture()


def test_a_capture_that_its_thread_left_begun_ends_with_the_thread(be):
    run_in_thread(be.graphs.begin_capture)
    with be.capture() as graph:
        y = be.ones(3) * 2
    graph.launch()
    assert y.tolist() == [2.0] * 3
