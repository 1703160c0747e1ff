"""Normalisations against torch, and their gradients against torch's autograd and against differences, in float64."""

from __future__ import annotations

import numpy as np
import pytest
from torch_rows import draw, torch

import stator

nn, F = stator.nn, torch.nn.functional
# 64 last places of the largest result: twice the bound of the table, since torch rounds too.
BOUND = 64 * 2.0**-52


def close(got, want):
    want = want.detach().numpy()
    np.testing.assert_allclose(got.to_numpy(), want, rtol=0, atol=BOUND * max(1.0, float(np.abs(want).max())))


# For each: stator's call of (x, weight, bias), its gradients of (grad, x, weight), torch's call, and shapes.
def _running(x):
    return [draw(x.shape[1:2], seed=5, low=-1, high=1), draw(x.shape[1:2], seed=6, low=0.5, high=2)]


def batch(be, x, w, b):
    return nn.batch_norm(x, w, b, training=True)[0]


def batch_backward(be, g, x, w):
    _, mean, var = nn.batch_norm(x, training=True)
    return nn.batch_norm_backward(g, x, mean, var, w, training=True)


def evaluated(be, x, w, b):
    return nn.batch_norm(x, w, b, *(be.asarray(a) for a in _running(x)))[0]


def evaluated_backward(be, g, x, w):
    return nn.batch_norm_backward(g, x, *(be.asarray(a) for a in _running(x)), w)


def torch_evaluated(x, w, b):
    return F.batch_norm(x, *(torch.from_numpy(a) for a in _running(x)), w, b)


LAYERS = {
    "layer_norm": (
        lambda be, *a: nn.layer_norm(*a),
        lambda be, *a: nn.layer_norm_backward(*a),
        lambda x, w, b: F.layer_norm(x, x.shape[-1:], w, b),
        [(7,), (5, 33), (2, 3, 1030), (2, 9000)],
        -1,
    ),
    "group_norm": (
        lambda be, x, w, b: nn.group_norm(x, 2, w, b),
        lambda be, g, x, w: nn.group_norm_backward(g, x, 2, w),
        lambda x, w, b: F.group_norm(x, 2, w, b),
        [(3, 6), (2, 4, 9), (2, 6, 5, 7)],
        1,
    ),
    "instance_norm": (
        lambda be, *a: nn.instance_norm(*a),
        lambda be, *a: nn.instance_norm_backward(*a),
        lambda x, w, b: F.instance_norm(x, None, None, w, b),
        [(2, 4, 9), (2, 6, 5, 7)],
        1,
    ),
    "batch_norm in training": (
        batch,
        batch_backward,
        lambda x, w, b: _trained(x, w, b),
        [(30, 6), (5, 4, 9), (2, 6, 5, 7)],
        1,
    ),
    "batch_norm": (evaluated, evaluated_backward, torch_evaluated, [(30, 6), (5, 4, 9), (2, 6, 5, 7)], 1),
}
CASES = [(name, shape) for name, layer in LAYERS.items() for shape in layer[3]]


def operands(name, shape):
    channels = (shape[LAYERS[name][4]],)
    return draw(shape), draw(channels, seed=1, low=0.5, high=2), draw(channels, seed=2), draw(shape, seed=3)


@pytest.mark.parametrize(("name", "shape"), CASES)
def test_results_and_gradients(be, name, shape):
    forward, backward, theirs, *_ = LAYERS[name]
    x, w, b, grad = operands(name, shape)
    tensors = [torch.from_numpy(a).requires_grad_() for a in (x, w, b)]
    want = theirs(*tensors)
    want.backward(torch.from_numpy(grad))
    on = [be.asarray(a) for a in (x, w, b)]
    close(forward(be, *on), want)
    for got, tensor in zip(backward(be, be.asarray(grad), on[0], on[1]), tensors, strict=True):
        close(got, tensor.grad)


@pytest.mark.parametrize("shape", [(7,), (5, 33), (2, 9000)])
def test_rms_norm(be, shape):
    x, w, _, grad = operands("layer_norm", shape)
    tensors = [torch.from_numpy(a).requires_grad_() for a in (x, w)]
    want = F.rms_norm(tensors[0], shape[-1:], tensors[1], 1e-5)
    want.backward(torch.from_numpy(grad))
    on = [be.asarray(a) for a in (x, w)]
    close(nn.rms_norm(*on), want)
    for got, tensor in zip(nn.rms_norm_backward(be.asarray(grad), *on), tensors, strict=True):
        close(got, tensor.grad)


@pytest.mark.parametrize("size", [1, 4, 5, 11])
def test_local_response_norm(be, size):
    x, grad = draw((2, 7, 5)), draw((2, 7, 5), seed=1)
    tensor = torch.from_numpy(x).requires_grad_()
    want = F.local_response_norm(tensor, size, alpha=0.5, beta=0.75, k=2.0)
    want.backward(torch.from_numpy(grad))
    y, denom = nn.local_response_norm(be.asarray(x), size, alpha=0.5, k=2.0)
    close(y, want)
    close(nn.local_response_norm_backward(be.asarray(grad), be.asarray(x), denom, size, alpha=0.5), tensor.grad)


