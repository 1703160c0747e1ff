# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
# cython: annotation_typing=False, freethreading_compatible=True
"""Losses and their gradients."""
from libcpp cimport bool as cbool

from stator._array cimport Array, as_array, as_out, new_array
from stator._backend cimport Backend, enter
from stator._convert cimport to_flag, to_float, to_text
from stator._integers cimport to_int
from stator.cpp cimport losses
from stator.cpp.backend cimport Stream as CppStream
from stator.cpp.std cimport string_view

import numpy as np


cdef inline string_view view_of(bytes text):
    # `text` must outlive the view.
    return string_view(<const char*>text, len(text))


def mse_loss(input: Array, target: Array, /, *, reduction: str = "mean") -> Array:
    """(input - target)^2 of each element, reduced. Asynchronous.

    input and target are floating, of one shape and dtype. reduction: "mean" or "sum" over all elements, 0-d, or
    "none", of their shape. The mean of no element is NaN.

    >>> x, target = be.asarray([1.0, 2.0]), be.asarray([0.0, 4.0])
    >>> float(stator.nn.mse_loss(x, target))
    2.5
    """
    cdef Array x = as_array(input, "nn.mse_loss"), y = as_array(target, "nn.mse_loss"), out = new_array(x.backend)
    cdef bytes how = to_text(reduction, "nn.mse_loss", "reduction")
    cdef string_view text = view_of(how)
    cdef CppStream stream
    enter(x.backend, stream)
    with nogil:
        out.c = losses.mse_loss(x.c, y.c, text, stream)
    return out


def mse_loss_backward(grad: Array, input: Array, target: Array, /, *, reduction: str = "mean") -> Array:
    """The gradient of mse_loss's input. Asynchronous.

    grad has the shape of mse_loss's result; the other arguments are those of mse_loss.

    >>> x, target = be.asarray([1.0, 2.0]), be.asarray([0.0, 4.0])
    >>> stator.nn.mse_loss_backward(be.ones(()), x, target).tolist()
    [1.0, -2.0]
    """
    cdef Array g = as_array(grad, "nn.mse_loss_backward"), x = as_array(input, "nn.mse_loss_backward")
    cdef Array y = as_array(target, "nn.mse_loss_backward"), out = new_array(x.backend)
    cdef bytes how = to_text(reduction, "nn.mse_loss_backward", "reduction")
    cdef string_view text = view_of(how)
    cdef CppStream stream
    enter(x.backend, stream)
    with nogil:
        out.c = losses.mse_loss_backward(g.c, x.c, y.c, text, stream)
    return out


def l1_loss(input: Array, target: Array, /, *, reduction: str = "mean") -> Array:
    """abs(input - target) of each element, reduced. Asynchronous.

    input and target are floating, of one shape and dtype. reduction: "mean" or "sum" over all elements, 0-d, or
    "none", of their shape. The mean of no element is NaN.

    >>> x, target = be.asarray([1.0, 2.0]), be.asarray([0.0, 4.0])
    >>> float(stator.nn.l1_loss(x, target))
    1.5
    """
    cdef Array x = as_array(input, "nn.l1_loss"), y = as_array(target, "nn.l1_loss"), out = new_array(x.backend)
    cdef bytes how = to_text(reduction, "nn.l1_loss", "reduction")
    cdef string_view text = view_of(how)
    cdef CppStream stream
    enter(x.backend, stream)
    with nogil:
        out.c = losses.l1_loss(x.c, y.c, text, stream)
    return out


def l1_loss_backward(grad: Array, input: Array, target: Array, /, *, reduction: str = "mean") -> Array:
    """The gradient of l1_loss's input. Asynchronous.

    grad has the shape of l1_loss's result; the other arguments are those of l1_loss.

    >>> x, target = be.asarray([1.0, 2.0]), be.asarray([0.0, 4.0])
    >>> stator.nn.l1_loss_backward(be.ones(()), x, target).tolist()
    [0.5, -0.5]
    """
    cdef Array g = as_array(grad, "nn.l1_loss_backward"), x = as_array(input, "nn.l1_loss_backward")
    cdef Array y = as_array(target, "nn.l1_loss_backward"), out = new_array(x.backend)
    cdef bytes how = to_text(reduction, "nn.l1_loss_backward", "reduction")
    cdef string_view text = view_of(how)
    cdef CppStream stream
    enter(x.backend, stream)
    with nogil:
        out.c = losses.l1_loss_backward(g.c, x.c, y.c, text, stream)
    return out


