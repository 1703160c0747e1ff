# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
# cython: annotation_typing=False, freethreading_compatible=True
"""Recurrent layers over sequences, and their gradients."""
from libc.stdint cimport int64_t

from stator._array cimport Array, as_array, as_out, new_array, wrap_array
from stator._backend cimport Backend, enter
from stator._convert cimport to_entries, to_flag, to_ints, to_text, wrong_type
from stator._integers cimport to_int
from stator.cpp cimport recurrent as cpp
from stator.cpp.array cimport Array as CppArray
from stator.cpp.backend cimport Stream as CppStream
from stator.cpp.std cimport optional, string_view, vector


cdef enum Kind:
    plain, gated, long_short


cdef int gather(object arrays, vector[CppArray]& out, str op, str name) except -1:
    for entry in to_entries(arrays, op, name):
        out.push_back(as_array(entry, op).c)
    return 0


cdef tuple wrap_all(Backend backend, const vector[CppArray]* arrays):
    cdef size_t i
    found = []
    for i in range(arrays.size()):
        found.append(wrap_array(backend, arrays[0][i]))
    return tuple(found)


# A state, or of LSTM (h, c), or None.
cdef tuple to_states(Kind kind, object value, str op, str name):
    if kind != long_short:
        return value, None
    if value is None:
        return None, None
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise wrong_type(value, op, name, "a tuple (h, c) of Arrays")
    return tuple(value)


# The options that all layers take, and what they point to.
cdef class Options:
    cdef cpp.RecurrentOptions c
    cdef object kept
    cdef bytes name

    def __cinit__(self, str op, object num_layers, object bias, object bidirectional, object batch_first,
                  object lengths, object nonlinearity):
        cdef vector[int64_t] host
        self.c.num_layers = to_int(num_layers, op, "num_layers")
        self.c.bias = to_flag(bias, op, "bias")
        self.c.bidirectional = to_flag(bidirectional, op, "bidirectional")
        self.c.batch_first = to_flag(batch_first, op, "batch_first")
        self.name = to_text(nonlinearity, op, "nonlinearity")
        self.c.nonlinearity = string_view(<const char*>self.name, len(self.name))
        self.kept = lengths
        if isinstance(lengths, Array):
            self.c.lengths = as_out(lengths, op, "lengths")
        elif lengths is not None:
            to_ints(list(lengths) if hasattr(type(lengths), "__iter__") else lengths, host, op, "lengths")
            self.c.host_lengths = optional[vector[int64_t]](host)


cdef object run(Kind kind, str op, object x, object hx, object weights, Options options, object return_workspace):
    cdef Array source = as_array(x, op), y = new_array(source.backend), h = new_array(source.backend), c
    cdef vector[CppArray] given, kept
    cdef bint keeps = to_flag(return_workspace, op, "return_workspace")
    cdef vector[CppArray]* workspace = &kept if keeps else NULL
    cdef tuple states = to_states(kind, hx, op, "hx")
    cdef const CppArray* h0 = as_out(states[0], op, "hx")
    cdef const CppArray* c0 = as_out(states[1], op, "cx")
    cdef cpp.RecurrentResult found
    cdef CppStream stream
    gather(weights, given, op, "weights")
    enter(source.backend, stream)
    with nogil:
        if kind == plain:
            found = cpp.rnn(source.c, h0, given, options.c, workspace, stream)
        elif kind == gated:
            found = cpp.gru(source.c, h0, given, options.c, workspace, stream)
        else:
            found = cpp.lstm(source.c, h0, c0, given, options.c, workspace, stream)
    y.c = found.y
    h.c = found.h
    last = h
    if kind == long_short:
        c = new_array(source.backend)
        c.c = found.c
        last = (h, c)
    return (y, last, wrap_all(source.backend, &kept)) if keeps else (y, last)


