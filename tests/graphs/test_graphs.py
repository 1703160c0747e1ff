"""Work that is captured and launched as a graph."""

import gc
import re

import numpy as np
import pytest

import stator
from stator.backends.traits import adapt
from stator.errors import BackendMismatchError, CaptureError, DTypeError, InvalidValueError, ShapeError


def numbers(be, *shape, seed=0, dtype="float32"):
    return be.asarray(np.random.default_rng(seed).uniform(0.5, 2, shape).astype(dtype))


def test_captured_work_runs_when_the_graph_is_launched(be):
    x = be.ones(3)
    with be.capture() as graph:
        y = x + 1
        z = stator.sum(y * 2)
    graph.launch()
    assert y.tolist() == [2, 2, 2] and float(z) == 12
    x[...] = 5
    graph.replay()
    assert y.tolist() == [6, 6, 6] and float(z) == 36
    assert [(node.kind, node.op) for node in graph.nodes] == [
        ("kernel", "add"),
        ("kernel", "multiply"),
        ("kernel", "sum"),
    ]


def test_nothing_runs_while_work_is_captured(be):
    x = be.zeros(4)
    with be.capture():
        x += 1
    assert x.tolist() == [0, 0, 0, 0]


def test_a_graph_owns_what_its_work_uses(be):
    x = be.ones((1000,))
    with be.capture() as graph:
        y = stator.sqrt(x + 3) * 2
    del x
    gc.collect()
    others = [be.full((1000,), 9.0) for _ in range(8)]  # would be given memory that the graph uses
    graph.launch()
    assert y.tolist() == [4] * 1000
    assert all(o.tolist() == [9] * 1000 for o in others)
    assert [r["kind"] for r in be.resources()].count("graph") == 1
    del graph
    gc.collect()
    assert "graph" not in [r["kind"] for r in be.resources()]
    assert y.tolist() == [4] * 1000


def test_memory_of_a_graph_is_that_of_its_largest_moment(be):
    def chain(x):
        for _ in range(20):
            x = x + 1
        return x

    x = be.zeros(1 << 16, dtype="float32")
    with be.capture() as graph:
        y = chain(x)
    assert graph.nbytes <= 3 * y.nbytes
    graph.launch()
    assert float(y[0]) == 20


def test_memory_of_a_graph_that_is_gone_waits_for_its_last_launch(be):
    x, out = be.ones(50_000), be.zeros(50_000)
    with be.capture() as graph:
        out[...] = (x + 1) * 2
    be.synchronize()
    graph.launch(stream=be.stream(1))
    del graph
    gc.collect()
    others = [be.full(50_000, 9.0) for _ in range(3)]  # in stream 0, which the graph's memory is of
    be.synchronize()
    assert all(np.all(o.to_numpy() == 9) for o in others)
    assert np.all(out.to_numpy() == 4)


def test_a_graph_runs_in_the_order_of_the_stream_that_it_is_launched_in(be):
    x = be.zeros(100_000)
    with be.capture() as graph:
        y = x * 2
    other = be.stream(1)
    be.synchronize()
    with other:
        x[...] = 21
    graph.launch(stream=other)
    assert y.to_numpy().tolist() == [42] * 100_000  # read in stream 0, which the graph also follows


def test_streams_that_wait_for_captured_work_are_captured_too(be):
    side, main = be.stream(1), be.stream(0)
    x = be.ones(50)
    be.synchronize()
    with be.capture() as graph:
        a = x + 1
        side.wait(main.record())
        with side:
            b = a * 3
        c = a * 5
        main.wait(side.record())
        d = b + c
    graph.launch()
    assert d.tolist() == [16] * 50


def test_a_stream_that_is_not_joined_again_is_an_error_and_the_next_capture_works(be):
    side, main = be.stream(1), be.stream(0)
    x = be.ones(5)
    be.synchronize()
    with pytest.raises(CaptureError, match="was not joined"), be.capture():
        side.wait(main.record())
        with side:
            x + 1
    assert not be.graphs.is_capturing
    with side:
        assert (x + 1).tolist() == [2] * 5
    with be.capture() as graph:
        y = x + 1
    graph.launch()
    assert y.tolist() == [2] * 5


@pytest.mark.parametrize(
    "wait",
    [
        lambda be, x: x.to_numpy(),
        lambda be, x: float(x[0]),
        lambda be, x: be.synchronize(),
        lambda be, x: be.current_stream.synchronize(),
        lambda be, x: be.current_stream.done(),
        lambda be, x: stator.unique_values(x),
        lambda be, x: be.asarray(np.ones(3)),
        lambda be, x: x.copy_from(np.ones(3)),
    ],
    ids=["to_numpy", "float", "backend", "stream", "query", "unique", "asarray", "copy_from"],
)
def test_what_waits_is_refused_and_the_capture_can_go_on(be, wait):
    x = be.ones(3)
    with be.capture() as graph:
        y = x + 1
        with pytest.raises(CaptureError):
            wait(be, x)
        z = y + 1
    graph.launch()
    assert z.tolist() == [3, 3, 3]


