"""The cases of Fourier transforms: inputs, and the calls of stator, NumPy and torch."""

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
    """A matrix whose sides are not powers of two, which would be the best case and are not typical."""
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


FRAME, HOP = 512, 128


def _signal(plan: Plan, pool: Pool, turn: int) -> Arrays:
    """Sixteen signals, each at least a few frames long."""
    return (pool.array((16, max(plan.size // 16, 4 * FRAME)), plan.dtype, ONE, turn),)


def _window(x: Any) -> np.ndarray:
    return np.hamming(FRAME).astype(x.real.dtype)


def _stft(x: np.ndarray) -> np.ndarray:
    padded = np.pad(x, ((0, 0), (FRAME // 2, FRAME // 2)), mode="reflect")
    frames = np.lib.stride_tricks.sliding_window_view(padded, FRAME, axis=-1)[:, ::HOP] * _window(x)
    return (np.fft.fft if np.iscomplexobj(x) else np.fft.rfft)(frames).swapaxes(1, 2)


def _spectrum(plan: Plan, pool: Pool, turn: int) -> Arrays:
    frames = max(plan.size // 16 // HOP, 16)
    return (pool.array((16, FRAME // 2 + 1, frames), plan.dtype, ONE, turn),)


def _istft(x: np.ndarray) -> np.ndarray:
    frames = np.fft.irfft(x.swapaxes(1, 2)) * _window(x)
    count = frames.shape[1]
    out, squares = np.zeros((len(x), (count + 3) * HOP), frames.dtype), np.zeros((count + 3) * HOP, frames.dtype)
    for part in range(4):  # quarters of a frame do not overlap
        at = slice(part * HOP, (part + 1) * HOP)
        whole = slice(part * HOP, (part + count) * HOP)
        out[:, whole] += frames[:, :, at].reshape(len(x), -1)
        squares[whole] += np.tile(_window(x)[at] ** 2, count)
    return (out / squares)[:, FRAME // 2 : -FRAME // 2]


def _frames(name: str) -> tuple[Any, ...]:
    def ours(x: stator.Array) -> Any:
        window = stator.asarray(_window(np.empty(0, str(x.dtype))), device=x.backend)
        return getattr(stator.fft, name)(x, FRAME, window=window)

    return (_signal, ours, _stft) if name == "stft" else (_spectrum, ours, _istft)


def case(name: str, plan: Plan) -> tuple[Any, ...]:
    """The arguments of others.Other."""
    if name in FREQUENCIES:
        ours, numpy = _frequencies(name)
        return lambda *_: (), partial(ours, plan), partial(numpy, plan)
    if name == "fftconvolve":
        return _two, partial(stator.fft.fftconvolve, axes=-1), _convolve
    if name in ("stft", "istft"):
        return _frames(name)
    return _matrix, getattr(stator.fft, name), getattr(np.fft, name), _torch(name)


NAMES = [f"{kind}fft{many}" for many in ("", "2", "n") for kind in ("", "i", "r", "ir")] + [
    "hfft",
    "ihfft",
    "fftshift",
    "ifftshift",
    *FREQUENCIES,
    "fftconvolve",
    "stft",
    "istft",
]
