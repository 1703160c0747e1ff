"""What options of a backend do: the pool's policy, its reservation and limit, streams, workspaces, the JIT cache."""

import os
import subprocess
import sys

import numpy as np
import pytest
import runtime_calls
from runtime_calls import emulated_free_memory

import stator
from stator import _backend, errors, testing
from stator.errors import InvalidValueError, OutOfMemoryError

MIB = 2**20


def work(be):
    """Takes and frees memory of two streams, with work that waits in between."""
    x = be.asarray(np.arange(3000.0))
    be.stream(1).wait(be.stream(0).record())
    with be.stream(1):
        y = x + 1
    be.stream(0).wait(be.stream(1).record())
    z = y * x
    del x, y
    values = z.to_numpy()
    del z
    be.synchronize()
    return values


@pytest.mark.parametrize("policy", ["caching", "none", "driver"])
def test_each_policy_survives_each_call_that_fails(device, policy):
    expected = (np.arange(3000.0) + 1) * np.arange(3000.0)
    kind = device.partition(":")[0]
    before = testing.outstanding(kind)
    at = seen = 0
    made = 0
    while at <= made:  # a call that failed may be the last one that was made
        with stator.Backend(device, pool_policy=policy) as be:
            testing.inject(be, fail_at=at)
            try:
                work(be)
            except errors.StatorError:
                seen += 1
            made = testing.lift(be)
            np.testing.assert_array_equal(work(be), expected)
            be.memory.empty_cache()
            stats = be.memory.stats()
            assert stats["live_bytes"] == 0
            # A driver's pool takes 32 MiB at once, and keeps them while a byte of them is in use.
            step = 2**25 if policy == "driver" and device == "cuda" and not _backend.emulated("cuda") else 1
            assert stats["cached_bytes"] < step
            assert {r["kind"] for r in be.resources()} <= {"stream", "library"}
        assert testing.outstanding(kind) == before
        at += 1
    assert seen >= 5


@pytest.mark.parametrize("policy", ["none", "driver"])
def test_memory_is_freed_after_work_of_a_stream_for_which_no_event_could_be_had(device, policy):
    with stator.Backend(device, pool_policy=policy) as be:
        x = be.full((1000,), 2.0)
        be.stream(1).wait(be.stream(0).record())
        with be.stream(1):
            y = x + 1
        testing.inject(be, fail_at=0)
        del x
        be.memory.stats()  # releases unreferenced memory
        testing.lift(be)
        be.stream(0).synchronize()  # frees the memory
        assert y.tolist() == [3.0] * 1000


def test_the_policy_none_keeps_no_device_memory(device):
    with stator.Backend(device, pool_policy="none") as be:
        x = be.zeros(1000)
        live = be.memory.stats()["live_bytes"]
        del x
        be.synchronize()
        stats = be.memory.stats()
        assert stats["live_bytes"] < live
        assert stats["reuses"] == 0
        before = stats["deallocations"]
        be.zeros(1000)
        be.synchronize()
        assert be.memory.stats()["deallocations"] == before + 1
    with stator.Backend(device) as be:
        be.zeros(1000)
        be.synchronize()
        assert be.memory.stats()["cached_bytes"] >= 8000


def test_memory_that_is_freed_while_its_stream_is_captured_is_not_lost(device):
    with stator.Backend(device, pool_policy="none") as be:
        x = be.zeros(1000)
        with be.capture() as graph:
            y = x + 1
        graph.launch()
        assert y.to_numpy()[0] == 1
        del x, y, graph
        be.synchronize()
        be.memory.empty_cache()
        assert be.memory.stats()["live_bytes"] == 0


def test_figures_of_the_pool_add_up(device):
    with stator.Backend(device, memory_limit=8 * MIB) as be:
        with pytest.raises(OutOfMemoryError):
            be.empty(16 * MIB, dtype="uint8")
        x = be.empty(4 * MIB, dtype="uint8")
        del x
        be.synchronize()
        stats = be.memory.stats()
        assert stats["failures"] == 1
        assert stats["allocations"] == stats["failures"] + stats["deallocations"]
        assert stats["allocated_bytes"] == 4 * MIB


def test_a_limit_can_change_but_not_below_what_is_in_use(device):
    with stator.Backend(device) as be:
        x, y = be.empty(2 * MIB, dtype="uint8"), be.empty(4 * MIB, dtype="uint8")
        del y
        be.synchronize()
        with pytest.raises(InvalidValueError, match="are in use"):
            be._set_memory_limit(MIB)
        be._set_memory_limit(4 * MIB)
        assert be.memory.stats()["cached_bytes"] == 0
        with pytest.raises(OutOfMemoryError):
            be.empty(3 * MIB, dtype="uint8")
        be._set_memory_limit(None)
        assert be.empty(3 * MIB, dtype="uint8").size == 3 * MIB
        assert x.size == 2 * MIB


