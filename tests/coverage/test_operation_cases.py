"""A test of each operation that array libraries ask of stator, in each dtype that they ask for.

operations.tsv says how each is called. A case compares the results with a reference. Test ids are <operation>-<dtypes>.
"""

import csv
import zlib
from pathlib import Path

import inputs
import numpy as np
import operations_fft
import operations_indexing
import operations_linalg
import operations_movement
import operations_nn
import operations_sort
import operations_sparse
import pytest
from cases import ARITY, TABLE, assert_close, check, expected, function, operands, tolerance
from reference import assert_matches, numpy_dtype, ulp_error, widen

import stator

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint32", "uint64")


def cpu_to_gpu(be, dtype):
    x = np.arange(5, dtype=dtype)
    np.testing.assert_array_equal(be.asarray(x).to_numpy(), x)


def gpu_to_cpu(be, dtype):
    on = be.arange(6, dtype=dtype)
    np.testing.assert_array_equal(on.to_numpy(), np.arange(6, dtype=dtype))
    np.testing.assert_array_equal(np.asarray(on), np.arange(6, dtype=dtype))


def cpu_to_gpu_pinned(be, dtype):
    x = np.arange(7, dtype=dtype)
    np.testing.assert_array_equal(be.asarray(x, pinned=True).to_numpy(), x)


def raw_device_ptr(be, dtype):
    x = be.zeros((8,), dtype=dtype)
    assert x.data_ptr != 0
    assert x[3:].data_ptr == x.data_ptr + 3 * x.itemsize


def raw_device_ptr_mut(be, dtype):
    """A write through the pointer is seen by the array, on both targets."""
    x = be.zeros((8,), dtype=dtype)
    alias = stator.from_dlpack(x)
    assert alias.data_ptr == x.data_ptr
    alias += 3
    np.testing.assert_array_equal(x.to_numpy(), np.full(8, 3, dtype))


def buffer_elem_size(be, dtype):
    assert be.zeros((2,), dtype=dtype).itemsize == np.dtype(dtype).itemsize


def clone_buffer(be, dtype):
    x = be.arange(9, dtype=dtype)
    y = stator.copy(x)
    x += 1
    np.testing.assert_array_equal(y.to_numpy(), np.arange(9, dtype=dtype))


def alloc_zeros(be, dtype):
    np.testing.assert_array_equal(be.zeros((3, 4), dtype=dtype).to_numpy(), np.zeros((3, 4), dtype))


def transpose_2d(be, dtype):
    a = np.random.default_rng(0).normal(size=(67, 45)).astype(dtype)
    np.testing.assert_array_equal(stator.copy(stator.permute_dims(be.asarray(a), (1, 0))).to_numpy(), a.T)


def permute_0213(be, dtype):
    a = np.random.default_rng(0).normal(size=(3, 34, 5, 16)).astype(dtype)
    got = stator.copy(stator.permute_dims(be.asarray(a), (0, 2, 1, 3)))
    np.testing.assert_array_equal(got.to_numpy(), np.transpose(a, (0, 2, 1, 3)))


def fill(be, dtype):
    np.testing.assert_array_equal(be.full((33,), 2.5, dtype=dtype).to_numpy(), np.full(33, 2.5, dtype))


def strided_copy(be, dtype):
    x = np.arange(40, dtype=dtype)
    got = stator.copy(stator.as_strided(be.asarray(x), (4, 3), (7, 2), 5))
    np.testing.assert_array_equal(
        got.to_numpy(), np.array([[5 + 7 * i + 2 * j for j in range(3)] for i in range(4)], dtype)
    )


def synchronize(be, dtype):
    x = be.zeros((1 << 20,))
    for _ in range(8):
        x += 1
    be.synchronize()
    assert all(s.done() for s in be.streams)


def stream_count(be, dtype):
    assert len(be.streams) == len(tuple(be.streams)) > 1
    assert len({s.native for s in be.streams}) == len(be.streams)


def as_any(be, dtype):
    assert "stator.Context" in repr(be.native)


def rng_of(*key):
    return np.random.default_rng(zlib.crc32(repr(key).encode()))