def huber_loss(input: Array, target: Array, /, *, delta: float = 1.0, reduction: str = "mean") -> Array:
    """Squares of small differences d of input and target, their tangents beyond, reduced. Asynchronous.

    input and target are floating, of one shape and dtype. It is d^2 / 2 up to abs(d) = delta, which is positive, and
    delta (abs(d) - delta / 2) beyond. reduction: "mean" or "sum" over all elements, 0-d, or "none", of their shape. The
    mean of no element is NaN.

    >>> x, target = be.asarray([1.0, 2.0]), be.asarray([0.0, 4.0])
    >>> float(stator.nn.huber_loss(x, target))
    1.0
    """
    cdef Array x = as_array(input, "nn.huber_loss"), y = as_array(target, "nn.huber_loss"), out = new_array(x.backend)
    cdef double bend = to_float(delta, "nn.huber_loss", "delta")
    cdef bytes how = to_text(reduction, "nn.huber_loss", "reduction")
    cdef string_view text = view_of(how)
    cdef CppStream stream
    enter(x.backend, stream)
    with nogil:
        out.c = losses.huber_loss(x.c, y.c, bend, text, stream)
    return out


def huber_loss_backward(grad: Array, input: Array, target: Array, /, *, delta: float = 1.0,
                        reduction: str = "mean") -> Array:
    """The gradient of huber_loss's input. Asynchronous.

    grad has the shape of huber_loss's result; the other arguments are those of huber_loss.

    >>> x, target = be.asarray([1.0, 2.0]), be.asarray([0.0, 4.0])
    >>> stator.nn.huber_loss_backward(be.ones(()), x, target).tolist()
    [0.5, -0.5]
    """
    cdef Array g = as_array(grad, "nn.huber_loss_backward"), x = as_array(input, "nn.huber_loss_backward")
    cdef Array y = as_array(target, "nn.huber_loss_backward"), out = new_array(x.backend)
    cdef double bend = to_float(delta, "nn.huber_loss_backward", "delta")
    cdef bytes how = to_text(reduction, "nn.huber_loss_backward", "reduction")
    cdef string_view text = view_of(how)
    cdef CppStream stream
    enter(x.backend, stream)
    with nogil:
        out.c = losses.huber_loss_backward(g.c, x.c, y.c, bend, text, stream)
    return out


def smooth_l1_loss(input: Array, target: Array, /, *, beta: float = 1.0, reduction: str = "mean") -> Array:
    """huber_loss with delta = beta, divided by beta, reduced. Asynchronous.

    input and target are floating, of one shape and dtype. For beta = 0 it is l1_loss. reduction: "mean" or
    "sum" over all elements, 0-d, or "none", of their shape. The mean of no element is NaN.

    >>> x, target = be.asarray([1.0, 2.0]), be.asarray([0.0, 4.0])
    >>> float(stator.nn.smooth_l1_loss(x, target, beta=2.0))
    0.625
    """
    cdef Array x = as_array(input, "nn.smooth_l1_loss"), y = as_array(target, "nn.smooth_l1_loss")
    cdef Array out = new_array(x.backend)
    cdef double bend = to_float(beta, "nn.smooth_l1_loss", "beta")
    cdef bytes how = to_text(reduction, "nn.smooth_l1_loss", "reduction")
    cdef string_view text = view_of(how)
    cdef CppStream stream
    enter(x.backend, stream)
    with nogil:
        out.c = losses.smooth_l1_loss(x.c, y.c, bend, text, stream)
    return out


