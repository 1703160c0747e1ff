"""Losses against torch and its autograd."""

import numpy as np
import pytest
from torch_rows import assert_close, draw, gradients, tensor, torch

import stator

nn, F = stator.nn, torch.nn.functional
DTYPES = ["float16", "bfloat16", "float32", "float64"]
ELEMENTS = [
    ("mse_loss", (-4, 4), {}),
    ("l1_loss", (-4, 4), {}),
    ("huber_loss", (-4, 4), {"delta": 1.5}),
    ("smooth_l1_loss", (-4, 4), {"beta": 0.5}),
    ("smooth_l1_loss", (-4, 4), {"beta": 0.0}),
    ("binary_cross_entropy_with_logits", (0, 1), {}),
    ("kl_div", (0, 1), {}),
    ("kl_div", (-4, 0), {"log_target": True}),
]


def check(be, name, x, target, units, scale, options, weights):
    """The loss and the gradient of its input."""
    here = options | {k: be.asarray(v) for k, v in weights.items()}
    there = options | {k: tensor(v) for k, v in weights.items()}

    def theirs(t):
        return getattr(F, name)(t, tensor(target), **there)

    want = theirs(tensor(x))
    on = be.asarray(x), be.asarray(target)
    assert_close(getattr(nn, name)(*on, **here), want, units, scale + float(want.abs().max()), str(options))
    g = draw(tuple(want.shape), x.dtype.name, 9, 0.5, 2)
    got = getattr(nn, f"{name}_backward")(be.asarray(g), *on, **here)
    assert_close(got, gradients(theirs, tensor(g), tensor(x))[0], units, scale, str(options))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("reduction", ["mean", "sum", "none", "batchmean"])
@pytest.mark.parametrize(("name", "domain", "options"), ELEMENTS, ids=str)
@pytest.mark.filterwarnings("ignore:reduction")
def test_elementwise_losses(be, name, domain, options, reduction, dtype):
    if reduction == "batchmean" and name != "kl_div":
        pytest.skip("only of kl_div")
    x, target = draw((5, 33), dtype), draw((5, 33), dtype, 1, *domain)
    check(be, name, x, target, 16, 8, options | {"reduction": reduction}, {})


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shapes", [{"weight": (33,)}, {"pos_weight": (33,)}, {"weight": (5, 1), "pos_weight": (33,)}])
def test_weights_of_logits(be, shapes, dtype):
    weights = {k: draw(s, dtype, 5, 0.5, 2) for k, s in shapes.items()}
    x, target = draw((5, 33), dtype), draw((5, 33), dtype, 1, 0, 1)
    for reduction in ("mean", "sum", "none"):
        check(be, "binary_cross_entropy_with_logits", x, target, 16, 16, {"reduction": reduction}, weights)


SHAPES = [(5,), (33, 10), (2, 7, 5), (3, 4, 6, 5)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_classes(be, shape, weighted, dtype):
    """nll_loss, and cross_entropy with its classes on axis 1."""
    rest, classes = (shape[:1] + shape[2:], shape[1]) if len(shape) > 1 else ((), shape[0])
    x, target = draw(shape, dtype), np.asarray(np.random.default_rng(1).integers(0, classes, rest))
    weights = {"weight": draw((classes,), dtype, 5, 0.5, 2)} if weighted else {}
    for reduction in ("mean", "sum", "none"):
        options = {"reduction": reduction, "ignore_index": 2 if rest else -100}
        check(be, "nll_loss", x, target, 16, 4, options, weights)
        check(be, "cross_entropy", x, target, 16, 4, options | {"label_smoothing": 0.1}, weights)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_probabilities(be, shape, weighted, dtype):
    x, target = draw(shape, dtype), draw(shape, dtype, 1, 0, 1)
    classes = shape[1] if len(shape) > 1 else shape[0]
    weights = {"weight": draw((classes,), dtype, 5, 0.5, 2)} if weighted else {}
    for reduction in ("mean", "sum", "none"):
        for smoothing in (0.0, 0.1):
            options = {"reduction": reduction, "label_smoothing": smoothing}
            check(be, "cross_entropy", x, target, 16, 32, options, weights)
