"""Products of matrices and vectors. Errors are relative to the sum of the terms' magnitudes."""

from __future__ import annotations

from typing import Any

import numpy as np

import stator
from stator._catalogue.domains import Values
from stator._catalogue.entry import AXIS, FILLED, Answer, Call, Function, Given, entries, largest
from stator._catalogue.sparse import terms


def factor(given: Given, rows: int, columns: int) -> tuple[stator.Array, Values]:
    """A matrix and its values on the host."""
    x = given.draw((rows, columns), (-1, 1) if given.floating else (-4, 4))
    if given.layout == "broadcast" and rows:
        x = np.repeat(x[:1], rows, axis=0)
        return given.repeated(x[:1], x.shape), x
    return given.on(x), x


def sizes(given: Given) -> tuple[int, int, int]:
    return (260, 300, 140) if given.large else (given.rows, 65, 17)


def product(call: Function) -> Call:
    """A call of (function, a, b)."""

    def of(f: Function, given: Given) -> Any:
        m, k, n = sizes(given)
        (a, x), (b, y) = factor(given, m, k), factor(given, k, n)
        return Answer(call(f, a, b), terms(x, y) if given.floating else None)

    return of


def added(f: Function, given: Given) -> Any:
    """x + 2 (a @ b); of matrices or batches of one."""
    m, k, n = sizes(given)
    (x, z), (a, left), (b, right) = factor(given, m, n), factor(given, m, k), factor(given, k, n)
    scale = np.abs(z).astype(np.float64) + 2 * terms(left, right)
    if given.cell.op == "baddbmm":
        return Answer(f(x[None], a[None], b[None], alpha=2), scale[None])
    return Answer(f(x, a, b, alpha=2), scale)


def rows_product(f: Function, given: Given) -> Any:
    """Sums along the last axis of two matrices, or of two vectors."""
    m, k, _ = sizes(given)
    (a, x), (b, y) = factor(given, m, k), factor(given, m, k)
    if given.cell.op == "dot":
        a, b, x, y = a[0], b[0], x[0], y[0]
    scale = np.sum(np.abs(x).astype(np.float64) * np.abs(y), axis=-1)
    return Answer(f(a, b), scale if given.floating else None)


def linear(f: Function, given: Given) -> Any:
    m, k, n = sizes(given)
    (x, left), (w, right) = factor(given, m, k), factor(given, n, k)
    bias = given.vector_of(n, (-1, 1))
    return [Answer(f(x, w, bias, activation=a), terms(left, right.T) + 1) for a in (None, "relu", "gelu")]


def linear_backward(f: Function, given: Given) -> Any:
    m, k, n = sizes(given)
    (grad, g), (x, left), (w, right) = factor(given, m, n), factor(given, m, k), factor(given, n, k)
    saved, y = factor(given, m, n)
    found = []
    for options, slope in (((saved,), np.where(y > 0, g, 0)), ((), g)):
        scales = (terms(slope, right), terms(slope.T, left), np.sum(np.abs(slope).astype(np.float64), axis=0))
        results = f(grad, x, w, *options, activation="relu" if options else None)
        found += [Answer(result, scale) for result, scale in zip(results, scales, strict=True)]
    return found


def scaled_matmul(f: Function, given: Given) -> Any:
    """Of codes of eight-bit floats that are not NaN, which are exact in float32."""
    m, k, n = (64, 96, 48) if given.large else (32, 64, 16)
    codes = [given.rng.integers(0, 0x40, s).astype(np.uint8) for s in ((m, k), (k, n))]
    a, b = (given.on(c, "uint8") for c in codes)
    one = given.dense(np.full((), 0.5, np.float32), "float32")
    return largest(f(a, b, one, one, dtype=given.dtype))


def quantize_fp8(f: Function, given: Given) -> Any:
    return [f(given.array()), f(given.array(), format="e5m2", axis=1)]


def cdist(f: Function, given: Given) -> Any:
    return [f(given.array(shape=(40, 9)), given.array(shape=(given.rows % 99, 9)), p=p) for p in (1, 2, 3)]


ENTRIES = {
    **entries(
        AXIS,
        {
            "matmul": product(lambda f, a, b: f(a, b)),
            "tensordot": product(lambda f, a, b: f(a, b, axes=1)),
            "einsum": product(lambda f, a, b: f("ij,jk->ik", a, b)),
            "cdist": cdist,
            "vecdot": rows_product,
            "outer": lambda f, g: f(g.vector(), g.vector()),
            "kron": lambda f, g: f(g.array(shape=(g.rows % 99, 5)), g.array(shape=(3, 4))),
            "addmm baddbmm": added,
            "linear": linear,
            "linear_backward": linear_backward,
        },
    ),
    **entries(FILLED, {"dot": rows_product, "scaled_matmul": scaled_matmul}),
    **entries(FILLED, {"quantize_fp8": quantize_fp8}, wide=False, copies=True),
}
