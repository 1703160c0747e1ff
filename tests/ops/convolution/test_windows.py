"""Windows of images as columns, and the sums of columns at their positions."""

import inputs
import numpy as np
import oracles_nn
import pytest
from reference import widen

import stator

nn = stator.nn
CASES = [
    ((2, 3, 5, 6), 2, {}),
    ((1, 2, 9, 8), (3, 2), {"stride": (2, 1), "padding": (1, 0), "dilation": (1, 3)}),
    ((2, 1, 4, 4), 4, {"padding": 2}),
    ((3, 5, 40, 33), 3, {"stride": 4, "padding": 1}),
    ((70, 4, 4, 5), 3, {"padding": 1}),
]
EPS = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52}


def drawn(shape, dtype, seed=0):
    return inputs.random(np.random.default_rng(seed), shape, dtype, -2, 2)


@pytest.mark.parametrize("dtype", inputs.FLOATS)
@pytest.mark.parametrize("shape, kernel, options", CASES)
def test_unfold(be, shape, kernel, options, dtype):
    x = drawn(shape, dtype)
    got = nn.unfold(be.asarray(x), kernel, **options)
    assert got.dtype.name == dtype
    np.testing.assert_array_equal(widen(got.to_numpy()), oracles_nn.unfold(widen(x), kernel, **options))


@pytest.mark.parametrize("dtype", inputs.FLOATS)
@pytest.mark.parametrize("shape, kernel, options", CASES)
def test_fold(be, shape, kernel, options, dtype):
    columns = drawn(nn.unfold(be.zeros(shape), kernel, **options).shape, dtype)
    got = nn.fold(be.asarray(columns), shape[2:], kernel, **options)
    want = oracles_nn.fold(widen(columns), shape[2:], kernel, **options)
    # Sixteen terms of at most 2 are summed up in float32 or float64, and rounded to the dtype once.
    np.testing.assert_allclose(widen(got.to_numpy()).astype(float), want.astype(float), rtol=EPS[dtype], atol=4e-6)


def test_images_of_any_strides_and_without_samples(be):
    x = drawn((6, 5, 4), "float32")
    want = oracles_nn.unfold(x[None].transpose(0, 3, 2, 1), 2)[0]
    np.testing.assert_array_equal(nn.unfold(stator.permute_dims(be.asarray(x), (2, 1, 0)), 2).to_numpy(), want)
    alone = nn.fold(be.asarray(want), (5, 6), 2).to_numpy()
    np.testing.assert_array_equal(alone, nn.fold(be.asarray(want[None]), (5, 6), 2).to_numpy()[0])


def test_no_images(be):
    assert nn.unfold(be.zeros((0, 3, 5, 5)), 3).shape == (0, 27, 9)
    assert nn.fold(be.zeros((0, 27, 9)), 5, 3).shape == (0, 3, 5, 5)


def test_a_convolution_is_a_product_with_windows(be):
    x, w = be.asarray(drawn((2, 3, 6, 7), "float64")), be.asarray(drawn((4, 3, 3, 3), "float64", 1))
    product = stator.matmul(stator.reshape(w, (4, 27)), nn.unfold(x, 3))
    np.testing.assert_allclose(
        product.to_numpy(), nn.conv2d(x, w).to_numpy().reshape(2, 4, 20), rtol=0, atol=27 * 8 * 2.0**-52
    )