def elementwise(name):
    def case(be, source, result):
        for size in (1, 33, 1025):
            options = {} if result == source else {"dtype": result}
            check(be, name, operands(rng_of(name, source), name, (size,), source), **options)

    return case


def broadcast(name):
    def case(be, source, result):
        for shapes in ([(6, 1, 5), (7, 1)], [(64, 130), (130,)], [(), (33,)]):
            check(be, name, operands(rng_of(name, source), name, shapes, source))

    return case


def each(case, *dtypes):
    """The case of an operation that is asked for without dtypes, run in every dtype."""

    def all_of_them(be, source, result):
        for dtype in dtypes:
            case(be, dtype, dtype)

    return all_of_them


def reduction(name, *axes, low=0.5, high=2.0, same=False):
    """Reduces over all axes, or each given one; `same`: narrow integers are summed in their own dtype, and wrap."""

    def case(be, source, result):
        x = inputs.random(rng_of(name, source), (9, 65, 5), source, low, high)
        for axis in axes or (None,):
            options = {"dtype": result} if same or result != source else {}
            got = function(name)(be.asarray(x), axis=axis, **options).to_numpy()
            assert got.dtype == (numpy_dtype(result) if TABLE[name]["result"] in ("same", "accumulate") else got.dtype)
            want = getattr(np, name)(x, axis=axis, dtype=source) if same else expected(name, x, axis=axis)
            assert_matches(got, np.asarray(want), tolerance(name), name)

    return case


def masked(name, nothing):
    def case(be, source, result):
        rng = rng_of(name, source)
        x, mask = rng.normal(size=(33, 65)).astype(source), rng.random((33, 65)) < 0.1
        x[~mask] *= 100
        for axis in (None, 0, 1):
            got = function(name)(be.asarray(x), where=be.asarray(mask), axis=axis).to_numpy()
            want = getattr(np, name)(x, where=mask, axis=axis, initial=nothing)
            np.testing.assert_array_equal(got, want.astype(source))
        assert function(name)(be.asarray(x), where=be.zeros((33, 65), dtype="bool")).to_numpy() == nothing

    return case


def scan(name, reference, low, high):
    def case(be, source, result):
        x = inputs.random(rng_of(name, source), (5, 70, 3), source, low, high)
        for axis in (0, 1, 2):
            got = function(name)(be.asarray(x), axis=axis).to_numpy()
            assert got.dtype == result
            assert_matches(got, reference(widen(x), axis=axis), tolerance(name), name)

    return case


def running(name, better):
    """The extremes so far and the last index of ties; NaN stays."""

    def case(be, source, result):
        x = np.round(rng_of(name, source).normal(size=(4, 70, 3)) * 3).astype(source)
        x[0, 50, 0] = np.nan
        for axis in (0, 1, 2):
            values, indices = function(name)(be.asarray(x), axis=axis)
            lines = np.moveaxis(x, axis, 0)
            best, at = lines[0], np.zeros(lines[0].shape, int)
            for k, line in enumerate(lines):
                beats = better(line, best) | np.isnan(line)
                best, at = np.where(beats, line, best), np.where(beats, k, at)
                np.testing.assert_array_equal(np.moveaxis(values.to_numpy(), axis, 0)[k], best)
                np.testing.assert_array_equal(np.moveaxis(indices.to_numpy(), axis, 0)[k], at)

    return case


def gelu(be, source, result):
    """It is asked for as x * sigmoid(1.702 x) in the full dtypes, and with erf in the half types."""
    elementwise(OPS["gelu"] if source in ("float32", "float64") else OPS["gelu_erf"])(be, source, result)


def scale(be, source, result):
    x = inputs.random(rng_of(source), (257,), source)
    got = stator.multiply(be.asarray(x), 2.5).to_numpy()
    assert got.dtype == numpy_dtype(result)
    assert_close(got, "multiply", [x, np.full(257, 2.5, x.dtype)])


def compare(be, source, result):
    for name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"):
        elementwise(name)(be, source, source)


def ne_scalar_mask(be, source, result):
    x = np.arange(-5, 60).astype(source)
    np.testing.assert_array_equal(stator.not_equal(be.asarray(x), 3).to_numpy(), x != 3)


