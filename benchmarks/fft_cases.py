"""Cases of Fourier transforms: inputs, our call, NumPy's, torch's."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

import stator

from .domains import Interval
from .inputs import SHAPES, Pool

if TYPE_CHECKING:
    from .cases import Plan

Arrays = tuple[np.ndarray, ...]
ONE = Interval(-1, 1)
FREQUENCIES = ("fftfreq", "rfftfreq")


def _matrix(plan: Plan, pool: Pool, turn: int) -> Arrays:
    """Sides that are powers of two would flatter us; these are what users have."""
    shape = SHAPES[plan.size][:: -1 if plan.layout == "transposed" else 1]
    return (pool.array(shape, plan.dtype, ONE, turn, plan.layout),)


def _two(plan: Plan, pool: Pool, turn: int) -> Arrays:
    (x,) = _matrix(plan, pool, turn)
    return x, pool.array(x.shape, plan.dtype, ONE, turn + 50)


def _torch(name: str) -> Callable[..., Any] | None:
    if name == "fftconvolve" or name in FREQUENCIES:
        return None
    return lambda x: getattr(import_module("torch").fft, name)(x)


def _convolve(a: Any, b: Any) -> Any:
    return import_module("scipy.signal").fftconvolve(a, b, axes=-1)


def _frequencies(name: str) -> tuple[Any, ...]:
    def ours(plan: Plan) -> Any:
        return getattr(stator.fft, name)(plan.size, dtype=plan.dtype)

    def numpy(plan: Plan) -> Any:
        return getattr(np.fft, name)(plan.size).astype(plan.dtype)

    return ours, numpy


def case(name: str, plan: Plan) -> tuple[Any, ...]:
    """What others.Other takes."""
    if name in FREQUENCIES:
        ours, numpy = _frequencies(name)
        return lambda *_: (), partial(ours, plan), partial(numpy, plan)
    if name == "fftconvolve":
        return _two, partial(stator.fft.fftconvolve, axes=-1), _convolve
    return _matrix, getattr(stator.fft, name), getattr(np.fft, name), _torch(name)


NAMES = [f"{kind}fft{many}" for many in ("", "2", "n") for kind in ("", "i", "r", "ir")] + [
    "hfft",
    "ihfft",
    "fftshift",
    "ifftshift",
    *FREQUENCIES,
    "fftconvolve",
]
