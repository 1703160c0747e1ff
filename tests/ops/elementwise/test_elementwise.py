"""Every elementwise entry of the op table against its oracle.

Dtypes, layouts, sizes, broadcasting, special values, and the arguments that all of them accept: weak numbers, dtype=,
out=.
"""

import itertools
import operator
import zlib

import inputs
import numpy as np
import pytest
from cases import (
    ELEMENTWISE,
    TABLE,
    assert_close,
    case,
    check,
    domains,
    expected,
    function,
    invoke,
    names,
    operands,
    result_dtype,
)
from oracles import resolve
from reference import assert_matches, numpy_dtype

import stator

UNARY, BINARY = names("unary"), names("binary")
MANY = [n for n in ELEMENTWISE if n not in UNARY]
LAYOUTS = inputs.layouts()
SIZES = [0, 1, 33, 257, 4099]
BY_HAND = ("clip", "nan_to_num")  # without dtype=, since their results have the operand's


def rng_of(*key: object) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(repr(key).encode()))


def common(name, *dtypes):
    """The dtypes of the list that the op takes."""
    return [d for d in dtypes if d in TABLE[name]["dtypes"]]


def test_every_row_has_an_oracle():
    for name in ELEMENTWISE:
        dtype = "float64" if "float64" in TABLE[name]["dtypes"] else "int64"
        assert np.shape(expected(name, *operands(rng_of(name), name, (2,), dtype))) == (2,)


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_matches_oracle_for_each_dtype(be, name):
    for dtype in TABLE[name]["dtypes"]:
        rng = rng_of(name, dtype)
        converted = TABLE[name]["result"] == "inexact" and dtype.startswith(("bool", "int", "uint"))
        for size in SIZES[: -1 if converted else None]:
            check(be, name, operands(rng, name, (size,), dtype), f"size {size}")


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_matches_oracle_for_each_layout(be, name):
    for dtype, layout in itertools.product(
        common(name, "float32", "int16", "uint64", "bfloat16", "complex64", "bool"), LAYOUTS
    ):
        made = operands(rng_of(name, layout, dtype), name, (5, 9, 7), dtype, arrays=not case(name).keywords)
        moved = [LAYOUTS[layout](x) if isinstance(x, np.ndarray) else x for x in made]
        check(be, name, moved, layout)
        if name in MANY:
            check(be, name, [moved[0], *made[1:]], f"{layout} and contiguous")


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_layouts_give_the_same_bits(be, name):
    """Except ops that are not bit-exact, whose vector loop and remainder may round differently.

    Among the complex numbers are those of the axes, where parts are zero or infinite.
    """
    parts = [0.0, 1, -0.5, 3e38, 1e-30, np.inf]
    special = [complex(re, im) for re in parts for im in parts]
    for dtype in common(name, "float32", "int32", "float64", "float16", "complex64", "complex128"):
        made = operands(rng_of(name, dtype), name, (7, 65), dtype)
        for x in made:
            if getattr(x, "dtype", None) in ("complex64", "complex128"):
                x[3, : len(special)] = special
        want = invoke(name, *[be.asarray(x) if isinstance(x, np.ndarray) else x for x in made]).to_numpy()
        apart = (0, 0) if TABLE[name]["determinism"] == "bit_exact" else (2, 2)
        for layout, move in LAYOUTS.items():
            moved = [inputs.on_device(be, move(x)) if isinstance(x, np.ndarray) else x for x in made]
            assert_matches(invoke(name, *moved).to_numpy(), want, apart, f"{name} {dtype} {layout}")


BROADCASTS = [
    ((), (3,), (1,)),
    ((4, 1), (1, 5), ()),
    ((7,), (3, 4, 7), (4, 1)),
    ((3, 1, 7), (4, 1), (1, 1, 1, 7)),
    ((0, 3), (1, 3), (3,)),
    ((64, 130), (130,), (64, 1)),
]


@pytest.mark.parametrize("name", MANY)
def test_broadcasts(be, name):
    dtype = common(name, "float32", "int32")[0]
    numbers = bool(case(name).keywords)
    for shapes in BROADCASTS:
        for turn in range(2):
            given = [shapes[(k + turn) % 2] if k < 2 else shapes[(k + turn) % 3] for k in range(len(domains(name)))]
            check(be, name, operands(rng_of(name, shapes, turn), name, given, dtype, arrays=not numbers), str(given))


