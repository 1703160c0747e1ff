"""Scans against wide NumPy and torch's documented rules, in every layout, with lengths around tiles and blocks."""

import zlib

import inputs
import ml_dtypes  # noqa: F401  (registers bfloat16 with NumPy)
import numpy as np
import oracles
import pytest
from cases import TABLE, bound, function, result_dtype, tolerance
from reference import allowed, assert_matches, numpy_dtype, spacing, widen

import stator

LAYOUTS = inputs.layouts()
SUMS = ["cumulative_sum", "cumulative_prod", "logcumsumexp"]
EXTREMES = ["cumulative_max", "cumulative_min"]
# Lengths around warps, blocks and tiles; several blocks work on a segment of the last one.
SIZES = [*inputs.SIZES, 70001]


def rng_of(*key: object) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(repr(key).encode()))


def make(name, shape, dtype, *key):
    """Inputs whose sums do not cancel, and whose products stay in range for long."""
    rng = rng_of(name, dtype, *key)
    if name == "cumulative_prod" and not dtype.startswith(("bool", "int", "uint")):
        steps = rng.uniform(-0.3, 0.3, shape)
        values = np.exp2(steps - np.concatenate([np.zeros_like(steps[:1]), steps[:-1]]))  # products are in [0.8, 1.3]
        if dtype.startswith("complex"):
            values = values * np.exp(1j * rng.uniform(-3, 3, shape))
        return values.astype(numpy_dtype(dtype))
    low, high = (0.5, 2) if name == "cumulative_sum" else (-4, 4)
    return inputs.random(rng, shape, dtype, low, high)


def reference(name, x, axis=None, **kwargs):
    """The oracle, in wider floats, or for integers in the 64 bits that they accumulate in."""
    target = result_dtype(name, x.dtype.name)
    wide = x.astype(target) if target in ("int64", "uint64") else widen(x)
    with np.errstate(all="ignore"):
        return getattr(oracles, name)(wide, axis=0 if axis is None else axis, **kwargs)


def check(be, name, x, **kwargs):
    got = function(name)(inputs.on_device(be, x), **kwargs)
    assert got.dtype.name == result_dtype(name, x.dtype.name)
    want = reference(name, x, **kwargs)
    what = f"{name} {x.dtype.name} {x.shape} {kwargs}"
    if name == "logcumsumexp":
        start = kwargs.pop("include_initial", False)
        largest = reference("cumulative_max", x, **kwargs)[0]
        if start:
            axis = kwargs.get("axis") or 0
            largest = np.insert(largest, largest.shape[axis] if kwargs.get("reverse") else 0, 0, axis)
        assert_near(got.to_numpy(), want, largest, what)
    else:
        assert_matches(got.to_numpy(), want, bound(name, got.dtype.name), what)


def assert_near(actual, want, largest, what):
    """The bound is in units of the larger of result and largest element, since a logarithm may be near 0."""
    assert actual.shape == want.shape
    special = ~np.isfinite(want) | ~np.isfinite(widen(actual))
    np.testing.assert_array_equal(widen(actual)[special], want[special], err_msg=what)
    size = np.maximum(np.abs(want), np.abs(largest))[~special]
    error = np.abs(widen(actual)[~special] - want[~special]) / spacing(size, actual.dtype.name)
    assert error.max(initial=0) <= allowed(tolerance("logcumsumexp"), actual.dtype.name), what


def check_extremes(be, name, x, **kwargs):
    values, indices = function(name)(inputs.on_device(be, x), **kwargs)
    want = reference(name, x, **kwargs)
    assert values.dtype.name == x.dtype.name
    assert indices.dtype == stator.int64
    np.testing.assert_array_equal(indices.to_numpy(), want[1], err_msg=name)
    np.testing.assert_array_equal(widen(values.to_numpy()), want[0], err_msg=name)
    along = 0 if kwargs.get("axis") is None else kwargs["axis"]
    picked = np.take_along_axis(x, want[1], along)
    sign = np.signbit(widen(values.to_numpy()))
    np.testing.assert_array_equal(sign, np.where(np.isnan(widen(picked)), sign, np.signbit(widen(picked))))


