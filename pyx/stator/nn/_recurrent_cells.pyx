# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
# cython: annotation_typing=False, freethreading_compatible=True
"""Single steps of recurrent layers, and what follows the products of one."""
from stator._array cimport Array, as_array, as_out, new_array
from stator._backend cimport enter
from stator._convert cimport to_text, wrong_type
from stator.cpp cimport recurrent as cpp
from stator.cpp.array cimport Array as CppArray
from stator.cpp.backend cimport Stream as CppStream
from stator.cpp.std cimport string_view


def gru_pointwise(input_gates: Array, hidden_gates: Array, hx: Array, bias_ih: Array | None = None,
                  bias_hh: Array | None = None, /) -> tuple[Array, Array]:
    """A step of GRU from its gates, in one launch: the state, and a workspace. Asynchronous.

    input_gates and hidden_gates (batch, 3 * hidden) are the products of inputs and of states with their weights: reset,
    update, new. hx is (batch, hidden), and the biases, both or none, are (3 * hidden,). All are of one floating dtype;
    halves are computed in float32. workspace (batch, 5 * hidden) has the gates, hx, and the hidden part of the new
    gate, as PyTorch's fused cell keeps them. DTypeError, ShapeError, InvalidValueError for one bias without the other.

    >>> h, workspace = stator.nn.gru_pointwise(be.zeros((1, 3)), be.zeros((1, 3)), be.ones((1, 1)))
    >>> h.tolist(), workspace.tolist()
    ([[0.5]], [[0.5, 0.5, 0.0, 1.0, 0.0]])
    """
    cdef str op = "nn.gru_pointwise"
    cdef Array a = as_array(input_gates, op), b = as_array(hidden_gates, op), state = as_array(hx, op)
    cdef const CppArray* ih = as_out(bias_ih, op, "bias_ih")
    cdef const CppArray* hh = as_out(bias_hh, op, "bias_hh")
    cdef Array h = new_array(a.backend), workspace = new_array(a.backend)
    cdef cpp.GruStep found
    cdef CppStream stream
    enter(a.backend, stream)
    with nogil:
        found = cpp.gru_pointwise(a.c, b.c, state.c, ih, hh, stream)
    h.c = found.h
    workspace.c = found.workspace
    return h, workspace


def gru_pointwise_backward(grad: Array, workspace: Array, /) -> tuple[Array, Array, Array]:
    """Gradients of gru_pointwise's input_gates, hidden_gates and hx, in one launch. Asynchronous.

    grad is that of the state, and workspace what gru_pointwise returned. Gradients of biases are sums over the first
    axis of those of their gates; that of hx lacks what comes through hidden_gates. DTypeError, ShapeError.

    >>> h, workspace = stator.nn.gru_pointwise(be.zeros((1, 3)), be.zeros((1, 3)), be.ones((1, 1)))
    >>> [g.tolist() for g in stator.nn.gru_pointwise_backward(be.ones((1, 1)), workspace)]
    [[[0.0, 0.25, 0.5]], [[0.0, 0.25, 0.25]], [[0.5]]]
    """
    cdef str op = "nn.gru_pointwise_backward"
    cdef Array g = as_array(grad, op), saved = as_array(workspace, op)
    cdef Array a = new_array(g.backend), b = new_array(g.backend), state = new_array(g.backend)
    cdef cpp.GruStepGradients found
    cdef CppStream stream
    enter(g.backend, stream)
    with nogil:
        found = cpp.gru_pointwise_backward(g.c, saved.c, stream)
    a.c = found.input_gates
    b.c = found.hidden_gates
    state.c = found.hx
    return a, b, state


def lstm_pointwise(input_gates: Array, hidden_gates: Array, cx: Array, bias_ih: Array | None = None,
                   bias_hh: Array | None = None, /) -> tuple[Array, Array, Array]:
    """A step of LSTM from its gates, in one launch: both states, and a workspace. Asynchronous.

    input_gates and hidden_gates (batch, 4 * hidden) are the products of inputs and of states with their weights: input,
    forget, cell, output. cx is (batch, hidden), and the biases, both or none, are (4 * hidden,). All are of one
    floating dtype; halves are computed in float32. workspace (batch, 4 * hidden) has the gates after their activations.
    DTypeError, ShapeError, InvalidValueError for one bias without the other.

    >>> h, c, workspace = stator.nn.lstm_pointwise(be.zeros((1, 4)), be.zeros((1, 4)), be.ones((1, 1)))
    >>> c.tolist(), workspace.tolist()
    ([[0.5]], [[0.5, 0.5, 0.0, 0.5]])
    """
    cdef str op = "nn.lstm_pointwise"
    cdef Array a = as_array(input_gates, op), b = as_array(hidden_gates, op), state = as_array(cx, op)
    cdef const CppArray* ih = as_out(bias_ih, op, "bias_ih")
    cdef const CppArray* hh = as_out(bias_hh, op, "bias_hh")
    cdef Array h = new_array(a.backend), c = new_array(a.backend), workspace = new_array(a.backend)
    cdef cpp.LstmStep found
    cdef CppStream stream
    enter(a.backend, stream)
    with nogil:
        found = cpp.lstm_pointwise(a.c, b.c, state.c, ih, hh, stream)
    h.c = found.h
    c.c = found.c
    workspace.c = found.workspace
    return h, c, workspace


