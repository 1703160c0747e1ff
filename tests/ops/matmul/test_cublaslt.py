"""Which products cuBLASLt computes, and what becomes of its statuses, by the counts of its double."""

import numpy as np
import pytest
import vendor_doubles as doubles

import stator
from stator import _backend
from stator.errors import CudaError

ALLOC_FAILED, INVALID_VALUE, NOT_SUPPORTED = 3, 7, 15


@pytest.fixture
def emulated(cuda):
    """A cuda backend whose libraries are doubles, without plans of products."""
    if not _backend.emulated("cuda"):
        pytest.skip("the libraries themselves do not count")
    stator.linalg.clear_matmul_cache()
    return cuda


def counted(call):
    """What the call returns, and how many products cuBLASLt and cuBLAS computed for it."""
    before = doubles.calls()
    made = call()
    after = doubles.calls()
    names = ("cublasLtMatmul", "cublasGemmStridedBatchedEx_64")
    return made, [after[name] - before[name] for name in names]


def numbers(be, shape, dtype, seed=0):
    return be.asarray(np.random.default_rng(seed).integers(-3, 4, shape).astype("float32")).astype(dtype)


def product(be, dtype, batch):
    x, y = numbers(be, (*batch, 4, 8), dtype), numbers(be, (*batch, 8, 12), dtype, 1)
    want = np.matmul(x.astype("float64").to_numpy(), y.astype("float64").to_numpy())
    return x, y, want


@pytest.mark.parametrize("batch", [(), (3,)])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_floating_products_are_cublaslts(emulated, dtype, batch):
    x, y, want = product(emulated, dtype, batch)
    got, by = counted(lambda: stator.matmul(x, y))
    assert by == [1, 0]
    np.testing.assert_array_equal(got.astype("float64").to_numpy(), want)


@pytest.mark.parametrize("batch", [(), (3,)])
def test_products_of_transposed_operands_are_cublaslts(emulated, batch):
    x, y, want = product(emulated, "float32", batch)
    turned = [stator.copy(z.mT).mT for z in (x, y)]
    got, by = counted(lambda: stator.matmul(*turned))
    assert by == [1, 0]
    np.testing.assert_array_equal(got.to_numpy(), want)


def test_products_of_eight_bit_integers_are_cublaslts(emulated):
    x, y, want = product(emulated, "int8", ())
    columns = stator.copy(y.T).T  # the only order that the library takes
    got, by = counted(lambda: stator.matmul(x, columns, dtype="int32"))
    assert by == [1, 0]
    np.testing.assert_array_equal(got.to_numpy(), want)


@pytest.mark.parametrize("formats", [("e4m3", "e4m3"), ("e4m3", "e5m2")])
def test_products_of_eight_bit_floats_are_cublaslts(emulated, formats):
    x, y = numbers(emulated, (16, 32), "float32"), numbers(emulated, (32, 48), "float32", 1)
    (a, a_scale), (b, b_scale) = (stator.nn.quantize_fp8(z, format=f) for z, f in zip((x, y), formats, strict=True))
    options = {"a_format": formats[0], "b_format": formats[1], "dtype": "float32"}
    _, by = counted(lambda: stator.nn.scaled_matmul(a, b, a_scale, b_scale, **options))
    assert by == [1, 0]


@pytest.mark.parametrize("activation", [None, "relu", "gelu_tanh"])
@pytest.mark.parametrize("with_bias", [False, True])
def test_bias_and_activation_are_part_of_the_product(emulated, activation, with_bias):
    x, w = numbers(emulated, (4, 8), "float16"), numbers(emulated, (16, 8), "float16", 1)
    bias = numbers(emulated, (16,), "float16", 2) if with_bias else None
    launches = emulated.statistics()["kernel_launches"]
    _, by = counted(lambda: stator.nn.linear(x, w, bias, activation=activation))
    assert by == [1, 0]
    assert emulated.statistics()["kernel_launches"] == launches


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_halves_in_rows_that_are_not_aligned_are_rounded_once(emulated, dtype):
    """The library would round the product before it adds the bias, which here takes the first digits away."""
    x, w = (emulated.full(shape, 3.25, dtype=dtype) for shape in ((4, 21), (12, 21)))
    bias = emulated.full((12,), -221.0, dtype=dtype)
    assert stator.nn.linear(x, w, bias).to_numpy().astype(float).max() == 21 * 3.25**2 - 221


@pytest.mark.parametrize(
    "symbol",
    [
        "cublasLtMatmulDescCreate",
        "cublasLtMatmulDescSetAttribute",
        "cublasLtMatrixLayoutCreate",
        "cublasLtMatrixLayoutSetAttribute",
        "cublasLtMatmulPreferenceCreate",
        "cublasLtMatmulPreferenceSetAttribute",
        "cublasLtMatmulAlgoGetHeuristic",
        "cublasLtMatmul",
    ],
)
def test_a_call_that_fails_is_an_error_and_the_next_product_is_cublaslts(emulated, symbol):
    x, y, want = product(emulated, "float32", (3,))
    with doubles.answered(symbol, ALLOC_FAILED), pytest.raises(CudaError) as caught:
        stator.matmul(x, y)
    assert caught.value.name == "CUBLAS_STATUS_ALLOC_FAILED"
    got, by = counted(lambda: stator.matmul(x, y))
    assert by == [1, 0]
    np.testing.assert_array_equal(got.to_numpy(), want)


@pytest.mark.parametrize("status", [INVALID_VALUE, NOT_SUPPORTED])
def test_cublas_computes_what_cublaslt_has_no_algorithm_for(emulated, status):
    x, y, want = product(emulated, "float32", ())
    with doubles.answered("cublasLtMatmulAlgoGetHeuristic", status):
        got, by = counted(lambda: stator.matmul(x, y))
    assert by == [0, 1]
    np.testing.assert_array_equal(got.to_numpy(), want)
