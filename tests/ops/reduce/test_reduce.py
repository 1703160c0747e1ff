"""Every reduction of the op table against NumPy in higher precision."""

import itertools
import warnings
import zlib

import inputs
import numpy as np
import pytest
from cases import TABLE, function, names, result_dtype
from reference import assert_matches, numpy_dtype, widen

import stator
from stator import errors

ROWS = names("reduce")
POSITIONS = ("argmax", "argmin")  # these take one axis and no where=
MASKED = [n for n in ROWS if n not in POSITIONS]
LAYOUTS = inputs.layouts()
SIZES = (1, 31, 32, 33, 255, 256, 257, 4099, 70001)
INTEGERS = [d for d in inputs.DTYPES if d.startswith(("int", "uint"))]

# Results over no element; ops that are missing have no identity. nanmax and nanmin of floats give NaN for empty masks.
IDENTITY = {
    **dict.fromkeys(("sum", "nansum", "count_nonzero", "any", "has_inf_nan", "vector_norm"), 0),
    **dict.fromkeys(("mean", "nanmean", "var", "std"), np.nan),
    "prod": 1,
    "all": True,
    "logsumexp": -np.inf,
}


def _norm(x, *, ord=2, where=True, **over):
    size = np.abs(x)
    if ord == 0:
        return np.sum(size != 0, dtype=size.dtype, where=where, **over)
    if np.isinf(ord):
        return (
            np.max(size, initial=0, where=where, **over)
            if ord > 0
            else np.min(size, initial=np.inf, where=where, **over)
        )
    return np.sum(size**ord, where=where, **over) ** (1 / size.dtype.type(ord))


def _logsumexp(x, *, where=True, axis=None, keepdims=False):
    top = np.max(x.real, initial=-np.inf, where=where, axis=axis, keepdims=True)
    shift = np.where(np.isfinite(top), top, 0)
    total = np.log(np.sum(np.exp(x - shift), where=where, axis=axis, keepdims=True)) + shift
    return total if keepdims else np.squeeze(total, tuple(range(x.ndim)) if axis is None else axis)


def _count(x, *, where=True, **over):
    return np.sum(x != 0, where=where, dtype=np.int64, **over)


def _extreme(function, largest):
    def reduce(x, *, where=True, **over):
        if where is True:
            return function(x, **over)
        start = np.iinfo(x.dtype) if x.dtype.kind in "iu" else None
        low, high = (start.min, start.max) if start else (False, True) if x.dtype == bool else (-np.inf, np.inf)
        return function(x, where=where, initial=low if largest else high, **over)

    return reduce


REFERENCES = {
    "vector_norm": _norm,
    "logsumexp": _logsumexp,
    "count_nonzero": _count,
    "has_inf_nan": lambda x, **over: np.any(~np.isfinite(x), **over),
    "max": _extreme(np.max, True),
    "min": _extreme(np.min, False),
    "nanmax": _extreme(np.nanmax, True),
    "nanmin": _extreme(np.nanmin, False),
    "var": lambda x, correction=0, **over: np.var(x, ddof=correction, **over),
    "std": lambda x, correction=0, **over: np.std(x, ddof=correction, **over),
}


def reference(name, x, wide=True, **kwargs):
    """The value of the op: in its integer dtype, which wraps, else in a wider float than the result."""
    result = numpy_dtype(result_dtype(name, x.dtype.name))
    if TABLE[name]["result"] in ("inexact", "real") and x.dtype.kind in "biu":
        x = x.astype(np.longdouble)
    elif TABLE[name]["result"] == "accumulate" and x.dtype.kind in "biu":
        kwargs["dtype"] = result
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return np.asarray(REFERENCES.get(name, getattr(np, name, None))(widen(x) if wide else x, **kwargs))


def rng_of(*key: object) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(repr(key).encode()))