def checker(name):
    return check_extremes if name in EXTREMES else check


@pytest.mark.parametrize(("name", "dtype"), [(n, d) for n in SUMS + EXTREMES for d in TABLE[n]["dtypes"]])
def test_matches_oracle_for_each_dtype(be, name, dtype):
    for size in SIZES:
        checker(name)(be, name, make(name, (size,), dtype, size))
    x = make(name, (65, 130), dtype)
    for axis in (0, 1):
        checker(name)(be, name, x, axis=axis)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", SUMS + EXTREMES)
def test_matches_oracle_for_each_layout_and_axis(be, name, layout):
    for dtype in ("float32", "int32"):
        if dtype not in TABLE[name]["dtypes"]:
            continue
        x = LAYOUTS[layout](make(name, (6, 35, 9), dtype, layout))
        for axis in (0, 1, 2, -1):
            for reverse in (False, True):
                checker(name)(be, name, x, axis=axis, reverse=reverse)


SHAPES = [
    (2, 100003),
    (100003, 2),
    (100003, 3),
    (1, 70000),
    (1500, 300),
    (300, 3000),
    (6, 9000, 3),
    (40000, 4),
    (50, 9, 700),
    (7, 1, 11, 1, 5),
]


# What is scanned does not change the plan but by its bytes, so one sum and one extreme meet all shapes.
FEW = [(2, 100003), (100003, 3), (300, 700), (40000, 4)]
SHAPED = [(n, s) for n in SUMS + EXTREMES for s in (SHAPES if n in (SUMS[0], EXTREMES[0]) else FEW)]


@pytest.mark.parametrize(("name", "shape"), SHAPED)
def test_long_wide_and_narrow_shapes(be, name, shape):
    x = make(name, shape, "float32", shape)
    for axis in range(len(shape)):
        checker(name)(be, name, x, axis=axis)
        checker(name)(be, name, x.T, axis=axis)


@pytest.mark.parametrize("name", SUMS)
@pytest.mark.parametrize("reverse", [False, True])
def test_the_initial_value_comes_first(be, name, reverse):
    for shape in ((5,), (0,), (300, 7), (7, 5000), (3, 0, 4), (100001,)):
        x = make(name, shape, "float64", shape)
        for axis in range(len(shape)):
            check(be, name, x, axis=axis, include_initial=True, reverse=reverse)


def test_out_receives_the_result_and_may_be_x(be):
    x = np.arange(12.0).reshape(3, 4)
    on = be.asarray(x)
    strided = be.zeros((3, 8), dtype="float64")[:, ::2]
    assert stator.cumulative_sum(on, axis=1, out=strided) is strided
    np.testing.assert_array_equal(strided.to_numpy(), np.cumsum(x, axis=1))
    single = be.empty((3, 4), dtype="float32")
    stator.cumulative_prod(on, axis=0, out=single)
    np.testing.assert_array_equal(single.to_numpy(), np.cumprod(x, axis=0))
    for shape, axis in (((70001,), 0), ((300, 400), 0), ((300, 400), 1)):
        values = make("cumulative_sum", shape, "float32", shape)
        on = be.asarray(values)
        stator.cumulative_sum(on, axis=axis, out=on)
        assert_matches(on.to_numpy(), np.cumsum(widen(values), axis=axis), (4, 4))


