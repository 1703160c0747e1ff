"""ctc_loss and its gradient against the recurrences in wide NumPy, and against torch where it is installed."""

import inputs
import numpy as np
import oracles
import pytest
import scipy.special
from reference import widen

import stator
from stator import errors as E

nn = stator.nn
BOUND = {"float16": 2.0**-8, "bfloat16": 2.0**-5, "float32": 2.0**-17, "float64": 2.0**-44}


def log_probs(shape, dtype, seed=0):
    x = np.random.default_rng([seed, *shape]).normal(size=shape)
    return scipy.special.log_softmax(x, axis=-1).astype(inputs.random(np.random.default_rng(), (1,), dtype).dtype)


def check(be, x, targets, steps, lengths, grad_seed=1, **options):
    dtype = x.dtype.name
    on = [be.asarray(a) for a in (x, targets, steps, lengths)]
    want = oracles.ctc_loss(widen(x), targets, steps, lengths, **options)
    got = nn.ctc_loss(*on, **options)
    bound = BOUND[dtype]
    np.testing.assert_allclose(widen(got.to_numpy()), want, rtol=bound, atol=bound)
    grad = np.random.default_rng(grad_seed).uniform(0.5, 2, want.shape).astype(x.dtype)
    wanted = oracles.ctc_loss_backward(widen(grad), widen(x), targets, steps, lengths, **options)
    found = nn.ctc_loss_backward(be.asarray(grad), *on, **options)
    # The scores of states are about as large as there are steps.
    np.testing.assert_allclose(widen(found.to_numpy()), wanted, rtol=0, atol=4 * bound * max(1, len(x) / 10))


def test_the_loss_of_no_samples_is_that_of_no_elements(be):
    x, none = be.ones((3, 0, 4), dtype="float32"), be.zeros((0,), dtype="int64")
    targets = be.zeros((0, 2), dtype="int64")
    assert np.isnan(float(nn.ctc_loss(x, targets, none, none)))
    assert float(nn.ctc_loss(x, targets, none, none, reduction="sum")) == 0
    assert nn.ctc_loss(x, targets, none, none, reduction="none").shape == (0,)
    assert nn.ctc_loss_backward(be.ones((), dtype="float32"), x, targets, none, none).shape == (3, 0, 4)


# Steps, samples, classes and labels: also more labels than a block has threads.
SIZES = [(1, 1, 2, 1), (12, 3, 5, 4), (30, 2, 40, 12), (300, 1, 6, 140)]


@pytest.mark.parametrize("dtype", inputs.FLOATS)
@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_sizes_and_reductions(be, dtype, sizes, reduction):
    if sizes[0] == 300 and reduction != "none":
        return
    steps, samples, classes, labels = sizes
    targets = np.random.default_rng(3).integers(1, classes, (samples, labels))
    check(
        be,
        log_probs((steps, samples, classes), dtype),
        targets,
        np.full(samples, steps),
        np.maximum(1, np.arange(labels, labels - samples, -1)),
        reduction=reduction,
    )


@pytest.mark.parametrize("joined", [False, True])
@pytest.mark.parametrize("blank", [0, 2, 4])
def test_lengths_and_blanks(be, joined, blank):
    lengths, steps = np.array([3, 0, 5, 1]), np.array([9, 4, 12, 1])
    targets = np.random.default_rng(4).integers(0, 4, (4, 5))
    targets += targets >= blank
    if joined:
        targets = np.concatenate([row[:n] for row, n in zip(targets, lengths, strict=True)])
    for reduction in ("none", "mean"):
        check(be, log_probs((12, 4, 5), "float64"), targets, steps, lengths, blank=blank, reduction=reduction)


def test_labels_that_repeat(be):
    targets = np.array([[1, 1, 1], [1, 2, 1], [2, 2, 1]])
    check(be, log_probs((8, 3, 3), "float64"), targets, np.full(3, 8), np.full(3, 3), reduction="none")


@pytest.mark.parametrize("zero", [False, True])
def test_targets_that_do_not_fit(be, zero):
    """Three equal labels take five steps."""
    targets, steps, lengths = np.array([[1, 1, 1], [1, 2, 1], [1, 2, 2]]), np.array([4, 4, 0]), np.array([3, 3, 2])
    for reduction in ("none", "sum"):
        check(be, log_probs((5, 3, 4), "float32"), targets, steps, lengths, reduction=reduction, zero_infinity=zero)
    loss = nn.ctc_loss(
        *(be.asarray(a) for a in (log_probs((5, 3, 4), "float32"), targets, steps, lengths)),
        reduction="none",
        zero_infinity=zero,
    ).to_numpy()
    assert list(np.isinf(loss)) == ([False] * 3 if zero else [True, False, True])


