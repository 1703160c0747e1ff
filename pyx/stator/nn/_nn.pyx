# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
# cython: annotation_typing=False, freethreading_compatible=True
"""Softmax and cross entropy."""
from libc.stdint cimport int64_t

from stator._array cimport Array, as_array, as_out, new_array, plain_or_other
from stator._backend cimport enter
from stator._convert cimport to_axis, to_dtype, to_flag, to_float, to_text
from stator._integers cimport to_int
from stator._random cimport Generator, from_state
from stator._random_dropout cimport begin_draws, end_draws, to_source
from stator.cpp cimport nn
from stator.cpp.backend cimport Stream as CppStream
from stator.cpp.dtype cimport DType as CppDType
from stator.cpp.random cimport State
from stator.cpp.std cimport optional, string_view


# The functions that have the form of softmax, and their gradients.
cdef enum Form:
    softmax_form, softmin_form, log_softmax_form


cdef int set_masking(nn.SoftmaxMask& masking, str op, object mask, object causal) except -1:
    masking.mask = as_out(mask, op, "mask")
    masking.causal = to_flag(causal, op, "causal")
    return 0


cdef Array of_form(Form form, str op, object x, object axis, object mask, object causal, object dtype):
    cdef Array source = as_array(x, op), out = new_array(source.backend)
    cdef int64_t along = to_int(axis, op)
    cdef nn.SoftmaxMask masking
    cdef optional[CppDType] code
    cdef CppStream stream
    mask = plain_or_other(mask)
    set_masking(masking, op, mask, causal)
    to_dtype(dtype, code, op)
    enter(source.backend, stream)
    with nogil:
        if form == softmax_form:
            out.c = nn.softmax(source.c, along, code, masking, stream)
        elif form == softmin_form:
            out.c = nn.softmin(source.c, along, code, masking, stream)
        else:
            out.c = nn.log_softmax(source.c, along, code, masking, stream)
    return out


cdef Array gradient_of(Form form, str op, object grad, object y, object axis, object mask=None, object causal=False):
    cdef Array g = as_array(grad, op), saved = as_array(y, op), out = new_array(g.backend)
    cdef int64_t along = to_int(axis, op)
    cdef nn.SoftmaxMask masking
    cdef CppStream stream
    mask = plain_or_other(mask)
    set_masking(masking, op, mask, causal)
    enter(g.backend, stream)
    with nogil:
        if form == softmax_form:
            out.c = nn.softmax_backward(g.c, saved.c, along, stream)
        elif form == softmin_form:
            out.c = nn.softmin_backward(g.c, saved.c, along, stream)
        else:
            out.c = nn.log_softmax_backward(g.c, saved.c, along, masking, stream)
    return out


def softmax(x: Array, /, axis: int = -1, *, mask: Array | None = None, causal: bool = False,
            dtype: DTypeLike | None = None) -> Array:
    """exp(x) divided by its sum along one axis. Asynchronous.

    x is floating; its maximum along the axis is subtracted first, so that nothing overflows. mask: of bool, broadcast
    to x's shape, True where an element takes part. causal: x is (..., L, S), and row i keeps columns 0 to i. The other
    elements are 0, and so is a line without any. dtype: of the result; None is x's.

    >>> stator.nn.softmax(be.zeros((2, 2)), causal=True).tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    """
    return of_form(softmax_form, "nn.softmax", x, axis, mask, causal, dtype)


def softmin(x: Array, /, axis: int = -1, *, mask: Array | None = None, causal: bool = False,
            dtype: DTypeLike | None = None) -> Array:
    """softmax(-x) along one axis. Asynchronous.

    The arguments are those of softmax.

    >>> stator.nn.softmin(be.asarray([1.0, 1.0])).tolist()
    [0.5, 0.5]
    """
    return of_form(softmin_form, "nn.softmin", x, axis, mask, causal, dtype)


def softmin_backward(grad: Array, y: Array, /, axis: int = -1) -> Array:
    """The gradient of softmin's x, of grad's shape; y is the result of softmin. Asynchronous.

    >>> stator.nn.softmin_backward(be.asarray([1.0, 0.0]), be.asarray([0.5, 0.5])).tolist()
    [-0.25, 0.25]
    """
    return gradient_of(softmin_form, "nn.softmin_backward", grad, y, axis)


