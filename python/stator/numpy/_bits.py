"""Bits of bytes, and numbers in other bases."""

from __future__ import annotations

import numpy as np

import stator
from stator._array import Array
from stator.errors import DTypeError, InvalidValueError
from stator.numpy import _convert
from stator.numpy._convert import ArrayLike
from stator.numpy._rows import same


@same
def base_repr(number: int, base: int = 2, padding: int = 0) -> str:
    """An integer as text in a base from 2 to 36."""
    return np.base_repr(number, base, padding)


@same
def binary_repr(num: int, width: int | None = None) -> str:
    """An integer as bits; a negative one as its two's complement where a width is given."""
    return np.binary_repr(num, width)


def _shifts(x: Array, bitorder: str, op: str) -> Array:
    if bitorder not in ("big", "little"):
        raise InvalidValueError(f"bitorder={bitorder!r}", op=op, remedy="Pass 'big' or 'little'.")
    shifts = stator.arange(8, dtype="uint8", device=x.backend)
    return stator.flip(shifts) if bitorder == "big" else shifts


def _along_last(x: Array, axis: int | None, op: str) -> tuple[Array, int]:
    if axis is None:
        return stator.ravel(x), 0
    at = _convert.axis(axis, x.ndim, op)
    return stator.moveaxis(x, at, -1), at


@same
def packbits(a: ArrayLike, /, axis: int | None = None, bitorder: str = "big") -> Array:
    """Bools or integers, of which 0 is False, as bits of uint8 along an axis, or of the flattened array."""
    op = "packbits"
    x = _convert.array(a, op)
    if x.dtype != stator.bool and x.dtype.kind not in "iu":
        raise DTypeError(f"The array has dtype {x.dtype}", op=op, remedy="Pass bools or integers.")
    shifts = _shifts(x, bitorder, op)
    bits, at = _along_last((x != 0).astype("uint8"), axis, op)
    n = bits.shape[-1]
    if n % 8:
        bits = stator.pad(bits, [(0, 0)] * (bits.ndim - 1) + [(0, 8 - n % 8)])
    groups = stator.reshape(bits, (*bits.shape[:-1], (n + 7) // 8, 8))
    packed = stator.sum(stator.bitwise_left_shift(groups, shifts), axis=-1, dtype="uint8")
    return stator.moveaxis(packed, -1, at)


@same
def unpackbits(a: ArrayLike, /, axis: int | None = None, count: int | None = None, bitorder: str = "big") -> Array:
    """The bits of uint8 as uint8 along an axis, or of the flattened array; count: how many, negative: how many less."""
    op = "unpackbits"
    x = _convert.array(a, op)
    if x.dtype != stator.uint8:
        raise DTypeError(f"The array has dtype {x.dtype}", op=op, remedy="Pass uint8.")
    shifts = _shifts(x, bitorder, op)
    flat, at = _along_last(x, axis, op)
    bits = stator.bitwise_and(stator.bitwise_right_shift(stator.expand_dims(flat, axis=-1), shifts), 1)
    n = flat.shape[-1] * 8
    bits = stator.reshape(bits, (*flat.shape[:-1], n))
    if count is not None:
        if count < -n:
            raise InvalidValueError(f"count={count} of {n} bits", op=op, remedy=f"Pass at least {-n}.")
        if count > n:
            bits = stator.pad(bits, [(0, 0)] * (bits.ndim - 1) + [(0, count - n)])
        bits = bits[..., : count if count >= 0 else n + count]
    return stator.moveaxis(bits, -1, at)
