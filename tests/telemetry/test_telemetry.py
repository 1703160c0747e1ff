"""Backend.telemetry: what is counted, to which op, and what is not known."""

import copy
import json
import pickle
import threading

import pytest

import stator
from stator import testing
from stator.errors import BackendClosedError, DTypeError, ShapeError, StatorError, UnsupportedError
from stator.telemetry import Telemetry
from stator.telemetry._figures import MAXIMA, difference


@pytest.fixture
def fresh(device):
    """A backend of its own, so that nothing is in its pool."""
    with stator.Backend(device) as backend:
        yield backend


def test_nothing_is_counted_before_enable_and_after_disable(fresh):
    fresh.ones(3)
    assert fresh.telemetry.snapshot()["ops"] == {}
    fresh.telemetry.enable()
    assert fresh.telemetry.enabled
    x = fresh.ones(3)
    fresh.telemetry.disable()
    assert not fresh.telemetry.enabled
    assert (x + x).tolist() == [2, 2, 2]
    assert list(fresh.telemetry.snapshot()["ops"]) == ["full"]


def test_calls_launches_and_bytes_belong_to_the_op_that_was_called(fresh):
    x = fresh.ones(1000)
    with fresh.telemetry.measure() as m:
        y = x + x
        z = y * y
        host = (z + x).to_numpy()
    ops = m.difference["ops"]
    assert set(ops) == {"add", "multiply", "Array.to_numpy"}
    assert [ops[op]["calls"] for op in ("add", "multiply", "Array.to_numpy")] == [2, 1, 1]
    assert ops["add"]["kernel_launches"] == 2
    assert ops["multiply"]["allocations"] + m.difference["caches"]["pool"]["hits"] >= 1
    assert ops["Array.to_numpy"]["d2h_bytes"] == host.nbytes
    assert ops["Array.to_numpy"]["synchronisations"] >= 1
    assert ops["add"]["synchronisations"] == 0
    assert ops["add"]["wall_seconds"] >= ops["add"]["longest_wall_seconds"] > 0


def test_what_an_op_calls_is_its_own(fresh):
    a = stator.asarray([[4.0, 1.0], [1.0, 3.0]], device=fresh)
    with fresh.telemetry.measure() as m:
        stator.linalg.pinv(a)
    assert set(m.difference["ops"]) == {"linalg.pinv"}
    assert m.difference["ops"]["linalg.pinv"]["calls"] == 1
    assert m.difference["total"]["calls"] == 1
    assert m.difference["total"]["kernel_launches"] > 1


def test_the_total_is_the_sum(fresh):
    fresh.telemetry.enable()
    x = fresh.ones((8, 8))
    (x @ x + x).to_numpy()
    found = fresh.telemetry.snapshot()
    for key in ("calls", "kernel_launches", "library_calls", "allocations", "d2h_bytes", "synchronisations"):
        assert found["total"][key] == sum(figures[key] for figures in found["ops"].values())
    statistics = fresh.statistics()
    assert found["total"]["kernel_launches"] == statistics["kernel_launches"]
    assert found["total"]["library_calls"] == statistics["library_calls"]
    assert found["total"]["d2h_bytes"] == statistics["d2h_bytes"]


def test_a_call_that_fails_is_counted_and_leaves_nothing_open(fresh):
    x, y = fresh.ones(3), fresh.ones(4)
    fresh.telemetry.enable()
    with pytest.raises(ShapeError):
        x + y
    assert fresh.telemetry.snapshot()["ops"]["add"]["calls"] == 1
    fresh.ones(3)
    assert fresh.telemetry.snapshot()["ops"]["full"]["calls"] == 1


def test_times_on_the_device_are_known_when_the_work_has_finished(fresh):
    fresh.telemetry.enable(device_time=True)
    x = fresh.ones((200, 200))
    for _ in range(3):
        y = x + x
    fresh.synchronize()
    add = fresh.telemetry.snapshot()["ops"]["add"]
    assert (add["dispatches"], add["untimed_dispatches"]) == (3, 0)
    assert add["device_seconds"] >= add["longest_device_seconds"] > 0
    assert add["device_seconds"] <= 3 * add["longest_device_seconds"] + 1e-9
    assert y[0, 0] == 2


