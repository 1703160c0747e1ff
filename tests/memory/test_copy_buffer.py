"""Backend.memory.copy_buffer: bytes between arrays of one backend."""

import numpy as np
import pytest

import stator
from stator.errors import BackendClosedError, BackendMismatchError, DTypeError, InvalidValueError

OP = r"^Backend\.memory\.copy_buffer"


def test_bytes_are_copied_between_arrays_of_any_shape_and_dtype(be):
    x, y = be.asarray(np.arange(6, dtype="int16").reshape(2, 3)), be.zeros(4, dtype="float32")
    be.memory.copy_buffer(x, 1, y, 3, 9)
    expected = np.zeros(16, "uint8")
    expected[3:12] = np.arange(6, dtype="int16").view("uint8")[1:10]
    assert y.to_numpy().tobytes() == expected.tobytes()
    be.memory.copy_buffer(x, 12, y, 16, 0)
    assert y.to_numpy().tobytes() == expected.tobytes()


@pytest.mark.parametrize(("src", "dst"), [(0, 3), (3, 0), (2, 2)])
def test_ranges_of_one_array_may_overlap(be, src, dst):
    before = np.arange(4000, dtype="uint8")
    x = be.asarray(before, copy=True)
    be.memory.copy_buffer(x, src, x, dst, 3990)
    before[dst : dst + 3990] = before[src : src + 3990].copy()
    assert x.to_numpy().tobytes() == before.tobytes()


def test_the_copy_runs_in_the_stream_that_is_given(be):
    x, y = be.arange(100_000, dtype="int32"), be.zeros(100_000, dtype="int32")
    be.stream(1).wait(be.current_stream.record())
    be.memory.copy_buffer(x, 0, y, 0, x.nbytes, stream=be.stream(1))
    be.stream(1).synchronize()
    assert y.to_numpy()[-1] == 99_999


@pytest.mark.parametrize("numbers", [(-1, 0, 4), (0, -1, 4), (0, 0, -1), (13, 0, 4), (0, 13, 4), (0, 0, 2**63)])
def test_a_range_outside_of_its_array_is_refused(be, numbers):
    x, y = be.zeros(4, dtype="int32"), be.ones(4, dtype="int32")
    with pytest.raises(InvalidValueError, match=OP):
        be.memory.copy_buffer(x, numbers[0], y, numbers[1], numbers[2])
    assert y.tolist() == [1] * 4


def test_arrays_of_others_and_what_is_no_array_are_refused(be):
    x = be.zeros(4)
    with stator.Backend(be.device_name) as other:
        with pytest.raises(BackendMismatchError, match=OP):
            be.memory.copy_buffer(x, 0, other.zeros(4), 0, 4)
        with pytest.raises(BackendMismatchError, match=OP):
            be.memory.copy_buffer(other.zeros(4), 0, x, 0, 4)
        y = other.zeros(4)
    with pytest.raises(BackendClosedError, match=OP):
        other.memory.copy_buffer(y, 0, y, 8, 8)
    with pytest.raises(DTypeError, match=OP):
        be.memory.copy_buffer(np.zeros(4), 0, x, 0, 4)
    with pytest.raises(DTypeError, match=OP):
        be.memory.copy_buffer(x, 0.5, x, 0, 4)


def test_arrays_that_are_not_contiguous_or_read_only_are_refused(be):
    x = be.zeros((4, 4))
    with pytest.raises(InvalidValueError, match="contiguous"):
        be.memory.copy_buffer(x.T, 0, x, 0, 8)
    if be.device.type == "cpu":
        host = np.zeros(4)
        host.flags.writeable = False
        with pytest.raises(InvalidValueError, match="read-only"):
            be.memory.copy_buffer(x, 0, be.asarray(host, copy=False), 0, 8)
