"""References for recurrent layers: loops over the steps of each sequence by itself, in wide NumPy."""

import numpy as np


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def step(kind, of_input, of_state, h=None, c=None):
    """The states after a step, and the gates after their activations, from gates that have their biases."""
    if kind in ("tanh", "relu"):
        h = np.tanh(of_input + of_state) if kind == "tanh" else np.maximum(of_input + of_state, 0)
        return h, None, h
    if kind == "lstm":
        i, f, g, o = np.split(of_input + of_state, 4, axis=-1)
        i, f, g, o = sigmoid(i), sigmoid(f), np.tanh(g), sigmoid(o)
        c = f * c + i * g
        return o * np.tanh(c), c, np.concatenate([i, f, g, o], -1)
    (r, z, n), (hr, hz, hn) = np.split(of_input, 3, axis=-1), np.split(of_state, 3, axis=-1)
    r, z = sigmoid(r + hr), sigmoid(z + hz)
    n = np.tanh(n + r * hn)
    return n + z * (h - n), None, np.concatenate([r, z, n, h, hn], -1)


def layers(kind, x, h0, c0, weights, bias=True, directions=1, lengths=None):
    """y, h and c for x (steps, batch, inputs) and states (layers * directions, batch, hidden)."""
    steps, batch, _ = x.shape
    per, hidden = 4 if bias else 2, weights[1].shape[1]
    runs = len(weights) // per
    h, c = np.zeros((runs, batch, hidden)), np.zeros((runs, batch, hidden))
    for layer in range(runs // directions):
        y = np.zeros((steps, batch, directions * hidden))
        for direction in range(directions):
            run = layer * directions + direction
            w, u, *b = weights[run * per : (run + 1) * per]
            b = b or [0, 0]
            for k in range(batch):
                now_h = np.zeros(hidden) if h0 is None else h0[run, k]
                now_c = np.zeros(hidden) if c0 is None else c0[run, k]
                length = steps if lengths is None else lengths[k]
                for t in range(length) if direction == 0 else reversed(range(length)):
                    now_h, now_c, _ = step(kind, w @ x[t, k] + b[0], u @ now_h + b[1], now_h, now_c)
                    y[t, k, direction * hidden : (direction + 1) * hidden] = now_h
                h[run, k], c[run, k] = now_h, 0 if now_c is None else now_c
        x = y
    return y, h, c
