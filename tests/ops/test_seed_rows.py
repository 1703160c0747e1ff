"""One test a row of the seed operations: a row counts only when it ran. Ids are <row>-<seed dtype>."""

import numpy as np
import pytest
from cases import TABLE

import stator


def cpu_to_gpu(be, dtype):
    x = np.arange(5, dtype=dtype)
    np.testing.assert_array_equal(be.asarray(x).to_numpy(), x)


def gpu_to_cpu(be, dtype):
    on = be.arange(6, dtype=dtype)
    np.testing.assert_array_equal(on.to_numpy(), np.arange(6, dtype=dtype))
    np.testing.assert_array_equal(np.asarray(on), np.arange(6, dtype=dtype))


def cpu_to_gpu_pinned(be, dtype):
    x = np.arange(7, dtype=dtype)
    np.testing.assert_array_equal(be.asarray(x, pinned=True).to_numpy(), x)


def raw_device_ptr(be, dtype):
    x = be.zeros((8,), dtype=dtype)
    assert x.data_ptr != 0
    assert x[3:].data_ptr == x.data_ptr + 3 * x.itemsize


def raw_device_ptr_mut(be, dtype):
    """Writing through the pointer is seen: through an alias of the memory on either column."""
    x = be.zeros((8,), dtype=dtype)
    alias = stator.from_dlpack(x)
    assert alias.data_ptr == x.data_ptr
    alias += 3
    np.testing.assert_array_equal(x.to_numpy(), np.full(8, 3, dtype))


def buffer_elem_size(be, dtype):
    assert be.zeros((2,), dtype=dtype).itemsize == np.dtype(dtype).itemsize


def clone_buffer(be, dtype):
    x = be.arange(9, dtype=dtype)
    y = stator.copy(x)
    x += 1
    np.testing.assert_array_equal(y.to_numpy(), np.arange(9, dtype=dtype))


def alloc_zeros(be, dtype):
    np.testing.assert_array_equal(be.zeros((3, 4), dtype=dtype).to_numpy(), np.zeros((3, 4), dtype))


def transpose_2d(be, dtype):
    a = np.random.default_rng(0).normal(size=(67, 45)).astype(dtype)
    np.testing.assert_array_equal(stator.copy(stator.permute_dims(be.asarray(a), (1, 0))).to_numpy(), a.T)


def permute_0213(be, dtype):
    a = np.random.default_rng(0).normal(size=(3, 34, 5, 16)).astype(dtype)
    got = stator.copy(stator.permute_dims(be.asarray(a), (0, 2, 1, 3)))
    np.testing.assert_array_equal(got.to_numpy(), np.transpose(a, (0, 2, 1, 3)))


def fill(be, dtype):
    np.testing.assert_array_equal(be.full((33,), 2.5, dtype=dtype).to_numpy(), np.full(33, 2.5, dtype))


def strided_copy(be, dtype):
    x = np.arange(40, dtype=dtype)
    got = stator.copy(stator.as_strided(be.asarray(x), (4, 3), (7, 2), 5))
    np.testing.assert_array_equal(
        got.to_numpy(), np.array([[5 + 7 * i + 2 * j for j in range(3)] for i in range(4)], dtype)
    )


def synchronize(be, dtype):
    x = be.zeros((1 << 20,))
    for _ in range(8):
        x += 1
    be.synchronize()
    assert all(s.done() for s in be.streams)


def stream_count(be, dtype):
    assert be.stream_count == len(be.streams) > 1
    assert len({s.native for s in be.streams}) == be.stream_count


def as_any(be, dtype):
    assert "stator.Context" in repr(be.native)


SEED_DTYPES = {
    "transpose_2d": ["float32", "float64"],
    "permute_0213": ["float32", "float64"],
    "fill": ["float32", "float64"],
    "strided_copy": ["float32", "float64"],
}
NAMES = {"float32": "f32", "float64": "f64"}
ROWS = [
    pytest.param(row, dtype, id=f"{row}-{NAMES[dtype]}" if row in SEED_DTYPES else f"{row}-any")
    for op in TABLE.values()
    for row in op["seed_ops"]
    for dtype in SEED_DTYPES.get(row, ["float32"])
]


@pytest.mark.parametrize(("row", "dtype"), ROWS)
def test_seed_row(be, row, dtype):
    globals()[row](be, dtype)


def test_the_table_covers_the_family_core():
    core = ["as_any", "cpu_to_gpu", "gpu_to_cpu", "raw_device_ptr", "raw_device_ptr_mut", "buffer_elem_size"]
    core += ["cpu_to_gpu_pinned", "clone_buffer", "alloc_zeros", "transpose_2d", "permute_0213", "fill"]
    core += ["strided_copy", "synchronize", "stream_count"]
    covered = [row for op in TABLE.values() for row in op["seed_ops"]]
    assert sorted(covered) == sorted(set(covered))
    assert set(core) <= set(covered)
