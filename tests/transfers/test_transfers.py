"""Copies between arrays and host memory: whole arrays into given memory, ranges of bytes, many ranges at once."""

import asyncio
import gc
import threading

import numpy as np
import pytest

import stator
from stator.errors import (
    BackendMismatchError,
    CudaError,
    DTypeError,
    HostCopyError,
    InvalidValueError,
    OutOfMemoryError,
    OutOfRangeError,
)

LARGE = 3 * 1024 * 1024 + 5  # float64, so that it is several chunks of page-locked memory


def copies(backend):
    return backend.statistics()["calls"]["copy"]


def test_to_numpy_fills_an_array_that_is_given(be):
    x = stator.reshape(be.arange(6, dtype="float32"), (2, 3))
    out = np.empty((2, 3), "float32")
    assert x.to_numpy(out=out) is out
    np.testing.assert_array_equal(out, [[0, 1, 2], [3, 4, 5]])
    x.T.to_numpy(out=(turned := np.empty((3, 2), "float32")))
    np.testing.assert_array_equal(turned, out.T)


@pytest.mark.parametrize(
    ("out", "error"),
    [
        (np.empty((2, 3), "float64"), DTypeError),
        (np.empty((3, 2), "float32"), InvalidValueError),
        (np.empty((3, 2), "float32").T, InvalidValueError),
        (np.frombuffer(bytes(24), "float32").reshape(2, 3), InvalidValueError),
        (bytearray(24), DTypeError),
    ],
)
def test_to_numpy_refuses_an_array_that_does_not_fit(be, out, error):
    with pytest.raises(error, match=r"Array\.to_numpy: .*out"):
        be.zeros((2, 3), dtype="float32").to_numpy(out=out)


def test_bytes_at_an_offset_go_both_ways(be):
    x = be.zeros(10, dtype="int16")
    x.copy_from(np.array([1, 2, 3], "int16"), offset=4)
    x[5:].copy_from(b"\x07\x00", offset=8)
    np.testing.assert_array_equal(x.to_numpy(), [0, 0, 1, 2, 3, 0, 0, 0, 0, 7])
    out = np.zeros(2, "int16")
    x.copy_to(out, offset=6)
    np.testing.assert_array_equal(out, [2, 3])
    raw = bytearray(4)
    x[8:].copy_to(raw)
    assert raw == b"\0\0\x07\0"


def test_host_memory_may_change_as_soon_as_the_call_returns(be):
    host = np.arange(LARGE, dtype="float64")
    expected = host.copy()
    x = be.empty(LARGE, dtype="float64")
    x.copy_from(host)
    host[:] = -1
    np.testing.assert_array_equal(x.to_numpy(), expected)
    x.copy_to(host)
    np.testing.assert_array_equal(host, expected)


def test_adjacent_ranges_are_one_copy(be):
    x, y = be.zeros(LARGE, dtype="uint8"), be.zeros(8, dtype="uint8")
    pieces = [np.full(n, i + 1, "uint8") for i, n in enumerate((3, 0, 5, LARGE - 8))]
    at = [0, 3, 3, 8]
    before = copies(be)
    be.transfers.write_ranges([(x, a, p) for a, p in zip(at, pieces, strict=True)] + [(y, 4, b"\x09")])
    if be.device.type == "cuda":
        assert copies(be) - before == 2
    np.testing.assert_array_equal(x.to_numpy(), np.concatenate(pieces))
    np.testing.assert_array_equal(y.to_numpy(), [0, 0, 0, 0, 9, 0, 0, 0])
    x.copy_from(~x.to_numpy())  # so that page-locked memory which is used again does not hold what is read by chance
    pieces = [~p for p in pieces]
    out = [np.zeros_like(p) for p in pieces]
    tail = bytearray(3)
    before = copies(be)
    be.transfers.read_ranges([(x, a, p) for a, p in zip(at, out, strict=True)] + [(y, 3, tail)])
    if be.device.type == "cuda":
        assert copies(be) - before == 2
    for got, expected in zip(out, pieces, strict=True):
        np.testing.assert_array_equal(got, expected)
    assert tail == b"\0\x09\0"


def test_page_locked_memory_has_what_was_read_when_the_call_returns(be):
    x = be.arange(1000, dtype="float32") * 3
    out = stator.memory.pinned_empty(1000, "float32", device=be)
    be.transfers.read_ranges([(x, 0, out)])
    np.testing.assert_array_equal(out, np.arange(1000, dtype="float32") * 3)


def test_page_locked_memory_is_not_freed_before_copies_have_read_it(be):
    host = np.arange(LARGE, dtype="float64")
    x = be.asarray(host, pinned=True)
    be.memory.empty_cache()
    np.testing.assert_array_equal(x.to_numpy(), host)


def test_a_copy_is_ordered_behind_the_work_of_its_stream(be):
    with be.stream(1):
        x = be.ones(1000, dtype="float32")
        x.copy_from(np.full(10, 5, "float32"), offset=40)
        x *= 2
    expected = np.full(1000, 2, "float32")
    expected[10:20] = 10
    np.testing.assert_array_equal(x.to_numpy(), expected)


