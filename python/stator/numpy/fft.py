"""numpy.fft on stator's arrays. Asynchronous; dtypes as in stator.fft."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from stator import fft as _fft
from stator._array import Array
from stator._namespace import missing
from stator.errors import InvalidValueError
from stator.numpy import _convert, _rows
from stator.numpy._convert import ArrayLike, Axes, Out
from stator.numpy._rows import differs, same

Lengths = Sequence[int] | None
Norm = str | None


def _line(name: str, a: ArrayLike, n: int | None, axis: int, norm: Norm, out: Out) -> Array:
    """A transform along one axis."""
    op = f"fft.{name}"
    x = _convert.array(a, op)
    transform: Callable[..., Array] = getattr(_fft, name)
    found = transform(x, n=n, axis=axis, norm="backward" if norm is None else norm)
    if x.dtype.name == "float16" and name in ("irfft", "hfft"):
        found = found.astype("float16")
    return _convert.store(found, out, op)


def _block(name: str, a: ArrayLike, s: Lengths, axes: Axes, norm: Norm, out: Out) -> Array:
    """A transform along several axes. Axes that are named twice are transformed twice, from the last, as in NumPy."""
    op = f"fft.{name}"
    x = _convert.array(a, op)
    norm = "backward" if norm is None else norm
    if axes is not None:
        axes = [_convert.axis(k, x.ndim, op) for k in axes]  # type: ignore[union-attr]
        if s is not None and len(s) != len(axes):
            raise InvalidValueError(f"{len(s)} lengths for {len(axes)} axes", op=op, remedy="Give one for each axis.")
        if len(set(axes)) < len(axes):
            given = [None] * len(axes) if s is None else list(s)
            lengths = [x.shape[k] if n in (None, -1) else n for n, k in zip(given, axes, strict=True)]
            if name == "irfftn" and given[-1] in (None, -1):
                lengths[-1] = 2 * (x.shape[axes[-1]] - 1)
            return _convert.store(_repeated(name, x, lengths, axes, norm), out, op)
    transform: Callable[..., Array] = getattr(_fft, name)
    return _convert.store(transform(x, s=s, axes=axes, norm=norm), out, op)


def _repeated(name: str, x: Array, s: Sequence[int | None], axes: Sequence[int], norm: str) -> Array:
    inverse, real = "ifft" if name.startswith("i") else "fft", "rfft" in name
    steps = list(zip(s, axes, strict=True))
    transform: Callable[..., Array] = getattr(_fft, inverse)
    if real and inverse == "fft":
        n, axis = steps.pop()
        x = _fft.rfft(x, n=n, axis=axis, norm=norm)
        steps.reverse()
    elif not real:
        steps.reverse()
    last = steps.pop() if real and inverse == "ifft" else None
    for n, axis in steps:
        x = transform(x, n=n, axis=axis, norm=norm)
    return x if last is None else _fft.irfft(x, n=last[0], axis=last[1], norm=norm)


@same
def fft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: Norm = None, out: Out = None) -> Array:
    """The discrete Fourier transform along an axis, of n points."""
    return _line("fft", a, n, axis, norm, out)


@same
def ifft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: Norm = None, out: Out = None) -> Array:
    """The inverse of fft."""
    return _line("ifft", a, n, axis, norm, out)


@same
def rfft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: Norm = None, out: Out = None) -> Array:
    """The first n // 2 + 1 points of fft of real input."""
    return _line("rfft", a, n, axis, norm, out)


@same
def irfft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: Norm = None, out: Out = None) -> Array:
    """The inverse of rfft: n real points, by default 2 (m - 1)."""
    return _line("irfft", a, n, axis, norm, out)


@same
def hfft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: Norm = None, out: Out = None) -> Array:
    """The real transform of the Hermitian signal of which a is the first half."""
    return _line("hfft", a, n, axis, norm, out)


@same
def ihfft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: Norm = None, out: Out = None) -> Array:
    """The inverse of hfft."""
    return _line("ihfft", a, n, axis, norm, out)


@same
def fftn(a: ArrayLike, s: Lengths = None, axes: Axes = None, norm: Norm = None, out: Out = None) -> Array:
    """fft along several axes, by default all or the last len(s)."""
    return _block("fftn", a, s, axes, norm, out)


@same
def ifftn(a: ArrayLike, s: Lengths = None, axes: Axes = None, norm: Norm = None, out: Out = None) -> Array:
    """The inverse of fftn."""
    return _block("ifftn", a, s, axes, norm, out)


@same
def rfftn(a: ArrayLike, s: Lengths = None, axes: Axes = None, norm: Norm = None, out: Out = None) -> Array:
    """rfft along the last of the axes, fft along the others."""
    return _block("rfftn", a, s, axes, norm, out)


@same
def irfftn(a: ArrayLike, s: Lengths = None, axes: Axes = None, norm: Norm = None, out: Out = None) -> Array:
    """The inverse of rfftn."""
    return _block("irfftn", a, s, axes, norm, out)


@same
def fft2(a: ArrayLike, s: Lengths = None, axes: Axes = (-2, -1), norm: Norm = None, out: Out = None) -> Array:
    """fftn along two axes."""
    return _block("fftn", a, s, axes, norm, out)


@same
def ifft2(a: ArrayLike, s: Lengths = None, axes: Axes = (-2, -1), norm: Norm = None, out: Out = None) -> Array:
    """The inverse of fft2."""
    return _block("ifftn", a, s, axes, norm, out)


@same
def rfft2(a: ArrayLike, s: Lengths = None, axes: Axes = (-2, -1), norm: Norm = None, out: Out = None) -> Array:
    """rfftn along two axes."""
    return _block("rfftn", a, s, axes, norm, out)


@same
def irfft2(a: ArrayLike, s: Lengths = None, axes: Axes = (-2, -1), norm: Norm = None, out: Out = None) -> Array:
    """The inverse of rfft2."""
    return _block("irfftn", a, s, axes, norm, out)


@same
def fftshift(x: ArrayLike, axes: Axes = None) -> Array:
    """x rolled so that frequency 0 is in the middle."""
    return _fft.fftshift(_convert.array(x, "fft.fftshift"), axes=axes)


@same
def ifftshift(x: ArrayLike, axes: Axes = None) -> Array:
    """The inverse of fftshift."""
    return _fft.ifftshift(_convert.array(x, "fft.ifftshift"), axes=axes)


def _points(n: int, op: str) -> int:
    if not hasattr(n, "__index__"):
        raise InvalidValueError(f"n={n!r}", op=op, remedy="Pass an integer.")
    return n


@differs("device takes stator's devices and backends.")
def fftfreq(n: int, d: float = 1.0, device: Any = None) -> Array:
    """The n frequencies of the points of fft, for samples of spacing d."""
    return _fft.fftfreq(_points(n, "fft.fftfreq"), d=d, device=device)


@differs("device takes stator's devices and backends.")
def rfftfreq(n: int, d: float = 1.0, device: Any = None) -> Array:
    """The n // 2 + 1 frequencies of the points of rfft."""
    return _fft.rfftfreq(_points(n, "fft.rfftfreq"), d=d, device=device)


__all__ = sorted(_rows.namespace("fft."))


def __dir__() -> list[str]:
    return [*__all__]


if not TYPE_CHECKING:
    __getattr__ = missing(__name__, __all__)
