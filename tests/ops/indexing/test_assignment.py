"""Assignment casts as NumPy's does: between all pairs of dtypes, and of Python's and NumPy's numbers."""

import math
import warnings

import numpy as np
import pytest

import stator
from stator.errors import DTypeError, InvalidValueError, NumberRangeError, ShapeError
from tests.support.inputs import DTYPES

NAMES = [d for d in DTYPES if d != "bfloat16"]
REALS = [
    0,
    1,
    -1,
    2,
    100,
    127,
    128,
    255,
    -128,
    1e4,
    -7e4,
    2.0**31,
    2.0**53 + 2,
    1.5,
    -2.75,
    0.25,
    -0.0,
    math.inf,
    -math.inf,
    math.nan,
]


def specials(dtype):
    kind = np.dtype(dtype)
    if kind.kind == "b":
        return np.array([True, False, True])
    if kind.kind in "iu":
        info = np.iinfo(kind)
        return np.array([0, 1, 2, 100, info.max, info.max - 1, info.min, info.min + 1], dtype=kind)
    with np.errstate(over="ignore"):
        real = np.array(REALS).astype(np.float16 if dtype == "float16" else np.float64)
        if kind.kind != "c":
            return real.astype(kind)
        out = np.empty(real.size, dtype=kind)
        out.real, out.imag = real, real[::-1]
        return out