def test_an_error_names_the_op_that_cannot_be_captured(be):
    x = be.ones((3, 3))
    with pytest.raises(CaptureError, match=r"(?s)linalg.det.*host"), be.capture():
        stator.linalg.det(x)
    assert float(stator.linalg.det(stator.eye(3, device=be))) == 1


def test_an_exception_ends_the_capture(be):
    x = be.ones(3)
    with pytest.raises(ZeroDivisionError), be.capture() as graph:
        x += 1
        1 / 0  # noqa: B018
    assert not be.graphs.is_capturing and x.tolist() == [1, 1, 1]
    with pytest.raises(CaptureError, match="has not been captured"):
        graph.launch()


def test_a_capture_within_one_is_refused(be):
    x = be.ones(3)
    with be.capture() as graph:
        y = x + 1
        with pytest.raises(CaptureError, match="captured already"), be.capture():
            pass
    graph.launch()
    assert y.tolist() == [2, 2, 2]


def test_a_graph_can_be_part_of_another(be):
    x = be.ones(3)
    with be.capture() as inner:
        y = x + 1
    with be.capture() as outer:
        x += 1
        inner.launch()
        z = y * 10
    del inner
    gc.collect()
    outer.launch()
    assert z.tolist() == [30] * 3
    outer.launch()
    assert z.tolist() == [40] * 3


def test_closing_while_capturing_leaves_nothing():
    be = stator.Backend("cpu")
    x = be.ones(3)
    with pytest.raises(stator.errors.BackendClosedError), be.capture():
        y = x + 1
        be.close()
    del x, y
    gc.collect()
    assert be.resources() == []


def test_a_graph_of_a_closed_backend_is_refused():
    be = stator.Backend("cpu")
    x = be.ones(3)
    with be.capture() as graph:
        x += 1
    be.close()
    with pytest.raises(stator.errors.BackendClosedError):
        graph.launch()


def step(x, w, scale=2.0):
    h = stator.tanh(x * scale + w)
    return {"h": h, "rest": x[1:], "sum": stator.sum(h, axis=0), "name": "step"}


def check_step(be, f, seed, shape=(4, 3), scale=2.0):
    x, w = numbers(be, *shape, seed=seed), numbers(be, shape[1], seed=seed + 1)
    got, expected = f(x, w, scale), step(x, w, scale)
    assert got["name"] == "step"
    for key in ("h", "rest", "sum"):
        np.testing.assert_array_equal(got[key].to_numpy(), expected[key].to_numpy())
    return got


def test_a_function_is_captured_twice_and_then_given_other_arguments(be):
    f = be.graph(step)
    kept = [check_step(be, f, seed) for seed in range(6)]
    assert f.cache_info().hits == 5
    captures = f.cache_info().captures
    first = kept[0]["h"].to_numpy()
    kept += [check_step(be, f, 9)]
    assert f.cache_info().captures == captures  # nothing was captured again
    np.testing.assert_array_equal(kept[0]["h"].to_numpy(), first)  # results are arrays of their own


def test_each_kind_of_arguments_has_a_graph(be):
    f = be.graph(step)
    for shape, scale in (((4, 3), 2.0), ((5, 3), 2.0), ((4, 3), 3.0), ((4, 3), 2)):
        for seed in range(3):
            check_step(be, f, seed, shape, scale)
    assert f.cache_info().graphs == 4
    turned = numbers(be, 3, 4).T
    np.testing.assert_array_equal(
        f(turned, numbers(be, 3), 2.0)["h"].to_numpy(), step(turned, numbers(be, 3), 2.0)["h"].to_numpy()
    )
    assert f.cache_info().graphs == 5


def test_arguments_that_share_memory_have_a_graph_of_their_own(be):
    f = be.graph(lambda a, b: a - 2 * b)
    x, y, z = numbers(be, 8), numbers(be, 8, seed=1), numbers(be, 8, seed=2)
    for a, b in ((x, y), (x, x), (y, z), (y, y), (z, x), (z, z), (x[:4], x[4:]), (y[:4], y[4:]), (z[:4], z[4:])):
        np.testing.assert_array_equal(f(a, b).to_numpy(), (a - 2 * b).to_numpy())
    assert f.cache_info().graphs == 3


def test_a_function_changes_its_argument_in_place(be):
    @be.graph
    def add_one(x):
        x += 1
        return x

    for start in range(4):
        x = be.full((5,), float(start))
        assert add_one(x) is not None
        assert x.tolist() == [start + 1] * 5


