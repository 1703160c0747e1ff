"""any, all and has_inf_nan stop reading where the result is decided; what decides may stand anywhere."""

import numpy as np
import pytest

import stator

SIZES = (1, 1023, 1024, 1025, 70_001, 1_000_000, 3_000_001)


@pytest.mark.parametrize("size", SIZES)
def test_one_element_decides(be, size):
    size = size if be.device.type == "cpu" else min(size, 70_001)
    for place in sorted({0, size // 3, size // 2, size - 1}):
        host = np.zeros(size, bool)
        host[place] = True
        x = be.asarray(host)
        assert stator.any(x).to_numpy() and not stator.any(x & False).to_numpy()
        assert not stator.all(~x).to_numpy() and stator.all(x | True).to_numpy()
        assert int(stator.count_nonzero(x)) == 1
        values = be.asarray(np.where(host, np.nan, 1).astype("float32"))
        assert stator.has_inf_nan(values).to_numpy() and not stator.has_inf_nan(values * 0 == 0).to_numpy()


@pytest.mark.parametrize("dtype", ["bool", "int32", "float64"])
def test_along_axes_and_steps(be, dtype):
    host = np.random.default_rng(2).random((30, 4000)) < 0.0005
    host[3] = True
    x = be.asarray(host.astype(dtype))
    for view, want in ((x, host), (x.T, host.T), (x[::2, ::-3], host[::2, ::-3])):
        for axis in (0, 1, None):
            np.testing.assert_array_equal(stator.any(view, axis=axis).to_numpy(), want.any(axis))
            np.testing.assert_array_equal(stator.all(view, axis=axis).to_numpy(), want.all(axis))
            np.testing.assert_array_equal(stator.all(view == 0, axis=axis).to_numpy(), (~want).all(axis))


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "uint64", "float16", "float64"])
@pytest.mark.parametrize("columns", [1, 2, 16, 32, 100, 300])
def test_counts_of_columns_of_ones(be, columns, dtype):
    for rows in (1, 2, 7, 63, 64, 300):
        x = be.asarray(np.ones((rows, columns), dtype))
        np.testing.assert_array_equal(stator.count_nonzero(x, axis=0).to_numpy(), np.full(columns, rows))
        np.testing.assert_array_equal(stator.count_nonzero(x[::-1, ::-1], axis=0).to_numpy(), np.full(columns, rows))