def isfinite_mask(be, source, result):
    elementwise("isfinite")(be, source, source)
    x = inputs.special(source)
    np.testing.assert_array_equal(stator.isfinite(be.asarray(x)).to_numpy(), np.isfinite(x.astype(np.float64)))


def has_inf_nan(be, source, result):
    for at, value in ((0, np.inf), (2047, -np.inf), (999, np.nan), (5, 1.0)):
        x = np.ones(2048, source)
        x[at] = value
        got = stator.has_inf_nan(be.asarray(x))
        assert got.shape == () and got.dtype == stator.bool
        assert bool(got) == (value != 1)


def cast_f_to_i(be, source, result):
    """Conversion truncates and saturates; NaN gives 0."""
    for kind in inputs.FLOATS:
        x = np.concatenate([inputs.special(kind), inputs.random(rng_of(kind), (99,), kind, -300, 300)])
        whole = np.trunc(np.nan_to_num(x.astype(np.longdouble), posinf=1e300, neginf=-1e300))
        for to in INTEGERS:
            low, high = np.longdouble(np.iinfo(to).min), np.longdouble(np.iinfo(to).max)
            got = stator.astype(be.asarray(x), to).to_numpy()
            np.testing.assert_array_equal(got, np.clip(whole, low, high).astype(to), f"{kind} {to}")


def cast_i_to_f(be, source, result):
    for kind in INTEGERS:
        x = inputs.random(rng_of(kind), (257,), kind)
        for to in inputs.FLOATS:
            got = stator.astype(be.asarray(x), to).to_numpy()
            assert got.dtype == numpy_dtype(to)
            assert ulp_error(got, x.astype(np.longdouble)) <= 0.5, (kind, to)


def cast_i_to_i(be, source, result):
    for kind in INTEGERS:
        x = inputs.random(rng_of(kind), (257,), kind)
        for to in INTEGERS:
            np.testing.assert_array_equal(stator.astype(be.asarray(x), to).to_numpy(), x.astype(to), f"{kind} {to}")


def cast_bool_to_f(be, source, result):
    x = inputs.random(rng_of(0), (257,), "bool")
    for to in inputs.FLOATS:
        got = stator.astype(be.asarray(x), to).to_numpy()
        assert got.dtype == numpy_dtype(to)
        np.testing.assert_array_equal(got.astype(np.float64), x.astype(np.float64))


def prod_backward(be, source, result):
    x = inputs.random(rng_of(source), (9,), source, 0.5, 2)
    for zeros in ([], [4], [2, 7]):
        x[zeros] = 0
        got = stator.nn.prod_backward(be.asarray(np.array(1.5, source)), be.asarray(x)).to_numpy()
        others = [np.prod(np.delete(widen(x), k)) for k in range(9)]
        assert_matches(got, 1.5 * np.array(others), (8, 8))


def repeat_along_dim(be, source, result):
    x = inputs.random(rng_of(source), (4, 33), source)
    want = np.repeat(x[:, None], 5, axis=1)
    got = [
        stator.nn.sum_backward(be.asarray(x), (4, 5, 33), axis=1),
        stator.copy(stator.broadcast_to(be.asarray(x[:, None]), (4, 5, 33))),
    ]
    for repeated in got:
        np.testing.assert_array_equal(repeated.to_numpy(), want)
    mean = stator.nn.mean_backward(be.asarray(x), (4, 5, 33), axis=1)
    assert_matches(mean.to_numpy(), widen(want) / 5, (1, 1))


