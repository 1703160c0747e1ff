"""What the normalisations refuse, with the values seen; the next call works."""

import numpy as np
import pytest

import stator
from stator import errors as E

nn = stator.nn


class Given:
    def __init__(self, be):
        self.x = be.asarray(np.random.default_rng(0).normal(size=(3, 4, 5)).astype(np.float32))
        self.w, self.c = be.ones((5,), dtype="float32"), be.ones((4,), dtype="float32")
        self.half, self.whole = be.ones((5,), dtype="float16"), be.ones((3, 4), dtype="int32")
        self.wide = be.ones((4,), dtype="float64")


REFUSED = {
    "layer_norm of integers": (lambda a: nn.layer_norm(a.whole), E.DTypeError, "int32"),
    "layer_norm of no axes": (lambda a: nn.layer_norm(stator.sum(a.x)), E.ShapeError, "no axes"),
    "weight of another length": (lambda a: nn.layer_norm(a.x, a.c), E.ShapeError, r"\(4,\) for x \(3, 4, 5\)"),
    "normalized_shape that is not the last": (
        lambda a: nn.rms_norm(a.x, normalized_shape=(4, 4)),
        E.ShapeError,
        r"\(4, 4\) for x",
    ),
    "normalized_shape of no axes": (lambda a: nn.layer_norm(a.x, normalized_shape=()), E.ShapeError, r"\(\)"),
    "normalized_shape of too many": (lambda a: nn.layer_norm(a.x, normalized_shape=(1, 3, 4, 5)), E.ShapeError, "1, 3"),
    "bias of another length": (lambda a: nn.layer_norm(a.x, a.w, a.c), E.ShapeError, "bias"),
    "weight of another dtype": (lambda a: nn.layer_norm(a.x, a.half), E.DTypeError, "float16, x is float32"),
    "residual of another shape": (lambda a: nn.layer_norm(a.x, residual=a.x[0]), E.ShapeError, "residual"),
    "activation": (lambda a: nn.layer_norm(a.x, activation="tanh"), E.InvalidValueError, "tanh"),
    "one element of a channel": (
        lambda a: nn.instance_norm(a.x[..., :1]),
        E.ShapeError,
        r"\(3, 4, 1\) has one element of each channel",
    ),
    "gradient of one element of a channel": (
        lambda a: nn.instance_norm_backward(a.x[..., 0], a.x[..., 0]),
        E.ShapeError,
        r"\(3, 4\) has one element",
    ),
    "one element of a group": (lambda a: nn.group_norm(a.x[:1, :, :1], 4), E.ShapeError, r"\(1, 4, 1\).*each group"),
    "residual of a group": (lambda a: nn.group_norm(a.x, 2, residual=a.x[0]), E.ShapeError, r"residual \(4, 5\)"),
    "activation of an instance": (
        lambda a: nn.instance_norm(a.x, activation="tanh"),
        E.InvalidValueError,
        "nn.instance_norm.*tanh",
    ),
    "small negative eps": (lambda a: nn.layer_norm(a.x, eps=-1e-9), E.InvalidValueError, "eps=-1e-09"),
    "negative eps": (lambda a: nn.layer_norm(a.x, eps=-1), E.InvalidValueError, "eps=-1"),
    "eps that is not a number": (lambda a: nn.rms_norm(a.x, eps=float("nan")), E.InvalidValueError, "eps"),
    "grad of another shape": (lambda a: nn.layer_norm_backward(a.x[0], a.x), E.ShapeError, "grad"),
    "groups that do not divide": (lambda a: nn.group_norm(a.x, 3), E.InvalidValueError, "4 channels in 3 groups"),
    "no groups": (lambda a: nn.group_norm(a.x, 0), E.InvalidValueError, "0 groups"),
    "group_norm without channels": (lambda a: nn.group_norm(a.w, 1), E.ShapeError, "channels"),
    "weight of groups": (lambda a: nn.group_norm(a.x, 2, a.w), E.ShapeError, "weight"),
    "instance_norm without channels": (lambda a: nn.instance_norm(a.w), E.ShapeError, "channels"),
    "batch_norm without statistics": (lambda a: nn.batch_norm(a.x), E.InvalidValueError, "mean is missing"),
    "batch_norm of one element": (
        lambda a: nn.batch_norm(a.x[:1, :, 0], training=True),
        E.ShapeError,
        "one element of each channel",
    ),
    "mean of another length": (lambda a: nn.batch_norm(a.x, mean=a.w, var=a.c), E.ShapeError, "mean"),
    "var of another dtype": (lambda a: nn.batch_norm(a.x, mean=a.c, var=a.wide), E.DTypeError, "float64"),
    "running statistics of two dtypes": (
        lambda a: nn.update_running_stats(a.c, a.c, a.c, a.wide, count=2),
        E.DTypeError,
        "float64",
    ),
    "running statistics of two shapes": (
        lambda a: nn.update_running_stats(a.c, a.c, a.w, a.c, count=2),
        E.ShapeError,
        r"\(5,\)",
    ),
    "a batch of one": (lambda a: nn.update_running_stats(a.c, a.c, a.c, a.c, count=1), E.InvalidValueError, "count=1"),
    "momentum": (
        lambda a: nn.update_running_stats(a.c, a.c, a.c, a.c, count=2, momentum=2),
        E.InvalidValueError,
        "momentum=2",
    ),
    "window of no channels": (lambda a: nn.local_response_norm(a.x, 0), E.InvalidValueError, "size=0"),
    "denom of another shape": (lambda a: nn.local_response_norm_backward(a.x, a.x, a.x[0], 3), E.ShapeError, "denom"),
    "infinite alpha": (lambda a: nn.local_response_norm(a.x, 3, alpha=float("inf")), E.InvalidValueError, "alpha"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_the_values_seen(be, name):
    call, error, text = REFUSED[name]
    given = Given(be)
    with pytest.raises(error, match=f"(?i){text}") as raised:
        call(given)
    assert raised.value.op.startswith("nn.")
    assert raised.value.remedy
    assert np.isfinite(nn.layer_norm(given.x, given.w).to_numpy()).all()
