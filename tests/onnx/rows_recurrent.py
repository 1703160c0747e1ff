"""Operators of recurrent layers. ONNX has the gates in another order, and a direction as an axis of its own."""

import stator
from tests.onnx.table import Without, row

nn = stator.nn
# Gates of ONNX in the order that stator has: LSTM of (input, output, forget, cell), GRU of (update, reset, new).
ORDERS = {"rnn": (0,), "lstm": (0, 2, 3, 1), "gru": (1, 0, 2)}
WITHOUT = {name: "other activations, and gates that are limited" for name in ("activations", "clip")}
WITHOUT |= {name: WITHOUT["clip"] for name in ("activation_alpha", "activation_beta")}


def in_order(kind, gates):
    """(gates * hidden, ...) of one direction."""
    parts = stator.split(gates, len(ORDERS[kind]), axis=0)
    return stator.concat([parts[i] for i in ORDERS[kind]], axis=0)


def weights_of(kind, w, r, bias):
    """The weights of all directions, as the layers take them."""
    found = []
    for d in range(w.shape[0]):
        found += [in_order(kind, w[d]), in_order(kind, r[d])]
        if bias is not None:
            found += [in_order(kind, part) for part in stator.split(bias[d], 2, axis=0)]
    return found


def layer(kind, x, w, r, bias, lengths, states, direction, layout):
    """(y, last states...) with the shapes of ONNX."""
    if direction == "reverse":
        if lengths is not None:
            raise Without("only the reverse direction, of sequences with lengths")
        x = stator.flip(x, axis=1 if layout else 0)
    if layout and states is not None:
        states = [stator.moveaxis(s, 1, 0) for s in states]
    options = {"bias": bias is not None, "bidirectional": direction == "bidirectional", "batch_first": bool(layout)}
    hx = states if states is None or kind == "lstm" else states[0]
    y, last = getattr(nn, kind)(x, hx, weights_of(kind, w, r, bias), lengths=lengths, **options)
    if direction == "reverse":
        y = stator.flip(y, axis=1 if layout else 0)
    y = stator.reshape(y, (*y.shape[:2], w.shape[0], -1))
    last = last if kind == "lstm" else (last,)
    if layout:
        return y, *(stator.moveaxis(s, 0, 1) for s in last)
    return stator.moveaxis(y, 2, 1), *last


@row("RNN", units=32, without=WITHOUT, silent={"hidden_size": "the weights' shape says it"})
def rnn(x, w, r, bias, lengths, h, *, direction, layout):
    return layer("rnn", x, w, r, bias, lengths, h if h is None else [h], direction, layout)


@row("LSTM", units=32, without=WITHOUT, silent={"hidden_size": "the weights' shape says it"})
def lstm(x, w, r, bias, lengths, h, c, peepholes, *, direction, layout, input_forget):
    if peepholes is not None or input_forget:
        raise Without("gates that read the cell, or an input gate that is the rest of the forget gate")
    return layer("lstm", x, w, r, bias, lengths, None if h is None else [h, c], direction, layout)


@row("GRU", units=32, without=WITHOUT, silent={"hidden_size": "the weights' shape says it"})
def gru(x, w, r, bias, lengths, h, *, direction, layout, linear_before_reset):
    steps = x.shape[1 if layout else 0]
    hidden_bias = bias is not None and bool(stator.any(stator.split(bias, 2, axis=1)[1] != 0))
    # At the first of all steps the state is 0, and so is what the reset gate multiplies.
    if not linear_before_reset and (steps > 1 or h is not None or hidden_bias):
        raise Without("a reset gate before the product of the state")
    return layer("gru", x, w, r, bias, lengths, h if h is None else [h], direction, layout)