BROADCASTS = {"add": "add", "sub": "subtract", "mul": "multiply", "div": "divide"}
CASES = {
    "argmax": each(reduction("argmax", None, 0, 1, 2), "float32", "int16"),
    "argmin": each(reduction("argmin", None, 0, 1, 2), "float32", "int16"),
    "bool_all": each(reduction("all", None, 0, 1, 2), "bool"),
    "bool_any": each(reduction("any", None, 0, 1, 2), "bool"),
    **{f"bool_{k}": each(elementwise(f"logical_{k}"), "bool") for k in ("and", "or", "xor", "not")},
    **{f"broadcast_{k}": broadcast(name) for k, name in BROADCASTS.items()},
    "cast_bool_to_f": cast_bool_to_f,
    "cast_f_to_i": cast_f_to_i,
    "cast_i_to_f": cast_i_to_f,
    "cast_i_to_i": cast_i_to_i,
    "compare": each(compare, "float32", "bfloat16", "int16", "uint64"),
    "cummax": running("cumulative_max", np.greater_equal),
    "cummin": running("cumulative_min", np.less_equal),
    "cumprod": scan("cumulative_prod", np.cumprod, 0.9, 1.1),
    "cumsum": scan("cumulative_sum", np.cumsum, 0.5, 2),
    "gelu": gelu,
    "has_inf_nan": has_inf_nan,
    "int_max": each(reduction("max", None, 0, 1, 2), *INTEGERS),
    "int_min": each(reduction("min", None, 0, 1, 2), *INTEGERS),
    "int_prod": each(reduction("prod", None, 0, 1, 2, same=True), *INTEGERS),
    "int_sum": each(reduction("sum", None, 0, 1, 2, same=True), *INTEGERS),
    "isfinite_mask": each(isfinite_mask, *inputs.FLOATS),
    "logcumsumexp": scan("logcumsumexp", np.logaddexp.accumulate, 0.5, 2),
    "masked_max": masked("max", -np.inf),
    "masked_min": masked("min", np.inf),
    "max": reduction("max", low=-4, high=4),
    "mean": reduction("mean"),
    "mean_axis": reduction("mean", 0, 1, 2),
    "min": reduction("min", low=-4, high=4),
    "ne_scalar_mask": each(ne_scalar_mask, "float32", "float16", "int8", "int64"),
    "prod": reduction("prod", 0, 1, 2, low=0.9, high=1.1),
    "prod_backward": prod_backward,
    "repeat_along_dim": repeat_along_dim,
    "scale": scale,
    "sum": reduction("sum"),
    "sum_axis": reduction("sum", 0, 1, 2),
    "where_cond": each(elementwise("where"), *TABLE["where"]["dtypes"]),
}


def asked(text):
    """The dtypes of each operation, from lines "dtypes: operations"; any means that none are stated."""
    lines = [line.split(":") for line in text.strip().splitlines()]
    return {operation: kinds.split() for kinds, operations in lines for operation in operations.split()}


CORE = asked("""
any: as_any cpu_to_gpu gpu_to_cpu raw_device_ptr raw_device_ptr_mut buffer_elem_size cpu_to_gpu_pinned clone_buffer
any: alloc_zeros synchronize stream_count
f32 f64: transpose_2d permute_0213 fill strided_copy
""")
DENSE = asked("""
any: argmax argmin bool_all bool_and bool_any bool_not bool_or bool_xor compare isfinite_mask ne_scalar_mask where_cond
any: cast_bool_to_f cast_f_to_i cast_i_to_f cast_i_to_i int_add int_bitand int_bitnot int_bitor int_bitxor int_floor_div
any: int_max int_min int_mul int_neg int_prod int_remainder int_shl int_shr int_sub int_sum
f32: has_inf_nan
bf16_bf16 f16: mean
bf16_f32 bf16_bf16 f16: mean_axis
f32 f64 f16: sqrt
f32 f64 bf16 f16: broadcast_add broadcast_div broadcast_mul broadcast_sub
f32 f64 bf16_bf16 f16: exp gelu log neg scale silu sum tanh
f32 f64 bf16_f32 bf16_bf16 f16: add sub mul div relu sigmoid sum_axis
f32 f64: abs abs_backward add_scaled airy_ai chebyshev_poly clamp clamp_backward cummax cummin cumprod cumsum elu
f32 f64: elu_backward entr gelu_backward gelu_backward_erf gelu_backward_tanh gelu_erf gelu_tanh hermite_h_poly
f32 f64: hermite_he_poly i0 i0e i1 i1e laguerre_poly legendre_poly logcumsumexp masked_max masked_min max min mish
f32 f64: mish_backward modified_bessel_k0 modified_bessel_k1 ndtr ndtri pow prod prod_backward relu_backward
f32 f64: repeat_along_dim scaled_modified_bessel_k0 scaled_modified_bessel_k1 sigmoid_backward silu_backward
f32 f64: spherical_bessel_j0 tanh_backward zeta
""")
MOVEMENT_HOMES = (operations_movement, operations_indexing, operations_sort)
LIBRARIES_HOMES = (operations_linalg, operations_fft, operations_sparse)
MOVEMENT = asked("".join(home.OPERATIONS.lstrip() for home in MOVEMENT_HOMES))
LIBRARIES = asked("".join(home.OPERATIONS.lstrip() for home in LIBRARIES_HOMES))
NN = asked(operations_nn.OPERATIONS)
FAMILIES = {"core": CORE, "dense": DENSE, "movement": MOVEMENT, "libraries": LIBRARIES, "nn": NN}
# The names of dtypes, for operands and results.
DTYPES = {
    "any": ("float32", "float32"),
    "f32": ("float32", "float32"),
    "f64": ("float64", "float64"),
    "f16": ("float16", "float16"),
    "bf16": ("bfloat16", "bfloat16"),
    "bf16_bf16": ("bfloat16", "bfloat16"),
    "bf16_f32": ("bfloat16", "float32"),
}
with (Path(__file__).parent / "operations.tsv").open(newline="") as file:
    LISTED = list(csv.DictReader(file, delimiter="\t"))
