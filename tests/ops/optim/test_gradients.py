"""The length of gradients, and whether they are finite."""

import inputs
import numpy as np
import oracles
import pytest
from reference import widen

import stator

nn = stator.nn
SHAPES = [(7,), (0,), (3, 5), (20000,), ()]


def gradients(be, dtype, count=1):
    hosts = [inputs.random(np.random.default_rng(k), s, dtype, -2, 2) for k, s in enumerate(SHAPES * count)]
    return hosts, [be.asarray(x) for x in hosts]


@pytest.mark.parametrize("dtype", inputs.FLOATS)
@pytest.mark.parametrize("limit", [0.0, 1.5, 1e6])
def test_the_norm_and_its_factor(be, dtype, limit):
    hosts, on = gradients(be, dtype)
    before = be.statistics()["kernel_launches"]
    norm, factor = nn.clip_grad_norm(on, limit, grad_scale=8.0)
    assert be.statistics()["kernel_launches"] == before + 1
    wanted = oracles.clip_grad_norm([widen(x) for x in hosts], limit, 8.0)
    assert norm.shape == factor.shape == ()
    assert norm.dtype.name == factor.dtype.name == ("float64" if dtype == "float64" else "float32")
    np.testing.assert_allclose([float(norm), float(factor)], np.array(wanted, float), rtol=1e-6)
    for x, host in zip(on, hosts, strict=True):
        np.testing.assert_array_equal(x.to_numpy(), host)


def test_gradients_of_several_dtypes_and_layouts(be):
    parts = [np.arange(6.0).reshape(2, 3).T, np.arange(8, dtype=np.float32)[::2], np.ones((), np.float16)]
    norm, _ = nn.clip_grad_norm([inputs.on_device(be, x) for x in parts], 1.0)
    assert norm.dtype.name == "float64"
    assert float(norm) == pytest.approx(np.sqrt(sum(np.sum(x.astype(float) ** 2) for x in parts)))


def test_more_gradients_than_a_launch_has(be):
    arrays = [be.full((2,), k, dtype="float64") for k in range(1100)]
    norm, _ = nn.clip_grad_norm(arrays, 1.0)
    assert float(norm) == pytest.approx(np.sqrt(2 * np.sum(np.arange(1100.0) ** 2)))
    assert not bool(nn.has_inf_nan(arrays))
    arrays[1050] = be.full((2,), np.nan)
    assert bool(nn.has_inf_nan(arrays))


def test_the_norm_of_nothing_is_zero(be):
    norm, factor = nn.clip_grad_norm([be.zeros((0,))], 1.0)
    assert (float(norm), float(factor)) == (0, 1)
    assert not bool(nn.has_inf_nan([be.zeros((0,))]))


def test_the_norm_of_an_empty_list_is_zero(be):
    norm, factor = nn.clip_grad_norm([], 1.0, grad_scale=be.ones(()))
    assert norm.device == be.device
    assert (float(norm), float(factor), norm.dtype.name) == (0, 1, "float32")
    with be.use():
        assert nn.clip_grad_norm([], 1.0)[0].device == be.device


@pytest.mark.parametrize("dtype", ["bfloat16", "float32", "float64"])
@pytest.mark.parametrize("scale", [1e20, 1e37, 1e-30, 1e200, 1e-200])
def test_a_norm_whose_squares_are_beyond_the_dtype(be, dtype, scale):
    if dtype != "float64" and not 1e-38 < scale < 1e38:
        scale = 1.0
    x = be.asarray(np.linspace(-4, 4, 40_000)).astype(dtype) * scale
    length = np.sqrt(np.sum(np.square(widen(x.to_numpy()) / scale)))
    norm, factor = nn.clip_grad_norm([x, be.ones((3,), dtype=dtype) * scale], length * scale / 2)
    length = np.sqrt(length**2 + 3) * scale
    if length > 3e38 and dtype != "float64":
        assert float(norm) == np.inf
    else:
        assert float(norm) == pytest.approx(float(length), rel=1e-5)
    if scale > 1:
        assert float(factor) == pytest.approx(0.5, rel=1e-2)


def test_a_norm_that_is_not_finite(be):
    norm, factor = nn.clip_grad_norm([be.full((3,), np.nan)], 1.0)
    assert np.isnan(float(norm)) and np.isnan(float(factor))
    norm, factor = nn.clip_grad_norm([be.full((3,), np.inf)], 1.0)
    assert float(norm) == np.inf and float(factor) == 0


@pytest.mark.parametrize("dtype", inputs.FLOATS)
@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("place", [0, 19999])
def test_one_element_that_is_not_finite(be, dtype, value, place):
    _, on = gradients(be, dtype)
    found = nn.has_inf_nan(on)
    assert found.shape == () and found.dtype.name == "bool" and not bool(found)
    on[3][place] = float(value)
    assert bool(nn.has_inf_nan(on))
    on[3][place] = float(np.finfo(np.float16).max)
    assert not bool(nn.has_inf_nan(on))


def test_many_gradients_of_one_launch(be):
    hosts, on = gradients(be, "float32", 35)
    before = be.statistics()["kernel_launches"]
    norm, _ = nn.clip_grad_norm(on, 1.0)
    assert not bool(nn.has_inf_nan(on))
    assert be.statistics()["kernel_launches"] == before + 2
    assert float(norm) == pytest.approx(float(oracles.clip_grad_norm([widen(x) for x in hosts], 1.0)[0]))
