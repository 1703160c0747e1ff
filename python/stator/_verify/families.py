"""Calls of products of matrices, Fourier transforms and random numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import stator
from stator._verify.compare import Answer
from stator._verify.domains import Values
from stator._verify.given import Given
from stator._verify.operations import AXIS, DENSE, FILLED, ONCE, Operation, register
from stator._verify.sparse import terms

Function = Callable[..., Any]


def factor(given: Given, rows: int, columns: int) -> tuple[stator.Array, Values]:
    """A matrix and its values on the host."""
    x = given.draw((rows, columns), (-1, 1) if given.floating else (-4, 4))
    if given.layout == "broadcast" and rows:
        x = np.repeat(x[:1], rows, axis=0)
        return given.repeated(x[:1], x.shape), x
    return given.on(x), x


def sizes(given: Given) -> tuple[int, int, int]:
    return (260, 300, 140) if given.large else (given.rows, 65, 17)


def product(call: Callable[..., Any]) -> Callable[[Function, Given], Any]:
    """A call of (function, a, b) whose errors are relative to the sum of the terms' magnitudes."""

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
    scales = (terms(g, right), terms(g.T, left), np.sum(np.abs(g).astype(np.float64), axis=0))
    return [Answer(found, scale) for found, scale in zip(f(grad, x, w), scales, strict=True)]


def scaled_matmul(f: Function, given: Given) -> Any:
    """Of codes of eight-bit floats that are not NaN, which are exact in float32."""
    m, k, n = (64, 96, 48) if given.large else (32, 64, 16)
    codes = [given.rng.integers(0, 0x40, s).astype(np.uint8) for s in ((m, k), (k, n))]
    a, b = (given.on(c, "uint8") for c in codes)
    one = given.dense(np.full((), 0.5, np.float32), "float32")
    return Answer(f(a, b, one, one, dtype=given.dtype), "largest")


def fourier(**options: Any) -> Callable[[Function, Given], Any]:
    """A transform, whose errors are in the last place of its largest element."""

    def of(f: Function, given: Given) -> Any:
        x = given.array() if given.floating else given.array(range(0, 9))
        return Answer(f(x, **options), "largest")

    return of


def fftconvolve(f: Function, given: Given) -> Any:
    domain = (-4.0, 4.0) if given.floating else range(0, 5)
    return Answer(f(given.array(domain), given.array(domain, (3, 5)), axes=(0, 1)), "largest")


def istft(f: Function, given: Given) -> Any:
    return Answer(f(given.array(shape=(9, 20)), 16), "largest")


def random(f: Callable[..., Any], given: Given) -> Any:
    """Two draws: the second continues the first."""
    options = {"dtype": given.dtype, "device": given.be}
    before: tuple[Any, ...] = {"integers": (1, 100), "gamma": (1.5,), "poisson": (3.0,)}.get(given.cell.op, ())
    count = given.rows * given.columns
    return [f(*before, size=size, **options) for size in ((count,), (5, 3))]


def state(f: Function, given: Given) -> Any:
    """The seed and the counter after a draw; on set_state and seed, what is drawn then."""
    device = {"device": given.be}
    if given.cell.op == "get_state":
        given.be.random.uniform(size=9)
        found = f(**device)
        return [found.seed, found.counter]
    if given.cell.op == "set_state":
        before = given.be.random.get_state()
        drawn = given.be.random.uniform(size=9)
        f(before, **device)
        return [drawn, given.be.random.uniform(size=9)]
    given.be.random.seed(17)
    return given.be.random.uniform(size=9)


def dropout(f: Function, given: Given) -> Any:
    if given.cell.op == "dropout":
        return f(given.array(), 0.25)[0]
    if given.cell.op == "dropout_add":
        return f(given.array(), given.array(), 0.25)[0]
    return f(given.array(), 0.25, given.be.random.get_state())


def multinomial(f: Function, given: Given) -> Any:
    weights = stator.astype(given.on(np.ones(7, given.draw((1,)).dtype)), given.dtype)
    return f(1000 if given.large else 20, stator.divide(stator.astype(weights, "float64"), 7), 3)


def add(into: dict[str, Operation]) -> None:
    register(
        into,
        AXIS,
        {
            "matmul": product(lambda f, a, b: f(a, b)),
            "tensordot": product(lambda f, a, b: f(a, b, axes=1)),
            "einsum": product(lambda f, a, b: f("ij,jk->ik", a, b)),
            "cdist": lambda f, g: [f(g.array(shape=(40, 9)), g.array(shape=(g.rows % 99, 9)), p=p) for p in (1, 2, 3)],
            "vecdot": rows_product,
            "outer": lambda f, g: f(g.vector(), g.vector()),
            "kron": lambda f, g: f(g.array(shape=(g.rows % 99, 5)), g.array(shape=(3, 4))),
            "addmm baddbmm": added,
            "linear": linear,
            "linear_backward": linear_backward,
        },
    )
    register(into, FILLED, {"dot": rows_product, "scaled_matmul": scaled_matmul})
    register(
        into, FILLED, {"quantize_fp8": lambda f, g: [f(g.array()), f(g.array(), format="e5m2", axis=1)]}, wide=False
    )
    register(
        into,
        FILLED,
        {
            "fft ifft rfft irfft hfft ihfft": fourier(axis=1),
            "fft2 ifft2 rfft2 irfft2 fftn ifftn rfftn irfftn": fourier(axes=(0, 1)),
            "fftconvolve": fftconvolve,
            "stft": lambda f, g: Answer(f(g.array(shape=(g.rows % 99, 200)), 16), "largest"),
            "istft": istft,
        },
    )
    register(into, AXIS, {"fftshift ifftshift": lambda f, g: f(g.array())}, wide=False)
    register(into, DENSE, {"uniform normal exponential bernoulli integers gamma poisson": random}, wide=False)
    register(into, ONCE, {"seed get_state set_state": state}, wide=False)
    register(
        into,
        ("contiguous", "large"),
        {
            "fftfreq rfftfreq": lambda f, g: f(g.rows * 3, dtype=g.dtype, device=g.be),
            "multinomial": multinomial,
        },
        wide=False,
    )
    register(
        into,
        AXIS,
        {
            "dropout dropout_add dropout_backward": dropout,
            "gumbel_softmax": lambda f, g: f(g.array((-2, 2)), rng=7)[0],
            "permutation": lambda f, g: f(g.array(), device=g.be),
        },
        wide=False,
    )
    register(into, FILLED, {"choice": lambda f, g: f(g.array(), (9,), device=g.be)}, wide=False)
