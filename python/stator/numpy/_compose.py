"""Elementwise functions that are composed of several ops, hence of several launches."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import stator
from stator._array import Array
from stator.numpy import _convert

# Per floating dtype: the signed integer of its width, the bits of the mantissa, the bias of the exponent.
LAYOUT = {"float16": ("int16", 10, 15), "float32": ("int32", 23, 127), "float64": ("int64", 52, 1023)}


def both(x1: Any, x2: Any) -> tuple[Array, Array]:
    """Two operands as arrays of their common dtype and shape."""
    kind = stator.result_type(x1, x2)
    like = _convert.first_array((x1, x2))
    a, b = (_convert.array(v, "ufunc", like=like).astype(kind, copy=False) for v in (x1, x2))
    a, b = stator.broadcast_arrays(a, b)
    return a, b


def float_power(x1: Any, x2: Any) -> Any:
    """x1 to the power x2, in float64 or complex128."""
    given = [x1, x2]
    like = _convert.array(_convert.first_array(given), "float_power")
    kind = "complex128" if stator.result_type(x1, x2).kind == "c" else "float64"
    a, b = (_convert.assigned(v, stator.dtype(kind), "float_power", like=like) for v in given)
    return stator.pow(a, b)


def divmod(x1: Any, x2: Any) -> tuple[Array, Array]:
    """The floor of the quotient, and the remainder, in two launches."""
    return stator.floor_divide(x1, x2), stator.remainder(x1, x2)


def modf(x: Array) -> tuple[Array, Array]:
    """The fractional and the integral part, both with the sign of x."""
    whole = stator.trunc(x)
    rest = stator.where(stator.isinf(x), 0.0, stator.subtract(x, whole)).astype(x.dtype, copy=False)
    return stator.copysign(rest, x), whole


def ldexp(x1: Array, x2: Any) -> Array:
    """x1 * 2**x2, rounded once."""
    x = _convert.array(x1, "ldexp")
    shift = _convert.array(x2, "ldexp", like=x).astype("int64")
    if x.dtype.name != "float64":
        wide = ldexp(x.astype("float64"), stator.clip(shift, -400, 400))
        return wide.astype(x.dtype)
    mantissa, power = stator.frexp(x)
    total = stator.clip(stator.add(stator.clip(shift, -5000, 5000), power.astype("int64")), -1100, 1100)
    first = stator.clip(total, -1021, 1023)
    return stator.multiply(stator.multiply(mantissa, power_of_two(first)), power_of_two(stator.subtract(total, first)))


def power_of_two(k: Array) -> Array:
    """2**k as float64 for int64 k from -1022 to 1023, exactly."""
    return stator.copy(stator.bitwise_left_shift(stator.add(k, 1023), 52)).view("float64")


def spacing(x: Array) -> Array:
    """The distance to the next number away from zero, with the sign of x."""
    size = stator.copy(stator.abs(x))
    top = float(np.finfo(x.dtype.numpy()).max)
    end = stator.equal(size, top)  # the number after the largest is not a number: the one before it is as far
    bits = size.view(LAYOUT[x.dtype.name][0])
    near = stator.where(end, stator.subtract(bits, 1), stator.add(bits, 1)).view(x.dtype)
    gap = stator.copysign(stator.abs(stator.subtract(near, size)), x)
    return stator.where(stator.isfinite(x), gap, math.nan).astype(x.dtype, copy=False)


def bitwise_count(x: Array) -> Array:
    """The number of ones in the binary form of |x|, as uint8: a dozen launches."""
    bits = stator.abs(x) if x.dtype.kind == "i" else x
    bits = stator.bitwise_and(bits.astype("uint64"), (1 << 64) - 1)

    def masked(value: Array, shift: int, mask: int) -> Array:
        return stator.bitwise_and(stator.bitwise_right_shift(value, shift), mask)

    bits = stator.subtract(bits, masked(bits, 1, 0x5555555555555555))
    bits = stator.add(masked(bits, 0, 0x3333333333333333), masked(bits, 2, 0x3333333333333333))
    bits = stator.bitwise_and(stator.add(bits, stator.bitwise_right_shift(bits, 4)), 0x0F0F0F0F0F0F0F0F)
    return stator.bitwise_right_shift(stator.multiply(bits, 0x0101010101010101), 56).astype("uint8")


def reciprocal(x: Array) -> Array:
    """1 / x; of integers without its fraction, which leaves 1, -1 and 0."""
    if x.dtype.kind not in "iu":
        return stator.reciprocal(x)
    return stator.where(stator.equal(stator.abs(x), 1), x, 0)


def integral(name: str) -> Any:
    """A rounding function, which leaves integers as they are."""
    op = getattr(stator, name)

    def compute(x: Array) -> Any:
        return stator.copy(x) if x.dtype.kind in "iu" else op(x)

    compute.__doc__ = op.__doc__
    compute.__name__ = name
    return compute


def extreme(name: str) -> Any:
    """maximum, minimum, fmax or fmin, with complex numbers ordered by real part, then by imaginary part."""
    op = getattr(stator, name)
    largest, skips = name.endswith("max") or name == "maximum", name.startswith("f")

    def compute(x1: Any, x2: Any) -> Any:
        if stator.result_type(x1, x2).kind != "c":
            return op(x1, x2)
        a, b = both(x1, x2)
        order = stator.greater if largest else stator.less
        real, imag = (stator.real(a), stator.real(b)), (stator.imag(a), stator.imag(b))
        first = stator.logical_or(order(*real), stator.logical_and(stator.equal(*real), order(*imag)))
        first = stator.logical_or(first, stator.logical_and(stator.equal(*real), stator.equal(*imag)))
        nan = stator.isnan(b if skips else a)
        first = stator.logical_or(first, nan)
        blocked = stator.isnan(a if skips else b)
        chosen = stator.where(stator.logical_and(first, stator.logical_or(nan, stator.logical_not(blocked))), a, b)
        return chosen

    compute.__doc__ = op.__doc__
    compute.__name__ = name
    return compute


def ordered(name: str) -> Any:
    """A comparison, of complex numbers by the real part, then by the imaginary part."""
    op = getattr(stator, name)

    def compute(x1: Any, x2: Any) -> Any:
        if stator.result_type(x1, x2).kind != "c":
            return op(x1, x2)
        a, b = both(x1, x2)
        tie = stator.equal(stator.real(a), stator.real(b))
        strict = stator.greater if "greater" in name else stator.less
        by_imag = op(stator.imag(a), stator.imag(b))
        return stator.where(tie, by_imag, strict(stator.real(a), stator.real(b)))

    compute.__doc__ = op.__doc__
    compute.__name__ = name
    return compute