def test_dtype_is_the_accumulator(be):
    x = np.full(300, 100, np.int8)
    on = be.asarray(x)
    for dtype in ("int8", "int16", "uint32", "float32", "float16", "complex64", "bool"):
        got = stator.cumulative_sum(on, dtype=dtype)
        assert got.dtype.name == dtype
        wide = "float32" if dtype == "float16" else dtype  # float16 accumulates in float32
        np.testing.assert_array_equal(got.to_numpy(), np.cumsum(x, dtype=wide).astype(dtype))
    half = be.asarray(np.full(5000, 0.1, np.float16))
    wide = np.cumsum(np.full(5000, np.float16(0.1), np.float64))
    assert_matches(stator.cumulative_sum(half, dtype="float64").to_numpy(), wide, (4, 4))
    assert_matches(stator.cumulative_sum(be.asarray(wide), dtype="float16").to_numpy(), np.cumsum(wide), (4, 4))
    assert stator.cumulative_sum(be.asarray(np.array([-1.5, 1.5])), dtype="bool").to_numpy().tolist() == [True, True]
    assert stator.cumulative_prod(be.asarray(np.array([2.7, 2.7])), dtype="int32").to_numpy().tolist() == [2, 4]
    assert stator.logcumsumexp(half, dtype="float64").dtype == stator.float64


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_long_sums_are_as_exact_as_short_ones(be, dtype):
    x = rng_of(dtype).random(2**20).astype(dtype)
    for shape, axis in (((2**20,), 0), ((2**17, 8), 0), ((8, 2**17), 1)):
        got = stator.cumulative_sum(be.asarray(x.reshape(shape)), axis=axis).to_numpy()
        assert_matches(got, np.cumsum(x.astype(np.longdouble).reshape(shape), axis=axis), (4, 4))


def test_sums_that_cancel_err_by_the_largest_prefix(be):
    x = rng_of(1).normal(size=100001).astype(np.float32)
    want = np.cumsum(x.astype(np.float64))
    got = stator.cumulative_sum(be.asarray(x)).to_numpy()
    assert np.max(np.abs(got - want)) <= 4 * np.spacing(np.float32(np.max(np.abs(want))))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_products_beyond_the_range_come_back(be, dtype):
    huge = 1e30 if dtype == "float32" else 1e300
    x = np.tile(np.array([huge] * 3 + [1 / huge] * 3), 500).astype(dtype)
    got = stator.cumulative_prod(be.asarray(x)).to_numpy()
    assert np.isinf(np.abs(got[1]))
    assert abs(got[5] - 1) < 1e-4
    assert abs(got[-1] - np.prod(x[:6].astype(np.clongdouble)) ** 500) < 1e-4
    tiny = stator.cumulative_prod(be.asarray(x[::-1].copy())).to_numpy()
    assert tiny[1] == 0
    assert abs(tiny[5] - 1) < 1e-4


def test_long_products_are_as_exact_as_short_ones(be):
    x = make("cumulative_prod", (300000,), "float64", "long")
    assert_matches(stator.cumulative_prod(be.asarray(x)).to_numpy(), np.cumprod(x.astype(np.longdouble)), (4, 8))


def test_zeros_and_special_values_in_products_and_sums(be):
    for at in (0, 3, 7, 300):
        for bad in (0.0, np.inf, -np.inf, np.nan, 5e-324, 1e-310):
            x = make("cumulative_prod", (700,), "float64", at)
            x[at] = bad
            for name in ("cumulative_prod", "cumulative_sum"):
                check(be, name, x)
                check(be, name, np.ascontiguousarray(np.broadcast_to(x[:, None], (700, 40))), axis=0)
    x = np.array([np.inf, 1.0, -np.inf, 2.0])
    np.testing.assert_array_equal(stator.cumulative_sum(be.asarray(x)).to_numpy(), [np.inf, np.inf, np.nan, np.nan])
    for shape, axis in (((3, 700), 1), ((40, 9), 0), ((2, 5000), 1)):
        for dtype in ("float16", "bfloat16"):
            nan = np.full(shape, np.inf).astype(dtype) * (1 - 2 * (np.indices(shape)[axis] % 2)).astype(dtype)
            got = widen(stator.cumulative_sum(be.asarray(nan), axis=axis).to_numpy())
            assert np.isnan(np.delete(got, 0, axis)).all()
    largest = np.array([3e38, 3e38, -3e38, -3e38, 1.0], np.float32)
    assert_matches(stator.cumulative_sum(be.asarray(largest)).to_numpy(), np.cumsum(largest.astype(np.float64)), (4, 4))