cdef object run_backward(Kind kind, str op, object grad, object grad_hx, object x, object weights, object workspace,
                         Options options):
    cdef Array source = as_array(x, op), gx = new_array(source.backend), h = new_array(source.backend), c
    cdef vector[CppArray] given, kept
    cdef tuple states = to_states(kind, grad_hx, op, "grad_hx")
    cdef cpp.ResultGradients grads
    cdef cpp.RecurrentGradients found
    cdef CppStream stream
    grads.y = as_out(grad, op, "grad")
    grads.h = as_out(states[0], op, "grad_hx")
    grads.c = as_out(states[1], op, "grad_hx")
    gather(weights, given, op, "weights")
    gather(workspace, kept, op, "workspace")
    enter(source.backend, stream)
    with nogil:
        if kind == plain:
            found = cpp.rnn_backward(grads, source.c, given, kept, options.c, stream)
        elif kind == gated:
            found = cpp.gru_backward(grads, source.c, given, kept, options.c, stream)
        else:
            found = cpp.lstm_backward(grads, source.c, given, kept, options.c, stream)
    gx.c = found.x
    h.c = found.h0
    first = h
    if kind == long_short:
        c = new_array(source.backend)
        c.c = found.c0
        first = (h, c)
    return gx, first, wrap_all(source.backend, &found.weights)


def rnn(x: Array, hx: Array | None, weights: Sequence[Array], /, *, num_layers: int = 1, bias: bool = True,
        bidirectional: bool = False, batch_first: bool = False,
        lengths: Array | Sequence[int] | None = None, nonlinearity: str = "tanh", return_workspace: bool = False
        ) -> tuple[Array, Array] | tuple[Array, Array, tuple[Array, ...]]:
    """h = tanh(x @ weight_ih.T + bias_ih + h @ weight_hh.T + bias_hh) of each step. Asynchronous.

    x is (steps, batch, inputs), with batch_first (batch, steps, inputs), or (steps, inputs) for one sequence. hx is
    (layers * directions, batch, hidden), without the batch for one sequence; None: zeros.
    weights: for each layer, and in it each direction, weight_ih (hidden, inputs), weight_hh (hidden,
    hidden) and, with bias, bias_ih and bias_hh: the parameters of torch.nn.RNN in their order. All are of one floating
    dtype. Further layers read the states of the layer before, of both directions side by side.
    lengths: the steps of each sequence, from 1 to all. Beyond them y is 0, and the last state is that at the length,
    where the reverse direction begins. An Array of integers is not checked, and not waited for.
    nonlinearity: "tanh" or "relu".
    Returns y, of x's layout with directions * hidden as last axis, and the last states, of hx's shapes. The third
    result of return_workspace=True is what rnn_backward needs. One product for the inputs of all steps, then for each
    step a product and one launch. DTypeError, ShapeError; InvalidValueError for another number of weights, or such a
    length.

    >>> x, w, u = be.ones((3, 1, 2)), be.zeros((1, 2)), be.zeros((1, 1))
    >>> y, last = stator.nn.rnn(x, None, [w, u], bias=False)
    >>> y.shape
    (3, 1, 1)
    """
    return run(plain, "nn.rnn", x, hx, weights,
               Options("nn.rnn", num_layers, bias, bidirectional, batch_first, lengths, nonlinearity), return_workspace)