def test_opening_a_stream_has_a_time(fresh):
    fresh.telemetry.enable(device_time=True)
    stream = fresh.stream(1)  # it zeroes memory
    stream.synchronize()
    found = fresh.telemetry.snapshot()["ops"]["Backend.stream"]
    assert (found["dispatches"], found["untimed_dispatches"]) == (1, 0)


def test_dispatches_without_a_time_are_counted(fresh):
    fresh.telemetry.enable()
    fresh.ones(3) + 1
    fresh.synchronize()
    add = fresh.telemetry.snapshot()["ops"]["add"]
    assert (add["dispatches"], add["untimed_dispatches"], add["device_seconds"]) == (1, 1, 0.0)


def test_threads_beyond_the_elements_are_counted_where_the_elements_are_known(fresh):
    x = fresh.ones(10)
    with fresh.telemetry.measure() as m:
        x + x
    add = m.difference["ops"]["add"]
    assert add["idle_thread_slots"] == max(add["thread_slots"] - 10, 0)
    with fresh.telemetry.measure() as m:
        x.sum()
    assert m.difference["ops"]["sum"]["idle_thread_slots"] is None
    assert m.difference["total"]["idle_thread_slots"] is None


def test_a_graph_is_one_launch(fresh):
    x = fresh.ones(10)
    with fresh.capture() as graph:
        y = x + 1
        y = y * y
    with fresh.telemetry.measure() as m:
        graph.launch()
        graph.launch()
    assert m.difference["ops"]["Graph.launch"]["graph_launches"] == 2
    assert m.difference["total"]["kernel_launches"] == 0
    assert y.tolist() == [4] * 10


def test_work_that_is_captured_has_no_time(fresh):
    x = fresh.ones(10)
    with fresh.capture():
        x + 1  # the stream that memory comes from meanwhile is opened
    fresh.telemetry.enable(device_time=True)
    with fresh.capture() as graph:
        y = x + 1
    assert fresh.telemetry.snapshot()["ops"]["add"]["dispatches"] == 0
    graph.launch()
    assert y.tolist() == [2] * 10
    assert fresh.telemetry.snapshot()["ops"]["Graph.launch"]["untimed_dispatches"] == 0


def test_reset_begins_anew(fresh):
    fresh.telemetry.enable()
    fresh.ones(3)
    fresh.telemetry.reset()
    assert fresh.telemetry.snapshot()["ops"] == {}
    fresh.ones(3)
    assert fresh.telemetry.snapshot()["ops"]["full"]["calls"] == 1


def test_a_measurement_leaves_telemetry_as_it_was(fresh):
    with fresh.telemetry.measure():
        fresh.ones(3)
    assert not fresh.telemetry.enabled
    fresh.telemetry.reset()
    fresh.telemetry.enable(device_time=True)
    with fresh.telemetry.measure() as m:
        fresh.ones(3)
    assert fresh.telemetry.enabled
    assert m.difference["ops"]["full"]["calls"] == 1
    fresh.synchronize()
    assert fresh.telemetry.snapshot()["ops"]["full"]["untimed_dispatches"] == 0


def test_maxima_of_a_difference_are_its_own_or_unknown(fresh):
    fresh.telemetry.enable(device_time=True)
    x = fresh.ones(3)
    x + x
    fresh.synchronize()
    before = fresh.telemetry.snapshot()["ops"]["add"]
    with fresh.telemetry.measure() as m:
        x + x
        fresh.synchronize()
    assert m.difference["ops"]["add"] == difference(before, fresh.telemetry.snapshot()["ops"]["add"])
    assert m.difference["ops"]["add"]["device_seconds"] > 0
    for longest, expected in ((0.5, None), (0.75, 0.75)):
        maxima = dict.fromkeys(MAXIMA, 0.5), dict.fromkeys(MAXIMA, longest)
        found = difference(*(before | values for values in maxima))
        assert [found[key] for key in MAXIMA] == [expected] * len(MAXIMA)


def test_caches_have_hits_and_misses(fresh):
    x = fresh.ones(64, dtype="complex64")
    fresh.fft.fft(x)
    with fresh.telemetry.measure() as m:
        fresh.fft.fft(x)
    pool = m.difference["caches"]["pool"]
    assert pool["hits"] + pool["misses"] >= 1
    double = stator.graph(lambda a: a * 2)
    with fresh.telemetry.measure() as m:
        for _ in range(3):
            double(x)
    assert (m.difference["caches"]["graphs"]["hits"], m.difference["caches"]["graphs"]["misses"]) == (2, 2)
    assert m.difference["caches"]["graphs"]["entries"] >= 1