MIXED = [
    ("int8", "uint8"),
    ("int32", "float32"),
    ("uint64", "int64"),
    ("float16", "float64"),
    ("bfloat16", "float16"),
    ("bool", "int16"),
    ("float32", "complex64"),
    ("bfloat16", "int32"),
]


@pytest.mark.parametrize(("left", "right"), MIXED)
def test_promotes_mixed_dtypes(be, left, right):
    for name in MANY:
        if result_dtype("add", left, right) not in TABLE[name]["dtypes"] or name == "nan_to_num":
            continue
        a, b = (operands(rng_of(name, d), name, (40,), d) for d in (left, right))
        for first, second in ((a, b), (b, a)):
            arrays = [k for k, x in enumerate(first) if isinstance(x, np.ndarray)]
            if len(arrays) < 2:
                continue
            made = [second[k] if k == arrays[-1] else x for k, x in enumerate(first)]
            check(be, name, made)


def special_operands(name, dtype):
    """All combinations of special values for the array operands; of fewer values for three operands.

    A gradient operand is finite or NaN, since infinity times a derivative that underflows is NaN.
    """
    values, found = inputs.special(dtype), domains(name)
    if case(name).special == "moderate":
        wide = np.abs(values.astype(np.float64))
        values = values[np.isnan(wide) | (wide == 0) | ((wide > 1e-31) & (wide < 100))]
    count = sum(not isinstance(d, (int, float)) for d in found) - (name == "where")
    if count == 3:
        values = np.concatenate([values[:6], values[7:8]])
    axes = [values] * count
    if name.endswith("_backward"):
        axes[0] = np.array([1.5, np.nan]).astype(values.dtype)
    grid = iter(np.meshgrid(*axes, indexing="ij"))
    made = [d if isinstance(d, (int, float)) else next(grid).ravel() for d in found[name == "where" :]]
    return [inputs.random(rng_of(name), made[0].shape, "bool"), *made] if name == "where" else made


# Ops whose sign of zero NumPy does not define, or takes from a less precise result.
SIGNLESS = ("clip", "fmax", "fmin", "sinc", "logaddexp", "logaddexp2", "nextafter")


@pytest.mark.parametrize("name", [n for n in ELEMENTWISE if case(n).special and "float32" in TABLE[n]["dtypes"]])
def test_special_values(be, name):
    for dtype in common(name, *inputs.FLOATS):
        made = special_operands(name, dtype)
        got = check(be, name, made).to_numpy()
        if TABLE[name]["oracle"].startswith("numpy.") and name not in SIGNLESS:
            want = np.asarray(expected(name, *made))
            zeros = (got == 0) & (want == 0)
            np.testing.assert_array_equal(np.signbit(got[zeros]), np.signbit(want[zeros]), f"{name} {dtype}")


# NumPy's expm1 gives NaN where one part is infinite, its log1p loses small numbers, its square may fuse products, and
# its exp2 and sinc round the angle; SciPy's expit takes no complex numbers. test_complex.py has those.
COMPLEX = [n for n in UNARY if "complex64" in TABLE[n]["dtypes"]]
COMPLEX = [n for n in COMPLEX if n not in ("expm1", "log1p", "square", "exp2", "sinc", "expit")]
ANY_SIGN = ("sin", "cos", "sinh")  # Annex G does not define some signs of what has infinite parts, nor of NaN's


@pytest.mark.parametrize("name", COMPLEX)
def test_special_values_of_complex_numbers(be, name):
    """The values are those of NumPy, which follows Annex G of the C standard."""
    parts = np.array([0.0, -0.0, 1, -1, 0.5, 3e38, 1e-30, np.inf, -np.inf, np.nan])
    x = np.empty((10, 10), np.complex128)
    x.real, x.imag = parts[:, None], parts
    with np.errstate(all="ignore"):
        x = x.astype(np.complex64)
        want = resolve(TABLE[name]["oracle"])(x.astype(np.complex128))
        got = invoke(name, be.asarray(x)).to_numpy()
        want = want.astype(got.dtype)
        pairs = [(got.real, want.real), (got.imag, want.imag)] if got.dtype.kind == "c" else [(got, want)]
        for ours, theirs in pairs:
            free = np.isnan(x) | (name in ANY_SIGN)
            ours, theirs = np.where(free, np.abs(ours), ours), np.where(free, np.abs(theirs), theirs)
            np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-36, err_msg=name)
            zeros = (ours == 0) & (theirs == 0)
            np.testing.assert_array_equal(np.signbit(ours[zeros]), np.signbit(theirs[zeros]), name)


