"""DLPack in both directions: aliasing, flags, versions, devices, streams, lifetimes."""

import ctypes
import gc

import numpy as np
import pytest

import stator
from stator.errors import ShapeError

# All dtypes except bfloat16, which NumPy does not exchange.
DTYPES = [d for row in stator.op_table() if row["name"] == "asarray" for d in row["dtypes"] if d != "bfloat16"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_numpy_reads_our_memory(cpu, dtype):
    on = cpu.asarray(np.arange(6).reshape(2, 3).astype(dtype))
    got = np.from_dlpack(on.T)
    assert got.__array_interface__["data"][0] == on.data_ptr
    np.testing.assert_array_equal(got, np.arange(6).reshape(2, 3).astype(dtype).T)


@pytest.mark.parametrize("dtype", DTYPES)
def test_we_read_numpy_memory(cpu, dtype):
    x = np.arange(6).reshape(2, 3).astype(dtype)
    on = stator.from_dlpack(x, device=cpu)
    assert on.data_ptr == x.__array_interface__["data"][0]
    np.testing.assert_array_equal(on.to_numpy(), x)


def test_strided_and_empty_arrays(cpu):
    x = np.arange(24.0).reshape(4, 6)[::2, ::-3]
    np.testing.assert_array_equal(stator.from_dlpack(x, device=cpu).to_numpy(), x)
    np.testing.assert_array_equal(np.from_dlpack(cpu.asarray(np.arange(24.0).reshape(4, 6))[::2, ::-3]), x)
    assert stator.from_dlpack(np.zeros((0, 3)), device=cpu).shape == (0, 3)
    assert np.from_dlpack(cpu.zeros((3, 0))).shape == (3, 0)


def test_the_producer_may_go_first(cpu):
    on = cpu.full((5000,), 3.0)
    got = np.from_dlpack(on)
    del on
    gc.collect()
    cpu.full((5000,), 9.0)
    assert got.sum() == 15000


def test_the_consumer_may_go_first(cpu):
    x = np.full(5000, 2.0)
    on = stator.from_dlpack(x, device=cpu)
    y = on + 1
    del on
    gc.collect()
    assert float(stator.sum(y)) == 15000


def test_an_unused_capsule_releases_its_hold(cpu):
    on = cpu.zeros((10,))
    capsule = on.__dlpack__(max_version=(1, 1))
    assert "dltensor_versioned" in repr(capsule)
    del capsule
    assert "dltensor" in repr(on.__dlpack__())
    gc.collect()
    assert not any(r["exported"] for r in cpu.resources())


def test_a_capsule_is_consumed_once(cpu):
    class Holder:
        def __init__(self, x):
            self.capsule = x.__dlpack__(max_version=(1, 0))

        def __dlpack__(self, **_):
            return self.capsule

        def __dlpack_device__(self):
            return (1, 0)

    holder = Holder(cpu.zeros((3,)))
    stator.from_dlpack(holder, device=cpu)
    with pytest.raises((ValueError, TypeError)):
        stator.from_dlpack(holder, device=cpu)


def test_a_malformed_capsule_is_a_typed_error(cpu):
    class Malformed:
        def __dlpack__(self, **_):
            capsule = cpu.zeros((3,)).__dlpack__()
            pointer = ctypes.pythonapi.PyCapsule_GetPointer
            pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
            ctypes.c_int32.from_address(pointer(capsule, b"dltensor") + 16).value = -1  # ndim
            return capsule

        def __dlpack_device__(self):
            return (1, 0)

    with pytest.raises(ShapeError, match="-1 dimensions") as error:
        stator.from_dlpack(Malformed(), device=cpu)
    assert error.value.op == "from_dlpack"


def test_memory_that_is_not_aligned_to_its_items_is_copied(cpu):
    raw = np.zeros(96, np.uint8)
    start = -raw.ctypes.data % 16 + 8
    x = raw[start : start + 64].view("complex128")
    x[:] = range(4)
    np.testing.assert_array_equal(stator.from_dlpack(x[::-1], device=cpu)[::-1].to_numpy(), x)
    with pytest.raises(ValueError, match="not a multiple of 16") as error:
        stator.from_dlpack(x, device=cpu, copy=False)
    assert "copy" in error.value.remedy


def test_copy_argument(cpu):
    on = cpu.asarray(np.arange(3.0))
    assert np.from_dlpack(on, copy=True).__array_interface__["data"][0] != on.data_ptr
    assert stator.from_dlpack(np.arange(3.0), device=cpu, copy=True).shape == (3,)


def test_dlpack_device(be):
    kind, index = be.zeros((1,)).__dlpack_device__()
    assert (kind, index) == ((1, 0) if be.device.type == "cpu" else (2, be.device.index))


def test_dl_device_exports_to_the_host(be):
    on = be.asarray(np.arange(4.0))
    assert "dltensor" in repr(on.__dlpack__(dl_device=(1, 0), max_version=(1, 0)))
    with pytest.raises((ValueError, BufferError)):
        on.__dlpack__(dl_device=(99, 0))


def test_stream_rules(cpu):
    on = cpu.zeros((3,))
    on.__dlpack__(stream=None)
    with pytest.raises((ValueError, TypeError, BufferError)):
        on.__dlpack__(stream=7)


def test_read_only_memory_is_flagged(cpu):
    x = np.arange(3.0)
    x.flags.writeable = False
    on = stator.from_dlpack(x, device=cpu)
    with pytest.raises(ValueError, match="read"):
        on += 1


@pytest.mark.parametrize(
    "repeat", [lambda x: stator.broadcast_to(x, (4, 3)), lambda x: stator.broadcast_arrays(x, x[:, None])[0]]
)
def test_a_view_that_repeats_elements_is_exported_read_only(cpu, repeat):
    x = cpu.asarray(np.arange(3.0))
    view = repeat(x)
    shared = np.from_dlpack(view)
    assert not shared.flags.writeable
    np.testing.assert_array_equal(shared, view.to_numpy())
    assert view.data.readonly
    with pytest.raises(BufferError, match="read-only"):
        view.__dlpack__()  # before 1.0 DLPack has no flag for it
    assert np.from_dlpack(view, copy=True).flags.writeable
    assert np.asarray(view).flags.writeable  # a copy
    assert np.from_dlpack(x).flags.writeable
    assert np.from_dlpack(x[None]).flags.writeable  # an axis of length 1 repeats nothing
    assert not x.data.readonly


def test_cuda_array_interface_of_a_view_that_repeats_elements(cuda):
    assert stator.broadcast_to(cuda.zeros((3,)), (4, 3)).__cuda_array_interface__["data"][1]
    assert not cuda.zeros((3,)).__cuda_array_interface__["data"][1]


def test_a_closed_array_has_no_cuda_array_interface():
    with stator.Backend("cpu") as backend:
        x = backend.zeros((3,))
    assert not hasattr(x, "__cuda_array_interface__")


def test_cuda_array_interface_is_cuda_only(cpu):
    with pytest.raises(AttributeError):
        _ = cpu.zeros((3,)).__cuda_array_interface__


def test_cuda_array_interface(cuda):
    x = cuda.asarray(np.arange(6.0).reshape(2, 3))
    face = x.T.__cuda_array_interface__
    assert face["version"] == 3
    assert face["shape"] == (3, 2)
    assert face["strides"] == (8, 24)
    assert face["data"][0] == x.data_ptr
    np.testing.assert_array_equal(stator.asarray(x.T, device=cuda).to_numpy(), np.arange(6.0).reshape(2, 3).T)
