"""What recurrent layers and their steps refuse, with the numbers seen."""

import pytest

import stator
from stator import errors as E

nn = stator.nn


def ones(be, *shape, dtype="float32"):
    return be.ones(shape, dtype=dtype)


def weights(be, gates=1, size=4, hidden=5, count=4):
    g = gates * hidden
    return [ones(be, *s) for s in ((g, size), (g, hidden), (g,), (g,))[:count]]


def refused(error, text, call, *args, **options):
    with pytest.raises(error, match="(?i)" + text) as raised:
        call(*args, **options)
    assert raised.value.op and raised.value.remedy


def test_sequences(be):
    w = weights(be)
    refused(E.ShapeError, r"x \(4,\)", nn.rnn, ones(be, 4), None, w)
    refused(E.ShapeError, r"x \(0, 2, 4\), a sequence of no steps", nn.rnn, ones(be, 0, 2, 4), None, w)
    refused(E.ShapeError, r"x \(2, 0, 4\), a sequence", nn.rnn, ones(be, 2, 0, 4), None, w, batch_first=True)
    refused(E.ShapeError, r"x \(3, 2, 0\), of no inputs", nn.rnn, ones(be, 3, 2, 0), None, w)
    refused(E.ShapeError, r"weight_ih_l0 \(5, 4\).*\(5, 3\)", nn.rnn, ones(be, 2, 2, 3), None, w)


def test_weights(be):
    x = ones(be, 3, 2, 4)
    refused(
        E.InvalidValueError, "4 weights for 2 layers of 1 directions with", nn.rnn, x, None, weights(be), num_layers=2
    )
    refused(E.InvalidValueError, "4 weights for 1 layers of 2 dir", nn.rnn, x, None, weights(be), bidirectional=True)
    refused(E.InvalidValueError, "4 weights .* without biases", nn.rnn, x, None, weights(be), bias=False)
    refused(E.InvalidValueError, "num_layers=0", nn.gru, x, None, [], num_layers=0)
    refused(E.ShapeError, r"weight_hh_l0 \(5, 5\)", nn.lstm, x, None, weights(be))
    two = weights(be) + weights(be)
    refused(E.ShapeError, r"weight_ih_l1 \(5, 4\)", nn.rnn, x, None, two, num_layers=2)
    two = weights(be) + weights(be, hidden=6)
    refused(E.ShapeError, r"weight_ih_l0_reverse \(6, 4\)", nn.rnn, x, None, two, bidirectional=True)
    short = [*weights(be, count=3), ones(be, 4)]
    refused(E.ShapeError, r"bias_hh_l0 \(4,\)", nn.rnn, x, None, short)
    wide = [*weights(be, count=3), ones(be, 5, dtype="float64")]
    refused(E.DTypeError, "bias_hh_l0 is float64, x is float32", nn.rnn, x, None, wide)
    refused(E.DTypeError, "x of int32", nn.rnn, ones(be, 3, 2, 4, dtype="int32"), None, weights(be))
    refused(E.InvalidValueError, "nonlinearity='gelu'", nn.rnn, x, None, weights(be), nonlinearity="gelu")


def test_states(be):
    x, w = ones(be, 3, 2, 4), weights(be, 4)
    h, other = ones(be, 1, 2, 5), ones(be, 2, 5)
    refused(E.ShapeError, r"hx \(2, 5\)", nn.lstm, x, (other, h), w)
    refused(E.ShapeError, r"cx \(2, 5\)", nn.lstm, x, (h, other), w)
    refused(E.ShapeError, r"hx \(1, 2, 5\).*\(1, 5\)|hx \(1, 2, 5\)", nn.lstm, x[:, 0], (h, h), w)
    refused(E.DTypeError, "hx is float64", nn.lstm, x, (ones(be, 1, 2, 5, dtype="float64"), h), w)
    refused(E.DTypeError, "a tuple", nn.lstm, x, h, w)