def test_logcumsumexp_near_zero_errs_as_little_as_elsewhere(be):
    """The logarithm that is added to the larger of two elements is twice as large as it and the result."""
    rng = np.random.default_rng(0)
    x = np.stack([rng.uniform(-1.6, -1.3, 20_000), rng.uniform(-0.125, -0.1, 20_000)]).astype(np.float32)
    check(be, "logcumsumexp", x, axis=0)


@pytest.mark.parametrize("dtype", inputs.FLOATS)
def test_logcumsumexp_of_extremes(be, dtype):
    peak = 300.0 if dtype == "float16" else 1e4
    cases = [
        [0.0, peak, 0.0, -peak],
        [-peak, 0.0, peak],
        [-np.inf, -np.inf, 1.0, -np.inf],
        [-np.inf] * 3,
        [1.0, np.inf, 2.0, np.inf],
        [-np.inf, np.nan, 1.0],
        [np.inf, -np.inf],
    ]
    for values in cases:
        for repeat in (1, 40):
            x = np.repeat(np.array(values), repeat).astype(numpy_dtype(dtype))
            check(be, "logcumsumexp", x)
            check(be, "logcumsumexp", np.ascontiguousarray(np.broadcast_to(x[:, None], (len(x), 33))), axis=0)
    ascending = np.arange(3000).astype(numpy_dtype(dtype)) / 16
    check(be, "logcumsumexp", ascending)
    check(be, "logcumsumexp", ascending[::-1].copy())


@pytest.mark.parametrize("dtype", inputs.FLOATS)
@pytest.mark.parametrize("name", EXTREMES)
def test_nan_is_beyond_every_number_and_the_last_wins(be, name, dtype):
    x = inputs.random(rng_of(name, dtype), (600, 12), dtype)
    x[7, 3] = x[9, 3] = x[599, 3] = x[0, 5] = -np.nan
    x[300, 6] = np.inf
    x[300, 7] = -np.inf
    for axis in (0, 1):
        for reverse in (False, True):
            check_extremes(be, name, x, axis=axis, reverse=reverse)
    values, indices = function(name)(be.asarray(x), axis=0)
    assert np.isnan(widen(values.to_numpy())[7:, 3]).all()
    assert indices.to_numpy()[[7, 8, 9, 500, 599], 3].tolist() == [7, 7, 9, 9, 599]


@pytest.mark.parametrize("name", EXTREMES)
def test_ties_give_the_last_index_in_the_direction_of_the_scan(be, name):
    for x in (np.zeros(1000), np.tile([-0.0, 0.0], 400), np.tile([1, 1, 0, 0], 300), np.tile([True, False], 90)):
        for reverse in (False, True):
            check_extremes(be, name, x, reverse=reverse)
    found = function(name)(be.zeros((4,)))
    assert found.indices.to_numpy().tolist() == [0, 1, 2, 3]
    assert found.values.shape == (4,)
    backwards = function(name)(be.zeros((4,)), reverse=True)
    assert backwards.indices.to_numpy().tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("name", EXTREMES)
@pytest.mark.parametrize("dtype", ["int8", "int64", "uint8", "uint64", "float16", "bfloat16", "float32", "float64"])
def test_extreme_values_of_each_dtype(be, name, dtype):
    if dtype.startswith(("int", "uint")):
        info = np.iinfo(dtype)
        x = np.array([0, info.max, info.min, info.max, 1, info.min], dtype)
    else:
        x = inputs.special(dtype)
        x = np.concatenate([x[1:], x[:1]])
    check_extremes(be, name, x)
    check_extremes(be, name, x[::-1])
    check_extremes(be, name, np.ascontiguousarray(np.broadcast_to(x[:, None], (len(x), 70))), axis=0)


