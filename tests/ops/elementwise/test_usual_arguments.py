"""Functions with a shorter path for chunks of usual arguments: one unusual element must not disturb its neighbours."""

import numpy as np
import pytest

import stator

UNUSUAL = {
    "log": [0.0, -0.0, -1.0, np.inf, -np.inf, np.nan, 1e-310, 1e-42],
    "log2": [0.0, -0.0, -1.0, np.inf, -np.inf, np.nan, 1e-310, 1e-42],
    "log10": [0.0, -0.0, -1.0, np.inf, -np.inf, np.nan, 1e-310, 1e-42],
    "sin": [np.inf, -np.inf, np.nan, 0.0, -0.0, 1e9, -1e30],
    "cos": [np.inf, -np.inf, np.nan, 0.0, -0.0, 1e9, -1e30],
    "tan": [np.inf, -np.inf, np.nan, 201.0, -3e5, 1e30],
}
ENDS = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-310, -1e-42, 1e300, 1e38, -1.5]


def check(got, expected, dtype):
    bound = (4 if dtype == "float32" else 8) * float(np.finfo(dtype).eps)
    np.testing.assert_allclose(got.astype("float64"), expected, rtol=bound, atol=0)
    zero = expected == 0
    assert (np.signbit(got[zero]) == np.signbit(expected[zero])).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", UNUSUAL)
@pytest.mark.parametrize("in_place", [False, True], ids=["new", "in_place"])
def test_an_unusual_element_at_any_place_of_a_chunk(be, name, dtype, in_place):
    usual = np.random.default_rng(0).uniform(0.1, 3, 5003)
    with np.errstate(all="ignore"):
        for place in (0, 1, 1250, 3001, 5002):
            for value in UNUSUAL[name]:
                x = usual.copy()
                x[place] = value
                x = x.astype(dtype)
                operand = be.asarray(x, copy=True)
                out = getattr(stator, name)(operand, out=operand) if in_place else getattr(stator, name)(operand)
                check(out.to_numpy(), getattr(np, name)(x.astype("float64")).astype(dtype).astype("float64"), dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", [*UNUSUAL, "atan2"])
def test_an_element_has_the_same_bits_among_any_others(be, name, dtype):
    x = np.random.default_rng(0).uniform(0.1, 3, 4001).astype(dtype)
    unusual = np.append(x, np.asarray(1e38, dtype))
    operands = [[be.asarray(a)] * (1 + (name == "atan2")) for a in (x, unusual)]
    alone, among = (getattr(stator, name)(*o).to_numpy() for o in operands)
    np.testing.assert_array_equal(alone, among[:-1])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_atan2_of_ends_among_usual_points(be, dtype):
    rng = np.random.default_rng(0)
    up, across = rng.uniform(-3, 3, (2, len(ENDS) ** 2, 37))
    grid = np.array([(y, x) for y in ENDS for x in ENDS])
    up[:, 11], across[:, 11] = grid[:, 0], grid[:, 1]
    with np.errstate(all="ignore"):
        up, across = up.astype(dtype), across.astype(dtype)
        for y, x in zip(up, across, strict=True):
            got = stator.atan2(be.asarray(y), be.asarray(x)).to_numpy()
            expected = np.arctan2(y.astype("float64"), x.astype("float64"))
            check(got, expected.astype(dtype).astype("float64"), dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sinh_is_finite_as_far_as_its_result_is(be, dtype):
    last = float(np.arcsinh(np.float64(np.finfo(dtype).max)))
    x = np.array([last * (1 - 1e-6), last * (1 + 1e-6), last + 1, -last * (1 + 1e-6), np.inf, -np.inf], dtype)
    with np.errstate(over="ignore"):
        got, expected = stator.sinh(be.asarray(x)).to_numpy(), np.sinh(x)
    assert (np.isinf(got) == np.isinf(expected)).all() and (np.signbit(got) == np.signbit(x)).all()
    np.testing.assert_allclose(got[0], expected[0], rtol=8 * float(np.finfo(dtype).eps))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_cbrt_of_every_exponent(be, dtype):
    info = np.finfo(dtype)
    x = np.exp2(np.arange(info.minexp - info.nmant, info.maxexp, dtype="float64")).astype(dtype)
    x = np.concatenate([x, x[:-1] * np.dtype(dtype).type(1.7), -x])
    np.testing.assert_allclose(stator.cbrt(be.asarray(x)).to_numpy(), np.cbrt(x), rtol=4 * float(info.eps))
