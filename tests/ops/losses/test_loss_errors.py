"""What the losses refuse, with the values seen."""

import numpy as np
import pytest

import stator
from stator import errors as E

nn = stator.nn


class Given:
    def __init__(self, be):
        self.x, self.y = be.ones((3, 4), dtype="float32"), be.zeros((3, 4), dtype="float32")
        self.one, self.row = be.ones((), dtype="float32"), be.ones((4,), dtype="float32")
        self.t, self.whole = be.zeros((3,), dtype="int64"), be.ones((3, 4), dtype="int32")
        self.wide = be.ones((3, 4), dtype="float64")


REFUSED = {
    "shapes": (lambda a: nn.mse_loss(a.x, a.row), E.ShapeError, r"target \(4,\) for an input \(3, 4\)"),
    "dtypes": (lambda a: nn.l1_loss(a.x, a.wide), E.DTypeError, "target is float64, the input is float32"),
    "integers": (lambda a: nn.mse_loss(a.whole, a.whole), E.DTypeError, "int32"),
    "reduction": (lambda a: nn.mse_loss(a.x, a.y, reduction="max"), E.InvalidValueError, "'max'.*'sum' or 'none'"),
    "batchmean": (lambda a: nn.l1_loss(a.x, a.y, reduction="batchmean"), E.InvalidValueError, "batchmean"),
    "batchmean of a number": (
        lambda a: nn.kl_div(a.one, a.one, reduction="batchmean"),
        E.ShapeError,
        "batchmean",
    ),
    "reduction of kl_div": (lambda a: nn.kl_div(a.x, a.y, reduction=""), E.InvalidValueError, "batchmean"),
    "delta": (lambda a: nn.huber_loss(a.x, a.y, delta=0), E.InvalidValueError, "delta=0"),
    "delta of the gradient": (
        lambda a: nn.huber_loss_backward(a.one, a.x, a.y, delta=-1),
        E.InvalidValueError,
        "delta=-1",
    ),
    "delta that is not a number": (lambda a: nn.huber_loss(a.x, a.y, delta=float("nan")), E.InvalidValueError, "delta"),
    "beta": (lambda a: nn.smooth_l1_loss(a.x, a.y, beta=-0.5), E.InvalidValueError, "beta=-0.5"),
    "infinite beta": (
        lambda a: nn.smooth_l1_loss_backward(a.one, a.x, a.y, beta=float("inf")),
        E.InvalidValueError,
        "beta=inf",
    ),
    "weight of another shape": (
        lambda a: nn.binary_cross_entropy_with_logits(a.x, a.y, weight=a.y[:, :3]),
        E.ShapeError,
        r"weight \(3, 3\) for an input \(3, 4\)",
    ),
    "weight of more axes": (
        lambda a: nn.binary_cross_entropy_with_logits(a.x, a.y, pos_weight=a.x[None]),
        E.ShapeError,
        r"pos_weight \(1, 3, 4\)",
    ),
    "weight of another dtype": (
        lambda a: nn.binary_cross_entropy_with_logits(a.x, a.y, weight=a.wide),
        E.DTypeError,
        "weight is float64",
    ),
    "gradient of another shape": (lambda a: nn.mse_loss_backward(a.x, a.x, a.y), E.ShapeError, r"grad \(3, 4\).*\(\)"),
    "gradient of no reduction": (
        lambda a: nn.mse_loss_backward(a.one, a.x, a.y, reduction="none"),
        E.ShapeError,
        r"grad \(\).*\(3, 4\)",
    ),
    "gradient of another dtype": (
        lambda a: nn.mse_loss_backward(a.wide[0, 0], a.x, a.y),
        E.DTypeError,
        "grad is float64",
    ),
    "classes of another shape": (lambda a: nn.nll_loss(a.x, a.t[:2]), E.ShapeError, r"\(3, 4\) and target \(2,\)"),
    "log_probs without axes": (lambda a: nn.nll_loss(a.one, a.one), E.ShapeError, r"\(\)"),
    "floating classes": (lambda a: nn.nll_loss(a.x, a.x[:, 0]), E.DTypeError, "float32"),
    "weight of classes": (lambda a: nn.nll_loss(a.x, a.t, weight=a.x[:, 0]), E.ShapeError, r"weight \(3,\)"),
    "dtype of the weight of classes": (lambda a: nn.nll_loss(a.x, a.t, weight=a.wide[0]), E.DTypeError, "float64"),
    "nll_loss's gradient": (lambda a: nn.nll_loss_backward(a.x, a.x, a.t), E.ShapeError, "grad"),
    "nll_loss's reduction": (lambda a: nn.nll_loss(a.x, a.t, reduction="batchmean"), E.InvalidValueError, "batchmean"),
    "probabilities of another dtype": (lambda a: nn.cross_entropy(a.x, a.wide), E.DTypeError, "float64.*float32"),
    "probabilities of another shape": (lambda a: nn.cross_entropy(a.x, a.x[:2]), E.ShapeError, r"\(2, 4\)"),
    "probabilities and ignore_index": (
        lambda a: nn.cross_entropy(a.x, a.x, ignore_index=1),
        E.InvalidValueError,
        "ignore_index=1",
    ),
    "one floating class": (lambda a: nn.cross_entropy(a.x, a.x[:, 0]), E.DTypeError, "float32"),
    "logits without axes": (lambda a: nn.cross_entropy(a.one, a.one), E.ShapeError, "no axes"),
    "axis of classes": (lambda a: nn.cross_entropy(a.x, a.t, axis=2), E.AxisError, "axis 2"),
    "classes beside an axis": (
        lambda a: nn.cross_entropy(a.x, a.t, axis=0),
        E.ShapeError,
        r"\(3, 4\) and target \(3,\)",
    ),
    "small negative beta": (lambda a: nn.smooth_l1_loss(a.x, a.y, beta=-1e-9), E.InvalidValueError, "beta=-1e-09"),
    "weight of logits": (lambda a: nn.cross_entropy(a.x, a.x, weight=a.x[:, 0]), E.ShapeError, r"weight \(3,\)"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_the_values_seen(be, name):
    call, error, text = REFUSED[name]
    given = Given(be)
    with pytest.raises(error, match=f"(?is){text}") as raised:
        call(given)
    assert raised.value.op.startswith("nn.") and raised.value.remedy
    assert np.isfinite(float(nn.mse_loss(given.x, given.y)))