def gumbel_softmax(x: Array, /, tau: float = 1.0, hard: bool = False, axis: int = -1, *, mask: Array | None = None,
                   causal: bool = False, rng: int | Generator | RngState | None = None) -> tuple[Array, RngState]:
    """softmax((x + g) / tau) along one axis, with Gumbel noise g; and the state after it. Asynchronous.

    x is floating, tau positive. hard: 1 at the largest along the axis and 0 elsewhere; its gradient is that of the
    result which is not hard, made with rng=state. mask and causal are those of softmax, and change no noise. rng: a
    seed, a state, or a generator (None: the backend's), which advances by ceil(x.size / 4) counters, for float64 by
    ceil(x.size / 2).

    >>> y, state = stator.nn.gumbel_softmax(be.zeros((3,)), hard=True, rng=0)
    >>> sorted(y.tolist())
    [0.0, 0.0, 1.0]
    """
    cdef Array source = as_array(x, "nn.gumbel_softmax"), out = new_array(source.backend)
    cdef nn.GumbelOptions options
    cdef State state, after
    cdef const State* behind = NULL
    cdef Generator generator = to_source(rng, &state, source.backend, "nn.gumbel_softmax")
    cdef CppStream stream
    options.tau = to_float(tau, "nn.gumbel_softmax", "tau")
    options.hard = to_flag(hard, "nn.gumbel_softmax", "hard")
    options.axis = to_int(axis, "nn.gumbel_softmax")
    mask = plain_or_other(mask)
    set_masking(options.masking, "nn.gumbel_softmax", mask, causal)
    enter(source.backend, stream)
    begin_draws(generator, &state)
    try:
        with nogil:
            out.c = nn.gumbel_softmax(source.c, state, &after, options, stream)
        behind = &after
    finally:
        end_draws(generator, behind)
    return out, from_state(state, source.backend)


def gumbel_softmax_backward(grad: Array, y: Array, /, tau: float = 1.0, axis: int = -1) -> Array:
    """The gradient of gumbel_softmax's x, of grad's shape; y is the result that is not hard. Asynchronous.

    >>> y = be.asarray([0.5, 0.5])
    >>> stator.nn.gumbel_softmax_backward(be.asarray([1.0, 0.0]), y, tau=0.5).tolist()
    [0.5, -0.5]
    """
    cdef Array g = as_array(grad, "nn.gumbel_softmax_backward"), saved = as_array(y, "nn.gumbel_softmax_backward")
    cdef Array out = new_array(g.backend)
    cdef double temperature = to_float(tau, "nn.gumbel_softmax_backward", "tau")
    cdef int64_t along = to_int(axis, "nn.gumbel_softmax_backward")
    cdef CppStream stream
    enter(g.backend, stream)
    with nogil:
        out.c = nn.gumbel_softmax_backward(g.c, saved.c, temperature, along, stream)
    return out


def log_softmax(x: Array, /, axis: int = -1, *, mask: Array | None = None, causal: bool = False,
                dtype: DTypeLike | None = None) -> Array:
    """log(softmax(x)) along one axis, computed without the quotient. Asynchronous.

    The arguments are those of softmax. Elements that take no part are -inf, and so is a line without any.

    >>> round(float(stator.nn.log_softmax(be.zeros((2,)))[0]), 4)
    -0.6931
    """
    return of_form(log_softmax_form, "nn.log_softmax", x, axis, mask, causal, dtype)


def softmax_backward(grad: Array, y: Array, /, axis: int = -1) -> Array:
    """The gradient of softmax's x, of grad's shape; y is the result of softmax. Asynchronous.

    It is 0 where y is: elements that a mask or causal left out need not be named again.

    >>> stator.nn.softmax_backward(be.asarray([1.0, 0.0]), be.asarray([0.5, 0.5])).tolist()
    [0.25, -0.25]
    """
    return gradient_of(softmax_form, "nn.softmax_backward", grad, y, axis)


