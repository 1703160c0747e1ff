"""Numbers beside arrays: NumPy's scalars count by their dtypes, Python's adapt, and comparisons are exact."""

import operator
from contextlib import nullcontext

import numpy as np
import pytest

import stator
import stator.numpy as snp
from stator.errors import DTypeError, NumberRangeError
from tests.support.inputs import DTYPES

NAMES = [d for d in DTYPES if d != "bfloat16"]
SCALARS = [np.bool_(True), np.int8(3), np.uint8(200), np.int64(300), np.uint64(2**63), np.float16(0.5), np.float32(0.1)]
SCALARS += [np.float64(0.1), np.complex64(1 + 2j), np.complex128(2 - 1j)]


@pytest.mark.parametrize("dtype", NAMES)
@pytest.mark.parametrize("name", ["add", "mul", "eq", "ne"])
def test_operators_take_a_scalar_of_numpy_by_its_dtype(be, dtype, name):
    host = np.array([0, 1, 2]).astype(dtype)
    on, call = be.asarray(host), getattr(operator, name)
    for scalar in SCALARS:
        with np.errstate(all="ignore"):
            want, turned = call(host, scalar), call(scalar, host)
        np.testing.assert_array_equal(call(on, scalar).to_numpy(), want, strict=True)
        np.testing.assert_array_equal(call(scalar, on).to_numpy(), turned, strict=True)


def test_functions_agree_with_operators(be):
    x = be.ones(3, dtype="float32")
    for two in (np.float64(2), np.float16(2), 2.0):
        results = [x * two, stator.multiply(x, two), snp.multiply(x, two), np.multiply(x, two), two * x]
        assert len({r.dtype for r in results}) == 1, two
    small = be.ones(3, dtype="int8")
    assert (small + np.int64(300)).tolist() == [301] * 3
    assert stator.where(small > 0, small, np.int64(300)).dtype == "int64"
    assert stator.clip(small, np.int64(0), np.int64(300)).dtype == "int64"
    assert stator.result_type(x, np.float64(1)) == "float64" and stator.result_type(x, 1.0) == "float32"


def test_parameters_of_activations_stay_numbers(be):
    x = be.ones(3, dtype="float32")
    assert stator.nn.leaky_relu(x, np.float64(0.1)).dtype == "float32"
    assert stator.nn.elu(x, alpha=np.float64(0.1)).dtype == "float32"


def test_in_place_the_array_keeps_its_dtype(be):
    x = be.ones(3, dtype="float32")
    x *= np.float64(0.1)
    assert x.dtype == "float32" and x.tolist() == [float(np.float32(0.1))] * 3
    small = be.ones(3, dtype="int8")
    small += np.int64(300)
    assert small.tolist() == [45] * 3
    with pytest.raises(DTypeError):
        small += np.float64(1)


COMPARISONS = ["eq", "ne", "lt", "le", "gt", "ge"]
EDGES = [
    -(10**30),
    -(2**63) - 1,
    -(2**63),
    -129,
    -128,
    -1,
    0,
    127,
    128,
    255,
    256,
    2**63 - 1,
    2**63,
    2**64 - 1,
    2**64,
    10**30,
]


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int32", "uint32", "int64", "uint64"])
@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons_with_integers_of_any_size_are_exact(be, dtype, name):
    kind = np.dtype(dtype)
    low, high = (0, 1) if kind.kind == "b" else (np.iinfo(kind).min, np.iinfo(kind).max)
    values = sorted({low, 0, 1, high - 1, high})
    on, call = be.asarray(np.array(values, dtype=kind)), getattr(operator, name)
    for number in EDGES:
        assert call(on, number).tolist() == [call(v, number) for v in values], number
        assert call(number, on).tolist() == [call(number, v) for v in values], number


def test_integers_beyond_64_bits_are_floats_beside_floats(be):
    x = be.ones(2) * 10**20
    assert x.dtype == "float64" and x.tolist() == [1e20, 1e20]
    assert (10**30 - be.ones(2)).tolist() == [1e30, 1e30]
    assert (be.ones(2, dtype="complex64") + 10**20).dtype == "complex64"
    assert (be.ones(2, dtype="float32") * 10**60).tolist() == [np.inf, np.inf]
    assert (be.ones(2) < 10**20).tolist() == [True, True]
    for call in (lambda: be.ones(2) * 10**400, lambda: be.ones(2, dtype="int64") + 2**64):
        with pytest.raises(OverflowError, match="64 bits"):
            call()
    with pytest.raises(NumberRangeError):
        stator.add(be.ones(2, dtype="bool"), 10**20)


BOOLS = {
    "abs": abs,
    "floor_divide": lambda x: x // x,
    "floor_divide of a bool": lambda x: x // True,
    "floor_divide by a bool": lambda x: True // (x | True),
    "remainder": lambda x: x % np.bool_(True),
    "pow": lambda x: x**x,
    "left_shift": lambda x: x << x,
    "right_shift": lambda x: x >> True,
    "divmod": lambda x: divmod(x, True)[0],
    "conj": lambda x: x.conj(),
    "conjugate": lambda x: x.conjugate(),
    "remainder of a number": lambda x: x % 2,
    "divide": lambda x: x / True,
}


@pytest.mark.parametrize("name", BOOLS)
def test_operators_of_bools_are_numpys(be, name):
    host = np.array([True, False, True])
    with np.errstate(divide="ignore"):
        want = BOOLS[name](host)
    with pytest.warns(RuntimeWarning, match="division") if name == "floor_divide" else nullcontext():
        np.testing.assert_array_equal(BOOLS[name](be.asarray(host)).to_numpy(), want, strict=True)


def test_casting_is_honoured_and_enforced(be):
    x, y = be.asarray([1.7, -2.7]), be.asarray([1, 2])
    out = be.zeros(2, dtype="int64")
    snp.copyto(out, x, casting="unsafe")
    assert out.tolist() == [1, -2]
    snp.multiply(x, 2, out=out, casting="unsafe")
    assert out.tolist() == [3, -5]
    assert snp.add(x, 1.5, dtype="int64", casting="unsafe").tolist() == [2, -1]
    assert snp.clip(x, 0, 1, out=out, casting="unsafe").tolist() == [1, 0]
    assert x.clip(0, 1, dtype="int64", casting="unsafe").tolist() == [1, 0]
    assert x.astype("int64", casting="unsafe").tolist() == [1, -2]
    flags = be.zeros(2, dtype="bool")
    snp.copyto(flags, 3.7, casting="unsafe", where=be.asarray([True, False]))
    assert flags.tolist() == [True, False]
    for call in (
        lambda: snp.copyto(out, x),
        lambda: snp.copyto(out, 3.7),
        lambda: snp.copyto(out, 3.7, where=flags),
        lambda: snp.copyto(flags, 1),
        lambda: snp.copyto(out, y.astype("float32"), casting="safe"),
        lambda: snp.multiply(x, 2, out=out),
        lambda: snp.add(x, y, dtype="int64"),
        lambda: snp.add(x, y.astype("int8"), casting="no"),
        lambda: snp.clip(x, 0, 1, out=out),
        lambda: x.astype("float32", casting="safe"),
        lambda: x.astype("int64", casting="same_kind"),
    ):
        with pytest.raises(DTypeError):
            call()
    with pytest.raises(ValueError, match="Casting must be"):
        snp.add(x, 1, casting="any")