def gru(x: Array, hx: Array | None, weights: Sequence[Array], /, *, num_layers: int = 1, bias: bool = True,
        bidirectional: bool = False, batch_first: bool = False,
        lengths: Array | Sequence[int] | None = None, return_workspace: bool = False
        ) -> tuple[Array, Array] | tuple[Array, Array, tuple[Array, ...]]:
    """Gated recurrent units over the steps of sequences, as torch.nn.GRU. Asynchronous.

    x is (steps, batch, inputs), with batch_first (batch, steps, inputs), or (steps, inputs) for one sequence. hx is
    (layers * directions, batch, hidden), without the batch for one sequence; None: zeros.
    weights: for each layer, and in it each direction, weight_ih (3 * hidden, inputs), weight_hh (3 * hidden,
    hidden) and, with bias, bias_ih and bias_hh: the parameters of torch.nn.GRU in their order. All are of one floating
    dtype. Further layers read the states of the layer before, of both directions side by side.
    lengths: the steps of each sequence, from 1 to all. Beyond them y is 0, and the last state is that at the length,
    where the reverse direction begins. An Array of integers is not checked, and not waited for.
    Gates: reset, update, new.
    Returns y, of x's layout with directions * hidden as last axis, and the last states, of hx's shapes. The third
    result of return_workspace=True is what gru_backward needs. One product for the inputs of all steps, then for each
    step a product and one launch. DTypeError, ShapeError; InvalidValueError for another number of weights, or such a
    length.

    >>> x, w, u = be.ones((3, 1, 2)), be.zeros((3, 2)), be.zeros((3, 1))
    >>> y, last = stator.nn.gru(x, None, [w, u], bias=False)
    >>> y.shape
    (3, 1, 1)
    """
    return run(gated, "nn.gru", x, hx, weights,
               Options("nn.gru", num_layers, bias, bidirectional, batch_first, lengths, "tanh"), return_workspace)


def lstm(x: Array, hx: tuple[Array, Array] | None, weights: Sequence[Array], /, *, num_layers: int = 1,
         bias: bool = True, bidirectional: bool = False, batch_first: bool = False,
         lengths: Array | Sequence[int] | None = None, return_workspace: bool = False
         ) -> tuple[Array, tuple[Array, Array]] | tuple[Array, tuple[Array, Array], tuple[Array, ...]]:
    """Long short-term memory over the steps of sequences, as torch.nn.LSTM. Asynchronous.

    x is (steps, batch, inputs), with batch_first (batch, steps, inputs), or (steps, inputs) for one sequence. hx is
    (h, c), each (layers * directions, batch, hidden), without the batch for one sequence; None: zeros.
    weights: for each layer, and in it each direction, weight_ih (4 * hidden, inputs), weight_hh (4 * hidden,
    hidden) and, with bias, bias_ih and bias_hh: the parameters of torch.nn.LSTM in their order. All are of one floating
    dtype. Further layers read the states of the layer before, of both directions side by side.
    lengths: the steps of each sequence, from 1 to all. Beyond them y is 0, and the last state is that at the length,
    where the reverse direction begins. An Array of integers is not checked, and not waited for.
    Gates: input, forget, cell, output.
    Returns y, of x's layout with directions * hidden as last axis, and the last states, of hx's shapes. The third
    result of return_workspace=True is what lstm_backward needs. One product for the inputs of all steps, then for each
    step a product and one launch. DTypeError, ShapeError; InvalidValueError for another number of weights, or such a
    length.

    >>> x, w, u = be.ones((3, 1, 2)), be.zeros((4, 2)), be.zeros((4, 1))
    >>> y, (h, c) = stator.nn.lstm(x, None, [w, u], bias=False)
    >>> y.shape
    (3, 1, 1)
    """
    return run(long_short, "nn.lstm", x, hx, weights,
               Options("nn.lstm", num_layers, bias, bidirectional, batch_first, lengths, "tanh"), return_workspace)


