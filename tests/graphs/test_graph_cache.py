"""Graphs by key: what the second execution uses, and which graphs and backends are refused."""

import numpy as np
import pytest

import stator
from stator.backends.traits import adapt
from stator.errors import BackendClosedError, BackendMismatchError, CaptureError


def test_the_second_execution_uses_the_cached_graph(be):
    a, b, out = be.ones(1024, dtype="float32"), be.ones(1024, dtype="float32"), be.zeros(1024, dtype="float32")
    created = []

    def creator():
        created.append(1)
        with be.capture() as graph:
            out[...] = a + b
        return graph

    for value in (1, 7):
        a[...] = value
        with be.telemetry.measure() as m:
            be.graphs.get_or_create(("add", a.shape), creator).launch()
        assert out.tolist() == [value + 1] * 1024
    assert created == [1]
    ops = m.difference["ops"]
    assert ops.keys() == {"Graph.launch"} and ops["Graph.launch"]["graph_launches"] == 1  # of the second execution
    be.graphs.clear_cache()


@pytest.mark.parametrize("name", ["elementwise_add_f32_graph", "matmul_f32_graph"])
def test_each_later_call_of_the_adapter_finds_its_graph(be, name):
    adapter = adapt(be)
    function = adapter._add if "add" in name else adapter._matmul
    rng = np.random.default_rng(0)
    products = be.device.type == "cuda" and "matmul" in name  # cuBLAS's addresses cannot be changed
    captures = []
    for n in range(4):
        a, b = (be.asarray(rng.integers(0, 9, (8, 8)).astype("float32")) for _ in range(2))
        expected = a.to_numpy() + b.to_numpy() if "add" in name else a.to_numpy() @ b.to_numpy()
        np.testing.assert_array_equal(getattr(adapter, name)(a, b).to_numpy(), expected)
        assert (function.cache_info().hits, function.cache_info().graphs) == (n, 1)
        captures.append(function.cache_info().captures)
    assert captures == ([1, 2, 3, 4] if products else [1, 2, 2, 2])  # the second call learns which addresses change
    adapter.clear_graph_cache()
    assert function.cache_info().graphs == 0


def test_a_closed_backend_calls_no_creator(device):
    called = []
    with stator.Backend(device) as be:
        x = be.zeros(3)
        with be.capture() as graph:
            x += 1
        assert be.graphs.get_or_create("kept", lambda: graph) is graph
    for key in ("new", "kept"):
        with pytest.raises(BackendClosedError, match=r"^Backend\.graphs\.get_or_create: "):
            be.graphs.get_or_create(key, lambda: called.append(1))
    with pytest.raises(BackendClosedError, match=r"^BackendAdapter\.get_or_create_graph: "):
        adapt(be).get_or_create_graph("new", lambda: called.append(1))
    assert not called


def test_a_graph_of_another_backend_is_refused_and_not_kept(be):
    with stator.Backend(be.device_name) as other:
        x = other.zeros(3)
        with other.capture() as graph:
            x += 1
        with pytest.raises(BackendMismatchError, match=r"^Backend\.graphs\.get_or_create: .*another backend"):
            be.graphs.get_or_create("key", lambda: graph)
        with pytest.raises(BackendMismatchError, match=r"^BackendAdapter\.launch_graph: "):
            adapt(be).launch_graph(graph)
        assert x.tolist() == [0, 0, 0]
    y = be.zeros(3)
    with be.capture() as own:
        y += 1
    assert be.graphs.get_or_create("key", lambda: own) is own
    be.graphs.clear_cache()


def test_errors_have_the_name_of_the_call_that_was_made(device):
    with stator.Backend(device) as be:
        for end, name in ((be.graphs.end_capture, "Backend.graphs.end_capture"), (None, None)):
            be.graphs.begin_capture()
            with pytest.raises(CaptureError, match=r"^BackendAdapter\.begin_graph_capture: "):
                adapt(be).begin_graph_capture()
            be.stream(1).wait(be.current_stream.record())
            with be.stream(1):
                x = be.ones(3) + 1
            end = end or adapt(be).end_graph_capture
            with pytest.raises(CaptureError, match=rf"^{name or 'BackendAdapter.end_graph_capture'}: .*was not joined"):
                end()
            del x
        be.graphs.begin_capture()
    with pytest.raises(BackendClosedError, match=r"^Backend\.graphs\.end_capture: "):
        be.graphs.end_capture()
    with pytest.raises(BackendClosedError, match=r"^Backend\.graphs\.begin_capture: "):
        be.graphs.begin_capture()
    with pytest.raises(BackendClosedError, match=r"^Backend\.graphs\.is_capturing: "):
        _ = be.graphs.is_capturing
    with pytest.raises(stator.errors.DTypeError, match=r"^ones: "), stator.Backend(device) as other:
        adapt(other).get_or_create_graph("key", lambda: other.ones("three"))  # an error of the creator keeps its name