def test_lengths(be):
    x, w = ones(be, 3, 2, 4), weights(be)
    refused(E.InvalidValueError, "a length of 4 for 3 steps", nn.rnn, x, None, w, lengths=[4, 1])
    refused(E.InvalidValueError, "a length of 0 for 3 steps", nn.rnn, x, None, w, lengths=[1, 0])
    refused(E.ShapeError, r"3 lengths for x \(3, 2, 4\)", nn.rnn, x, None, w, lengths=[1, 1, 1])
    refused(E.ShapeError, r"lengths \(3,\)", nn.rnn, x, None, w, lengths=be.asarray([1, 1, 1]))
    refused(E.DTypeError, "lengths have dtype float32", nn.rnn, x, None, w, lengths=ones(be, 2))
    refused(E.InvalidValueError, "lengths of one sequence", nn.rnn, x[:, 0], None, w, lengths=[3])


def test_gradients(be):
    x, w = ones(be, 3, 2, 4), weights(be, 3)
    y, h, workspace = nn.gru(x, None, w, return_workspace=True)
    refused(E.InvalidValueError, "no gradient of a result", nn.gru_backward, None, None, x, w, workspace)
    refused(E.ShapeError, r"grad_y \(1, 2, 5\)", nn.gru_backward, h, None, x, w, workspace)
    refused(E.ShapeError, r"grad_h \(3, 2, 5\)", nn.gru_backward, None, y, x, w, workspace)
    refused(E.DTypeError, "grad_y is float64", nn.gru_backward, stator.astype(y, "float64"), None, x, w, workspace)
    refused(E.InvalidValueError, "a workspace of 1 arrays, not of 2", nn.gru_backward, y, None, x, w, workspace[:1])
    refused(E.ShapeError, r"workspace\[0\] \(3, 2, 5\)", nn.gru_backward, y, None, x, w, workspace[::-1])


def test_steps(be):
    g, h = ones(be, 2, 15), ones(be, 2, 5)
    refused(E.ShapeError, r"input_gates \(2, 15\) and hidden_gates \(2, 5\)", nn.gru_pointwise, g, h, h)
    refused(E.ShapeError, r"hx \(2, 15\)", nn.gru_pointwise, g, g, g)
    refused(E.ShapeError, r"input_gates \(2, 15\)", nn.lstm_pointwise, g, g, h)
    refused(E.ShapeError, r"bias_hh \(5,\)", nn.gru_pointwise, g, g, h, g[0], h[0])
    refused(E.InvalidValueError, "bias_ih without bias_hh", nn.gru_pointwise, g, g, h, g[0])
    refused(E.DTypeError, "hidden_gates is float64", nn.rnn_pointwise, g, stator.astype(g, "float64"))
    refused(E.ShapeError, r"workspace \(2, 14\)", nn.gru_pointwise_backward, h, g[:, :14])
    refused(E.ShapeError, r"grad \(2, 3\)", nn.gru_pointwise_backward, h[:, :3], ones(be, 2, 25))
    refused(
        E.InvalidValueError, "neither grad_h nor grad_c", nn.lstm_pointwise_backward, None, None, h, ones(be, 2, 20)
    )
    refused(E.ShapeError, r"grad \(2, 15\)", nn.rnn_pointwise_backward, g, h)
    refused(E.InvalidValueError, "nonlinearity='elu'", nn.rnn_pointwise_backward, h, h, nonlinearity="elu")


def test_cells(be):
    ih, hh, h = ones(be, 15, 4), ones(be, 15, 5), ones(be, 2, 5)
    refused(E.ShapeError, r"weight_ih \(15, 4\).*\(15, 3\)", nn.gru_cell, ones(be, 2, 3), None, ih, hh)
    refused(E.ShapeError, r"hx \(2, 5\).*\(3, 5\)", nn.gru_cell, ones(be, 3, 4), h, ih, hh)
    refused(E.ShapeError, r"weight_hh \(15, 5\)", nn.lstm_cell, ones(be, 2, 4), None, ih, hh)
    refused(E.ShapeError, r"x \(1, 2, 4\)", nn.gru_cell, ones(be, 1, 2, 4), None, ih, hh)
    refused(E.DTypeError, "weight_ih is float32, x is float64", nn.gru_cell, ones(be, 2, 4, dtype="float64"), h, ih, hh)
    refused(E.InvalidValueError, "bias_hh without bias_ih", nn.gru_cell, ones(be, 2, 4), None, ih, hh, None, ih[:, 0])