def rnn_backward(grad: Array | None, grad_hx: Array | None, x: Array, weights: Sequence[Array],
                 workspace: Sequence[Array], /, *, num_layers: int = 1, bias: bool = True,
                 bidirectional: bool = False, batch_first: bool = False,
                 lengths: Array | Sequence[int] | None = None, nonlinearity: str = "tanh"
                 ) -> tuple[Array, Array, tuple[Array, ...]]:
    """Gradients of rnn's x, hx and weights, from the workspace that it returned. Asynchronous.

    grad is the gradient of y and grad_hx that of the last states; None is zero. The other
    arguments are those of rnn. Each gradient of a weight is one product over all steps, of equal bits from run to
    run; what x has beyond a length is multiplied by 0, and must be finite. DTypeError, ShapeError; InvalidValueError
    for a workspace of another call, or where no gradient is given.

    >>> x, weights = be.ones((3, 1, 2)), [be.zeros((1, 2)), be.zeros((1, 1))]
    >>> y, last, workspace = stator.nn.rnn(x, None, weights, bias=False, return_workspace=True)
    >>> gx, first, grads = stator.nn.rnn_backward(be.ones(y.shape), None, x, weights, workspace, bias=False)
    >>> grads[0].shape
    (1, 2)
    """
    return run_backward(plain, "nn.rnn_backward", grad, grad_hx, x, weights, workspace,
                        Options("nn.rnn_backward", num_layers, bias, bidirectional, batch_first, lengths, nonlinearity))


def gru_backward(grad: Array | None, grad_hx: Array | None, x: Array, weights: Sequence[Array],
                 workspace: Sequence[Array], /, *, num_layers: int = 1, bias: bool = True,
                 bidirectional: bool = False, batch_first: bool = False,
                 lengths: Array | Sequence[int] | None = None
                 ) -> tuple[Array, Array, tuple[Array, ...]]:
    """Gradients of gru's x, hx and weights, from the workspace that it returned. Asynchronous.

    grad is the gradient of y and grad_hx that of the last states; None is zero. The other
    arguments are those of gru. Each gradient of a weight is one product over all steps, of equal bits from run to
    run; what x has beyond a length is multiplied by 0, and must be finite. DTypeError, ShapeError; InvalidValueError
    for a workspace of another call, or where no gradient is given.

    >>> x, weights = be.ones((3, 1, 2)), [be.zeros((3, 2)), be.zeros((3, 1))]
    >>> y, last, workspace = stator.nn.gru(x, None, weights, bias=False, return_workspace=True)
    >>> gx, first, grads = stator.nn.gru_backward(be.ones(y.shape), None, x, weights, workspace, bias=False)
    >>> grads[0].shape
    (3, 2)
    """
    return run_backward(gated, "nn.gru_backward", grad, grad_hx, x, weights, workspace,
                        Options("nn.gru_backward", num_layers, bias, bidirectional, batch_first, lengths, "tanh"))


def lstm_backward(grad: Array | None, grad_hx: tuple[Array | None, Array | None] | None, x: Array,
                  weights: Sequence[Array], workspace: Sequence[Array], /, *, num_layers: int = 1, bias: bool = True,
                  bidirectional: bool = False, batch_first: bool = False,
                  lengths: Array | Sequence[int] | None = None
                  ) -> tuple[Array, tuple[Array, Array], tuple[Array, ...]]:
    """Gradients of lstm's x, hx and weights, from the workspace that it returned. Asynchronous.

    grad is the gradient of y and grad_hx are those of the last states (h, c); None is zero. The other arguments are
    those of lstm. Each gradient of a weight is one product over all steps, of equal bits from run to
    run; what x has beyond a length is multiplied by 0, and must be finite. DTypeError, ShapeError; InvalidValueError
    for a workspace of another call, or where no gradient is given.

    >>> x, weights = be.ones((3, 1, 2)), [be.zeros((4, 2)), be.zeros((4, 1))]
    >>> y, last, workspace = stator.nn.lstm(x, None, weights, bias=False, return_workspace=True)
    >>> gx, first, grads = stator.nn.lstm_backward(be.ones(y.shape), None, x, weights, workspace, bias=False)
    >>> grads[0].shape
    (4, 2)
    """
    return run_backward(long_short, "nn.lstm_backward", grad, grad_hx, x, weights, workspace,
                        Options("nn.lstm_backward", num_layers, bias, bidirectional, batch_first, lengths, "tanh"))