def test_threads_count_together(fresh):
    x = fresh.ones(16)
    fresh.telemetry.enable(device_time=True)

    def work():
        for _ in range(50):
            x + x

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    fresh.synchronize()
    add = fresh.telemetry.snapshot()["ops"]["add"]
    assert (add["calls"], add["kernel_launches"], add["untimed_dispatches"]) == (200, 200, 0)


def test_events_are_given_back(device):
    before = testing.outstanding("cpu" if device == "cpu" else "cuda")
    with stator.Backend(device) as backend:
        backend.telemetry.enable(device_time=True)
        for _ in range(200):
            backend.ones(10)
    assert testing.outstanding("cpu" if device == "cpu" else "cuda") == before


def test_counters_can_be_read_after_close(device):
    with stator.Backend(device) as backend:
        backend.telemetry.enable(device_time=True)
        backend.ones(3)
    found = backend.telemetry.snapshot()["ops"]["full"]
    assert (found["calls"], found["untimed_dispatches"]) == (1, 0)
    with pytest.raises(BackendClosedError):
        backend.telemetry.enable()


def test_every_runtime_call_that_fails_leaves_telemetry_working(fresh):
    """Its own events are not calls of the runtime that could fail here, and none is lost."""
    fresh.telemetry.enable(device_time=True)
    x = fresh.ones(10)
    for at in range(4):
        testing.inject(fresh, fail_at=at)
        try:
            x + x
        except (StatorError, MemoryError):
            pass
        finally:
            testing.lift(fresh)
    assert (x + x).tolist() == [2] * 10
    fresh.synchronize()
    add = fresh.telemetry.snapshot()["ops"]["add"]
    assert add["calls"] == 5
    assert add["untimed_dispatches"] == 0


def test_json_and_prometheus_say_the_same(fresh):
    fresh.telemetry.enable()
    (fresh.ones(3) + 1).to_numpy()
    found = json.loads(fresh.telemetry.to_json())
    assert found == fresh.telemetry.snapshot()
    lines = fresh.telemetry.to_prometheus().splitlines()
    values = {line.rpartition(" ")[0]: line.rpartition(" ")[2] for line in lines if not line.startswith("#")}
    for op, figures in found["ops"].items():
        labels = f'{{device="{fresh.device_name}",op="{op}"}}'
        assert values[f"stator_calls_total{labels}"] == str(figures["calls"])
        assert float(values[f"stator_wall_seconds_total{labels}"]) == figures["wall_seconds"]
        assert (f"stator_idle_thread_slots_total{labels}" in values) == (figures["idle_thread_slots"] is not None)
    named = [line.split(" ")[2] for line in lines if line.startswith("# TYPE")]
    assert len(named) == len(set(named))
    assert {line.partition("{")[0] for line in values} == set(named)


@pytest.mark.parametrize("argument", ["device_time", "nvtx"])
def test_flags_are_flags(be, argument):
    with pytest.raises(DTypeError, match=argument):
        be.telemetry.enable(**{argument: "yes"})
    assert not be.telemetry.enabled


def test_it_is_an_attribute_of_a_backend():
    with pytest.raises(DTypeError, match="Use the attribute of a Backend"):
        Telemetry("cpu")


def test_a_copy_and_a_pickle_are_of_the_same_backend(be):
    for made in (copy.copy(be.telemetry), pickle.loads(pickle.dumps(be.telemetry))):
        assert repr(made) == repr(be.telemetry) == f"<stator.telemetry.Telemetry of {be.device_name}>"


def test_unsupported_nvtx_changes_nothing(be):
    be.telemetry.enable(device_time=True)
    try:
        with pytest.raises(UnsupportedError):
            be.telemetry.enable(nvtx=True)
        assert be.telemetry.enabled
    finally:
        be.telemetry.disable()
        be.telemetry.reset()


def test_a_snapshot_does_not_wait_for_a_capture(fresh):
    """Which holds the lock of its function while the function runs."""
    x = fresh.ones(3)
    taken = []

    @stator.graph
    def step(a):
        thread = threading.Thread(target=lambda: taken.append(fresh.telemetry.snapshot()))
        thread.start()
        thread.join(timeout=300)
        return a + 1

    assert step(x).tolist() == [2, 2, 2]
    assert taken
