"""Operands that repeat their elements are multiplied where they lie: a product takes the memory of its result."""

import numpy as np
import pytest

import stator

MIB = 2**20
RNG = np.random.default_rng(0)
ROW, MATRIX = RNG.integers(-3, 4, 2048).astype("float64"), RNG.integers(-3, 4, (48, 96)).astype("float64")


def wide(x, *shape):
    return np.broadcast_to(x, shape)


# By a number n of repetitions.
CASES = {
    "vecdot of one element": ("vecdot", lambda r, m, n: (wide(r[:1], n, n), wide(r[1:2], n, n))),
    "vecdot of one row": ("vecdot", lambda r, m, n: (wide(r[:n], n, n), wide(r[:n][::-1], n, n))),
    "vecdot of repeated elements": ("vecdot", lambda r, m, n: (wide(r[:n, None], n, n), wide(r[:n], n, n))),
    "vecdot of two dtypes": ("vecdot", lambda r, m, n: (wide(r[:n], n, n), wide(r[:n].astype("float32"), n, n))),
    "vecdot of complex": ("vecdot", lambda r, m, n: (wide(r[:n] * 1j, n, n), wide(r[:n] + 1j, n, n))),
    "vecdot of integers": ("vecdot", lambda r, m, n: (wide(r[:n].astype("i4"), n, n), wide(r[:n].astype("i8"), n, n))),
    "a batch of columns": ("matmul", lambda r, m, n: (wide(m[::2, ::2], n, 24, 48), m[:48, :3])),
    "two batches": ("matmul", lambda r, m, n: (wide(m[::3, ::3], n, 16, 32), wide(m[:32, ::4], n, 32, 24))),
    "a batch of another dtype": ("matmul", lambda r, m, n: (wide(m.astype("float32"), n, 48, 96), m.T[:, :2])),
    "equal rows": ("matmul", lambda r, m, n: (wide(r[:n], n, n), r[:n, None])),
    "equal columns": ("matmul", lambda r, m, n: (r[:n].reshape(-1, 4), wide(r[:4, None], 4, n))),
    "equal rows and columns": ("matmul", lambda r, m, n: (wide(r[:n], n, n), wide(r[:n, None], n, n))),
}


def product(be, name, x, y):
    def there(a):
        one = tuple(slice(0, 1) if s == 0 and n > 1 else slice(None) for n, s in zip(a.shape, a.strides, strict=True))
        return stator.broadcast_to(be.asarray(np.ascontiguousarray(a[one])), a.shape)

    return getattr(stator.linalg if name == "vecdot" else stator, name)(there(x), there(y)).to_numpy()


@pytest.mark.parametrize("case", CASES)
def test_the_product_of_operands_that_repeat_is_the_same(be, case):
    name, make = CASES[case]
    x, y = make(ROW, MATRIX, 12)
    np.testing.assert_array_equal(product(be, name, x, y), getattr(np, name)(x, y))


@pytest.mark.parametrize("case", CASES)
def test_the_product_needs_no_memory_for_repetitions(case):
    name, make = CASES[case]
    x, y = make(ROW, MATRIX, 2048)
    want = getattr(np, name)(x, y)
    with stator.Backend("cpu", memory_limit=want.nbytes * 2 + 8 * MIB) as be:
        np.testing.assert_array_equal(product(be, name, x, y), want)


def test_errors_show_the_shapes_that_were_given(be):
    x, y = stator.broadcast_to(be.ones((1, 3)), (5, 3)), be.ones((4, 2))
    with pytest.raises(stator.errors.ShapeError, match=r"\(5, 3\) and \(4, 2\)"):
        x @ y