def test_results_are_equal_bits_run_to_run(be):
    for name in SUMS:
        for shape in ((65, 4099), (200001,), (70001, 3)):
            x = be.asarray(make(name, shape, "float32", "again"))
            for axis in range(len(shape)):
                first = function(name)(x, axis=axis).to_numpy().tobytes()
                assert all(function(name)(x, axis=axis).to_numpy().tobytes() == first for _ in range(2))


def test_empty_arrays_and_empty_axes(be):
    for name in SUMS + EXTREMES:
        for shape, axis in (((0,), None), ((0, 3), 0), ((0, 3), 1), ((3, 0), 1), ((2, 0, 3), 2)):
            got = function(name)(be.empty(shape, dtype="float32"), axis=axis)
            for part in got if name in EXTREMES else [got]:
                assert part.shape == shape
    assert stator.cumulative_sum(be.empty((3, 0)), axis=0, include_initial=True).shape == (4, 0)


DIFFS = [
    {},
    {"axis": 0},
    {"axis": 1, "n": 2},
    {"n": 3, "axis": -1},
    {"n": 0},
    {"n": 8},
    {"n": 11, "axis": 0},
    {"n": 70},
]


@pytest.mark.parametrize("dtype", inputs.DTYPES)
def test_diff_matches_numpy(be, dtype):
    for shape in ((40,), (5, 130), (130, 5), (67, 1), (3, 0), (4, 70, 6)):
        x = inputs.random(rng_of(dtype, shape), shape, dtype)
        for kwargs in DIFFS:
            if len(shape) == 1 and kwargs.get("axis") == 1:
                continue
            # Halves are rounded once, so that only small n gives exact results.
            if dtype in ("float16", "bfloat16") and kwargs.get("n", 1) > 1:
                continue
            want = diff_oracle(x, **kwargs)
            for view in (inputs.on_device(be, layout(x)) for layout in LAYOUTS.values()):
                got = stator.diff(view, **kwargs)
                assert got.dtype.name == dtype
                assert_matches(got.to_numpy(), want, (0, 0), f"{shape} {kwargs}")


def test_diff_of_an_order_beyond_the_extent_is_empty(be):
    assert stator.diff(be.ones(3), n=10**5).shape == (0,)
    assert stator.diff(be.ones((0, 10)), n=10**12).shape == (0, 0)


def test_diff_of_a_high_order_takes_no_stack(be):
    order = 20_000
    got = stator.diff(be.ones(order + 5, dtype="uint8"), n=order)
    assert got.to_numpy().tolist() == [0] * 5


def diff_oracle(x, n=1, axis=-1, **ends):
    own = np.float32 if x.dtype.name in ("float16", "bfloat16") else x.dtype
    with np.errstate(all="ignore"):
        return np.diff(x.astype(own), n=n, axis=axis, **ends)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_diff_with_ends(be, axis):
    for dtype in ("float32", "int16", "bool", "complex64"):
        x = inputs.random(rng_of(dtype), (6, 70, 9), dtype)
        for before, after in ((1, 0), (0, 2), (3, 1), (0, 0)):
            shapes = [tuple(n if d == axis else e for d, e in enumerate(x.shape)) for n in (before, after)]
            ends = [inputs.random(rng_of(s), s, dtype) for s in shapes]
            for n in (1, 2, 5, 9):
                want = diff_oracle(x, n=n, axis=axis, prepend=ends[0], append=ends[1])
                for layout in LAYOUTS.values():
                    on = [inputs.on_device(be, layout(a)) for a in (x, *ends)]
                    got = stator.diff(on[0], n=n, axis=axis, prepend=on[1], append=on[2])
                    assert_matches(got.to_numpy(), want, (0, 0), f"{dtype} {n} {before} {after}")
    mixed = stator.diff(be.asarray(np.array([1, 5], np.int8)), prepend=be.asarray(np.array([0.5], np.float32)))
    assert mixed.dtype == stator.float32
    np.testing.assert_array_equal(mixed.to_numpy(), [0.5, 4])