def smooth_l1_loss_backward(grad: Array, input: Array, target: Array, /, *, beta: float = 1.0,
                            reduction: str = "mean") -> Array:
    """The gradient of smooth_l1_loss's input. Asynchronous.

    grad has the shape of smooth_l1_loss's result; the other arguments are those of smooth_l1_loss.

    >>> x, target = be.asarray([1.0, 2.0]), be.asarray([0.0, 4.0])
    >>> stator.nn.smooth_l1_loss_backward(be.ones(()), x, target, beta=2.0).tolist()
    [0.25, -0.5]
    """
    cdef Array g = as_array(grad, "nn.smooth_l1_loss_backward"), x = as_array(input, "nn.smooth_l1_loss_backward")
    cdef Array y = as_array(target, "nn.smooth_l1_loss_backward"), out = new_array(x.backend)
    cdef double bend = to_float(beta, "nn.smooth_l1_loss_backward", "beta")
    cdef bytes how = to_text(reduction, "nn.smooth_l1_loss_backward", "reduction")
    cdef string_view text = view_of(how)
    cdef CppStream stream
    enter(x.backend, stream)
    with nogil:
        out.c = losses.smooth_l1_loss_backward(g.c, x.c, y.c, bend, text, stream)
    return out


cdef losses.LogitLossOptions logit_options(str op, object weight, object pos_weight, bytes reduction) except *:
    # `reduction` must outlive the options.
    cdef losses.LogitLossOptions options
    options.weight = as_out(weight, op, "weight")
    options.pos_weight = as_out(pos_weight, op, "pos_weight")
    options.reduction = view_of(reduction)
    return options


def binary_cross_entropy_with_logits(input: Array, target: Array, /, *, weight: Array | None = None,
                                     pos_weight: Array | None = None, reduction: str = "mean") -> Array:
    """-target log(p) - (1 - target) log(1 - p) for p = 1 / (1 + exp(-input)), reduced. Asynchronous.

    input and target are floating, of one shape and dtype; no input overflows. weight is a factor of each element, and
    pos_weight one of the first term; they have the input's dtype and are broadcast to its shape. reduction: "mean" or
    "sum" over all elements, 0-d, or "none". The mean of no element is NaN.

    >>> x, target = be.zeros((2,)), be.asarray([1.0, 0.0])
    >>> round(float(stator.nn.binary_cross_entropy_with_logits(x, target)), 4)
    0.6931
    """
    cdef str op = "nn.binary_cross_entropy_with_logits"
    cdef Array x = as_array(input, op), y = as_array(target, op), out = new_array(x.backend)
    cdef bytes how = to_text(reduction, op, "reduction")
    cdef losses.LogitLossOptions options = logit_options(op, weight, pos_weight, how)
    cdef CppStream stream
    enter(x.backend, stream)
    with nogil:
        out.c = losses.binary_cross_entropy_with_logits(x.c, y.c, options, stream)
    return out


def binary_cross_entropy_with_logits_backward(grad: Array, input: Array, target: Array, /, *,
                                              weight: Array | None = None, pos_weight: Array | None = None,
                                              reduction: str = "mean") -> Array:
    """The gradient of binary_cross_entropy_with_logits's input. Asynchronous.

    grad has the shape of the loss; the other arguments are those of binary_cross_entropy_with_logits.

    >>> x, target = be.zeros((2,)), be.asarray([1.0, 0.0])
    >>> stator.nn.binary_cross_entropy_with_logits_backward(be.ones(()), x, target).tolist()
    [-0.25, 0.25]
    """
    cdef str op = "nn.binary_cross_entropy_with_logits_backward"
    cdef Array g = as_array(grad, op), x = as_array(input, op), y = as_array(target, op), out = new_array(x.backend)
    cdef bytes how = to_text(reduction, op, "reduction")
    cdef losses.LogitLossOptions options = logit_options(op, weight, pos_weight, how)
    cdef CppStream stream
    enter(x.backend, stream)
    with nogil:
        out.c = losses.binary_cross_entropy_with_logits_backward(g.c, x.c, y.c, options, stream)
    return out


