"""Recurrent layers and cells against torch's, forward and backward, in float64."""

import numpy as np
import pytest
from torch_rows import as_numpy, draw, torch

import stator

nn = stator.nn
MODULES = {
    "tanh": lambda *a, **k: torch.nn.RNN(*a, **k),
    "relu": lambda *a, **k: torch.nn.RNN(*a, **k, nonlinearity="relu"),
    "lstm": lambda *a, **k: torch.nn.LSTM(*a, **k),
    "gru": lambda *a, **k: torch.nn.GRU(*a, **k),
}
CASES = {
    "one layer": {},
    "two layers, both directions": {"num_layers": 2, "bidirectional": True},
    "sequences first, no bias": {"batch_first": True, "bias": False, "bidirectional": True},
}


def close(got, want, what=""):
    np.testing.assert_allclose(as_numpy(got), as_numpy(want), rtol=1e-11, atol=1e-12, err_msg=what)


def flat(found):
    return [x for part in found for x in (part if isinstance(part, (tuple, list)) else [part])]


@pytest.mark.parametrize("lengths", [None, [4, 7, 1]], ids=["whole", "packed"])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("kind", MODULES)
def test_layers_and_their_gradients(be, kind, case, lengths):
    options = CASES[case]
    torch.manual_seed(1)
    module = MODULES[kind](5, 6, dtype=torch.float64, **options)
    first = options.get("batch_first", False)
    runs = options.get("num_layers", 1) * (2 if options.get("bidirectional") else 1)
    x = torch.from_numpy(draw((3, 7, 5) if first else (7, 3, 5), seed=1)).requires_grad_()
    count = 2 if kind == "lstm" else 1
    states = [torch.from_numpy(draw((runs, 3, 6), seed=2 + k, low=-1, high=1)).requires_grad_() for k in range(count)]
    pair = (lambda s: tuple(s)) if kind == "lstm" else (lambda s: s[0])
    if lengths is None:
        y, last = module(x, pair(states))
    else:
        tools = torch.nn.utils.rnn
        packed = tools.pack_padded_sequence(x, lengths, batch_first=first, enforce_sorted=False)
        y, last = module(packed, pair(states))
        y, _ = tools.pad_packed_sequence(y, batch_first=first)
    wanted = flat([y, last])
    grads = [torch.from_numpy(draw(w.shape, seed=9 + k)) for k, w in enumerate(wanted)]
    leaves = [x, *states, *module.parameters()]
    slopes = torch.autograd.grad(wanted, leaves, grads)

    name = "rnn" if count == 1 and kind != "gru" else kind
    options = options | {"lengths": lengths} | ({"nonlinearity": kind} if name == "rnn" else {})
    on = be.asarray(x.detach().numpy())
    ours = [be.asarray(s.detach().numpy()) for s in states]
    weights = [be.asarray(p.detach().numpy()) for p in module.parameters()]
    y, last, workspace = getattr(nn, name)(on, pair(ours), weights, **options, return_workspace=True)
    for got, want in zip(flat([y, last]), wanted, strict=True):
        close(got, want)
    grads = [be.asarray(g.numpy()) for g in grads]
    found = getattr(nn, f"{name}_backward")(grads[0], pair(grads[1:]), on, weights, workspace, **options)
    for k, (got, want) in enumerate(zip(flat(found), slopes, strict=True)):
        close(got, want, f"gradient {k}")


@pytest.mark.parametrize("kind", MODULES)
def test_cells(be, kind):
    torch.manual_seed(2)
    cell = {"lstm": torch.nn.LSTMCell, "gru": torch.nn.GRUCell}.get(kind)
    make = cell or (lambda *a, **k: torch.nn.RNNCell(*a, nonlinearity=kind, **k))
    cell = make(5, 6, dtype=torch.float64)
    x, states = draw((3, 5), seed=1), [draw((3, 6), seed=2 + k) for k in range(2)]
    pair = (lambda s: tuple(s)) if kind == "lstm" else (lambda s: s[0])
    want = cell(torch.from_numpy(x), pair([torch.from_numpy(s) for s in states]))
    name, options = (kind, {}) if kind in ("lstm", "gru") else ("rnn", {"nonlinearity": kind})
    weights = [be.asarray(p.detach().numpy()) for p in cell.parameters()]
    got = getattr(nn, f"{name}_cell")(be.asarray(x), pair([be.asarray(s) for s in states]), *weights, **options)
    for one, other in zip(flat([got]), flat([want]), strict=True):
        close(one, other)