REFUSED = [
    (lambda be, x: x.copy_from(np.zeros(11, "float32")), InvalidValueError, "^Array.copy_from: .*44 of an array of 40"),
    (lambda be, x: x.copy_from(b"", offset=-1), InvalidValueError, "from -1"),
    (lambda be, x: x.copy_to(bytearray(8), offset=2**62), InvalidValueError, "^Array.copy_to: .*inside the array"),
    (lambda be, x: x[::2].copy_from(b""), InvalidValueError, "not contiguous"),
    (lambda be, x: x.copy_from(np.zeros(10, "float64")), DTypeError, "float64"),
    (lambda be, x: x.copy_from(np.zeros(20, "float32")[::2]), InvalidValueError, "ascontiguousarray"),
    (lambda be, x: x.copy_from(3), DTypeError, "host"),
    (lambda be, x: x.copy_to(bytes(8)), InvalidValueError, "read-only"),
    (lambda be, x: stator.broadcast_to(x[:1], (1,)).copy_from(b"", stream=3), DTypeError, "stream"),
    (lambda be, x: be.transfers.write_ranges([(x, 0)]), DTypeError, "array, offset, host"),
    (lambda be, x: be.transfers.read_ranges([(3, 0, b"")]), DTypeError, "Array"),
]


@pytest.mark.parametrize("case", range(len(REFUSED)))
def test_a_copy_that_cannot_be_is_refused(be, case):
    call, error, text = REFUSED[case]
    x = be.ones(10, dtype="float32")
    with pytest.raises(error, match=text):
        call(be, x)
    assert (x.to_numpy() == 1).all()


def test_an_earlier_error_that_a_copy_reports_keeps_its_name(be):
    x, at = be.ones(10, dtype="float32"), be.asarray([50])
    stator.take(x, at, axis=0)
    with pytest.raises(OutOfRangeError, match=r"^take: "):
        x.copy_to(bytearray(40))


def test_ranges_of_two_backends_are_refused(be):
    x = be.zeros(4)
    with stator.Backend(be.device_name) as other, pytest.raises(BackendMismatchError):
        be.transfers.write_ranges([(x, 0, b""), (other.zeros(4), 0, b"")])


def test_copies_to_the_host_are_counted_and_can_be_forbidden(be):
    x = be.zeros(4, dtype="float32")
    with be.forbid_host_copies():
        x.copy_from(b"1234")
        with pytest.raises(HostCopyError):
            x.copy_to(bytearray(4))
    before = be.statistics()["d2h_bytes"]
    x.copy_to(bytearray(6))
    assert be.statistics()["d2h_bytes"] - before == 6


def test_every_failing_call_leaves_nothing_behind(be):
    host = np.arange(LARGE, dtype="float64")
    x = be.empty(LARGE, dtype="float64")
    x.copy_from(host)
    live = len(be.resources())
    for at in range(100):
        stator.testing.inject(be, fail_at=at)
        try:
            x.copy_from(host)
            x.copy_to(host)
            failed = False
        except (CudaError, OutOfMemoryError):
            failed = True
        finally:
            count = stator.testing.lift(be)
        gc.collect()
        assert len(be.resources()) <= live
        if count <= at:
            break
    assert at >= 3 and not failed


def test_streams_and_events_are_awaited_beside_other_tasks(be):
    async def work():
        ticks = 0

        async def tick():
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0)

        ticking = asyncio.create_task(tick())
        with be.stream(2) as stream:
            y = be.ones(1000, dtype="float64") + 1
            await stream.record()
            z = y * 2
        await stream
        assert stream.done()
        ticking.cancel()
        return float(z[0]), ticks

    value, ticks = asyncio.run(work())
    assert value == 4 and ticks > 1


def test_a_copy_to_the_host_is_awaited_beside_other_tasks(be):
    go, out, ticks = threading.Event(), np.empty(1000), []

    async def work():
        with be.stream(2) as stream:
            x = be.ones(1000, dtype="float64") + 1
            threading.Timer(0.05, go.set).start()
            stream.add_callback(go.wait)
            copying = asyncio.create_task(asyncio.to_thread(x.copy_to, out, stream=stream))
            ticks.append(await asyncio.sleep(0, go.is_set()))
            await copying

    asyncio.run(work())
    assert (out == 2).all() and go.is_set() and len(ticks) == 1


def test_an_error_of_the_stream_comes_out_of_the_await(be):
    async def work():
        with be.stream(3) as stream:
            _ = be.zeros(4)[be.asarray([7])]
            await stream

    with pytest.raises(IndexError):
        asyncio.run(work())


def test_the_current_stream(be):
    assert be.current_stream == be.stream(0)
    with be.stream(3):
        assert be.current_stream == be.stream(3)
        with stator.Backend("cpu") as other, other.stream(1):
            assert be.current_stream == be.stream(3) and other.current_stream == other.stream(1)
