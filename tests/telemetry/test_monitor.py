"""What a backend says of its resources: usage, limits, statistics, callbacks at thresholds, snapshots for `top`."""

import gc
import io
import json
import os
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import pytest
from rich.console import Console

import stator
from stator.backends.traits import adapt
from stator.errors import BackendClosedError, ConfigurationError, DTypeError, InvalidValueError, OutOfMemoryError
from stator.monitor import ResourceLimits, _snapshot, command
from stator.monitor._sampler import existing_monitor, monitor_of
from stator.monitor._snapshot import request_of
from stator.programs.programs import cache_of

MIB = 2**20


@pytest.fixture
def own(device):
    with stator.Backend(device) as be:
        yield be


def until(condition, seconds=300):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_the_processor_time_of_too_short_a_while_is_not_known(own, monkeypatch):
    now = [5.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr(time, "process_time", lambda: 1.5 * now[0])
    assert own.telemetry.resource_usage().cpu_percent is None
    now[0] += 0.009
    assert own.telemetry.resource_usage().cpu_percent is None
    now[0] += 2
    assert own.telemetry.resource_usage().cpu_percent == pytest.approx(150)


def test_usage_says_what_is_alive(own):
    before = own.telemetry.resource_usage()
    x = own.zeros(MIB, dtype="uint8")
    with own.stream(1):
        own.zeros(1)
    after = own.telemetry.resource_usage()
    assert after.memory_used - before.memory_used >= MIB
    assert after.buffers_allocated == before.buffers_allocated + 1
    assert after.active_streams == 2
    assert after.kernels_cached == 0
    assert x.size == MIB
    if own.device.type == "cpu":
        assert after.gpu_percent is None


def test_statistics_count_since_the_backend_was_opened(device):
    with stator.Backend(device, memory_limit=4 * MIB) as be:
        nothing = be.telemetry.resource_statistics()
        assert nothing.total_allocations == 0
        assert nothing.average_buffer_size is None and nothing.cache_hit_rate is None
        for _ in range(4):
            be.empty(MIB, dtype="uint8")
            be.synchronize()
        with pytest.raises(OutOfMemoryError):
            be.empty(8 * MIB, dtype="uint8")
        found = be.telemetry.resource_statistics()
        assert (found.total_allocations, found.total_deallocations, found.allocation_failure_count) == (5, 4, 1)
        assert found.cache_hit_rate == 3 / 5
        assert found.average_buffer_size == found.peak_memory_usage == MIB


def test_limits_are_kept_and_refused_below_what_is_in_use(own):
    assert own.telemetry.resource_limits() == ResourceLimits()
    x = own.empty(2 * MIB, dtype="uint8")
    with pytest.raises(InvalidValueError, match=r"Backend\.telemetry\.set_resource_limits: .* are in use"):
        own.telemetry.set_resource_limits(ResourceLimits(max_memory=MIB, max_kernels=5))
    assert own.telemetry.resource_limits() == ResourceLimits()
    wanted = ResourceLimits(max_memory=4 * MIB, max_kernels=5, memory_pressure_threshold=0.5)
    own.telemetry.set_resource_limits(wanted)
    assert own.telemetry.resource_limits() == wanted
    with pytest.raises(OutOfMemoryError):
        own.empty(3 * MIB, dtype="uint8")
    assert x.size == 2 * MIB
    own.telemetry.set_resource_limits(ResourceLimits())
    assert own.empty(3 * MIB, dtype="uint8").size == 3 * MIB


@pytest.mark.parametrize("name", ["max_memory", "max_kernels"])
def test_wrong_limits_are_refused(own, name):
    for value in (0, -1, 2**63):
        with pytest.raises(InvalidValueError, match=name):
            ResourceLimits(**{name: value})
    for value in (1.5, "1", True):
        with pytest.raises(DTypeError, match=name):
            ResourceLimits(**{name: value})
    for value in (0, -0.5, 1.5, float("nan"), 2**2000):
        with pytest.raises(InvalidValueError):
            ResourceLimits(memory_pressure_threshold=value)
    with pytest.raises(DTypeError):
        own.telemetry.set_resource_limits({"max_memory": 1})


def test_all_wrong_limits_are_named_at_once_and_integers_may_be_of_numpy(own):
    with pytest.raises(ConfigurationError, match=r"^ResourceLimits: 3 values") as caught:
        ResourceLimits(max_memory=-1, max_kernels="many", memory_pressure_threshold=2)
    assert [p.field for p in caught.value.problems] == ["max_memory", "max_kernels", "memory_pressure_threshold"]
    own.telemetry.set_resource_limits(
        ResourceLimits(max_memory=np.int64(MIB), memory_pressure_threshold=np.float32(0.5))
    )
    assert own.telemetry.resource_limits() == ResourceLimits(max_memory=MIB, memory_pressure_threshold=0.5)
    assert json.dumps(own.telemetry.top()["limits"])


def test_fewer_programs_are_kept_where_the_limit_sinks(own):
    cache = cache_of(own)
    for name in "abc":
        cache.put((name,), name)
    own.telemetry.set_resource_limits(ResourceLimits(max_kernels=1))
    assert own.programs.info().programs == own.programs.info().limit == 1
    assert cache.get(("c",)) == "c"
    cache.clear()


def test_cleaning_up_gives_cached_memory_back(own):
    own.empty(2 * MIB, dtype="uint8")
    own.synchronize()
    assert adapt(own).cleanup_resources() == 2 * MIB
    assert own.memory.stats()["cached_bytes"] == 0
    own.close()
    with pytest.raises(BackendClosedError, match=r"^Backend\.memory\.empty_cache: "):
        adapt(own).cleanup_resources()


def test_monitoring_is_off_until_it_is_enabled_and_ends_with_the_backend(device):
    threads = set(threading.enumerate())  # of which some may end meanwhile
    with stator.Backend(device) as be:
        assert (
            not be.telemetry.is_monitoring_enabled
            and existing_monitor(be) is None
            and be.telemetry.resource_history() == []
        )
        be.telemetry.enable_monitoring(0.002)
        assert be.telemetry.is_monitoring_enabled
        until(lambda: len(be.telemetry.resource_history()) > 2)
        be.telemetry.disable_monitoring()
        assert not be.telemetry.is_monitoring_enabled
        assert threads.issuperset(threading.enumerate())
        times = [sample.time for sample in be.telemetry.resource_history()]
        assert times == sorted(times)
        be.telemetry.enable_monitoring(0.002)
    until(lambda: not be.telemetry.is_monitoring_enabled)
    with pytest.raises(BackendClosedError):
        be.telemetry.enable_monitoring()
    for interval, error in ((0, InvalidValueError), (-1, InvalidValueError), ("1", DTypeError)):
        with pytest.raises(error):
            be.telemetry.enable_monitoring(interval)


def test_a_monitored_backend_can_be_collected(device):
    be = stator.Backend(device)
    be.telemetry.enable_monitoring(0.002)
    gone, thread = weakref.ref(be), existing_monitor(be)._thread
    del be
    until(lambda: gc.collect() >= 0 and gone() is None)
    thread.join()


def test_callbacks_are_called_once_for_each_time_that_a_threshold_is_reached(device, monkeypatch):
    refused = []
    monkeypatch.setattr(sys, "unraisablehook", lambda args: refused.append(args.exc_value))
    with stator.Backend(device, memory_limit=8 * MIB) as be:
        half, most = [], []
        be.telemetry.on_memory_pressure(half.append, 0.5)
        remove = be.telemetry.on_memory_pressure(most.append)
        be.telemetry.on_memory_pressure(lambda event: 1 / 0, 0.25)
        sample = monitor_of(be).sample
        x = be.empty(4 * MIB, dtype="uint8")
        for _ in range(3):
            sample(be)
        assert [(e.threshold, e.memory_used, e.memory_budget) for e in half] == [(0.5, 4 * MIB, 8 * MIB)]
        assert most == []
        del x
        sample(be)
        y = be.empty(8 * MIB, dtype="uint8")
        sample(be)
        assert (len(half), [e.threshold for e in most]) == (2, [0.9])
        remove()
        remove()
        del y
        sample(be)
        be.telemetry.set_resource_limits(ResourceLimits(max_memory=8 * MIB, memory_pressure_threshold=0.1))
        z = be.empty(8 * MIB, dtype="uint8")
        sample(be)
        assert len(most) == 1
        assert z.size == 8 * MIB
        assert [type(error) for error in refused] == [ZeroDivisionError] * 3
        for wrong in ((None, 0.5), (print, 0), (print, 2), (print, "0.5")):
            with pytest.raises((DTypeError, InvalidValueError)):
                be.telemetry.on_memory_pressure(*wrong)


def test_a_snapshot_is_json_and_becomes_tables(own):
    own.telemetry.enable()
    x = own.ones(MIB, dtype="uint8") + 1
    found = json.loads(json.dumps(own.telemetry.top()))
    assert found["largest"][0]["bytes"] >= MIB
    assert "add" in [op["op"] for op in found["ops"]]
    assert found["history"] == []
    console = Console(width=120, file=io.StringIO())
    console.print(command.tables(found))
    shown = console.file.getvalue()
    assert "buffers" in shown and "1.0 MiB" in shown and "add" in shown
    assert x.size == MIB


def test_a_process_writes_a_snapshot_when_it_is_asked_and_not_before(own, tmp_path, capsys):
    path = tmp_path / "top.json"
    own.telemetry.enable_monitoring(0.002, snapshot=path)
    until(lambda: len(own.telemetry.resource_history()) > 3)
    assert list(tmp_path.iterdir()) == []
    x = own.zeros(MIB, dtype="uint8")
    from stator.__main__ import main

    assert main(["top", str(path), "--once", "--timeout", "300"]) == 0
    assert "MiB" in capsys.readouterr().out
    assert main(["top", str(path), "--json", "--timeout", "300"]) == 0
    assert json.loads(capsys.readouterr().out)["usage"]["memory_used"] >= x.size
    assert [p.name for p in tmp_path.iterdir()] == ["top.json"]


def test_a_process_that_does_not_answer_is_a_typed_error(tmp_path):
    path = tmp_path / "top.json"
    call = [sys.executable, "-m", "stator", "top", path, "--once", "--timeout", "0.1"]
    done = subprocess.run(call, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("InvalidValueError: python -m stator top: No process wrote a snapshot")
    assert not request_of(path).exists()
    path.write_text('{"format": 99}')
    with pytest.raises(InvalidValueError, match="not a snapshot of this version"):
        command.read(path)
    with pytest.raises(InvalidValueError, match="No snapshot can be asked for"):
        command.ask(tmp_path / "absent/top.json", 1)


def test_sizes_are_shown_as_people_read_them():
    assert [command.size(n) for n in (None, 0, 1023, 1024, 3 * 2**40)] == ["-", "0 B", "1023 B", "1.0 KiB", "3.0 TiB"]


@pytest.fixture
def written(own, tmp_path):
    """A snapshot's path, and what is in it."""
    path = tmp_path / "top.json"
    _snapshot.write(own, path)
    return path, json.loads(path.read_text())


def test_a_snapshot_is_written_through_no_link(own, tmp_path):
    path, other = tmp_path / "top.json", tmp_path / "other"
    for name in ("top.json", f"top.json.{os.getpid()}"):
        other.write_text("untouched")
        (tmp_path / name).unlink(missing_ok=True)
        (tmp_path / name).symlink_to(other)
    request_of(path).symlink_to(tmp_path / "absent")
    _snapshot.answer(own, path)
    assert other.read_text() == "untouched" and not (tmp_path / "absent").exists()
    assert command.read(path)["pid"] == os.getpid()
    assert not os.path.lexists(request_of(path)) and not list(tmp_path.glob("*.part"))


def test_a_fifo_in_the_place_of_a_file_holds_nothing_up(own, tmp_path):
    path = tmp_path / "top.json"
    for name in (path, tmp_path / f"top.json.{os.getpid()}", request_of(path)):
        os.mkfifo(name)
    with pytest.raises(InvalidValueError, match="not a file of a snapshot"):
        command.read(path)
    _snapshot.answer(own, path)
    assert command.read(path)["pid"] == os.getpid()


def test_asking_creates_nothing_behind_a_link(tmp_path):
    path, other = tmp_path / "top.json", tmp_path / "other"
    request_of(path).symlink_to(other)
    with pytest.raises(InvalidValueError, match="No process wrote"):
        command.ask(path, 0, lambda seconds: None)
    assert not other.exists()


def test_a_failure_to_write_leaves_no_part_of_a_snapshot(own, tmp_path, monkeypatch):
    monkeypatch.setattr(_snapshot, "snapshot", lambda backend: object())
    with pytest.raises(TypeError):
        _snapshot.write(own, tmp_path / "top.json")
    assert list(tmp_path.iterdir()) == []


def places(node, path=()):
    """The fields in a snapshot."""
    yield path
    for key, item in node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ():
        yield from places(item, (*path, key))


def test_a_snapshot_with_anything_in_any_place_is_shown_or_a_typed_error(written):
    path, found = written
    console = Console(width=120, file=io.StringIO(), force_terminal=True)
    found["largest"] = found["largest"][:2]
    refused = 0
    for place in list(places(found))[1:]:
        for value in (None, True, -1, 1e400, 10**400, "\x1b]0;title\x07", [], {}, [[]], "[red]"):
            changed = json.loads(json.dumps(found))
            node = changed
            for key in place[:-1]:
                node = node[key]
            node[place[-1]] = value
            path.write_text(json.dumps(changed))
            try:
                console.print(command.tables(command.read(path)))
            except InvalidValueError:
                refused += 1
    assert refused > 100
    assert "\x1b]" not in console.file.getvalue() and "\x07" not in console.file.getvalue()


WRONG_TEXTS = "", "[]", "{}", "{", '{"format": 1}', "\x00", "[" * 100000, '{"format": 1, "usage": []}'


@pytest.mark.parametrize("text", WRONG_TEXTS, ids=range(len(WRONG_TEXTS)))
def test_a_file_that_is_no_snapshot_is_a_typed_error(tmp_path, text):
    path = tmp_path / "top.json"
    path.write_text(text)
    with pytest.raises(InvalidValueError):
        command.tables(command.read(path))


def test_text_of_a_snapshot_reaches_the_terminal_without_escape_sequences(written):
    _, found = written
    console = Console(width=200, file=io.StringIO(), force_terminal=True)
    found["program"] = "a\x1b]0;owned\x07b\x9b31mc\r\n[bold]d"
    console.print(command.tables(found))
    shown = console.file.getvalue()
    assert "\x1b]0" not in shown and "\x9b" not in shown and "[bold]d" in shown
