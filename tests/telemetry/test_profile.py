"""Backend.telemetry.profile: a trace of calls in Chrome's format."""

import json
import threading
import time

import pytest

import stator
from stator.errors import DTypeError, InvalidValueError, ShapeError


def spans(path, pid):
    """(name, tid, begin, end) of a process of the trace: 1 is the host, 2 the device."""
    events = json.loads(path.read_text())["traceEvents"]
    found = [e for e in events if e["ph"] == "X" and e["pid"] == pid]
    return [(e["name"], e["tid"], e["ts"], e["ts"] + e["dur"]) for e in found]


def test_the_trace_has_the_calls_and_their_work(be, tmp_path):
    x = be.ones((50, 50))
    with be.telemetry.profile(tmp_path / "trace.json"):
        y = x @ x
        z = y + 1
        z.to_numpy()
    x.sum()
    host, device = spans(tmp_path / "trace.json", 1), spans(tmp_path / "trace.json", 2)
    wanted = ["matmul", "add", "Array.to_numpy"]
    assert [name for name, *_ in host] == wanted
    assert [name for name, *_ in device] == wanted
    assert {tid for _, tid, *_ in host} == {threading.get_native_id()}
    assert {tid for _, tid, *_ in device} == {0}
    assert all(0 <= begin <= end for _, _, begin, end in host + device)
    begins = [begin for _, _, begin, _ in host]
    assert begins == sorted(begins)


def test_no_work_begins_before_its_call_where_the_device_was_busy(be, tmp_path):
    x = be.ones(10)
    be.stream(0).add_callback(lambda: time.sleep(0.03))
    with be.telemetry.profile(tmp_path / "trace.json"):
        time.sleep(0.01)
        x + x
    (host,), (device,) = (spans(tmp_path / "trace.json", pid) for pid in (1, 2))
    assert device[2] >= host[2]


def test_threads_and_streams_have_rows_of_their_own(be, tmp_path):
    x = be.ones(10)
    be.synchronize()  # stream 1 does not wait for it

    def work():
        with be.stream(1):
            x + x

    with be.telemetry.profile(tmp_path / "trace.json"):
        thread = threading.Thread(target=work, name="the other one")
        thread.start()
        native = thread.native_id
        thread.join()
        x * x
    host = {name: tid for name, tid, *_ in spans(tmp_path / "trace.json", 1)}
    assert host["add"] == native
    assert host["multiply"] == threading.get_native_id()
    device = {name: tid for name, tid, *_ in spans(tmp_path / "trace.json", 2)}
    assert (device["add"], device["multiply"]) == (1, 0)


def test_a_profile_leaves_the_counters_alone(be, tmp_path):
    before = be.telemetry.snapshot()["ops"]
    with be.telemetry.profile(tmp_path / "trace.json"):
        be.ones(3)
    assert not be.telemetry.enabled
    assert be.telemetry.snapshot()["ops"] == before


def test_what_an_error_leaves_is_written(be, tmp_path):
    x, y = be.ones(3), be.ones(4)
    with pytest.raises(ShapeError), be.telemetry.profile(tmp_path / "trace.json"):
        x + y
    assert [name for name, *_ in spans(tmp_path / "trace.json", 1)] == ["add"]
    with be.telemetry.profile(tmp_path / "again.json"):
        x + x
    assert [name for name, *_ in spans(tmp_path / "again.json", 2)] == ["add"]


def test_a_profile_in_a_profile_is_refused(be, tmp_path):
    with be.telemetry.profile(tmp_path / "trace.json"):
        with pytest.raises(InvalidValueError, match="trace"), be.telemetry.profile(tmp_path / "second.json"):
            pass
        be.ones(3)
    assert [name for name, *_ in spans(tmp_path / "trace.json", 1)] == ["full"]


def test_a_path_that_cannot_be_written_is_told_before_the_block(be, tmp_path):
    with pytest.raises(DTypeError, match="Got path of type int"):
        be.telemetry.profile(1)
    ran = False
    with pytest.raises(FileNotFoundError), be.telemetry.profile(tmp_path / "missing" / "trace.json"):
        ran = True
    assert not ran


def test_the_backend_may_close_in_the_block(device, tmp_path):
    backend = stator.Backend(device)
    with backend.telemetry.profile(tmp_path / "trace.json"):
        backend.ones(3)
        backend.close()
    assert [name for name, *_ in spans(tmp_path / "trace.json", 1)] == ["full", "Backend.synchronize"]  # close() waits