def kl_div(input: Array, target: Array, /, *, log_target: bool = False, reduction: str = "mean") -> Array:
    """target (log(target) - input) of each element, where input is a logarithm, reduced. Asynchronous.

    input and target are floating, of one shape and dtype. log_target: the target is a logarithm too. reduction: "mean"
    or "sum" over all elements, "batchmean", the sum divided by the extent of the first axis, all 0-d, or "none".

    >>> x, target = be.asarray([-1.0, -1.0]), be.asarray([1.0, 0.0])
    >>> float(stator.nn.kl_div(x, target, reduction="sum"))
    1.0
    """
    cdef Array x = as_array(input, "nn.kl_div"), y = as_array(target, "nn.kl_div"), out = new_array(x.backend)
    cdef cbool logarithm = to_flag(log_target, "nn.kl_div", "log_target")
    cdef bytes how = to_text(reduction, "nn.kl_div", "reduction")
    cdef string_view text = view_of(how)
    cdef CppStream stream
    enter(x.backend, stream)
    with nogil:
        out.c = losses.kl_div(x.c, y.c, logarithm, text, stream)
    return out


def kl_div_backward(grad: Array, input: Array, target: Array, /, *, log_target: bool = False,
                    reduction: str = "mean") -> Array:
    """The gradient of kl_div's input. Asynchronous.

    grad has the shape of kl_div's result; the other arguments are those of kl_div.

    >>> x, target = be.asarray([-1.0, -1.0]), be.asarray([0.25, 0.75])
    >>> stator.nn.kl_div_backward(be.ones(()), x, target, reduction="sum").tolist()
    [-0.25, -0.75]
    """
    cdef Array g = as_array(grad, "nn.kl_div_backward"), x = as_array(input, "nn.kl_div_backward")
    cdef Array y = as_array(target, "nn.kl_div_backward"), out = new_array(x.backend)
    cdef cbool logarithm = to_flag(log_target, "nn.kl_div_backward", "log_target")
    cdef bytes how = to_text(reduction, "nn.kl_div_backward", "reduction")
    cdef string_view text = view_of(how)
    cdef CppStream stream
    enter(x.backend, stream)
    with nogil:
        out.c = losses.kl_div_backward(g.c, x.c, y.c, logarithm, text, stream)
    return out


cdef losses.NllLossOptions nll_options(str op, object weight, object ignore_index, bytes reduction) except *:
    # `reduction` must outlive the options.
    cdef losses.NllLossOptions options
    options.weight = as_out(weight, op, "weight")
    options.ignore_index = to_int(ignore_index, op, "ignore_index")
    options.reduction = view_of(reduction)
    return options


def nll_loss(log_probs: Array, target: Array, /, *, weight: Array | None = None, ignore_index: int = -100,
             reduction: str = "mean") -> Array:
    """-weight[target] log_probs[target] of each sample, reduced over them. Asynchronous.

    log_probs (n, classes, ...) or (classes,), floating; target without the axis of classes, of integers; weight
    (classes,). reduction: "mean" (weighted) or "sum", 0-d, or "none", of the target's shape. Targets equal to
    ignore_index do not count. For a target out of range the next synchronising call raises OutOfRangeError.

    >>> log_probs, target = be.asarray([[-1.0, -2.0]]), be.asarray([1])
    >>> float(stator.nn.nll_loss(log_probs, target))
    2.0
    """
    cdef Array x = as_array(log_probs, "nn.nll_loss"), t = as_array(target, "nn.nll_loss"), out = new_array(x.backend)
    cdef bytes how = to_text(reduction, "nn.nll_loss", "reduction")
    cdef losses.NllLossOptions options = nll_options("nn.nll_loss", weight, ignore_index, how)
    cdef CppStream stream
    enter(x.backend, stream)
    with nogil:
        out.c = losses.nll_loss(x.c, t.c, options, stream)
    return out


def nll_loss_backward(grad: Array, log_probs: Array, target: Array, /, *, weight: Array | None = None,
                      ignore_index: int = -100, reduction: str = "mean") -> Array:
    """The gradient of nll_loss's log_probs, of their shape. Asynchronous.

    grad has the shape of nll_loss's result; the other arguments are those of nll_loss.

    >>> log_probs, target = be.asarray([[-1.0, -2.0]]), be.asarray([1])
    >>> stator.nn.nll_loss_backward(be.ones(()), log_probs, target).tolist()
    [[0.0, -1.0]]
    """
    cdef Array g = as_array(grad, "nn.nll_loss_backward"), x = as_array(log_probs, "nn.nll_loss_backward")
    cdef Array t = as_array(target, "nn.nll_loss_backward"), out = new_array(x.backend)
    cdef bytes how = to_text(reduction, "nn.nll_loss_backward", "reduction")
    cdef losses.NllLossOptions options = nll_options("nn.nll_loss_backward", weight, ignore_index, how)
    cdef CppStream stream
    enter(x.backend, stream)
    with nogil:
        out.c = losses.nll_loss_backward(g.c, x.c, t.c, options, stream)
    return out