def cast(values, dtype):
    """NumPy's cast; where that is undefined, of floats beyond the integers, the nearest integer, and 0 of NaN."""
    kind = np.dtype(dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if kind.kind in "iu" and values.dtype.kind in "fc":
            info = np.iinfo(kind)
            whole = [0 if math.isnan(v) else v for v in values.real.astype(np.float64).tolist()]
            clipped = [info.max if v >= info.max else info.min if v <= info.min else int(v) for v in whole]
            return np.array(clipped, dtype=kind)
        return values.astype(kind)


@pytest.mark.parametrize("target", NAMES)
@pytest.mark.parametrize("source", NAMES)
def test_arrays_of_every_dtype_are_assigned_to_every_dtype(be, source, target):
    values = specials(source)
    want = cast(values, target)
    discards = np.dtype(source).kind == "c" and np.dtype(target).kind not in "cb"
    on = be.asarray(values)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        x = be.zeros(values.size, dtype=target)
        x[...] = on
        by_index = be.zeros(values.size, dtype=target)
        by_index[be.arange(values.size)] = on
        by_mask = be.zeros(values.size, dtype=target)
        by_mask[be.ones(values.size, dtype="bool")] = on
        of_host = be.zeros(values.size, dtype=target)
        of_host[:] = values
    assert len(seen) == (4 if discards else 0), [str(w.message) for w in seen]
    assert all(issubclass(w.category, np.exceptions.ComplexWarning) for w in seen)
    for got in (x, by_index, by_mask, of_host):
        np.testing.assert_array_equal(got.to_numpy(), want, strict=True)
        np.testing.assert_array_equal(np.signbit(got.to_numpy().real), np.signbit(want.real))


NUMBERS = [True, 0, 1, -1, 127, 128, 300, -300, 2**31, 2**63, 2**64, 10**30, 1.5, -1.5, 300.7, 1e10, math.nan, math.inf]
NUMBERS += [
    1j,
    2 + 3j,
    np.int64(-1),
    np.int64(300),
    np.uint8(200),
    np.float32(1.5),
    np.float64(300.7),
    np.float64(math.nan),
]
NUMBERS += [np.bool_(True), np.complex64(2.5 + 1j), np.float16(0.1)]
ERRORS = {OverflowError: NumberRangeError, TypeError: DTypeError, ValueError: InvalidValueError}


def outcome(call, x):
    """What a call leaves in an array: its elements, or the class of the error, and the classes of the warnings."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            call(x)
        except (OverflowError, TypeError, ValueError) as error:
            found = next(c for c in ERRORS if isinstance(error, c))
            if isinstance(x, stator.Array):
                assert isinstance(error, (ERRORS[found], ShapeError))
            return found
    told = [
        w.category for w in seen if w.category is not RuntimeWarning
    ]  # of an overflow to infinity, without a warning
    return (x.to_numpy() if isinstance(x, stator.Array) else x).tolist(), told


CALLS = {
    "element": lambda v: lambda x: x.__setitem__(0, v),
    "slice": lambda v: lambda x: x.__setitem__(slice(None), v),
    "ellipsis": lambda v: lambda x: x.__setitem__(..., v),
    "indices": lambda v: lambda x: x.__setitem__([0, 2], v),
    "mask": lambda v: lambda x: x.__setitem__(x == x, v),
    "fill": lambda v: lambda x: x.fill(v),
    "list": lambda v: lambda x: x.__setitem__(slice(None), [v, v, v]),
}


@pytest.mark.parametrize("dtype", NAMES)
@pytest.mark.parametrize("how", CALLS)
def test_numbers_are_assigned_as_in_numpy(be, dtype, how):
    for number in NUMBERS:
        if how == "list" and isinstance(number, np.generic):
            continue
        call = CALLS[how](number)
        got, want = outcome(call, be.zeros(3, dtype=dtype)), outcome(call, np.zeros(3, dtype))
        assert repr(got) == repr(want), number  # by repr, so that NaN is NaN


def test_lists_are_assigned_as_in_numpy(be):
    for dtype in ("bool", "int8", "uint16", "float32", "complex64"):
        for values in ([1, 0, 2], [1.5, -0.0, 2], [[1], [2]], [1, 2], [1j, 2, 3], [300, 1, 2], (3, 2, 1), range(3)):
            call = CALLS["slice"](values)
            got, want = outcome(call, be.zeros((2, 3), dtype=dtype)), outcome(call, np.zeros((2, 3), dtype))
            assert repr(got) == repr(want), values


@pytest.mark.parametrize("value", [[1], [1, 2, 3], (1,), np.ones(3), np.ones(1)], ids=repr)
def test_fill_takes_one_value(be, value):
    x = be.zeros(3)
    with pytest.raises(InvalidValueError, match="several values"):
        x.fill(value)
    with pytest.raises(InvalidValueError, match="several values"):
        x.fill(be.ones(3))
    x.fill(be.ones(()))
    x.fill(np.array(2.5))
    assert x.tolist() == [2.5] * 3


def test_an_integer_beyond_the_dtype_is_an_overflow(be):
    for call in (lambda x: x + 300, lambda x: x * -129, lambda x: x.fill(128), lambda x: be.full(2, 300, dtype="int8")):
        with pytest.raises(OverflowError, match=r"out of (range|bounds)") as info:
            call(be.zeros(3, dtype="int8"))
        assert isinstance(info.value, NumberRangeError)
    with pytest.raises(OverflowError):
        be.asarray([1, 300], dtype="uint8")
    with pytest.raises(OverflowError):
        be.asarray(10**30)
    with pytest.raises(OverflowError):
        be.zeros(3, dtype="int64") + 10**20


def test_an_array_that_overlaps_its_target_is_read_first(be):
    for call in (
        lambda x: x.__setitem__(slice(None, -1), x[1:]),
        lambda x: x.__setitem__(slice(1, None), x[:-1]),
        lambda x: x.__setitem__(..., x[::-1]),
        lambda x: x.__setitem__([3, 2, 1], x[:3]),
        lambda x: x.__setitem__(slice(1, 4), x[1]),
    ):
        host = np.arange(6.0)
        on = be.asarray(host)
        call(host)
        call(on)
        np.testing.assert_array_equal(on.to_numpy(), host)


def test_results_in_place_take_a_cast_of_their_kind_alone(be):
    x = be.ones((2, 2), dtype="int32")
    for call in (
        lambda: x.__iadd__(be.ones((2, 2))),
        lambda: x.__imatmul__(be.ones((2, 2))),
        lambda: x.__itruediv__(2),
    ):
        with pytest.raises(DTypeError):
            call()