def test_no_steps_and_no_labels(be):
    x = be.asarray(log_probs((3, 2, 4), "float32"))
    none = be.zeros((2, 0), dtype="int32")
    np.testing.assert_array_equal(nn.ctc_loss(x, none, (0, 0), (0, 0), reduction="none").to_numpy(), 0)
    want = -log_probs((3, 2, 4), "float64")[:, :, 0].sum(axis=0)
    np.testing.assert_allclose(nn.ctc_loss(x, none, [3, 3], [0, 0], reduction="none").to_numpy(), want, rtol=1e-5)
    nobody = be.zeros((3, 0, 4)), be.zeros((0, 2), dtype="int64"), be.zeros((0,), dtype="int64")
    assert nn.ctc_loss(*nobody, nobody[2], reduction="none").shape == (0,)


@pytest.mark.parametrize("kind", ["uint8", "int16", "int32", "uint64"])
def test_integers_of_any_dtype_and_layout(be, kind):
    x, targets = log_probs((6, 3, 5), "float32"), np.random.default_rng(5).integers(1, 5, (3, 2))
    steps, lengths = np.array([6, 5, 6]), np.array([2, 1, 2])
    want = nn.ctc_loss(*(be.asarray(a) for a in (x, targets, steps, lengths)), reduction="none").to_numpy()
    on = be.asarray(np.ascontiguousarray(x.transpose(2, 0, 1))), be.asarray(targets.T.astype(kind).copy())
    turned = stator.permute_dims(on[0], (1, 2, 0)), on[1].T
    numbers = (be.asarray(np.repeat(a, 2).astype(kind))[::2] for a in (steps, lengths))
    np.testing.assert_array_equal(nn.ctc_loss(*turned, *numbers, reduction="none").to_numpy(), want)


def test_the_gradient_passes_through_log_softmax(be):
    """log_softmax_backward leaves it as it is, and it is the slope of the loss of logits."""
    logits = np.random.default_rng(6).normal(size=(7, 2, 4))
    rest = be.asarray(np.array([[1, 2, 2], [3, 1, 0]])), [7, 6], [3, 2]

    def loss(z):
        return float(nn.ctc_loss(nn.log_softmax(be.asarray(z)), *rest, reduction="sum"))

    y = nn.log_softmax(be.asarray(logits))
    got = nn.ctc_loss_backward(be.ones(()), y, *rest, reduction="sum")
    np.testing.assert_allclose(nn.log_softmax_backward(got, y).to_numpy(), got.to_numpy(), atol=1e-14)
    for at in ((0, 0, 1), (3, 0, 2), (2, 1, 3), (6, 1, 0)):
        up, down = logits.copy(), logits.copy()
        up[at] += 1e-5
        down[at] -= 1e-5
        assert abs((loss(up) - loss(down)) / 2e-5 - got.to_numpy()[at]) < 1e-8


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("zero", [False, True])
def test_as_torch(be, reduction, zero):
    torch = pytest.importorskip("torch")
    x = log_probs((20, 4, 6), "float64")
    targets = np.random.default_rng(7).integers(1, 6, (4, 8))
    steps, lengths = np.array([20, 15, 20, 4]), np.array([8, 3, 0, 6])
    leaf = torch.from_numpy(x.copy()).requires_grad_()
    rest = [torch.from_numpy(a) for a in (targets, steps, lengths)]
    options = {"reduction": reduction, "zero_infinity": zero}
    want = torch.nn.functional.ctc_loss(leaf, *rest, **options)
    on = [be.asarray(a) for a in (x, targets, steps, lengths)]
    np.testing.assert_allclose(nn.ctc_loss(*on, **options).to_numpy(), want.detach().numpy(), rtol=1e-12)
    if not zero and reduction != "none":
        return  # torch's gradient of an infinite mean is NaN everywhere
    grad = np.random.default_rng(8).uniform(0.5, 2, want.shape)
    (wanted,) = torch.autograd.grad(want, leaf, torch.from_numpy(np.array(grad)))
    got = nn.ctc_loss_backward(be.asarray(np.array(grad)), *on, **options).to_numpy()
    np.testing.assert_allclose(got, wanted.numpy(), atol=1e-12)


def test_results_are_equal_from_run_to_run(be):
    x, targets = log_probs((40, 5, 30), "float32"), np.random.default_rng(9).integers(1, 30, (5, 12))
    on = [be.asarray(x), be.asarray(targets), [40] * 5, [12] * 5]
    first = nn.ctc_loss(*on).to_numpy(), nn.ctc_loss_backward(be.ones((), dtype="float32"), *on).to_numpy()
    again = nn.ctc_loss(*on).to_numpy(), nn.ctc_loss_backward(be.ones((), dtype="float32"), *on).to_numpy()
    for a, b in zip(first, again, strict=True):
        np.testing.assert_array_equal(a, b)