cdef losses.CtcLossOptions ctc_options(str op, object blank, object zero_infinity, bytes reduction) except *:
    # `reduction` must outlive the options.
    cdef losses.CtcLossOptions options
    options.blank = to_int(blank, op, "blank")
    options.zero_infinity = to_flag(zero_infinity, op, "zero_infinity")
    options.reduction = view_of(reduction)
    return options


cdef Array lengths_of(object lengths, str op, Backend backend):
    """The array, or one of the numbers of a sequence."""
    if isinstance(lengths, (list, tuple)):
        return backend.asarray(np.asarray([to_int(x, op) for x in lengths], "int64"))
    return as_array(lengths, op)


def ctc_loss(log_probs: Array, targets: Array, input_lengths: Array | Sequence[int],
             target_lengths: Array | Sequence[int], /, *, blank: int = 0, reduction: str = "mean",
             zero_infinity: bool = False) -> Array:
    """-log of the probability of all alignments of targets with sequences, by `reduction`. Asynchronous.

    log_probs (T, N, C), floating, are logarithms of probabilities of classes; targets (N, S), or the labels of all
    samples joined in one axis; lengths (N,); all of integers. blank: the class between labels. reduction: "mean" of the
    losses, each divided by its target's length, or "sum", 0-d, or "none". zero_infinity: losses of targets that no
    alignment fits are 0, and so are their gradients. For a length or a label out of range the next synchronising call
    raises OutOfRangeError.

    >>> log_probs = stator.nn.log_softmax(be.zeros((2, 1, 2)))
    >>> round(float(stator.nn.ctc_loss(log_probs, be.asarray([[1]]), [2], [1])), 4)
    0.2877
    """
    cdef Array x = as_array(log_probs, "nn.ctc_loss"), t = as_array(targets, "nn.ctc_loss")
    cdef Array steps = lengths_of(input_lengths, "nn.ctc_loss", x.backend)
    cdef Array labels = lengths_of(target_lengths, "nn.ctc_loss", x.backend), out = new_array(x.backend)
    cdef bytes how = to_text(reduction, "nn.ctc_loss", "reduction")
    cdef losses.CtcLossOptions options = ctc_options("nn.ctc_loss", blank, zero_infinity, how)
    cdef CppStream stream
    enter(x.backend, stream)
    with nogil:
        out.c = losses.ctc_loss(x.c, t.c, steps.c, labels.c, options, stream)
    return out


def ctc_loss_backward(grad: Array, log_probs: Array, targets: Array, input_lengths: Array | Sequence[int],
                      target_lengths: Array | Sequence[int], /, *, blank: int = 0, reduction: str = "mean",
                      zero_infinity: bool = False) -> Array:
    """The gradient of the logits whose log_softmax are ctc_loss's log_probs, of their shape. Asynchronous.

    log_softmax_backward leaves it as it is. grad has the shape of ctc_loss's result; the other arguments are those of
    ctc_loss.

    >>> log_probs = stator.nn.log_softmax(be.zeros((2, 1, 2)))
    >>> stator.nn.ctc_loss_backward(be.ones(()), log_probs, be.asarray([[1]]), [2], [1]).shape
    (2, 1, 2)
    """
    cdef str op = "nn.ctc_loss_backward"
    cdef Array g = as_array(grad, op), x = as_array(log_probs, op), t = as_array(targets, op)
    cdef Array steps = lengths_of(input_lengths, op, x.backend), labels = lengths_of(target_lengths, op, x.backend)
    cdef Array out = new_array(x.backend)
    cdef bytes how = to_text(reduction, op, "reduction")
    cdef losses.CtcLossOptions options = ctc_options(op, blank, zero_infinity, how)
    cdef CppStream stream
    enter(x.backend, stream)
    with nogil:
        out.c = losses.ctc_loss_backward(g.c, x.c, t.c, steps.c, labels.c, options, stream)
    return out