def lstm_pointwise_backward(grad_h: Array | None, grad_c: Array | None, cx: Array,
                            workspace: Array, /) -> tuple[Array, Array]:
    """Gradients of lstm_pointwise's gates and cx, in one launch. Asynchronous.

    grad_h and grad_c are those of the states, one of which may be None for zero; cx and workspace are those of
    lstm_pointwise. The gates of inputs and of states have one gradient, (batch, 4 * hidden), and the gradient of a bias
    is its sum over the first axis. DTypeError, ShapeError, InvalidValueError without a gradient.

    >>> h, c, workspace = stator.nn.lstm_pointwise(be.zeros((1, 4)), be.zeros((1, 4)), be.ones((1, 1)))
    >>> [g.tolist() for g in stator.nn.lstm_pointwise_backward(None, be.ones((1, 1)), be.ones((1, 1)), workspace)]
    [[[0.0, 0.25, 0.5, 0.0]], [[0.5]]]
    """
    cdef str op = "nn.lstm_pointwise_backward"
    cdef Array state = as_array(cx, op), saved = as_array(workspace, op)
    cdef const CppArray* of_h = as_out(grad_h, op, "grad_h")
    cdef const CppArray* of_c = as_out(grad_c, op, "grad_c")
    cdef Array gates = new_array(state.backend), before = new_array(state.backend)
    cdef cpp.LstmStepGradients found
    cdef CppStream stream
    enter(state.backend, stream)
    with nogil:
        found = cpp.lstm_pointwise_backward(of_h, of_c, state.c, saved.c, stream)
    gates.c = found.gates
    before.c = found.cx
    return gates, before


def rnn_pointwise(input_gates: Array, hidden_gates: Array, bias_ih: Array | None = None, bias_hh: Array | None = None,
                  /, *, nonlinearity: str = "tanh") -> Array:
    """tanh or relu of the sum of two gates and their biases, in one launch. Asynchronous.

    input_gates and hidden_gates (batch, hidden) are the products of inputs and of states with their weights; the
    biases, both or none, are (hidden,). All are of one floating dtype; halves are computed in float32. nonlinearity:
    "tanh" or "relu". DTypeError, ShapeError, InvalidValueError for one bias without the other.

    >>> stator.nn.rnn_pointwise(be.ones((1, 2)), be.ones((1, 2)), nonlinearity="relu").tolist()
    [[2.0, 2.0]]
    """
    cdef str op = "nn.rnn_pointwise"
    cdef Array a = as_array(input_gates, op), b = as_array(hidden_gates, op), h = new_array(a.backend)
    cdef const CppArray* ih = as_out(bias_ih, op, "bias_ih")
    cdef const CppArray* hh = as_out(bias_hh, op, "bias_hh")
    cdef bytes name = to_text(nonlinearity, op, "nonlinearity")
    cdef string_view view = string_view(<const char*>name, len(name))
    cdef CppStream stream
    enter(a.backend, stream)
    with nogil:
        h.c = cpp.rnn_pointwise(a.c, b.c, ih, hh, view, stream)
    return h


def rnn_pointwise_backward(grad: Array, h: Array, /, *, nonlinearity: str = "tanh") -> Array:
    """The gradient of either of rnn_pointwise's gates, from its result h. Asynchronous.

    grad and h are (batch, hidden) of one floating dtype. DTypeError, ShapeError, InvalidValueError.

    >>> stator.nn.rnn_pointwise_backward(be.ones((1, 1)), be.full((1, 1), 0.5)).tolist()
    [[0.75]]
    """
    cdef str op = "nn.rnn_pointwise_backward"
    cdef Array g = as_array(grad, op), state = as_array(h, op), out = new_array(g.backend)
    cdef bytes name = to_text(nonlinearity, op, "nonlinearity")
    cdef string_view view = string_view(<const char*>name, len(name))
    cdef CppStream stream
    enter(g.backend, stream)
    with nogil:
        out.c = cpp.rnn_pointwise_backward(g.c, state.c, view, stream)
    return out