def test_an_array_from_outside_is_read_at_every_call(be):
    outside = be.ones(3)
    f = be.graph(lambda x: x + outside)
    for value in range(4):
        outside[...] = value
        assert f(be.full((3,), float(value))).tolist() == [2 * value] * 3


def test_products_are_right_with_other_arguments(be):
    f = be.graph(lambda a, b: a @ b + 1)
    for seed in range(4):
        a, b = numbers(be, 40, 30, seed=seed), numbers(be, 30, 20, seed=seed + 10)
        np.testing.assert_allclose(f(a, b).to_numpy(), a.to_numpy() @ b.to_numpy() + 1, rtol=1e-5)


def test_a_graph_function_within_a_capture_is_inline(be):
    f = be.graph(lambda x: x * 3)
    x = be.ones(4)
    with be.capture() as graph:
        y = f(x) + 1
    graph.launch()
    assert y.tolist() == [4] * 4 and f.cache_info().graphs == 0


def test_results_go_where_out_says(be):
    f = be.graph(step)
    for seed in range(5):
        x, w = numbers(be, 4, 3, seed=seed), numbers(be, 3, seed=seed + 1)
        out = {"h": be.zeros((4, 3), dtype="float32"), "rest": be.zeros((3, 3), dtype="float32")}
        out |= {"sum": be.zeros((3,), dtype="float32"), "name": "step"}
        assert f(x, w, out=out) is out
        for key in ("h", "rest", "sum"):
            np.testing.assert_array_equal(out[key].to_numpy(), step(x, w)[key].to_numpy())


def test_out_may_be_strided_or_an_argument(be):
    f = be.graph(lambda x, y: stator.sum(x) + y)
    for seed in range(5):
        x, y = numbers(be, 64, seed=seed), numbers(be, 64, seed=seed + 1)
        expected = (stator.sum(x) + y).to_numpy()
        wide = be.zeros((128,), dtype="float32")
        f(x, y, out=wide[::2])
        np.testing.assert_array_equal(wide[::2].to_numpy(), expected)
        f(x, y, out=x)  # is read by the work after the first kernel that could have written to it
        np.testing.assert_array_equal(x.to_numpy(), expected)


def test_an_out_that_does_not_fit_is_refused(be):
    f = be.graph(lambda x: x + 1)
    for _ in range(3):
        f(be.zeros(4))
    with pytest.raises(ShapeError):
        f(be.zeros(4), out=be.zeros(5))
    with pytest.raises(DTypeError):
        f(be.zeros(4), out=be.zeros(4, dtype="int32"))
    with pytest.raises(InvalidValueError, match="structure"):
        f(be.zeros(4), out=[be.zeros(4)])
    assert be.graph(lambda x, out: x + out)(be.ones(1), be.ones(1)).tolist() == [2]


def test_a_graph_is_drawn_with_what_orders_its_calls(be):
    x = be.ones(4)
    with be.capture() as graph:
        a = x + 1
        b = x * 2
        c = a - b
        be.graphs.while_loop(lambda c: stator.max(c) < 3, lambda c: c + 1, c)
    drawn = graph.to_dot()
    assert 'n0 [label="add"]' in drawn and "loop: while" in drawn
    assert "n0 -> n2" in drawn and "n1 -> n2" in drawn and "n0 -> n1" not in drawn


def edges(graph):
    return sorted((int(a), int(b)) for a, b in re.findall(r"n(\d+) -> n(\d+);", graph.to_dot()))


def test_a_graph_has_no_edges_but_those_that_its_calls_need(be):
    x = be.ones(4)
    with be.capture() as independent:
        apart = [x + n for n in range(3)]
    with be.capture() as diamond:
        top = x + 1
        left, right = top * 2, top * 3
        bottom = left - right
    with be.capture() as chain:
        first = x + 1
        second = first * 2
        third = second - 3
    assert edges(independent) == []
    assert edges(diamond) == [(0, 1), (0, 2), (1, 3), (2, 3)]
    assert edges(chain) == [(0, 1), (1, 2)]
    for graph in (independent, diamond, chain):
        graph.launch()
    assert [y.tolist()[0] for y in (*apart, bottom, third)] == [1, 2, 3, -2, 1]


def test_graphs_beyond_the_limit_are_dropped_the_oldest_first(be):
    f = be.graph(lambda x: x + 1, max_graphs=2)
    for n in (1, 2, 1, 3, 1):
        f(be.zeros(n))
    info = f.cache_info()
    assert (info.graphs, info.evictions, info.max_graphs) == (2, 1, 2)
    f.clear_cache()
    assert f.cache_info().graphs == 0