def test_second_difference_of_halves_is_rounded_once(be):
    for dtype in ("float16", "bfloat16"):
        x = inputs.random(rng_of(dtype), (300,), dtype)
        want = np.diff(x.astype(np.float32), n=2)
        np.testing.assert_array_equal(
            widen(stator.diff(be.asarray(x), n=2).to_numpy()), widen(want.astype(numpy_dtype(dtype)))
        )


def test_launches(be):
    """One launch for many or short segments, two where several blocks work on one; diff takes one for n up to 8."""
    cases = [
        (1, lambda x: stator.cumulative_sum(x, axis=1), (300, 400)),
        (1, lambda x: stator.cumulative_max(x, axis=0), (300, 400)),
        (1, lambda x: stator.cumulative_sum(x), (300,)),
        (2, lambda x: stator.cumulative_sum(x), (1 << 20,)),
        (2, lambda x: stator.cumulative_min(x), (1 << 20,)),
        (1, lambda x: stator.diff(x, n=8), (300,)),
        (1, lambda x: stator.diff(x, prepend=x, append=x), (300,)),
    ]
    for launches, call, shape in cases:
        x = be.zeros(shape)
        before = be.statistics()["kernel_launches"]
        call(x)
        made = be.statistics()["kernel_launches"] - before
        assert made == launches or (launches == 2 and made == 1)  # with a single worker no segment is divided


def bad_calls(be):
    x, line = be.zeros((2, 3)), be.zeros((4,))
    e = stator.errors
    return {
        "no axis of two": (lambda: stator.cumulative_sum(x), e.AxisError),
        "no axis of two for a maximum": (lambda: stator.cumulative_max(x), e.AxisError),
        "a 0-d array": (lambda: stator.cumulative_sum(be.zeros(())), e.AxisError),
        "an axis out of range": (lambda: stator.logcumsumexp(x, axis=2), e.AxisError),
        "an axis of the wrong type": (lambda: stator.cumulative_sum(x, axis=0.5), e.DTypeError),
        "two axes": (lambda: stator.cumulative_sum(x, axis=(0, 1)), e.DTypeError),
        "logcumsumexp of integers": (lambda: stator.logcumsumexp(be.zeros((2,), dtype="int32")), e.DTypeError),
        "complex as real": (lambda: stator.cumulative_sum(be.asarray([1j]), dtype="float64"), e.DTypeError),
        "complex as integers": (lambda: stator.cumulative_prod(be.asarray([1j]), dtype="int8"), e.DTypeError),
        "logcumsumexp as integers": (lambda: stator.logcumsumexp(line, dtype="int32"), e.DTypeError),
        "a complex maximum": (lambda: stator.cumulative_max(be.zeros((2,), dtype="complex64")), e.DTypeError),
        "out of the wrong shape": (lambda: stator.cumulative_sum(line, out=be.zeros((5,))), e.ShapeError),
        "out without room for the initial value": (
            lambda: stator.cumulative_sum(line, include_initial=True, out=be.zeros((4,))),
            e.ShapeError,
        ),
        "out of a lower kind": (lambda: stator.cumulative_sum(line, out=be.zeros((4,), dtype="int64")), e.DTypeError),
        "out over part of x": (lambda: stator.cumulative_sum(line[:3], out=line[1:]), ValueError),
        "a NumPy array": (lambda: stator.cumulative_sum(np.zeros(3)), e.DTypeError),
        "differences of a 0-d array": (lambda: stator.diff(be.zeros(())), e.AxisError),
        "fewer than no differences": (lambda: stator.diff(x, n=-1), ValueError),
        "an end of another shape": (lambda: stator.diff(x, axis=0, prepend=be.zeros((1, 4))), e.ShapeError),
        "an end of fewer axes": (lambda: stator.diff(x, append=be.zeros((2,))), e.ShapeError),
    }


def test_bad_input_has_its_type(be):
    for name, (call, kind) in bad_calls(be).items():
        with pytest.raises(kind) as caught:
            call()
        if isinstance(caught.value, stator.errors.StatorError):
            assert caught.value.op, name
            assert caught.value.remedy, name
