"""Convolutions and windows against torch, and gradients against torch's autograd, in float64."""

from __future__ import annotations

import numpy as np
import pytest
from torch_rows import draw, torch

import stator

nn, F = stator.nn, torch.nn.functional
CASES = [
    ("conv1d", (2, 6, 30), (9, 6, 4), {"padding": "same", "dilation": 2}),
    ("conv1d", (2, 6, 30), (8, 3, 4), {"stride": 3, "groups": 2}),
    ("conv2d", (2, 9, 8, 7), (10, 9, 3, 3), {"padding": (2, 1), "stride": (1, 2)}),
    ("conv2d", (2, 6, 8, 7), (6, 1, 3, 3), {"padding": 1, "groups": 6}),
    ("conv3d", (2, 5, 4, 5, 6), (7, 5, 2, 3, 3), {"padding": 1, "dilation": (1, 2, 1)}),
    ("conv_transpose1d", (2, 6, 9), (6, 5, 4), {"stride": 3, "padding": 2, "output_padding": 2}),
    ("conv_transpose2d", (2, 6, 5, 4), (6, 7, 3, 2), {"stride": (2, 3), "groups": 3, "dilation": 2}),
    ("conv_transpose3d", (1, 5, 3, 4, 3), (5, 6, 3, 2, 2), {"stride": 2, "padding": 1, "output_padding": (1, 0, 1)}),
]


def close(got, want):
    want = want.detach().numpy()
    assert got.shape == want.shape
    # Sums of up to a few hundred terms that both round in an order of their own.
    np.testing.assert_allclose(got.to_numpy(), want, rtol=0, atol=512 * 2.0**-52 * max(1.0, float(np.abs(want).max())))


@pytest.mark.filterwarnings("ignore:Using padding='same'")
@pytest.mark.parametrize("name, x, weight, options", CASES)
def test_values_and_gradients(be, name, x, weight, options):
    channels = weight[1] * options.get("groups", 1) if "transpose" in name else weight[0]
    given = [draw(x), draw(weight, seed=1), draw((channels,), seed=2)]
    theirs = [torch.from_numpy(a).requires_grad_() for a in given]
    want = getattr(F, name)(*theirs, **options)
    grad = draw(tuple(want.shape), seed=3)
    want.backward(torch.from_numpy(grad))
    ours = [be.asarray(a) for a in given]
    close(getattr(nn, name)(*ours, **options), want)
    for got, operand in zip(
        getattr(nn, f"{name}_backward")(be.asarray(grad), *ours[:2], **options), theirs, strict=True
    ):
        close(got, operand.grad)


@pytest.mark.parametrize("options", [{}, {"stride": 2, "padding": 1}, {"stride": (1, 3), "dilation": (2, 1)}])
def test_windows(be, options):
    x = draw((2, 3, 9, 10))
    want = F.unfold(torch.from_numpy(x), (3, 2), **options)
    close(nn.unfold(be.asarray(x), (3, 2), **options), want)
    columns = draw(tuple(want.shape), seed=1)
    close(
        nn.fold(be.asarray(columns), (9, 10), (3, 2), **options),
        F.fold(torch.from_numpy(columns), (9, 10), (3, 2), **options),
    )
