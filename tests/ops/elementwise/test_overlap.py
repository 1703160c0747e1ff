"""Results in memory that an operand shares a part of: every operand is read first, as in NumPy."""

import operator

import numpy as np
import pytest

import stator
from stator.errors import InvalidValueError

IN_PLACE = [
    "iadd",
    "isub",
    "imul",
    "itruediv",
    "ifloordiv",
    "imod",
    "ipow",
    "iand",
    "ior",
    "ixor",
    "ilshift",
    "irshift",
]
VIEWS = {
    "from the next": lambda x: (x[1:], x[:-1]),
    "from ahead": lambda x: (x[:-1], x[1:]),
    "reversed": lambda x: (x, x[::-1]),
    "transposed": lambda x: (x, x.T),
    "a row": lambda x: (x, x[1]),
    "a column": lambda x: (x, x[:, 2:3]),
    "an element": lambda x: (x[1], x[1, 1]),
    "every other": lambda x: (x[:3], x[::2]),
    "itself": lambda x: (x, x),
}


def operands(dtype):
    return (np.arange(25).reshape(5, 5) % 7 + 1).astype(dtype)


@pytest.mark.parametrize("name", IN_PLACE)
@pytest.mark.parametrize("views", VIEWS)
def test_operators_in_place(be, name, views):
    dtype = "float64" if name in ("itruediv", "ipow") else "int32"
    host = operands(dtype)
    on = be.asarray(host)
    getattr(operator, name)(*VIEWS[views](host))
    getattr(operator, name)(*VIEWS[views](on))
    np.testing.assert_allclose(on.to_numpy(), host, rtol=1e-13)


def test_gaussian_elimination_in_place(be):
    rows = np.random.default_rng(0).normal(size=(6, 7)) + 4 * np.eye(6, 7)

    def solve(m):
        for i in range(6):
            m[i] /= m[i, i]
            for j in range(6):
                if j != i:
                    m[j] -= m[i] * m[j, i]
        return m[:, 6]

    np.testing.assert_allclose(solve(be.asarray(rows)).to_numpy(), solve(rows.copy()), rtol=1e-9)


def test_differences_and_sums_in_place(be):
    host = np.arange(9.0) ** 2
    on = be.asarray(host)
    for x in (host, on):
        x[1:] += x[:-1]
        x[:-1] -= x[1:]
        x += x[4]
    np.testing.assert_array_equal(on.to_numpy(), host)


@pytest.mark.parametrize("dtype", ["float32", "int16", "complex64", "bool"])
def test_out_of_functions_with_one_to_three_operands(be, dtype):
    host = (np.arange(12) % 5).astype(dtype)
    calls = [(np.multiply, stator.multiply, 2), (np.equal, stator.equal, 2)]
    if dtype != "bool":
        calls += [(np.negative, stator.negative, 1), (np.square, stator.square, 1)]
    for theirs, ours, count in calls:
        for out, other in ((slice(2, None), slice(None, -2)), (slice(None, -2), slice(2, None))):
            want = host.copy() if dtype == "bool" or theirs is not np.equal else (host != 0)
            on = be.asarray(want)
            theirs(*[want[other]] * count, out=want[out])
            assert ours(*[on[other]] * count, out=on[out]).shape == (10,)
            np.testing.assert_array_equal(on.to_numpy(), want)
    on = be.asarray(np.arange(6.0))
    stator.where(on[:-1] > 1, on[:-1], on[1:], out=on[1:])
    assert on.tolist() == [0, 1, 2, 2, 3, 4]


def test_an_operand_of_another_dtype_in_the_same_memory(be):
    on = be.asarray(np.arange(4.0))
    bits = on.to_numpy().view(np.int64)
    stator.add(on.view("int64"), 0, out=on)
    np.testing.assert_array_equal(on.to_numpy(), bits)


def test_ops_that_read_more_elements_than_they_write_refuse(be):
    x = be.ones((4, 4))
    with pytest.raises(InvalidValueError, match="shares part"):
        stator.sum(x, axis=0, out=x[0])
