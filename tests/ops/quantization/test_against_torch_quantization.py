"""Quantisation against torch: values, autograd, the gradients of learned numbers, and observers."""

import warnings

import numpy as np
import pytest
from torch_rows import torch

import stator

nn = stator.nn
pytestmark = pytest.mark.filterwarnings("ignore")  # torch deprecates its quantised tensors
SCALES, ZEROS = np.array([0.1, 0.07, 1.3], np.float32), np.array([0, -7, 12], np.int32)


def drawn(shape, seed=0, spread=5.0):
    return (np.random.default_rng(seed).normal(size=shape) * spread).astype(np.float32)


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_quantize_per_tensor_and_channel(be, dtype):
    x = drawn((3, 211))
    kind = {"int8": torch.qint8, "uint8": torch.quint8}[dtype]
    want = torch.quantize_per_tensor(torch.tensor(x), 0.1, 5, kind)
    q = nn.quantize(be.asarray(x), 0.1, 5, dtype=dtype)
    np.testing.assert_array_equal(q.to_numpy(), want.int_repr().numpy())
    np.testing.assert_array_equal(nn.dequantize(q, 0.1, 5).to_numpy(), want.dequantize().numpy())
    zeros = np.abs(ZEROS)
    want = torch.quantize_per_channel(torch.tensor(x), torch.tensor(SCALES), torch.tensor(zeros), 0, kind)
    got = nn.quantize(be.asarray(x), be.asarray(SCALES), be.asarray(zeros), dtype=dtype, axis=0)
    np.testing.assert_array_equal(got.to_numpy(), want.int_repr().numpy())


def test_fake_quantize_with_autograd(be):
    x, g = drawn((3, 211)), drawn((3, 211), 1)
    given = torch.tensor(x, requires_grad=True)
    rows = torch.tensor(SCALES), torch.tensor(ZEROS)
    for want, numbers, where in (
        (torch.fake_quantize_per_tensor_affine(given, 0.07, 3, -100, 90), (0.07, 3), {}),
        (
            torch.fake_quantize_per_channel_affine(given, *rows, 0, -100, 90),
            map(be.asarray, (SCALES, ZEROS)),
            {"axis": 0},
        ),
    ):
        numbers = tuple(numbers)
        got = nn.fake_quantize(be.asarray(x), *numbers, -100, 90, **where)
        np.testing.assert_allclose(got.to_numpy(), want.detach().numpy(), rtol=1e-6)
        (slope,) = torch.autograd.grad(want, given, torch.tensor(g))
        got = nn.fake_quantize_backward(be.asarray(g), be.asarray(x), *numbers, -100, 90, **where)
        np.testing.assert_array_equal(got.to_numpy(), slope.numpy())


@pytest.mark.parametrize("channels", [False, True])
def test_learned_scales_and_zero_points(be, channels):
    x, g = drawn((3, 211)), drawn((3, 211), 1)
    scale, zero = (SCALES, (ZEROS + 0.3).astype(np.float32)) if channels else (SCALES[:1], np.array([3.2], np.float32))
    given = [torch.tensor(v, requires_grad=True) for v in (x, scale, zero)]
    name = "channel" if channels else "tensor"
    of = getattr(torch, f"_fake_quantize_learnable_per_{name}_affine")
    want = of(*given, *((0,) if channels else ()), -40, 41, 0.25)
    numbers, where = [be.asarray(v) for v in (scale, zero)], {"axis": 0} if channels else {}
    got = nn.fake_quantize(be.asarray(x), *numbers, -40, 41, **where)
    np.testing.assert_allclose(got.to_numpy(), want.detach().numpy(), rtol=1e-6)
    options = {**where, "learned": True, "grad_factor": 0.25}
    found = nn.fake_quantize_backward(be.asarray(g), be.asarray(x), *numbers, -40, 41, **options)
    for one, slope in zip(found, torch.autograd.grad(want, given, torch.tensor(g)), strict=True):
        np.testing.assert_allclose(one.to_numpy(), slope.numpy(), rtol=2e-4, atol=2e-4)


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_observers_of_ranges(be, dtype, symmetric):
    from torch.ao.quantization import observer

    kind = {"int8": torch.qint8, "uint8": torch.quint8}[dtype]
    scheme = {False: "affine", True: "symmetric"}[symmetric]
    whole = {"dtype": kind, "qscheme": getattr(torch, f"per_tensor_{scheme}")}
    parts = {"dtype": kind, "qscheme": getattr(torch, f"per_channel_{scheme}")}
    pairs = [
        (observer.MinMaxObserver(**whole), {}),
        (observer.MovingAverageMinMaxObserver(averaging_constant=0.1, **whole), {"averaging_constant": 0.1}),
        (observer.PerChannelMinMaxObserver(ch_axis=1, **parts), {"axis": 1}),
        (observer.MovingAveragePerChannelMinMaxObserver(0.1, 1, **parts), {"axis": 1, "averaging_constant": 0.1}),
    ]
    for theirs, options in pairs:
        ours = nn.MinMaxObserver(dtype=dtype, symmetric=symmetric, **options)
        for seed in range(3):
            x = drawn((4, 3, 50), seed) + 2
            theirs(torch.tensor(x))
            ours.observe(be.asarray(x))
        for got, want in zip(ours.parameters(), theirs.calculate_qparams(), strict=True):
            np.testing.assert_allclose(got.to_numpy().reshape(-1), want.numpy(), rtol=1e-6)


def test_histograms_and_the_range_of_least_error(be):
    from torch.ao.quantization import observer

    theirs, ours = observer.HistogramObserver(bins=128), nn.HistogramObserver(bins=128, dtype="uint8")
    for seed, spread in enumerate((1.0, 1.0, 3.0)):
        x = drawn((1500,), seed, spread)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs(torch.tensor(x))
        ours.observe(be.asarray(x))
    assert ours.min.to_numpy() == theirs.min_val.numpy() and ours.max.to_numpy() == theirs.max_val.numpy()
    # An element that is about a bin's edge counts in either bin.
    off = np.abs(ours.histogram.to_numpy() - theirs.histogram.numpy())
    assert ours.histogram.to_numpy().sum() == 4500 and off.sum() <= 40
    scale, zero = (v.to_numpy() for v in ours.parameters())
    their_scale, their_zero = (v.numpy() for v in theirs.calculate_qparams())
    np.testing.assert_allclose(scale, their_scale[0], rtol=0.05)
    assert abs(int(zero) - int(their_zero[0])) <= 5
