"""Arguments that steps refuse: the op, the numbers seen, and that nothing has changed."""

import numpy as np
import pytest

import stator
from stator import errors

nn = stator.nn


def call(be, name="adam_step", **more):
    lists = {"sgd_step": 2, "rmsprop_step": 3, "adagrad_step": 3, "adam_step": 4, "lamb_step": 4, "lion_step": 3}[name]
    given = [more.pop(f"list{k}", [be.ones((4,))]) for k in range(lists)]
    if name in ("adam_step", "lamb_step", "adagrad_step"):
        more.setdefault("step", 1)
    return getattr(nn, name)(*given, **more)


CASES = {
    "lists of two lengths": (lambda be: call(be, list1=[]), errors.ShapeError, "1 params, 0 grads"),
    "masters of another length": (lambda be: call(be, masters=[]), errors.ShapeError, "0 masters"),
    "another shape": (lambda be: call(be, list2=[be.ones((5,))]), errors.ShapeError, r"exp_avgs \(5,\)"),
    "an integer": (lambda be: call(be, list0=[be.ones((4,), dtype="int32")]), errors.DTypeError, "int32"),
    "two dtypes": (lambda be: call(be, list1=[be.ones((4,), dtype="float32")]), errors.DTypeError, "float32"),
    "wide states": (
        lambda be: call(be, **{f"list{k}": [be.ones((4,), dtype="float32" if k < 2 else "float64")] for k in range(4)}),
        errors.DTypeError,
        "float64",
    ),
    "masters of float64": (lambda be: call(be, masters=[be.ones((4,))]), errors.DTypeError, "masters"),
    "step zero": (lambda be: call(be, step=0), ValueError, "step=0"),
    "beta of one": (lambda be: call(be, betas=(1.0, 0.9)), ValueError, "beta1=1"),
    "negative eps": (lambda be: call(be, eps=-1.0), ValueError, "eps=-1"),
    "negative rate": (lambda be: call(be, lr=-1e-9), ValueError, "lr=-1e-09"),
    "rate that is not a number": (lambda be: call(be, "sgd_step", lr=float("nan")), ValueError, "lr=nan"),
    "scale of zero": (lambda be: call(be, "lion_step", grad_scale=0.0), ValueError, "grad_scale=0"),
    "negative scale": (lambda be: nn.clip_grad_norm([be.ones((2,))], 1.0, grad_scale=-2), ValueError, "grad_scale=-2"),
    "infinite rate": (lambda be: call(be, lr=float("inf")), ValueError, "lr=inf"),
    "rate of one axis": (lambda be: call(be, lr=be.ones((1,))), errors.ShapeError, r"lr has shape \(1,\)"),
    "rate of integers": (lambda be: call(be, lr=be.ones((), dtype="int64")), errors.DTypeError, "lr is int64"),
    "step of halves": (lambda be: call(be, step=be.ones((), dtype="float16")), errors.DTypeError, "step is float16"),
    "found_inf of floats": (lambda be: call(be, found_inf=be.ones(())), errors.DTypeError, "found_inf is float64"),
    "negative decay": (lambda be: call(be, "lion_step", weight_decay=-0.5), ValueError, "weight_decay=-0.5"),
    "only momentum": (lambda be: call(be, "sgd_step", momentum=0.9), ValueError, "momentum_buffers"),
    "rmsprop's momentum": (lambda be: call(be, "rmsprop_step", momentum=0.9), ValueError, "momentum_buffers"),
    "only nesterov": (lambda be: call(be, "sgd_step", nesterov=True), ValueError, "nesterov"),
    "negative lr_decay": (lambda be: call(be, "adagrad_step", lr_decay=-1.0), ValueError, "lr_decay=-1"),
    "alpha of one": (lambda be: call(be, "rmsprop_step", alpha=1.0), ValueError, "alpha=1"),
    "lamb's step": (lambda be: call(be, "lamb_step", step=-1), ValueError, "step=-1"),
    "no arrays": (lambda be: nn.has_inf_nan([]), ValueError, "empty list"),
    "integers": (lambda be: nn.has_inf_nan([be.ones((2,), dtype="int8")]), errors.DTypeError, "array 0 is int8"),
    "negative length": (lambda be: nn.clip_grad_norm([be.ones((2,))], -1.0), ValueError, "max_norm=-1"),
    "nothing to divide by": (
        lambda be: nn.clip_grad_norm([be.ones((2,))], 1.0, grad_scale=be.ones((2,))),
        errors.ShapeError,
        "grad_scale",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_wrong_argument_is_named(be, case):
    function, error, text = CASES[case]
    with pytest.raises(error, match=f"(?i){text}") as caught:
        function(be)
    assert caught.value.op.startswith("nn.") and caught.value.remedy
    param = be.ones((4,))
    nn.sgd_step([param], [be.ones((4,))], lr=0.5)
    np.testing.assert_array_equal(param.to_numpy(), 0.5)


def test_arrays_of_another_backend_are_refused(be):
    with stator.Backend("cpu") as other:
        with pytest.raises(errors.BackendMismatchError, match="Tensor 1: grad"):
            nn.sgd_step([be.ones((2,))] * 2, [be.ones((2,)), other.ones((2,))])
        with pytest.raises(errors.BackendMismatchError, match="Array 1"):
            nn.has_inf_nan([be.ones((2,)), other.ones((2,))])


@pytest.mark.parametrize("place", [0, 2, 3])
def test_a_step_refuses_to_write_read_only_memory(cpu, place):
    fixed = np.ones(3)
    fixed.flags.writeable = False
    groups = [[cpu.ones(3)] for _ in range(4)]
    groups[place] = [cpu.asarray(fixed, copy=False)]
    with pytest.raises(ValueError, match="read-only"):
        nn.adam_step(*groups, step=1)
    np.testing.assert_array_equal(fixed, 1)


SHARED = {
    "one weight twice": (lambda a, b: ([a, b, a], 0), "param 0 and param 2"),
    "weights that overlap": (lambda a, b: ([a[:3], b[:3], a[1:]], 0), "param 0 and param 2"),
    "a gradient of its parameter": (lambda a, b: ([a], 1), "param 0 and grad 0|grad 0 and param 0"),
    "a state of its parameter": (lambda a, b: ([a], 2), "param 0 and exp_avgs 0|exp_avgs 0 and param 0"),
}


@pytest.mark.parametrize("case", SHARED)
@pytest.mark.parametrize("name", ["adam_step", "lamb_step"])
def test_what_a_step_changes_shares_no_memory(be, name, case):
    make, text = SHARED[case]
    a, b = be.ones((4,)), be.ones((4,))
    params, place = make(a, b)
    lists = [params, *([be.ones(p.shape) for p in params] for _ in range(3))]
    if place:
        lists[place] = [a]
    with pytest.raises(errors.InvalidValueError, match=f"(?i)({text}) share memory"):
        getattr(nn, name)(*lists, step=1)
    np.testing.assert_array_equal(a.to_numpy(), 1)


def test_columns_of_one_matrix_are_apart_and_gradients_may_be_one(be):
    matrix, grad = be.ones((4, 3)), be.ones((4,))
    nn.sgd_step([matrix[:, 0], matrix[:, 2]], [grad, grad], lr=0.5)
    np.testing.assert_array_equal(matrix.to_numpy(), [[0.5, 1, 0.5]] * 4)
