"""Streams with priorities, pools of streams, and the streams of other libraries."""

import gc
import os
import subprocess
import sys
import weakref

import numpy as np
import pytest

import stator
from stator import _backend
from stator.errors import (
    BackendClosedError,
    BackendMismatchError,
    CudaError,
    DTypeError,
    InvalidValueError,
    OutOfMemoryError,
)

LARGE = 3 * 1024 * 1024  # float64, so that it is several chunks of page-locked memory


@pytest.fixture
def fresh(device):
    """A backend none of whose streams exists."""
    with stator.Backend(device) as backend:
        yield backend


def test_a_stream_has_the_priority_that_it_is_created_with(fresh):
    least, greatest = fresh.streams.priority_range
    assert least == 0 > greatest
    assert fresh.stream(1, priority=greatest).priority == greatest
    assert fresh.stream(1).priority == greatest
    assert fresh.stream(2).priority == 0
    with fresh.stream(1):
        assert (fresh.ones(3) + 1).tolist() == [2, 2, 2]


@pytest.mark.parametrize("priority", [1, -6, 2**31, -(2**63)])
def test_a_priority_out_of_range_is_refused(fresh, priority):
    with pytest.raises(InvalidValueError, match=r"Backend\.stream: .*priority"):
        fresh.stream(1, priority=priority)
    assert fresh.stream(1, priority=-1).priority == -1


def test_a_stream_keeps_its_priority(fresh):
    stream = fresh.stream(1)
    for again in (lambda: fresh.stream(1, priority=-1), lambda: fresh.stream(stream, priority=0)):
        with pytest.raises(InvalidValueError, match=r"Backend\.stream"):
            again()
    assert fresh.stream(1, priority=0) == stream
    with pytest.raises(DTypeError):
        fresh.stream(2, priority="high")


ORDER = """
import os, threading, time
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
import stator
be, begun, go, seen = stator.Backend("cpu"), threading.Event(), threading.Event(), []
be.stream(1).add_callback(lambda: begun.set() or go.wait())
begun.wait()  # a worker that had not begun could take a later stream first
for at, priority in enumerate((0, -2, -5, -2), 2):
    be.stream(at, priority=priority).add_callback(lambda at=at: seen.append(at))
go.set()
while not all(be.stream(at).done() for at in range(2, 6)):
    time.sleep(0.001)
print(seen)
"""


def test_workers_take_work_of_a_higher_priority_first(cpu):
    command = [sys.executable, "-c", ORDER]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)
    assert done.stdout == "[4, 3, 5, 2]\n"


def test_a_pool_hands_out_its_streams_in_turn(fresh):
    pool = fresh.streams.pool(3, priority=-1)
    assert [pool.next().index for _ in range(5)] == [1, 2, 3, 1, 2]
    assert len(pool) == 3 and [s.priority for s in pool] == [-1] * 3
    assert [s.index for s in fresh.streams.pool(4)] == [4, 5, 6, 7]
    assert [s.index for s in fresh.streams.pool(2, priority=-1)] == [1, 2]


@pytest.mark.parametrize("count", [0, -1, 8, 2**40])
def test_a_pool_of_more_streams_than_there_are_is_refused(fresh, count):
    with pytest.raises(InvalidValueError, match=r"Backend\.streams\.pool"):
        fresh.streams.pool(count)
    fresh.stream(3, priority=-1)
    with pytest.raises(InvalidValueError, match="6 streams"):
        fresh.streams.pool(7)
    assert len(fresh.streams.pool(6)) == 6


def test_a_call_that_fails_makes_no_stream(device):
    before = stator.testing.outstanding(device)  # of the default backend, which another test may have opened
    for at in range(40):
        with stator.Backend(device) as be:
            be.stream(0).synchronize()
            live = len(be.resources())
            stator.testing.inject(be, fail_at=at)
            try:
                be.stream(1, priority=be.streams.priority_range[1])
                failed = False
            except (CudaError, OutOfMemoryError):
                failed = True
            finally:
                count = stator.testing.lift(be)
            assert len(be.resources()) == live + (not failed)
            assert be.stream(1, priority=-5).priority == -5
            if count <= at:
                break
    assert at >= 5 and not failed
    assert stator.testing.outstanding(device) == before


class Foreign:
    """A stream of another library."""

    def __init__(self, handle, version=0):
        self.pair = version, handle

    def __cuda_stream__(self):
        return self.pair


@pytest.fixture
def other(cuda, device):
    """Another backend, as another library: it has streams."""
    with stator.Backend(device) as backend:
        yield backend