# The op-table entry of an operation, where several entries have the same call.
FORMS = {
    "add": "add",
    "add_scaled": "add_scaled",
    "int_add": "add",
    "gelu": "gelu_sigmoid",
    "gelu_erf": "gelu",
    "gelu_tanh": "gelu_tanh",
    "gelu_backward": "gelu_sigmoid_backward",
    "gelu_backward_erf": "gelu_backward",
    "gelu_backward_tanh": "gelu_tanh_backward",
}


def entries():
    """The op-table entry of each operation, except for calls that several entries share and FORMS does not decide."""
    found = {line["operation"]: [n for n, op in TABLE.items() if op["call"] == line["call"]] for line in LISTED}
    return {operation: names[0] for operation, names in found.items() if len(names) == 1} | FORMS


OPS = entries()


def case_of(operation):
    """The case of the operation, or that of its elementwise op."""
    if operation in CASES:
        return CASES[operation]
    name = OPS[operation]
    assert TABLE[name]["shape_class"] in ARITY, operation
    return each(elementwise(name), *INTEGERS) if operation.startswith("int_") else elementwise(name)


def home_of(operation, homes):
    """The module that has the operation, which must be exactly one."""
    (home,) = [home for home in homes if operation in asked(home.OPERATIONS)]
    return home


def ids(operations):
    return [pytest.param(name, kind, id=f"{name}-{kind}") for name, kinds in operations.items() for kind in kinds]


@pytest.mark.parametrize(("operation", "kind"), ids(CORE))
def test_core(be, operation, kind):
    globals()[operation](be, DTYPES[kind][0])


@pytest.mark.parametrize(("operation", "kind"), ids(DENSE))
def test_dense(be, operation, kind):
    case_of(operation)(be, *DTYPES[kind])


@pytest.mark.parametrize(("operation", "kind"), ids(MOVEMENT))
def test_movement(be, operation, kind):
    getattr(home_of(operation, MOVEMENT_HOMES), operation)(be, DTYPES[kind][0])


@pytest.mark.parametrize(("operation", "kind"), ids(LIBRARIES))
def test_libraries(be, operation, kind):
    home = home_of(operation, LIBRARIES_HOMES)
    if home is operations_linalg:
        home.case(be, operation, kind)
    else:
        getattr(home, operation)(be, DTYPES[kind][0])


@pytest.mark.parametrize(("operation", "kind"), ids(NN))
def test_nn(be, operation, kind):
    getattr(operations_nn, operation)(be, DTYPES[kind][0])


@pytest.mark.parametrize("family", FAMILIES)
def test_the_cases_are_those_of_the_list(family):
    present = {line["operation"] for line in LISTED if line["family"] == family and line["call"] != "planned"}
    assert FAMILIES[family].keys() == present


def test_the_forms_are_called_as_the_list_says():
    calls = {line["operation"]: line["call"] for line in LISTED}
    assert {operation: TABLE[name]["call"] for operation, name in FORMS.items()} == {o: calls[o] for o in FORMS}