def test_graphs_beyond_the_bytes_are_dropped_the_oldest_first(be):
    probe = be.graph(lambda x: (x + 1) * 2)
    probe(be.zeros(1000))
    one = probe.cache_info().nbytes
    f = be.graph(lambda x: (x + 1) * 2, max_bytes=3 * one)
    for shape in ((1000,), (1000,), (10, 100), (100, 10), (1000,)):
        f(be.zeros(shape))
    assert (f.cache_info().graphs, f.cache_info().evictions, f.cache_info().nbytes) == (3, 0, 3 * one)
    f(be.zeros((1000, 1)))
    assert (f.cache_info().graphs, f.cache_info().evictions) == (3, 1)
    hits = f.cache_info().hits
    f(be.zeros(1000)), f(be.zeros((100, 10)))
    assert f.cache_info().hits == hits + 2
    f(be.zeros((10, 100)))  # was used longest ago
    assert f.cache_info().hits == hits + 2


def test_a_graph_of_more_bytes_than_the_limit_is_kept(be):
    f = be.graph(lambda x: (x + 1) * 2, max_bytes=1)
    for _ in range(3):
        f(be.zeros(1000))
    assert (f.cache_info().graphs, f.cache_info().captures) == (1, 2)


def test_a_function_of_a_closed_backend_is_refused(device):
    be = stator.Backend(device)
    f, x = be.graph(lambda x: x + 1), be.ones(3)
    none = be.graph(lambda: be.ones(1) + 1)
    for _ in range(3):
        f(x), none()
    be.close()
    for call in (lambda: f(x), none, lambda: f(x, out=x)):
        with pytest.raises(stator.errors.BackendClosedError):
            call()
    assert f.cache_info().graphs == 1


def test_arguments_that_cannot_be_a_key_and_arrays_of_two_backends_are_refused(be):
    f = stator.graph(lambda x, y: x + 1)
    with pytest.raises(InvalidValueError, match="key"):
        f(be.ones(2), bytearray(b"x"))
    with stator.Backend("cpu") as other, pytest.raises(BackendMismatchError):
        f(be.ones(2), other.ones(2))
    with pytest.raises(DTypeError, match="function"):
        be.graph(3)


def test_the_seeds_names_do_the_same(be):
    assert not adapt(be).is_capturing_graph()
    be.graphs.begin_capture()
    assert adapt(be).is_capturing_graph() and be.graphs.is_capturing
    with pytest.raises(CaptureError, match=r"^Backend\.graphs\.begin_capture: "):
        be.graphs.begin_capture()
    y = be.ones(3) + 1
    graph = be.graphs.end_capture()
    assert not adapt(be).is_capturing_graph()
    adapt(be).launch_graph(graph)
    adapt(be).launch_graph(graph, be.stream(1))
    assert y.tolist() == [2, 2, 2]
    with pytest.raises(CaptureError, match="No capture"):
        be.graphs.end_capture()
    assert be.graphs.get_or_create("key", lambda: graph) is graph
    assert be.graphs.get_or_create("key", lambda: None) is graph
    with pytest.raises(DTypeError, match="returned NoneType"):
        be.graphs.get_or_create("other", lambda: None)
    for seed in range(3):
        a, b = numbers(be, 6, 6, seed=seed), numbers(be, 6, 6, seed=seed + 5)
        np.testing.assert_array_equal(adapt(be).elementwise_add_f32_graph(a, b).to_numpy(), a.to_numpy() + b.to_numpy())
        np.testing.assert_allclose(adapt(be).matmul_f32_graph(a, b).to_numpy(), a.to_numpy() @ b.to_numpy(), rtol=1e-5)
    with pytest.raises(DTypeError):
        adapt(be).elementwise_add_f32_graph(be.ones(3, dtype="float64"), be.ones(3, dtype="float64"))
    be.graphs.clear_cache()
    assert be.graphs.get_or_create("key", lambda: graph) is graph
    be.graphs.clear_cache()


def test_every_failing_call_of_the_runtime_leaves_nothing_behind(be):
    """Capture, instantiation and launches in two streams, with each call failed once."""

    def work():
        f = be.graph(lambda x: stator.sqrt(x) + stator.sum(x))
        for value in (1.0, 4.0, 9.0):
            x = be.full((4,), value)
            assert f(x).tolist() == [value**0.5 + 4 * value] * 4
        y = be.full((4,), 2.0)
        with be.capture() as graph:
            y *= 2
        graph.launch(stream=be.stream(1))
        return float(y[0])

    work()
    be.memory.empty_cache()
    for at in range(200):
        gc.collect()
        stator.testing.inject(be, fail_at=at)
        try:
            work()
            failed = False
        except stator.errors.StatorError:
            failed = True
        finally:
            count = stator.testing.lift(be)
        gc.collect()
        assert not be.graphs.is_capturing
        assert not [r for r in be.resources() if r["kind"] in ("graph", "buffer")]
        if count <= at:
            break
    assert at > 10 and not failed
    assert work() == 4