@pytest.fixture
def guest(other, device):
    """A backend that is closed before the other one."""
    with stator.Backend(device) as backend:
        yield backend


def test_a_stream_of_another_library_takes_work(guest, other):
    theirs = other.stream(2, priority=-3)
    stream = guest.streams.external(theirs)
    assert stream.external and stream.native == theirs.native and stream.priority == -3
    assert stream.index == len(guest.streams) and not guest.stream(1).external
    assert guest.streams.external(Foreign(theirs.native)) == stream == guest.stream(Foreign(theirs.native))
    with stream:
        x = guest.ones(1000) + 1
    assert x.to_numpy().tolist() == [2.0] * 1000
    theirs.synchronize()
    assert stream.done()


def test_memory_that_a_stream_of_another_library_used_is_written_after_that(guest, other):
    stream = guest.streams.external(other.stream(3))
    guest.synchronize()
    guest.memory.empty_cache()
    first = guest.full((1000,), 2.0)
    address = first.data_ptr
    stream.wait(guest.stream(0).record())
    with stream:
        more = first + 1
    del first
    second = guest.full((1000,), 5.0)
    assert second.data_ptr == address
    assert second.to_numpy().tolist() == [5.0] * 1000 and more.to_numpy().tolist() == [3.0] * 1000


def test_copies_go_to_a_stream_of_another_library(guest, other):
    theirs = other.stream(4)
    x = guest.zeros(4, dtype="uint8")
    guest.synchronize()
    x.copy_from(b"1234", stream=guest.streams.external(theirs))
    out = bytearray(4)
    x.copy_to(out, stream=Foreign(theirs.native))
    assert out == b"1234"


def test_the_legacy_default_stream_can_be_used(guest):
    assert guest.streams.external(Foreign(0)) == guest.streams.external(Foreign(1))
    with guest.stream(Foreign(0)):
        x = guest.ones(5) + 1
    assert x.tolist() == [2.0] * 5


def test_the_object_lives_as_long_as_the_backend(cuda, device, other):
    theirs = Foreign(other.stream(5).native)
    alive = weakref.ref(theirs)
    with stator.Backend(device) as be:
        be.streams.external(theirs)
        del theirs
        gc.collect()
        assert alive() is not None
    gc.collect()
    assert alive() is None
    with other.stream(5):
        assert (other.ones(3) + 1).tolist() == [2, 2, 2]


def test_a_stream_is_given_back(guest, other):
    theirs = Foreign(other.stream(5).native)
    alive, seen = weakref.ref(theirs), []
    stream = guest.streams.external(theirs)
    del theirs
    with stream:
        x, y = guest.ones(1000) + 1, guest.ones(1000)
        y += 1
    stream.add_callback(lambda: seen.append(1))
    stream.close()
    gc.collect()
    assert seen == [1] and alive() is None
    other.close()
    guest.synchronize()
    assert x.tolist() == y.tolist() == [2.0] * 1000
    address = x.data_ptr
    del x, y
    z = guest.full((1000,), 3.0)
    assert z.data_ptr and address and (z + 1).tolist() == [4.0] * 1000
    guest.memory.empty_cache()
    for call in (
        stream.synchronize,
        stream.close,
        stream.record,
        lambda: guest.zeros(4).copy_from(bytes(32), stream=stream),
    ):
        with pytest.raises(BackendClosedError, match="returned to its library"):
            call()
    with pytest.raises(BackendClosedError, match="returned to its library"), stream:
        guest.ones(3)


def test_a_stream_that_is_given_back_reports_the_fault_of_its_work(guest, other):
    stream = guest.streams.external(other.stream(2))
    x, at = guest.ones(4), guest.asarray([7])
    stream.wait(guest.stream(0).record())
    with stream:
        stator.take(x, at)
    with pytest.raises(IndexError, match="7"):
        stream.close()
    stream.close()


def test_an_own_stream_is_not_given_back(be):
    with pytest.raises(InvalidValueError, match=r"Stream\.close"):
        be.stream(1).close()
    with be.stream(1):
        assert (be.ones(3) + 1).tolist() == [2, 2, 2]


@pytest.mark.parametrize(
    ("stream", "error"),
    [
        (3, DTypeError),
        (None, DTypeError),
        (Foreign(1, version=1), InvalidValueError),
        (Foreign(2), InvalidValueError),
        (Foreign("1"), DTypeError),
        (Foreign(12345 << 20), CudaError),
    ],
)
def test_what_is_no_stream_is_refused(cuda, stream, error):
    if error is CudaError and not _backend.emulated("cuda"):
        pytest.skip("CUDA follows a handle that is none, and the process ends")
    with pytest.raises(error, match=r"Backend\.streams\.external"):
        cuda.streams.external(stream)