@pytest.mark.parametrize("name", ["add", "exp", "where", "erf", "floor_divide", "lerp", "equal", "cos"])
def test_arrays_of_many_blocks(be, name):
    for dtype in common(name, "float32", "int16"):
        made = operands(rng_of(name, "large"), name, (517, 1031), dtype)
        check(be, name, made)
        check(be, name, [LAYOUTS["sliced"](made[0]), *made[1:]], "sliced")


@pytest.mark.parametrize("name", [n for n in BINARY if n not in ("polygamma", "zeta")])
def test_python_scalars_are_weak(be, name):
    kind = common(name, "float32", "int16")[0]
    x = np.array([0.5, 0.25, 0.75] if kind == "float32" else [1, 5, 2], kind)
    for scalar in (2, 0.5, True) if kind == "float32" else (3, True):
        for swapped in (False, True):
            made = [np.full(3, scalar, kind), x][:: 1 if swapped else -1]
            got = invoke(name, *[scalar, be.asarray(x)][:: 1 if swapped else -1])
            assert got.dtype.name == result_dtype(name, kind)
            assert_close(got.to_numpy(), name, made, f"{scalar} {swapped}")


@pytest.mark.parametrize("name", names("ternary", "quaternary"))
def test_numbers_are_weak_among_three_and_more_operands(be, name):
    made = operands(rng_of(name), name, (9,), "float16")
    made[1:] = [x if isinstance(x, (int, float)) else float(x[0]) for x in made[1:]]
    check(be, name, made)


def test_integer_arrays_with_float_scalars_give_float64(be):
    got = stator.add(be.asarray(np.array([1, 2], np.int8)), 0.5)
    assert got.dtype == stator.float64
    np.testing.assert_array_equal(got.to_numpy(), [1.5, 2.5])


def test_a_condition_is_bool(be):
    x = be.asarray(np.arange(4.0))
    np.testing.assert_array_equal(stator.where(x > 1, x, -1).to_numpy(), [-1, -1, 2, 3])
    np.testing.assert_array_equal(stator.where(x > 1, 7, be.asarray(np.arange(4))).to_numpy(), [0, 1, 7, 7])
    for condition in (x, be.asarray(np.arange(4, dtype=np.uint8)), 1):
        with pytest.raises(stator.errors.DTypeError, match="bool"):
            stator.where(condition, x, x)


@pytest.mark.parametrize("dtype", [d for d in inputs.DTYPES if d != "bool"])
@pytest.mark.parametrize("begin", [0, 1, 4, 16])
def test_conditions_wherever_they_begin(be, dtype, begin):
    """A thread reads several bools at once, which must be aligned; any byte but 0 is true."""
    rng = np.random.default_rng(begin)
    truth = rng.choice(np.array([0, 0, 1, 2, 255], np.uint8), 5003)
    x, y = inputs.random(rng, truth.shape, dtype), inputs.random(rng, truth.shape, dtype)
    got = stator.where(be.asarray(truth.view(bool))[begin:], be.asarray(x)[begin:], be.asarray(y)[begin:])
    np.testing.assert_array_equal(got.to_numpy(), np.where(truth != 0, x, y)[begin:])
    got = stator.where(be.asarray(truth.view(bool))[begin:], be.asarray(x)[: truth.size - begin], be.asarray(y)[begin:])
    np.testing.assert_array_equal(got.to_numpy(), np.where(truth[begin:] != 0, x[: truth.size - begin], y[begin:]))


ROUNDED = [n for n in ELEMENTWISE if n not in BY_HAND and TABLE[n]["result"] in ("same", "inexact")]


@pytest.mark.parametrize("name", [n for n in ROUNDED if "float32" in TABLE[n]["dtypes"]])
def test_dtype_argument_rounds_once(be, name):
    pairs = [("bfloat16", "float32"), ("float16", "float64"), ("float32", "float16"), ("float32", "float64")]
    for source, target in pairs:
        if set(common(name, source, target)) != {source, target}:
            continue
        made = operands(rng_of(name, source), name, (67,), source)
        got = invoke(name, *[be.asarray(x) if isinstance(x, np.ndarray) else x for x in made], dtype=target)
        assert got.dtype.name == target
        wider = numpy_dtype(stator.result_type(source, target).name)
        wide = [x.astype(wider) if isinstance(x, np.ndarray) and x.dtype != bool else x for x in made]
        assert_close(got.to_numpy(), name, wide, f"{source} to {target}")


