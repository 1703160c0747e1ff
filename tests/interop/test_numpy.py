"""NumPy: explicit copies, zero-copy on cpu, bfloat16, counted bytes."""

import gc

import ml_dtypes
import numpy as np
import pytest

import stator
from stator.errors import ShapeError


def test_numpy_asarray_is_the_explicit_copy_and_is_counted(be):
    x = be.asarray(np.arange(10.0))
    before = be.statistics()["d2h_bytes"]
    got = np.asarray(x)
    assert type(got) is np.ndarray
    assert be.statistics()["d2h_bytes"] >= before + 80
    got[0] = 99
    assert float(x[0]) == 0
    assert np.asarray(x, dtype=np.float32).dtype == np.float32


def test_uploads_are_counted(be):
    before = be.statistics()["h2d_bytes"]
    be.asarray(np.zeros(1000))
    assert be.statistics()["h2d_bytes"] == before + 8000


def test_bfloat16_is_ml_dtypes(be):
    x = np.array([1.5, -2, 3e38], ml_dtypes.bfloat16)
    on = be.asarray(x)
    assert on.dtype == stator.bfloat16
    got = on.to_numpy()
    assert got.dtype == ml_dtypes.bfloat16
    np.testing.assert_array_equal(got, x)


def test_copy_false_aliases_host_memory_on_cpu(cpu):
    x = np.arange(6.0)
    on = cpu.asarray(x, copy=False)
    assert on.data_ptr == x.__array_interface__["data"][0]
    on += 1
    np.testing.assert_array_equal(x, np.arange(6.0) + 1)
    x[0] = 50
    assert float(stator.sum(on)) == 50 + sum(range(2, 7))


def test_copy_false_keeps_the_owner_alive(cpu):
    x = np.full(100000, 7.0)
    on = cpu.asarray(x, copy=False)
    del x
    gc.collect()
    assert float(stator.sum(on)) == 700000


def test_copy_false_refuses_what_needs_a_copy(cpu):
    with pytest.raises(ValueError, match="copy"):
        cpu.asarray([1, 2, 3], copy=False)
    with pytest.raises(ValueError, match="copy"):
        cpu.asarray(np.zeros(3), dtype="float32", copy=False)


@pytest.mark.parametrize("dtype", ["int16", "float32", "float64", "complex64", "complex128"])
def test_memory_that_is_not_aligned_to_its_items_is_copied_not_shared(cpu, dtype):
    size = np.dtype(dtype).itemsize
    raw = np.zeros(5 * size + 64, np.uint8)
    start = -raw.ctypes.data % 64 + size // 2
    x = raw[start : start + 5 * size].view(dtype)
    x[:] = range(5)
    with pytest.raises(ValueError, match=f"not a multiple of {size}") as error:
        cpu.asarray(x, copy=False)
    assert "copy=None" in error.value.remedy
    np.testing.assert_array_equal(cpu.asarray(x)[::-1].to_numpy(), x[::-1])


@pytest.mark.parametrize("copy", [None, False])
def test_more_than_32_dimensions_are_refused(cpu, copy):
    with pytest.raises(ShapeError, match="33 dimensions") as error:
        cpu.asarray(np.zeros((1,) * 33), copy=copy)
    assert error.value.op == "asarray"


def test_read_only_memory_is_not_written(cpu):
    x = np.arange(3.0)
    x.flags.writeable = False
    on = cpu.asarray(x, copy=False)
    with pytest.raises(ValueError, match="read"):
        on += 1
    np.testing.assert_array_equal((on + 1).to_numpy(), [1, 2, 3])


def test_data_shares_without_a_copy_on_cpu(cpu):
    on = cpu.asarray(np.arange(12.0).reshape(3, 4))
    view = on[:, ::2].data
    assert view.shape == (3, 2)
    assert np.asarray(view).__array_interface__["data"][0] == on.data_ptr
    on += 1
    np.testing.assert_array_equal(np.asarray(view), np.arange(12.0).reshape(3, 4)[:, ::2] + 1)


def test_a_view_of_the_memory_in_a_garbage_cycle_is_collected(cpu):
    x = cpu.ones((3,))
    cycle = [x.data]
    cycle.append(cycle)
    del cycle
    gc.collect()
    np.testing.assert_array_equal(x.to_numpy(), np.ones(3))


@pytest.mark.parametrize("export", [lambda x: np.asarray(x.data), np.from_dlpack])
def test_an_export_waits_for_readers_on_every_stream(cpu, export):
    one, two = cpu.stream(1), cpu.stream(2)
    w, x = cpu.zeros((700, 700)), cpu.zeros((1000,))
    cpu.synchronize()
    with one:
        w = stator.matmul(stator.matmul(w, w), w)
        y = x + 1
    with two:
        z = x + 2
    two.synchronize()
    m = export(x)
    assert one.done()
    del m, w, y, z


def test_two_arrays_of_the_same_memory_overlap(cpu):
    x = np.arange(1000.0)
    a, b = cpu.asarray(x, copy=False), cpu.asarray(x, copy=False)
    a[1:] = b[:-1]
    np.testing.assert_array_equal(x[1:], np.arange(999.0))


def test_an_export_outlives_the_backend():
    be = stator.Backend("cpu")
    view = np.asarray(be.full((1000,), 4.0).data)
    be.close()
    gc.collect()
    np.testing.assert_array_equal(view, np.full(1000, 4.0))


def test_the_namespace_is_the_module(be):
    x = be.zeros((2,))
    assert x.__array_namespace__() is stator
    assert x.__array_namespace__(api_version="2025.12") is stator
    with pytest.raises(ValueError, match="version"):
        x.__array_namespace__(api_version="1999.01")


def test_array_functions_of_numpy_are_not_silent_copies(be):
    with be.forbid_host_copies():
        assert isinstance(np.add(be.zeros((2,)), be.zeros((2,))), stator.Array)
        with pytest.raises(TypeError, match="asarray"):
            np.add(be.zeros((2,)), np.zeros(2))