def make(name, shape, dtype, *key):
    """Values for which the op is well conditioned and not trivial: no sums of both signs, no product of zeros."""
    rng = rng_of(name, shape, dtype, *key)
    if dtype == "bool" or dtype in INTEGERS:
        x = inputs.random(rng, shape, dtype)
        return x | 1 if name == "prod" else np.abs(x // 2) if name in ("mean", "nanmean", "logsumexp") else x
    if name == "prod":
        size = np.exp(rng.uniform(-0.05, 0.05, shape))
        turn = np.exp(1j * rng.uniform(0, 6, shape)) if dtype.startswith("complex") else 1
        return (size * turn).astype(numpy_dtype(dtype))
    low, high = (0.5, 2) if name in ("sum", "nansum", "mean", "nanmean", "logsumexp") else (-4, 4)
    return inputs.random(rng, shape, dtype, low, high)


def limit(name, count):
    """The op's bound; in float64 products and sums of positive terms grow with the root of their number."""
    bound = TABLE[name]["tolerance"]
    drift = int(2 * count**0.5) if name in ("prod", "var", "std") else 0
    return (0, 0) if bound["float64"] == 0 else (bound["float32"], max(bound["float64"], drift))


def compare(name, got, want, count=1):
    if name == "logsumexp":  # near 0 it is the difference of two numbers
        np.testing.assert_allclose(
            got[np.abs(want) < 0.5], want[np.abs(want) < 0.5], atol=1e-3 if got.itemsize < 8 else 1e-12
        )
        got, want = got[~(np.abs(want) < 0.5)], want[~(np.abs(want) < 0.5)]
    assert_matches(got, want, limit(name, count), name)


def check(be, name, x, where=None, **kwargs):
    on = {} if where is None else {"where": inputs.on_device(be, where)}
    got = function(name)(inputs.on_device(be, x), **on, **kwargs)
    assert got.dtype.name == result_dtype(name, x.dtype.name)
    over = {} if where is None else {"where": where}
    compare(name, got.to_numpy(), reference(name, x, **over, **kwargs), x.size // max(got.size, 1))


@pytest.mark.parametrize(("name", "dtype"), [(n, d) for n in ROWS for d in TABLE[n]["dtypes"]])
def test_matches_numpy_for_each_dtype_and_size(be, name, dtype):
    for size in SIZES:
        check(be, name, make(name, (size,), dtype))
    x = make(name, (65, 130), dtype)
    for axis in (0, 1):
        check(be, name, x, axis=axis)


def broadcast(be, name, x, **kwargs):
    """x with one row (or one column) that repeats by a stride of 0."""
    for one in (x[:1], x[:, :1, :]):
        got = function(name)(stator.broadcast_to(be.asarray(np.ascontiguousarray(one)), x.shape), **kwargs)
        want = reference(name, np.ascontiguousarray(np.broadcast_to(one, x.shape)), **kwargs)
        compare(name, got.to_numpy(), want, x.size // max(got.size, 1))


@pytest.mark.parametrize("layout", [*LAYOUTS, "broadcast"])
@pytest.mark.parametrize("name", ROWS)
def test_matches_numpy_for_each_layout_and_axis(be, name, layout):
    for dtype in ("float32", "int16"):
        x = make(name, (6, 35, 9), dtype)
        for axis, keepdims in itertools.product((None, 0, 1, 2, -1), (False, True)):
            if layout == "broadcast":
                broadcast(be, name, x, axis=axis, keepdims=keepdims)
            else:
                check(be, name, LAYOUTS[layout](x), axis=axis, keepdims=keepdims)


@pytest.mark.parametrize("axis", [(0,), (0, 1), (0, 2), (1, 2), (0, 1, 2), (-1, 0), ()])
@pytest.mark.parametrize("name", MASKED)
def test_reduces_several_axes(be, name, axis):
    x = make(name, (5, 18, 33), "float32")
    for layout, keepdims in itertools.product(LAYOUTS, (False, True)):
        check(be, name, LAYOUTS[layout](x), axis=axis, keepdims=keepdims)


@pytest.mark.parametrize("shape", [(3, 70001), (70001, 3), (257, 33, 5), (1000, 1000), (4, 3, 5000)])
@pytest.mark.parametrize("name", ROWS)
def test_rows_and_columns(be, name, shape):
    for dtype in ("float32", "float64", "int32") if shape[0] != 1000 else ("float32",):
        x = make(name, shape, dtype)
        for axis in range(len(shape)):
            check(be, name, x, axis=axis)


@pytest.mark.parametrize("name", ROWS)
def test_axes_out_of_range_or_repeated(be, name):
    x = be.zeros((2, 3))
    for axis in (2, -3, (0, 2), (0, 0), (1, -1)):
        with pytest.raises(errors.AxisError):
            function(name)(x, axis=axis)
    if name in POSITIONS:
        with pytest.raises(errors.AxisError):
            function(name)(x, axis=(0, 1))


def masks(rng, shape):
    """Masks by name, which broadcast to the shape, in several layouts."""
    some = rng.random(shape) < 0.6
    return {
        "contiguous": some,
        "of rows": rng.random((shape[0], *[1] * (len(shape) - 1))) < 0.6,
        "of columns": rng.random(shape[-1:]) < 0.6,
        "nothing": np.zeros(shape, bool),
        "everything": np.ones((), bool),
        "transposed": LAYOUTS["transposed"](some),
        "sliced": LAYOUTS["sliced"](some),
        "reversed": LAYOUTS["reversed"](some),
    }


MASK_DTYPES = ("float32", "float64", "int8", "int32", "uint16", "bool", "complex64")


@pytest.mark.parametrize(("name", "dtype"), [(n, d) for n in MASKED for d in MASK_DTYPES if d in TABLE[n]["dtypes"]])
def test_where_chooses_what_counts(be, name, dtype):
    nothing = np.nan if dtype.startswith("float") and name in ("nanmax", "nanmin") else None
    for shape in ((37, 67), (3, 5, 600), (2100, 2)):
        x = make(name, shape, dtype)
        for label, mask in masks(rng_of(name, shape), shape).items():
            for axis in (None, 0, -1, tuple(range(len(shape)))[:2]):
                on = be.asarray(mask) if mask.ndim < len(shape) else inputs.on_device(be, mask)
                got = function(name)(be.asarray(x), axis=axis, where=on).to_numpy()
                want = reference(name, x, axis=axis, where=mask)
                if nothing is not None:
                    want = np.where(np.any(np.broadcast_to(mask, shape), axis=axis), want, nothing)
                try:
                    compare(name, got, want, x.size)
                except AssertionError as e:
                    raise AssertionError(f"a mask {label}, shape {shape}, axis {axis}") from e


def test_where_goes_with_strided_operands(be):
    x = make("sum", (40, 50), "float32")
    mask = rng_of("mask").random((40, 50)) < 0.5
    for layout, axis in itertools.product(LAYOUTS.values(), (None, 0, 1)):
        check(be, "sum", layout(x), where=mask, axis=axis)


@pytest.mark.parametrize("name", [n for n in MASKED if n in IDENTITY])
def test_over_nothing_is_the_identity(be, name):
    for empty, axis, shape in ((be.empty((0, 3)), 0, (3,)), (be.empty((2, 0)), None, ()), (be.empty((0,)), 0, ())):
        got = function(name)(empty, axis=axis).to_numpy()
        np.testing.assert_array_equal(got, np.full(shape, IDENTITY[name]))
    assert function(name)(be.empty((0, 3)), axis=1).shape == (0,)
    assert function(name)(be.empty((0, 3)), axis=1, keepdims=True).shape == (0, 1)


@pytest.mark.parametrize("name", [n for n in ROWS if n not in IDENTITY])
def test_over_nothing_without_identity_is_an_error(be, name):
    for shape, axis in (((0, 3), 0), ((0, 3), None), ((0,), -1)):
        with pytest.raises(errors.InvalidValueError, match=name):
            function(name)(be.empty(shape), axis=axis)
    assert function(name)(be.empty((3, 0)), axis=0).shape == (0,)


def test_norms_over_nothing(be):
    empty = be.empty((0,))
    for ord in (0, 0.5, 1, 2, 3):
        assert float(stator.linalg.vector_norm(empty, ord=ord)) == 0
    for ord in (np.inf, -np.inf):
        with pytest.raises(errors.InvalidValueError, match="vector_norm"):
            stator.linalg.vector_norm(empty, ord=ord)


@pytest.mark.parametrize("dtype", inputs.FLOATS)
@pytest.mark.parametrize("name", ROWS)
def test_special_values(be, name, dtype):
    """NaN, infinities, signed zeros and denormals: one, in pairs, and each among ordinary numbers."""
    values = inputs.special(dtype)
    calm = make(name, (40, 34), dtype)
    for i, value in enumerate(values):
        calm[i, i] = value
    pairs = np.array(list(itertools.product(values[:6], values)), values.dtype)
    for x, axis in ((values[:, None], 1), (pairs, 1), (np.ascontiguousarray(pairs.T), 0), (calm, 1), (calm, 0)):
        got = function(name)(be.asarray(x), axis=axis).to_numpy()
        want = reference(name, x, axis=axis, wide=dtype != "float64")
        compare(name, got, want)


@pytest.mark.parametrize("dtype", inputs.FLOATS)
def test_nan_propagates_and_the_first_wins(be, dtype):
    x = inputs.random(rng_of(dtype), (300, 40), dtype)
    x[7, 3] = x[9, 3] = x[299, 39] = np.nan
    on = be.asarray(x)
    for extreme, position in ((stator.max, stator.argmax), (stator.min, stator.argmin)):
        assert np.isnan(float(extreme(on)))
        got = extreme(on, axis=0).to_numpy()
        assert list(np.flatnonzero(np.isnan(got.astype(float)))) == [3, 39]
        assert int(position(on)) == 7 * 40 + 3
        assert position(on, axis=0).to_numpy()[[3, 39]].tolist() == [7, 299]


@pytest.mark.parametrize("name", ["nansum", "nanmean", "nanmax", "nanmin"])
def test_nan_does_not_count(be, name):
    for dtype in [d for d in ("float16", "bfloat16", "float32", "float64", "complex64") if d in TABLE[name]["dtypes"]]:
        x = make(name, (50, 70), dtype)
        x[rng_of(dtype).random(x.shape) < 0.3] = np.nan
        x[11] = x[:, 13] = np.nan
        for axis in (None, 0, 1):
            check(be, name, x, axis=axis)
        want = 0 if name == "nansum" else np.nan
        np.testing.assert_array_equal(function(name)(be.asarray(x[11])).to_numpy().astype(complex), want)


def test_ties_give_the_first_index_and_signed_zeros_are_equal(be):
    for name in POSITIONS:
        assert int(function(name)(be.asarray(np.array([-0.0, 0.0, -0.0])))) == 0
        assert int(function(name)(be.asarray(np.array([0.0, -0.0, 0.0])))) == 0
        assert int(function(name)(be.zeros((1000,)))) == 0
    assert int(stator.argmax(be.asarray(np.tile([1, 5, 5], 1000)))) == 1
    assert int(stator.argmin(be.asarray(np.tile([5, 1, 1], 1000)))) == 1


@pytest.mark.parametrize("dtype", INTEGERS)
def test_extremes_of_integers(be, dtype):
    info = np.iinfo(dtype)
    for value in (info.min, info.max):
        x = be.asarray(np.full((40, 33), value, dtype))
        for name in ("max", "min", "nanmax", "nanmin"):
            assert int(function(name)(x)) == value
            np.testing.assert_array_equal(function(name)(x, axis=0).to_numpy(), np.full(33, value, dtype))
        for name in POSITIONS:
            assert int(function(name)(x)) == 0


def test_infinities_have_extremes(be):
    for value in (-np.inf, np.inf):
        x = be.full((40,), value)
        assert float(stator.max(x)) == float(stator.min(x)) == value
        assert int(stator.argmax(x)) == int(stator.argmin(x)) == 0


@pytest.mark.parametrize("dtype", ["bool", *INTEGERS])
def test_integers_wrap_in_the_width_of_the_result(be, dtype):
    x = make("prod", (3000,), dtype)
    for name in ("sum", "prod"):
        check(be, name, x)
        got = function(name)(be.asarray(x), dtype=dtype)
        assert got.dtype.name == dtype
        np.testing.assert_array_equal(got.to_numpy(), getattr(np, name)(x, dtype=dtype))


def test_dtype_is_what_elements_are_accumulated_in(be):
    bytes_ = np.full(300, 100, np.int8)
    for name, x, dtype in (
        ("sum", bytes_, "int16"),
        ("sum", bytes_, "float32"),
        ("sum", bytes_, "complex64"),
        ("sum", np.full(300, 2**40, np.int64), "int8"),
        ("sum", np.full(300, 1.75, np.float32), "int32"),
        ("sum", np.full(300, 1 / 3, np.float32), "float64"),
        ("sum", np.full(300, 1 / 3, np.float64), "float32"),
        ("nansum", np.array([1, np.nan, 2], np.float32), "float64"),
        ("prod", np.full(60, 3, np.int32), "float64"),
        ("prod", np.full(60, 1.5, np.float16), "float64"),
        ("mean", np.ones(4, np.float32), "float64"),
        ("mean", bytes_, "float32"),
        ("var", np.arange(50, dtype=np.float32), "float64"),
        ("std", np.arange(50), "float32"),
        ("vector_norm", np.arange(50, dtype=np.float32), "float64"),
    ):
        on = be.asarray(x)
        got = function(name)(on, dtype=dtype)
        assert got.dtype.name == dtype
        wide = x.astype(dtype if np.dtype(dtype).kind == "i" else np.promote_types(x.dtype, dtype))
        over = {"dtype": dtype} if np.dtype(dtype).kind == "i" else {}
        compare(name, got.to_numpy(), np.asarray(REFERENCES.get(name, getattr(np, name, None))(wide, **over)))


@pytest.mark.parametrize("dtype", [None, "bool", "int8", "uint16", "float16", "float32", "complex128"])
def test_the_trues_of_bool_are_summed(be, dtype):
    x, mask = np.arange(3 * 700).reshape(3, 700) % 3 > 0, np.arange(700) % 2 > 0
    for values in (x, x[:, ::-2], x.T, x[:, :0]):
        for axis in (None, 0, 1):
            got = stator.sum(be.asarray(values), axis=axis, dtype=dtype).to_numpy()
            np.testing.assert_array_equal(got, values.sum(axis=axis, dtype=dtype), strict=True)
    got = stator.sum(be.asarray(x), axis=1, dtype=dtype, where=be.asarray(mask)).to_numpy()
    np.testing.assert_array_equal(got, x.sum(axis=1, dtype=dtype, where=mask))


@pytest.mark.parametrize(("name", "values"), [("sum", [1, -1]), ("sum", [0, 0]), ("prod", [2**32, 2**32])])
def test_bool_counts_elements_not_their_total(be, name, values):
    x = np.array(values)
    assert bool(function(name)(be.asarray(x), dtype="bool")) == getattr(np, name)(x, dtype="bool")


@pytest.mark.parametrize("name", ["sum", "prod", "mean"])
def test_a_real_dtype_is_refused_for_complex_elements(be, name):
    with pytest.raises(errors.DTypeError, match=f"{name}: Got dtype=float64 for complex128"):
        function(name)(be.asarray([1j]), dtype="float64")


@pytest.mark.parametrize("name", [n for n in ROWS if TABLE[n]["result"] in ("same", "index", "boolean")])
def test_dtype_is_refused_where_nothing_is_accumulated(be, name):
    with pytest.raises(errors.DTypeError, match=name):
        function(name)(be.zeros((3,)), dtype="float64")


@pytest.mark.parametrize("ord", [0, 1, 2, 3, 0.5, -1, -2, np.inf, -np.inf])
def test_norms_of_each_order(be, ord):
    for dtype, shape in itertools.product(("float16", "float32", "float64", "int32", "complex64"), ((7,), (300, 41))):
        x = make("vector_norm", shape, dtype, ord)
        for axis in (None, *range(len(shape))):
            check(be, "vector_norm", x, axis=axis, ord=ord)
    assert np.isnan(float(stator.linalg.vector_norm(be.asarray([1.0, np.nan]), ord=ord))) == (ord != 0)


def test_norms_of_rows_and_columns_with_zeros(be):
    x = np.zeros((3, 400), np.float32)
    x[1, 7] = -3
    for ord in (0, 1, 2, 3, np.inf):
        check(be, "vector_norm", x, axis=1, ord=ord)
        check(be, "vector_norm", x, axis=0, ord=ord, keepdims=True)


@pytest.mark.parametrize("name", ["var", "std"])
def test_correction_is_taken_from_the_count(be, name):
    x = make(name, (5, 40), "float32")
    for correction in (0, 1, 1.5, 39, 40, 60):
        check(be, name, x, axis=1, correction=correction)
    check(be, name, x[:, :1], axis=1, correction=1)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_variance_of_large_means(be, dtype):
    for shape, axis in (((100003,), None), ((3000, 40), 0), ((40, 3000), 1)):
        x = (1e6 + np.random.default_rng(1).normal(size=shape)).astype(dtype)
        for name in ("var", "std", "mean", "nanmean"):
            check(be, name, x, axis=axis)
            check(be, name, x[::-1], axis=axis)
            check(be, name, x, axis=axis, where=np.ones(shape, bool))


def test_statistics_of_complex_numbers(be):
    for dtype in ("complex64", "complex128"):
        x = make("mean", (129, 65), dtype) - numpy_dtype(dtype).type(0.25)
        for name, axis in itertools.product(("mean", "nanmean", "var", "std", "vector_norm"), (None, 0, 1)):
            check(be, name, x, axis=axis)


def test_logsumexp_of_extremes(be):
    inf, nan = np.inf, np.nan
    rows = [[1e4, 1e4], [-1e4, -1e4], [inf, 1], [-inf, 1], [-inf, -inf], [inf, -inf], [inf, inf], [nan, 1], [nan, inf]]
    for dtype in inputs.FLOATS:
        x = np.array(rows).astype(numpy_dtype(dtype))
        check(be, "logsumexp", x, axis=1)
        check(be, "logsumexp", np.repeat(x, 50, 1), axis=1)
        check(be, "logsumexp", np.repeat(x, 50, 1).T, axis=0)
    check(be, "logsumexp", np.full(70001, 700.0))
    check(be, "logsumexp", np.array([3e38, 1.0], np.float32))


@pytest.mark.parametrize("dtype", inputs.DTYPES)
def test_truth_and_counts(be, dtype):
    for n in (1, 300, 5000):
        for x in (np.zeros(n, numpy_dtype(dtype)), np.ones(n, numpy_dtype(dtype))):
            for flip in (None, 0, n // 2, n - 1):
                y = x.copy()
                if flip is not None:
                    y[flip] = 0 if x[0] else 1
                for name in ("any", "all", "count_nonzero", "has_inf_nan"):
                    check(be, name, y)


def test_nan_is_true_and_minus_zero_is_not(be):
    x = np.array([-0.0, np.nan, np.inf, 1e-45], np.float32)
    for name in ("any", "all", "count_nonzero", "has_inf_nan"):
        check(be, name, x)
        check(be, name, x[:1])
        check(be, name, x[1:])


def test_half_sums_accumulate_in_float32(be):
    assert float(stator.sum(be.full((65536,), 0.5, dtype="float16"))) == 32768.0
    assert float(stator.mean(be.full((300000,), 1.0, dtype="bfloat16"))) == 1.0
    assert float(stator.prod(be.asarray(np.array([300, 300, 1 / 300], np.float16)))) == pytest.approx(300, rel=1e-2)
    assert float(stator.linalg.vector_norm(be.full((10000,), 3.0, dtype="float16"))) == 300.0


def test_results_are_equal_bits_run_to_run(be):
    x = be.asarray(np.random.default_rng(0).normal(size=(257, 4099)).astype(np.float32))
    for name, axis in itertools.product(("sum", "prod", "var", "vector_norm", "logsumexp"), (None, 0, 1)):
        first = function(name)(x, axis=axis).to_numpy().tobytes()
        assert all(function(name)(x, axis=axis).to_numpy().tobytes() == first for _ in range(3))


@pytest.mark.parametrize("name", ROWS)
def test_out_receives_the_result(be, name):
    x = make(name, (40, 33), "float32")
    want = reference(name, x, axis=0)
    kind = result_dtype(name, "float32")
    out = be.empty((33,), dtype=kind)
    assert function(name)(be.asarray(x), axis=0, out=out) is out
    compare(name, out.to_numpy(), want)
    wider = be.zeros((33, 2), dtype={"float32": "float64", "bool": "int8"}.get(kind, kind))
    function(name)(be.asarray(x), axis=0, out=wider[:, 1])
    got = wider.to_numpy()
    assert not got[:, 0].any()
    compare(name, got[:, 1].astype(kind), want)