def test_dtype_argument_widens_integers_first(be):
    x = be.asarray(np.array([100, -100], np.int8))
    got = stator.add(x, x, dtype="int32")
    assert got.dtype == stator.int32
    np.testing.assert_array_equal(got.to_numpy(), [200, -200])
    with pytest.raises(stator.errors.DTypeError):
        stator.add(be.asarray(np.ones(2)), 1, dtype="int32")
    with pytest.raises(stator.errors.DTypeError):
        stator.equal(x, x, dtype="float32")


@pytest.mark.parametrize("name", ["floor_divide", "remainder", "maximum", "minimum", "bitwise_right_shift", "multiply"])
@pytest.mark.parametrize("dtype", ["int8", "int32"])
def test_dtype_argument_narrows_integers_first(be, name, dtype):
    x, y = np.array([300, -200, 2**33 + 77, 100]), np.array([3, 5, 2, 1])
    got = function(name)(be.asarray(x), be.asarray(y), dtype=dtype).to_numpy()
    numpy_name = {"bitwise_right_shift": "right_shift"}.get(name, name)
    np.testing.assert_array_equal(got, getattr(np, numpy_name)(x, y, dtype=dtype, casting="same_kind"), strict=True)


def test_three_operands_promote_in_any_order(be):
    arrays = [be.ones((2,), dtype=d) for d in ("int8", "uint8", "float16")]
    for a, b, c in itertools.permutations(arrays):
        assert stator.clip(a, b, c).dtype == stator.float16


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_out_receives_the_result_and_may_be_an_operand(be, name):
    dtype = common(name, "float32", "int32")[0]
    wide = {"float32": "float64", "int32": "int64"}
    made = operands(rng_of(name, "out"), name, (6, 5), dtype)
    on = [be.asarray(x) if isinstance(x, np.ndarray) else x for x in made]
    want = invoke(name, *on)
    out = be.empty((6, 5), dtype=want.dtype)
    assert invoke(name, *on, out=out) is out
    np.testing.assert_array_equal(out.to_numpy(), want.to_numpy())
    whole = be.zeros((6, 10), dtype=wide.get(want.dtype.name, want.dtype.name))
    invoke(name, *on, out=whole[:, 1::2])
    np.testing.assert_array_equal(whole.to_numpy()[:, 1::2], want.to_numpy())
    np.testing.assert_array_equal(whole.to_numpy()[:, ::2], np.zeros((6, 5)))
    for x in on:
        if isinstance(x, stator.Array) and x.dtype == want.dtype:
            again = [stator.copy(y) if y is x else y for y in on]
            into = next(y for y, z in zip(again, on, strict=True) if z is x)
            invoke(name, *again, out=into)
            np.testing.assert_array_equal(into.to_numpy(), want.to_numpy())


def test_integers_wrap_before_a_wider_out_receives_them(be):
    x, y = np.array([100, -100, 1], np.int8), np.array([9, 100, 40], np.int8)
    for name, theirs in (("add", np.add), ("multiply", np.multiply), ("bitwise_left_shift", np.left_shift)):
        out = be.zeros((3,), dtype="int64")
        function(name)(be.asarray(x), be.asarray(y), out=out)
        np.testing.assert_array_equal(out.to_numpy(), theirs(x, y), name)


def test_out_of_another_shape_raises(be):
    x, condition = be.asarray(np.arange(6.0)), be.asarray(np.arange(6) > 2)
    calls = {
        "negative": lambda out: stator.negative(x[:5], out=out),
        "add": lambda out: stator.add(1, x[:5], out=out),
        "where": lambda out: stator.where(condition[:5], 0, x[:5], out=out),
        "clip": lambda out: stator.clip(x[:5], 0, 1, out=out),
    }
    for name, call in calls.items():
        for shape in ((6,), (1, 5), ()):
            with pytest.raises(stator.errors.ShapeError):
                call(be.empty(shape))
        np.testing.assert_array_equal(x.to_numpy(), np.arange(6.0), err_msg=name)


