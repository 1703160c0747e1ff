"""The cases of Fourier transforms."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

import stator

from .cases import Other, Others, Plan
from .inputs import ONE, arrays, nothing, shape_of, shaped
from .table import numpy_dtype
from .torch_peer import torch

FRAME, HOP = 512, 128
# Sixteen signals, each at least a few frames long, and spectra.
SIGNAL = shaped(lambda p: [(16, max(p.size // 16, 4 * FRAME))], ONE)
SPECTRUM = shaped(lambda p: [(16, FRAME // 2 + 1, max(p.size // 16 // HOP, 16))], ONE)


def _transform(name: str) -> Other:
    """Of a matrix whose sides are not powers of two, which would be the best case and are not typical."""
    return Other(arrays(ONE), torch=lambda x: getattr(torch.fft, name)(x))


def _frequencies(name: str, be: stator.Backend, p: Plan) -> Other:
    ours = partial(getattr(stator.fft, name), p.size, dtype=p.dtype)
    return Other(nothing, ours, lambda: getattr(np.fft, name)(p.size).astype(p.dtype))


def _two(plan: Plan, pool: Any, turn: int) -> Any:
    (x,) = arrays(ONE)(plan, pool, turn)
    return x, pool.array(shape_of(plan), plan.dtype, ONE, turn + 50)


def _convolve(a: Any, b: Any) -> Any:
    return import_module("scipy.signal").fftconvolve(a, b, axes=-1)


def _window(dtype: np.dtype) -> np.ndarray:
    """In the precision of the transform, for halves that of float32: integers would be zeros."""
    return np.hamming(FRAME).astype(np.float64 if dtype.char in "dD" or dtype.kind in "biu" else np.float32)


def _stft(x: np.ndarray) -> np.ndarray:
    padded = np.pad(x, ((0, 0), (FRAME // 2, FRAME // 2)), mode="reflect")
    frames = np.lib.stride_tricks.sliding_window_view(padded, FRAME, axis=-1)[:, ::HOP] * _window(x.dtype)
    return (np.fft.fft if np.iscomplexobj(x) else np.fft.rfft)(frames).swapaxes(1, 2)


def _istft(x: np.ndarray) -> np.ndarray:
    window = _window(x.dtype)
    frames = np.fft.irfft(x.swapaxes(1, 2)) * window
    count = frames.shape[1]
    out, squares = np.zeros((len(x), (count + 3) * HOP), frames.dtype), np.zeros((count + 3) * HOP, frames.dtype)
    for part in range(4):  # quarters of a frame do not overlap
        at = slice(part * HOP, (part + 1) * HOP)
        whole = slice(part * HOP, (part + count) * HOP)
        out[:, whole] += frames[:, :, at].reshape(len(x), -1)
        squares[whole] += np.tile(window[at] ** 2, count)
    return (out / squares)[:, FRAME // 2 : -FRAME // 2]


def _frames(name: str, x: stator.Array) -> stator.Array:
    window = stator.asarray(_window(numpy_dtype(str(x.dtype))), device=x.backend)
    return getattr(stator.fft, name)(x, FRAME, window=window)


TRANSFORMS = [f"{kind}fft{many}" for many in ("", "2", "n") for kind in ("", "i", "r", "ir")]
FFT: Others = {
    **{name: _transform(name) for name in (*TRANSFORMS, "hfft", "ihfft", "fftshift", "ifftshift")},
    **{name: partial(_frequencies, name) for name in ("fftfreq", "rfftfreq")},
    "fftconvolve": Other(_two, partial(stator.fft.fftconvolve, axes=-1), _convolve),
    "stft": Other(SIGNAL, partial(_frames, "stft"), _stft),
    "istft": Other(SPECTRUM, partial(_frames, "istft"), _istft),
}