class Given:
    def __init__(self, be):
        self.x, self.t = be.zeros((5, 2, 4), dtype="float32"), be.ones((2, 3), dtype="int64")
        self.n, self.m = be.asarray(np.array([5, 5])), be.asarray(np.array([3, 2]))
        self.one = be.ones((), dtype="float32")


REFUSED = {
    "integers": (lambda a: nn.ctc_loss(a.t, a.t, a.n, a.m), E.DTypeError, "int64"),
    "floating targets": (lambda a: nn.ctc_loss(a.x, a.x[0], a.n, a.m), E.DTypeError, "targets have dtype float32"),
    "floating input lengths": (lambda a: nn.ctc_loss(a.x, a.t, a.x[0, :, 0], a.m), E.DTypeError, "input lengths"),
    "floating target lengths": (lambda a: nn.ctc_loss(a.x, a.t, a.n, a.x[0, :, 0]), E.DTypeError, "target lengths"),
    "axes": (lambda a: nn.ctc_loss(a.x[0], a.t, a.n, a.m), E.ShapeError, r"log_probs \(2, 4\)"),
    "targets of other samples": (lambda a: nn.ctc_loss(a.x, a.t[:1], a.n, a.m), E.ShapeError, r"targets \(1, 3\)"),
    "axes of targets": (lambda a: nn.ctc_loss(a.x, a.t[None], a.n, a.m), E.ShapeError, r"\(1, 2, 3\)"),
    "input lengths": (lambda a: nn.ctc_loss(a.x, a.t, a.n[:1], a.m), E.ShapeError, r"input_lengths \(1,\)"),
    "target lengths": (lambda a: nn.ctc_loss(a.x, a.t, a.n, [3, 2, 1]), E.ShapeError, r"target_lengths \(3,\)"),
    "blank": (lambda a: nn.ctc_loss(a.x, a.t, a.n, a.m, blank=4), E.InvalidValueError, "blank=4 of 4 classes"),
    "negative blank": (lambda a: nn.ctc_loss(a.x, a.t, a.n, a.m, blank=-1), E.InvalidValueError, "blank=-1"),
    "reduction": (lambda a: nn.ctc_loss(a.x, a.t, a.n, a.m, reduction="max"), E.InvalidValueError, "'max'"),
    "no steps": (
        lambda a: nn.ctc_loss(a.x[:0], a.t, a.n * 0, a.m * 0),
        E.ShapeError,
        r"log_probs \(0, 2, 4\), of no steps",
    ),
    "gradient": (lambda a: nn.ctc_loss_backward(a.n, a.x, a.t, a.n, a.m), E.ShapeError, r"grad \(2,\)"),
    "dtype of the gradient": (
        lambda a: nn.ctc_loss_backward(stator.astype(a.one, "float64"), a.x, a.t, a.n, a.m),
        E.DTypeError,
        "grad is float64",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_the_values_seen(be, name):
    call, error, text = REFUSED[name]
    with pytest.raises(error, match=f"(?is){text}") as raised:
        call(Given(be))
    assert raised.value.op.startswith("nn.ctc_loss") and raised.value.remedy


# Targets, input lengths and target lengths, of which one is out of range, and that number.
OUT_OF_RANGE = {
    "steps": ([[1, 1, 1], [1, 1, 1]], [5, 6], [3, 2], 6),
    "negative steps": ([[1, 1, 1], [1, 1, 1]], [-1, 5], [3, 2], -1),
    "labels": ([[1, 1, 1], [1, 1, 1]], [5, 5], [3, 4], 4),
    "joined labels": ([1, 1, 1], [5, 5], [2, 2], 2),
    "negative labels": ([1, 1, 1], [5, 5], [-2, 2], -2),
    "class": ([[1, 1, 1], [1, 4, 1]], [5, 5], [3, 2], 4),
}


@pytest.mark.parametrize("name", OUT_OF_RANGE)
@pytest.mark.parametrize("backward", [False, True])
def test_out_of_range(be, name, backward):
    targets, steps, lengths, number = OUT_OF_RANGE[name]
    given = Given(be)
    grad = [given.one] if backward else []
    with pytest.raises(E.OutOfRangeError, match=str(number)):
        (nn.ctc_loss_backward if backward else nn.ctc_loss)(*grad, given.x, be.asarray(targets), steps, lengths)
        be.synchronize()
