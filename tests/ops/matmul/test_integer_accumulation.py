"""addmm and baddbmm of integers."""

import numpy as np
import pytest

import stator
from stator.errors import DTypeError


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint64"])
def test_addmm_of_integers_wraps(be, dtype):
    rng, info = np.random.default_rng(11), np.iinfo(dtype)

    def drawn(*shape):
        return rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)

    for m, k, n in ((5, 7, 3), (40, 33, 65), (4, 0, 3)):
        c, a, b = drawn(m, n), drawn(m, k), drawn(k, n)
        for alpha, beta in ((1, 1), (1, 0), (3, 1), (1, 2), (5, 7), (0, 3), (True, False), (100, 100)):
            with np.errstate(all="ignore"):
                want = c * np.array(beta, dtype) + (a @ b) * np.array(alpha, dtype)
            got = stator.addmm(*map(be.asarray, (c, a, b)), alpha=alpha, beta=beta)
            np.testing.assert_array_equal(got.to_numpy(), want, strict=True)
            batch = stator.baddbmm(*(be.asarray(x[None]) for x in (c, a, b)), alpha=alpha, beta=beta)
            np.testing.assert_array_equal(batch.to_numpy()[0], want)
    row = stator.addmm(be.asarray(c[0]), be.asarray(a.T.copy()).T, be.asarray(b), alpha=2)
    np.testing.assert_array_equal(row.to_numpy(), np.broadcast_to(c[0], (m, n)), strict=True)


def test_addmm_of_integers_has_the_common_dtype(be):
    a, b = be.ones((2, 2), dtype="int8"), be.ones((2, 2), dtype="int16")
    for c, dtype in ((be.ones((2, 2), dtype="int64"), "int64"), (be.ones((2, 2), dtype="bool"), "int16")):
        for beta in (0, 1, 2):
            got = stator.addmm(c, a, b, alpha=300, beta=beta)
            assert got.dtype == dtype
            np.testing.assert_array_equal(got.to_numpy(), np.full((2, 2), 600 + beta))


def test_bad_factors_and_dtypes_are_refused(be):
    x = be.zeros((2, 3), dtype="int32")
    y = be.zeros((3, 3), dtype="int32")
    with pytest.raises(DTypeError, match="Alpha that is not an integer"):
        stator.addmm(x, x, y, alpha=0.5)
    with pytest.raises(DTypeError, match="Beta that is not an integer"):
        stator.baddbmm(x[None], x[None], y[None], beta=1j)
    with pytest.raises(ValueError, match="Beta that is out of range for int32"):
        stator.addmm(x, x, y, beta=2**31)
    with pytest.raises(DTypeError, match="int32 and float32"):
        stator.addmm(be.zeros((2, 3), dtype="float32"), x, y)
    with pytest.raises(DTypeError, match="bool and bool"):
        stator.addmm(*[stator.astype(v, "bool") for v in (x, x, y)])
    np.testing.assert_array_equal(stator.addmm(x, x, y).to_numpy(), np.zeros((2, 3)))