@pytest.mark.parametrize("count", [1, 31])
def test_a_backend_has_as_many_streams_as_it_was_opened_with(device, count):
    with stator.Backend(device, stream_pool_size=count) as be:
        assert [s.index for s in be.streams] == list(range(count))
        assert not any(s.external for s in be.streams)
        with be.stream(count - 1):
            assert (be.zeros(3) + 1).tolist() == [1, 1, 1]
        with pytest.raises(InvalidValueError, match=f"from 0 to {count - 1}"):
            be.stream(count)
        with pytest.raises(InvalidValueError, match=f"has {count - 1} streams"):
            be.streams.pool(count)


def test_profiling_counts_from_the_beginning(device):
    with stator.Backend(device, profiling=True) as be:
        be.ones(3) + 1
        assert be.telemetry.snapshot()["ops"]["add"]["calls"] == 1


@pytest.fixture
def emulated(cuda):
    if not _backend.emulated("cuda"):
        pytest.skip("about emulated devices")
    return str(cuda.device)


def test_a_reservation_is_taken_at_once_and_kept_until_close(emulated):
    before = emulated_free_memory()
    with stator.Backend(emulated, memory_pool_size=64 * MIB) as be:
        assert before - emulated_free_memory() == 64 * MIB
        x = be.empty(2 * MIB, dtype="uint8")
        assert 64 * MIB <= before - emulated_free_memory() < 66 * MIB
        del x
        be.memory.empty_cache()
        be.synchronize()
        assert before - emulated_free_memory() == 64 * MIB
    assert emulated_free_memory() == before


def test_a_reservation_that_the_device_has_not_is_refused_and_leaves_nothing(emulated):
    before, contexts = emulated_free_memory(), testing.outstanding("cuda")["contexts"]
    with pytest.raises(OutOfMemoryError) as caught:
        stator.Backend(emulated, memory_pool_size=2**50)
    assert caught.value.requested == 2**50
    for name in ("pool_set_attribute", "allocate_from_pool"):
        with runtime_calls.answered(name, 999), pytest.raises(errors.CudaError):
            stator.Backend(emulated, memory_pool_size=MIB)
    assert emulated_free_memory() == before
    assert testing.outstanding("cuda")["contexts"] == contexts


def test_a_workspace_of_cublas_has_the_size_that_was_asked_for(emulated):
    with stator.Backend(emulated, blas_workspace_size=3 * MIB) as be:
        (be.ones((64, 64), dtype="float32") @ be.ones((64, 64), dtype="float32")).tolist()
        sizes = [r["bytes"] for r in be.resources() if r["kind"] == "library"]
        assert max(sizes) == 3 * MIB


DRIVER = """
static int started;
int cuInit(unsigned flags) { started = 1; return 100; }
int cuDriverGetVersion(int* version) { *version = 99000; return 0; }
int cuDeviceGetCount(int* count) { *count = 0; return started ? 0 : 3; }
int cuGetErrorString(int code, const char** text) { *text = "no device"; return 0; }
"""
JIT_CACHE = """
import ctypes, os, sys
import stator
getenv = ctypes.CDLL(None).getenv
getenv.restype = ctypes.c_char_p
def seen():
    return getenv(b"CUDA_CACHE_PATH"), getenv(b"CUDA_CACHE_MAXSIZE")
driver = ctypes.CDLL(sys.argv[1])
stator.Backend("cpu", jit_cache_path="a", jit_cache_size="1 MiB").close()
assert seen() == (b"a", b"1048576"), seen()
driver.cuInit(0)
stator.Backend("cpu", jit_cache_path="a").close()
for options in ({"jit_cache_path": "b"}, {"jit_cache_path": "a", "jit_cache_size": 5}):
    try:
        stator.Backend("cpu", **options)
    except stator.errors.InvalidValueError as error:
        print(error)
assert seen() == (b"a", b"1048576"), seen()
"""


def test_the_jit_cache_is_set_before_the_driver_starts_or_not_at_all(tmp_path):
    (tmp_path / "driver.c").write_text(DRIVER)
    driver = tmp_path / "libcuda.so.1"
    source = tmp_path / "driver.c"
    subprocess.run(["g++", "-xc", "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", "-o", driver, source], check=True)
    clean = {n: v for n, v in os.environ.items() if n != "STATOR_EMULATE" and not n.startswith("CUDA_CACHE")}
    command = [sys.executable, "-c", JIT_CACHE, driver]
    done = subprocess.run(command, env=clean, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    assert "has started with CUDA_CACHE_PATH=a, where b was asked for" in first
    assert "has started with CUDA_CACHE_MAXSIZE=1048576, where 5 was asked for" in second


def test_a_pickled_backend_has_its_options_but_not_those_of_the_process():
    code = """
import pickle, stator
be = stator.Backend("cpu", jit_cache_path="here", pool_policy="none", stream_pool_size=3)
other = pickle.loads(pickle.dumps(be))
print(other is be, other.options["pool_policy"], len(other.streams), other.options["jit_cache_path"])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "False none 3 None\n", done.stderr