def test_running_statistics(be):
    x, stats = draw((4, 3, 5)), _running(np.empty((4, 3)))
    theirs = [torch.from_numpy(a.copy()) for a in stats]
    F.batch_norm(torch.from_numpy(x), *theirs, training=True, momentum=0.25)
    ours = [be.asarray(a) for a in stats]
    _, mean, var = nn.batch_norm(be.asarray(x), training=True)
    nn.update_running_stats(*ours, mean, var, count=20, momentum=0.25)
    for got, want in zip(ours, theirs, strict=True):
        close(got, want)


def _trained(x, w, b):
    return F.batch_norm(x, None, None, w, b, training=True)


# Layers with an activation: stator's result and gradients of (grad, x, weight, bias, activation).
def activated_batch(be, g, x, w, b, kind):
    y, mean, var = nn.batch_norm(x, w, b, training=True, activation=kind)
    return y, nn.batch_norm_backward(g, x, mean, var, w, bias=b, training=True, activation=kind)


def activated_evaluation(be, g, x, w, b, kind):
    stats = [be.asarray(a) for a in _running(x)]
    y = nn.batch_norm(x, w, b, *stats, activation=kind)[0]
    return y, nn.batch_norm_backward(g, x, *stats, w, bias=b, activation=kind)


FUSED = {
    "layer_norm": lambda be, g, x, w, b, kind: (
        nn.layer_norm(x, w, b, activation=kind),
        nn.layer_norm_backward(g, x, w, bias=b, activation=kind),
    ),
    "group_norm": lambda be, g, x, w, b, kind: (
        nn.group_norm(x, 2, w, b, activation=kind),
        nn.group_norm_backward(g, x, 2, w, bias=b, activation=kind),
    ),
    "instance_norm": lambda be, g, x, w, b, kind: (
        nn.instance_norm(x, w, b, activation=kind),
        nn.instance_norm_backward(g, x, w, bias=b, activation=kind),
    ),
    "batch_norm in training": activated_batch,
    "batch_norm": activated_evaluation,
}


@pytest.mark.parametrize("kind", ["relu", "silu", "gelu"])
@pytest.mark.parametrize(("name", "shape"), CASES)
def test_activated_results_and_gradients(be, name, shape, kind):
    x, w, b, grad = operands(name, shape)
    tensors = [torch.from_numpy(a).requires_grad_() for a in (x, w, b)]
    want = getattr(F, kind)(LAYERS[name][2](*tensors))
    want.backward(torch.from_numpy(grad))
    y, found = FUSED[name](be, *(be.asarray(a) for a in (grad, x, w, b)), kind)
    close(y, want)
    for got, tensor in zip(found, tensors, strict=True):
        close(got, tensor.grad)


@pytest.mark.parametrize("kind", ["silu", "gelu"])
@pytest.mark.parametrize("name", FUSED)
def test_activated_gradients_are_slopes(be, name, kind):
    x, w, b, grad = operands(name, LAYERS[name][3][1])
    _, slopes = FUSED[name](be, *(be.asarray(a) for a in (grad, x, w, b)), kind)
    rng, step = np.random.default_rng(0), 1e-4
    for at, slope in enumerate(s.to_numpy() for s in slopes):
        way = rng.normal(size=slope.shape)
        ends = []
        for sign in (1, -1):
            moved = [grad, x, w, b]
            moved[at + 1] = moved[at + 1] + sign * step * way
            ends.append(np.sum(grad * FUSED[name](be, *(be.asarray(a) for a in moved), kind)[0].to_numpy()))
        np.testing.assert_allclose((ends[0] - ends[1]) / (2 * step), np.sum(slope * way), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("training", [True, False])
def test_a_residual_of_a_batch(be, training):
    """Its gradient is that of x."""
    x, w, b, grad = operands("batch_norm", (5, 4, 9))
    parts = [torch.from_numpy(a).requires_grad_() for a in (x, draw((5, 4, 9), seed=9), w, b)]
    stats = _running(x)
    layer = _trained if training else torch_evaluated
    want = F.relu(layer(parts[0] + parts[1], *parts[2:]))
    want.backward(torch.from_numpy(grad))
    on = [be.asarray(p.detach().numpy()) for p in parts]
    given = () if training else tuple(be.asarray(a) for a in stats)
    y, mean, var, total = nn.batch_norm(on[0], *on[2:], *given, residual=on[1], activation="relu", training=training)
    close(y, want)
    found = nn.batch_norm_backward(
        be.asarray(grad), total, mean, var, on[2], bias=on[3], activation="relu", training=training
    )
    for got, part in zip((found[0], *found), parts, strict=True):
        close(got, part.grad)


@pytest.mark.parametrize("name", LAYERS)
def test_gradients_are_slopes(be, name):
    """Of a weighted sum of the results: central differences, whose error is that of a step of 1e-4, squared."""
    forward, backward, _, shapes, _ = LAYERS[name]
    x, w, b, grad = operands(name, shapes[1])
    slopes = [a.to_numpy() for a in backward(be, *(be.asarray(a) for a in (grad, x, w)))]
    rng = np.random.default_rng(0)
    for at, slope in enumerate(slopes):
        way, step = rng.normal(size=slope.shape), 1e-4
        ends = []
        for sign in (1, -1):
            moved = [x, w, b]
            moved[at] = moved[at] + sign * step * way
            ends.append(np.sum(grad * forward(be, *(be.asarray(a) for a in moved)).to_numpy()))
        np.testing.assert_allclose((ends[0] - ends[1]) / (2 * step), np.sum(slope * way), rtol=1e-5, atol=1e-5)