def test_division_of_integers_by_zero_gives_zero_and_one_warning(be):
    zero = np.array([0, 3, 0, -2])
    for dtype, name in itertools.product(("int8", "int32", "uint16", "int64"), ("floor_divide", "remainder", "fmod")):
        a, b = np.array([7, 7, 0, 7], dtype), zero.astype(dtype)
        got = function(name)(be.asarray(a), be.asarray(b))
        function(name)(got, be.zeros((4,), dtype=dtype))
        with pytest.warns(RuntimeWarning, match="division by zero") as seen:
            values = got.to_numpy()
        assert len(seen) == 1
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(values, getattr(np, name)(a, b))
        got.to_numpy()  # the warning comes only once


def test_integer_arithmetic_wraps_and_divides_to_the_floor(be):
    for dtype in ("int8", "int16", "int32", "int64"):
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        x = np.array([low, low, high, high, -7, 7, -8], dtype)
        y = np.array([-1, 1, low, -1, 2, -2, 4], dtype)
        a, b = be.asarray(x), be.asarray(y)
        with np.errstate(all="ignore"):
            for name in ("add", "subtract", "multiply", "floor_divide", "remainder", "fmod"):
                np.testing.assert_array_equal(function(name)(a, b).to_numpy(), getattr(np, name)(x, y), name)
            for name in ("negative", "abs", "square", "sign"):
                np.testing.assert_array_equal(function(name)(a).to_numpy(), getattr(np, name)(x), name)


def test_powers_of_integers(be):
    base = np.array([0, 1, -1, 2, -2, 3, 127], np.int8)
    for exponent in (0, 1, 2, 3, 7, 100):
        power = np.full(7, exponent, np.int8)
        got = stator.pow(be.asarray(base), be.asarray(power))
        assert got.dtype == stator.int8
        np.testing.assert_array_equal(got.to_numpy(), expected("pow", base, power))


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
def test_negative_elements_of_an_integer_exponent_raise_at_the_next_synchronisation(be, dtype):
    base, whole = np.full((64, 96), 2, dtype), np.ones((64, 96), dtype)
    whole[37, 5] = -3
    x, y = be.asarray(base), be.asarray(whole)
    on_the_left = be.asarray(base)
    for call in (
        lambda: x**y,
        lambda: stator.pow(x[::2, ::-1], y[1::2]),
        lambda: 2**y,
        lambda: stator.pow(x, stator.astype(y[37, 5], dtype)),  # one element for all of x
        lambda: stator.pow(x, y, out=be.empty((64, 96), dtype="int64")),
        lambda: operator.ipow(on_the_left, y),
    ):
        with pytest.raises(stator.errors.InvalidValueError, match="exponent -3") as caught:
            call()
            be.synchronize()
        assert caught.value.op == "pow" and caught.value.remedy
        be.synchronize()  # raised once
        np.testing.assert_array_equal((x**2).to_numpy(), base**2)


def test_a_negative_number_as_exponent_of_integers_is_refused_at_the_call(be):
    x, before = be.asarray(np.arange(4, dtype=np.int16)), [(r["kind"], r["bytes"]) for r in be.resources()]
    for call in (
        lambda: x**-1,
        lambda: stator.pow(x, -(2**15)),
        lambda: operator.ipow(x, -2),
        lambda: stator.pow(x, -1, dtype="int32"),
        lambda: x ** np.int64(-1),
    ):
        with pytest.raises(ValueError, match="pow") as caught:
            call()
        assert isinstance(caught.value, stator.errors.StatorError)
        del caught
    np.testing.assert_array_equal(x.to_numpy(), np.arange(4))
    assert [(r["kind"], r["bytes"]) for r in be.resources()] == before


def test_a_negative_exponent_is_no_fault_where_the_result_is_floating(be):
    x, y = be.asarray(np.array([2, 4])), be.asarray(np.array([-1, -2]))
    np.testing.assert_allclose(stator.pow(x, y, dtype="float64").to_numpy(), [0.5, 0.0625], rtol=1e-15)
    np.testing.assert_allclose(stator.pow(x, -1, dtype="float64").to_numpy(), [0.5, 0.25], rtol=1e-15)
    np.testing.assert_allclose((stator.astype(x, "float32") ** y).to_numpy(), [0.5, 0.0625], rtol=1e-6)
    np.testing.assert_allclose((x**-1.0).to_numpy(), [0.5, 0.25], rtol=1e-15)
    np.testing.assert_array_equal((be.asarray(np.array([2], np.uint64)) ** np.uint64(3)).to_numpy(), [8])
    empty = be.zeros((0,), dtype="int32")
    assert (empty**empty).shape == (0,)
    be.synchronize()