def log_softmax_backward(grad: Array, y: Array, /, axis: int = -1, *, mask: Array | None = None,
                         causal: bool = False) -> Array:
    """The gradient of log_softmax's x, of grad's shape; y is the result of log_softmax. Asynchronous.

    mask and causal: those of log_softmax. Elements that took no part have the gradient 0; theirs do not count.

    >>> y = be.asarray([0.0, -float("inf")])
    >>> stator.nn.log_softmax_backward(be.asarray([1.0, 2.0]), y).tolist()
    [-2.0, 2.0]
    """
    return gradient_of(log_softmax_form, "nn.log_softmax_backward", grad, y, axis, mask, causal)


cdef nn.CrossEntropyOptions loss_options(str op, object weight, object ignore_index, object label_smoothing,
                                         bytes reduction, object axis) except *:
    # `reduction` must outlive the options.
    cdef nn.CrossEntropyOptions options
    options.weight = as_out(weight, op, "weight")
    options.ignore_index = to_int(ignore_index, op, "ignore_index")
    options.label_smoothing = to_float(label_smoothing, op, "label_smoothing")
    options.reduction = string_view(<const char*>reduction, len(reduction))
    to_axis(axis, options.axis, op)
    return options


def cross_entropy(logits: Array, target: Array, /, *, weight: Array | None = None, ignore_index: int = -100,
                  label_smoothing: float = 0.0, reduction: str = "mean", axis: int | None = None) -> Array:
    """The loss -log_softmax(logits)[i, target[i]] of rows i, reduced over them. Asynchronous.

    logits (n, classes, ...) or (classes,), floating, or with the classes along axis; weight (classes,). target:
    integers, without the axis of classes, or probabilities of the logits' shape and dtype. reduction: "mean" (weighted;
    of probabilities over all rows) or "sum", 0-d, or "none". Rows with the target ignore_index do not count.
    label_smoothing: in [0, 1]. For a target out of range the next synchronising call raises OutOfRangeError.

    >>> loss = stator.nn.cross_entropy(be.zeros((2, 3, 4)), be.zeros((2, 3), dtype="int64"), axis=-1)
    >>> round(float(loss), 4)
    1.3863
    """
    cdef Array x = as_array(logits, "nn.cross_entropy"), t = as_array(target, "nn.cross_entropy")
    cdef Array out = new_array(x.backend)
    cdef bytes how = to_text(reduction, "nn.cross_entropy", "reduction")
    cdef nn.CrossEntropyOptions options = loss_options("nn.cross_entropy", weight, ignore_index, label_smoothing, how,
                                                       axis)
    cdef CppStream stream
    enter(x.backend, stream)
    with nogil:
        out.c = nn.cross_entropy(x.c, t.c, options, stream)
    return out


def cross_entropy_backward(grad: Array, logits: Array, target: Array, /, *, weight: Array | None = None,
                           ignore_index: int = -100, label_smoothing: float = 0.0, reduction: str = "mean",
                           axis: int | None = None) -> Array:
    """The gradient of cross_entropy's logits, of their shape. Asynchronous.

    grad has the shape of cross_entropy's result; the other arguments are those of cross_entropy.

    >>> stator.nn.cross_entropy_backward(be.ones(()), be.zeros((1, 4)), be.asarray([2])).tolist()
    [[0.25, 0.25, -0.75, 0.25]]
    """
    cdef Array g = as_array(grad, "nn.cross_entropy_backward"), x = as_array(logits, "nn.cross_entropy_backward")
    cdef Array t = as_array(target, "nn.cross_entropy_backward")
    cdef Array out = new_array(x.backend)
    cdef bytes how = to_text(reduction, "nn.cross_entropy_backward", "reduction")
    cdef nn.CrossEntropyOptions options = loss_options("nn.cross_entropy_backward", weight, ignore_index,
                                                       label_smoothing, how, axis)
    cdef CppStream stream
    enter(x.backend, stream)
    with nogil:
        out.c = nn.cross_entropy_backward(g.c, x.c, t.c, options, stream)
    return out