def rnn_cell(x: Array, hx: Array | None, weight_ih: Array, weight_hh: Array, bias_ih: Array | None = None,
             bias_hh: Array | None = None, /, *, nonlinearity: str = "tanh") -> Array:
    """tanh or relu of x @ weight_ih.T + bias_ih + hx @ weight_hh.T + bias_hh. Asynchronous.

    As torch.nn.RNNCell: x (batch, inputs) or (inputs,), hx (batch, hidden) or (hidden,), None for zeros, weight_ih
    (hidden, inputs), weight_hh (hidden, hidden), and both biases (hidden,) or none, all of one floating dtype. Two
    products and one launch. nonlinearity: "tanh" or "relu". DTypeError, ShapeError, InvalidValueError.

    >>> stator.nn.rnn_cell(be.ones((2,)), None, be.ones((1, 2)), be.ones((1, 1)), nonlinearity="relu").tolist()
    [2.0]
    """
    cdef str op = "nn.rnn_cell"
    cdef Array source = as_array(x, op), ih = as_array(weight_ih, op), hh = as_array(weight_hh, op)
    cdef const CppArray* state = as_out(hx, op, "hx")
    cdef const CppArray* first = as_out(bias_ih, op, "bias_ih")
    cdef const CppArray* second = as_out(bias_hh, op, "bias_hh")
    cdef bytes name = to_text(nonlinearity, op, "nonlinearity")
    cdef string_view view = string_view(<const char*>name, len(name))
    cdef Array h = new_array(source.backend)
    cdef CppStream stream
    enter(source.backend, stream)
    with nogil:
        h.c = cpp.rnn_cell(source.c, state, cpp.CellWeights(ih.c, hh.c, first, second), view, stream)
    return h


def gru_cell(x: Array, hx: Array | None, weight_ih: Array, weight_hh: Array, bias_ih: Array | None = None,
             bias_hh: Array | None = None, /) -> Array:
    """The state of a GRU after a step, as torch.nn.GRUCell. Asynchronous.

    x (batch, inputs) or (inputs,), hx (batch, hidden) or (hidden,), None for zeros, weight_ih (3 * hidden, inputs),
    weight_hh (3 * hidden, hidden), and both biases (3 * hidden,) or none, all of one floating dtype. Two products and
    one launch. DTypeError, ShapeError, InvalidValueError for one bias without the other.

    >>> stator.nn.gru_cell(be.ones((2,)), be.ones((1,)), be.zeros((3, 2)), be.zeros((3, 1))).tolist()
    [0.5]
    """
    cdef str op = "nn.gru_cell"
    cdef Array source = as_array(x, op), ih = as_array(weight_ih, op), hh = as_array(weight_hh, op)
    cdef const CppArray* state = as_out(hx, op, "hx")
    cdef const CppArray* first = as_out(bias_ih, op, "bias_ih")
    cdef const CppArray* second = as_out(bias_hh, op, "bias_hh")
    cdef Array h = new_array(source.backend)
    cdef CppStream stream
    enter(source.backend, stream)
    with nogil:
        h.c = cpp.gru_cell(source.c, state, cpp.CellWeights(ih.c, hh.c, first, second), stream)
    return h


def lstm_cell(x: Array, hx: tuple[Array, Array] | None, weight_ih: Array, weight_hh: Array,
              bias_ih: Array | None = None, bias_hh: Array | None = None, /) -> tuple[Array, Array]:
    """The states (h, c) of an LSTM after a step, as torch.nn.LSTMCell. Asynchronous.

    x (batch, inputs) or (inputs,), hx a tuple of states (batch, hidden) or (hidden,), None for zeros, weight_ih
    (4 * hidden, inputs), weight_hh (4 * hidden, hidden), and both biases (4 * hidden,) or none, all of one floating
    dtype. Two products and one launch. DTypeError, ShapeError, InvalidValueError for one bias without the other.

    >>> h, c = stator.nn.lstm_cell(be.ones((2,)), (be.ones((1,)), be.ones((1,))), be.zeros((4, 2)), be.zeros((4, 1)))
    >>> c.tolist()
    [0.5]
    """
    cdef str op = "nn.lstm_cell"
    cdef Array source = as_array(x, op), ih = as_array(weight_ih, op), hh = as_array(weight_hh, op)
    if hx is not None and (not isinstance(hx, (tuple, list)) or len(hx) != 2):
        raise wrong_type(hx, op, "hx", "a tuple (h, c) of Arrays")
    cdef tuple states = (None, None) if hx is None else tuple(hx)
    cdef const CppArray* h0 = as_out(states[0], op, "hx")
    cdef const CppArray* c0 = as_out(states[1], op, "hx")
    cdef const CppArray* first = as_out(bias_ih, op, "bias_ih")
    cdef const CppArray* second = as_out(bias_hh, op, "bias_hh")
    cdef Array h = new_array(source.backend), c = new_array(source.backend)
    cdef cpp.LstmState found
    cdef CppStream stream
    enter(source.backend, stream)
    with nogil:
        found = cpp.lstm_cell(source.c, h0, c0, cpp.CellWeights(ih.c, hh.c, first, second), stream)
    h.c = found.h
    c.c = found.c
    return h, c