def test_shifts_past_the_width(be):
    x = np.array([1, -1, -128, 127], np.int8)
    for amount in (8, 31, 32, 64, 127, -1, -128):
        n = be.asarray(np.full(4, amount, np.int8))
        np.testing.assert_array_equal(stator.bitwise_left_shift(be.asarray(x), n).to_numpy(), [0] * 4)
        np.testing.assert_array_equal(stator.bitwise_right_shift(be.asarray(x), n).to_numpy(), [0, -1, -1, 0])


def test_complex_numbers_are_rounded_part_by_part(be):
    x = np.array([1.5 - 2.5j, -0.5 + 0.4j, complex(np.inf, np.nan), -3.7 - 0.2j])
    for dtype in ("complex64", "complex128"):
        got, want = stator.round(be.asarray(x.astype(dtype))).to_numpy(), np.round(x.astype(dtype))
        assert got.dtype == want.dtype
        for part in (np.real, np.imag):
            np.testing.assert_array_equal(part(got), part(want))
            np.testing.assert_array_equal(np.signbit(part(got)), np.signbit(part(want)))
    with pytest.raises(stator.errors.DTypeError):
        stator.floor(be.asarray(x))


def test_nan_to_num_takes_the_dtypes_own_limits(be):
    for dtype in (*inputs.FLOATS, "complex64"):
        x = np.array([np.nan, np.inf, -np.inf, 1.5]).astype(numpy_dtype(dtype))
        if dtype == "complex64":
            x.imag = x.real[::-1]
        own = np.float32 if dtype == "bfloat16" else x.dtype
        want = np.nan_to_num(x.astype(own))
        if dtype == "bfloat16":
            want = np.array([0, 3.3895313892515355e38, -3.3895313892515355e38, 1.5], own)
        np.testing.assert_array_equal(stator.nan_to_num(be.asarray(x)).to_numpy().astype(own), want)
        got = stator.nan_to_num(be.asarray(x), nan=2.0, posinf=3.0, neginf=-3.0).to_numpy().astype(own)
        np.testing.assert_array_equal(got, np.nan_to_num(x.astype(own), nan=2.0, posinf=3.0, neginf=-3.0))


def test_clip_with_one_bound_or_none(be):
    x = be.asarray(np.array([-2.0, 0.5, np.nan, 3.0]))
    np.testing.assert_array_equal(stator.clip(x).to_numpy(), [-2, 0.5, np.nan, 3])
    np.testing.assert_array_equal(stator.clip(x, 0).to_numpy(), [0, 0.5, np.nan, 3])
    np.testing.assert_array_equal(stator.clip(x, max=1).to_numpy(), [-2, 0.5, np.nan, 1])
    np.testing.assert_array_equal(stator.clip(x, 2, 1).to_numpy(), [1, 1, np.nan, 1])


def test_large_dimension_counts_work(be):
    x = np.arange(2.0**10).reshape((2,) * 10)
    moved = np.transpose(x, (1, 0, 3, 2, 5, 4, 7, 6, 9, 8))
    got = stator.add(stator.permute_dims(be.asarray(x), (1, 0, 3, 2, 5, 4, 7, 6, 9, 8)), 1.0)
    np.testing.assert_array_equal(got.to_numpy(), moved + 1)


def test_results_keep_the_memory_order_of_their_operands(be):
    x = be.asarray(np.arange(24.0).reshape(2, 3, 4))
    moved = stator.permute_dims(x, (2, 0, 1))
    assert stator.add(moved, moved).strides == moved.strides
    assert stator.exp(moved).strides == moved.strides
    assert stator.add(moved, 1).strides == moved.strides
    assert stator.add(moved, be.zeros((3,))).strides == moved.strides
    assert stator.add(moved, be.zeros((4, 2, 3))).strides == (48, 24, 8)
    assert stator.exp(x[:, ::2]).strides == (64, 32, 8)
