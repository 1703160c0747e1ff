"""Window functions: float64 vectors of M points, symmetric."""

from __future__ import annotations

from collections.abc import Callable

import stator
from stator import special
from stator._array import Array
from stator.numpy import _convert
from stator.numpy._rows import differs, same


def _window(M: float, values: Callable[[Array, float], Array]) -> Array:
    """values(n, M - 1) of n = 1 - M, 3 - M, ..., M - 1; one for a single point, nothing for none."""
    M = _convert.on_python(M)
    if M < 1:
        return stator.zeros((0,))
    if M == 1:
        return stator.ones((1,))
    return values(stator.arange(1 - M, M, 2, dtype="float64"), M - 1)


@same
def bartlett(M: float) -> Array:
    """The triangular window of M points, 0 at both ends."""
    return _window(M, lambda n, last: 1 - stator.abs(n) / last)


@same
def hanning(M: float) -> Array:
    """The Hann window of M points, 0 at both ends."""
    return _window(M, lambda n, last: 0.5 + 0.5 * stator.cos(n * (stator.pi / last)))


@same
def hamming(M: float) -> Array:
    """The Hamming window of M points."""
    return _window(M, lambda n, last: 0.54 + 0.46 * stator.cos(n * (stator.pi / last)))


@same
def blackman(M: float) -> Array:
    """The Blackman window of M points."""

    def values(n: Array, last: float) -> Array:
        angle = n * (stator.pi / last)
        return 0.42 + 0.5 * stator.cos(angle) + 0.08 * stator.cos(2 * angle)

    return _window(M, values)


@differs("Has values where NumPy divides infinities, which it does for beta beyond 713")
def kaiser(M: float, beta: float) -> Array:
    """The Kaiser window of M points and shape beta."""

    def values(n: Array, last: float) -> Array:
        n = 2 * stator.arange(0, last + 1, dtype="float64") - last  # of a fraction of a point one more
        ratio, shape = n / last, abs(float(beta))  # i0 is even
        root = shape * stator.sqrt(1 - ratio * ratio)
        # By scaled Bessel functions, since i0 itself overflows beyond 713.
        top = special.i0e(root) * stator.exp(root - shape)
        return top / special.i0e(stator.full((), shape))

    return _window(M, values)