def test_a_cuda_stream_is_refused_on_cpu(cpu):
    for given in (cpu.streams.external, cpu.stream):
        with pytest.raises(BackendMismatchError, match="cpu"):
            given(Foreign(1))
    assert cpu.streams.external(cpu.stream(1)) == cpu.stream(1)


@pytest.mark.parametrize("call", ["launch", "copy_from", "copy_to", "write_ranges", "read_ranges", "stream"])
def test_a_stream_of_another_backend_is_refused(be, device, call):
    x = be.zeros(4, dtype="uint8")
    with stator.Backend(device) as another:
        stream = another.stream(1)
        calls = {
            "copy_from": lambda: x.copy_from(b"1234", stream=stream),
            "copy_to": lambda: x.copy_to(bytearray(4), stream=stream),
            "write_ranges": lambda: be.transfers.write_ranges([(x, 0, b"1")], stream=stream),
            "read_ranges": lambda: be.transfers.read_ranges([(x, 0, bytearray(1))], stream=stream),
            "stream": lambda: be.stream(stream),
        }
        if device != "cpu":
            kernel = be.compile(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry f() { ret; }", "f")
            calls["launch"] = lambda: kernel.launch(1, 1, stream=stream)
        elif call == "launch":
            return
        with pytest.raises(BackendMismatchError, match="of another backend"):
            calls[call]()
    assert x.tolist() == [0, 0, 0, 0]


def test_there_is_a_limit_on_streams_of_other_libraries(cuda, device):
    count = 23
    others = [stator.Backend(device) for _ in range(4)]
    theirs = [stream for other in others for stream in other.streams]
    with stator.Backend(device) as be:
        streams = [be.streams.external(stream) for stream in theirs[:count]]
        with pytest.raises(InvalidValueError, match=f"{count} of other libraries"):
            be.streams.external(theirs[count])
        assert be.streams.external(theirs[3]) == streams[3]
        results = []
        for stream in streams:
            with stream:
                results.append(be.ones(100) + 1)
        total = be.zeros(100)
        for stream, x in zip(streams, results, strict=True):
            be.stream(0).wait(stream.record())
            total = total + x
        results.clear()
        assert total.tolist() == [2.0 * count] * 100
        del total, x, stream, streams
    for other in others:
        other.close()


def test_every_failing_call_adopts_nothing(cuda, device, other):
    for at in range(20):
        with stator.Backend(device) as be:
            be.stream(0).synchronize()
            live = len(be.resources())
            stator.testing.inject(be, fail_at=at)
            try:
                be.streams.external(other.stream(6))
                failed = False
            except (CudaError, OutOfMemoryError):
                failed = True
            finally:
                count = stator.testing.lift(be)
            assert len(be.resources()) == live + (not failed)
            assert be.streams.external(other.stream(6)).external
            if count <= at:
                break
    assert at >= 3 and not failed


def test_host_memory_is_copied_without_waiting_for_the_stream(cuda, device):
    """What runs on an emulated device without a seed is what was waited for; the first copy asks for no event."""
    seen, host = [], np.arange(1000)
    with stator.Backend(device) as be, be.stream(1) as stream:
        stream.add_callback(lambda: seen.append(1))
        x = be.asarray(host)
        host[:] = -1
        assert "STATOR_EMULATE" not in os.environ or "seed" in os.environ["STATOR_EMULATE"] or not seen
        np.testing.assert_array_equal(x.to_numpy(), np.arange(1000))
    assert seen == [1]


def test_host_memory_of_many_chunks_is_copied(cuda):
    host = np.arange(LARGE, dtype="float64")
    x, y = cuda.asarray(host), cuda.asarray(host[::2])
    host[:] = -1
    np.testing.assert_array_equal(x.to_numpy(), np.arange(LARGE))
    np.testing.assert_array_equal(y.to_numpy(), np.arange(0, LARGE, 2))


def test_without_page_locked_memory_host_memory_is_copied_all_the_same(device):
    if device == "cpu":
        pytest.skip("about device memory")
    host = np.arange(LARGE, dtype="float64")
    with stator.Backend(device, memory_limit=host.nbytes + (3 << 20)) as be:
        x = be.asarray(host)
        np.testing.assert_array_equal(x.to_numpy(), host)
