"""What the distributions are made of: draws of stator's generator, parameters, shapes and rounds of rejection."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

import stator
from stator._array import Array
from stator._dtype import DType
from stator.errors import DTypeError, InvalidValueError, NumberRangeError, ShapeError
from stator.numpy import _convert
from stator.numpy._convert import ArrayLike, Out
from stator.random import Generator as Bits

Size: TypeAlias = int | Sequence[int] | None
Parameter: TypeAlias = float | Array  # arrays are float64

# What a parameter may be: a test of NumPy's values, and the remedy.
Rule: TypeAlias = tuple[Callable[[Any], Any], str]
ANY: Rule = (lambda v: v == v, "Pass numbers that are not NaN.")
NOT_NEGATIVE: Rule = (lambda v: v >= 0, "Pass numbers of at least 0.")
POSITIVE: Rule = (lambda v: v > 0, "Pass numbers above 0.")
PROBABILITY: Rule = (lambda v: (v >= 0) & (v <= 1), "Pass numbers from 0 to 1.")
POSITIVE_PROBABILITY: Rule = (lambda v: (v > 0) & (v <= 1), "Pass numbers above 0, up to 1.")
BELOW_ONE: Rule = (lambda v: (v >= 0) & (v < 1), "Pass numbers of at least 0 and below 1.")
ABOVE_ONE: Rule = (lambda v: v > 1, "Pass numbers above 1.")


def _shown(value: Any) -> str:
    """A value for an error; integers of many digits by their number of bits."""
    if isinstance(value, int) and value.bit_length() > 128:
        return f"an integer of {value.bit_length()} bits"
    return f"{value!r:.80}"


def shape_of(size: Size, *parameters: Parameter, op: str) -> tuple[int, ...]:
    """The shape of the draws: size, or for None that to which the parameters broadcast."""
    shapes = [p.shape for p in parameters if isinstance(p, Array)]
    if size is None:
        return tuple(np.broadcast_shapes(*shapes))
    try:
        shape: tuple[int, ...] = (operator.index(size),)  # type: ignore[arg-type]
    except TypeError:
        try:
            shape = tuple(operator.index(n) for n in size)  # type: ignore[union-attr]
        except TypeError:
            raise DTypeError(
                f"Got size={size!r:.80}", op=op, remedy="Pass an integer, a sequence of integers or None."
            ) from None
    if any(n < 0 for n in shape):
        raise InvalidValueError(f"size={size}", op=op, remedy="Pass lengths of at least 0.")
    if shapes and np.broadcast_shapes(shape, *shapes) != shape:
        raise ShapeError(
            f"Parameters of shapes {shapes} must broadcast to size={size}",
            op=op,
            remedy="Pass size=None, or their shape.",
        )
    return shape


def _require_bounds(low: Any, high: Any, dtype: DType, endpoint: bool, op: str) -> None:
    """What NumPy wants of bounds: low < high, or low <= high with endpoint, and both within the dtype."""
    first, last = np.asarray(low, dtype=object), np.asarray(high, dtype=object) - (not endpoint)
    if np.any(first > last):
        raise InvalidValueError(
            f"low={low!r}, high={high!r}", op=op, remedy="Pass low < high, or low <= high with endpoint=True."
        )
    limits = np.iinfo(np.uint8) if dtype == stator.bool else np.iinfo(dtype.numpy())
    if np.any(first < limits.min) or np.any(last > limits.max):
        raise InvalidValueError(
            f"low={low!r}, high={high!r} for {dtype}", op=op, remedy=f"Pass bounds that {dtype} holds."
        )


def _bits64(x: Array) -> Array:
    """Integers modulo 2**64, as uint64."""
    return stator.copy(x if x.itemsize == 8 else x.astype("int64")).view("uint64")


class Draws:
    """A generator's draws as float64 arrays of one shape."""

    def __init__(self, bit_generator: Bits) -> None:
        if not isinstance(bit_generator, Bits):
            raise DTypeError(
                f"bit_generator of type {type(bit_generator).__name__}",
                op="random.Generator",
                remedy="Pass a stator.random.Generator, or call default_rng(seed).",
            )
        self._bits = bit_generator

    @property
    def bit_generator(self) -> Bits:
        """The generator of stator that draws the bits."""
        return self._bits

    def _unit(self, shape: tuple[int, ...]) -> Array:
        """Uniform in [0, 1)."""
        return self._bits.uniform(size=shape)

    def _normal(self, shape: tuple[int, ...]) -> Array:
        return self._bits.normal(size=shape)

    def _exponential(self, shape: tuple[int, ...]) -> Array:
        return self._bits.exponential(size=shape)

    def _parameter(self, op: str, name: str, value: ArrayLike, rule: Rule) -> Parameter:
        """A number or an array. Numbers and lists are checked; arrays are not, since that would wait for the device."""
        holds, remedy = rule
        if isinstance(value, Array):
            return value.astype("float64", copy=False) if value.ndim else value.astype("float64")
        if isinstance(value, np.ndarray):
            raise _convert.refused(value, op)
        try:
            host = np.asarray(value, dtype=np.float64)
        except OverflowError:
            raise NumberRangeError(
                f"Got {name}={_shown(value)}, which float64 does not hold", op=op, remedy="Pass numbers below 1.8e308."
            ) from None
        except (TypeError, ValueError):
            raise DTypeError(f"Got {name}={value!r}", op=op, remedy="Pass a number, a list or an Array.") from None
        if not np.all(holds(host)):
            raise InvalidValueError(f"Got {name}={_shown(value)}", op=op, remedy=remedy)
        return float(host) if host.ndim == 0 else stator.asarray(host, device=self._bits.backend)

    def _rounds(
        self, shape: tuple[int, ...], parameters: Sequence[Parameter], candidates: Callable[..., tuple[Array, Array]]
    ) -> Array:
        """Draws by rejection. candidates(n, *parameters) gives n values and which of them are rejected.

        Each round draws again what the one before rejected, and waits for their number.
        """
        n = math.prod(shape)
        flat = [stator.ravel(stator.broadcast_to(p, shape)) if isinstance(p, Array) else p for p in parameters]
        result, rejected = candidates(n, *flat)
        left = stator.nonzero(rejected)[0]
        while left.shape[0]:
            here = [p[left] if isinstance(p, Array) else p for p in flat]
            values, rejected = candidates(left.shape[0], *here)
            kept = stator.logical_not(rejected)
            result[left[kept]] = values[kept]
            left = left[rejected]
        return stator.reshape(result, shape)

    def _gamma(self, a: Parameter, shape: tuple[int, ...]) -> Array:
        """Gamma draws of scale 1.

        For arrays of parameters by Marsaglia and Tsang, "A simple method for generating gamma variables", ACM TOMS 26
        (2000), below 1 by the power of a uniform draw that takes a + 1 to a.
        """
        if not isinstance(a, Array):
            if a == 0:
                return stator.zeros(shape, device=self._bits.backend)
            return self._bits.gamma(a, size=shape)

        def candidates(n: int, a: Array) -> tuple[Array, Array]:
            d = stator.where(a < 1, a + 1, a) - 1 / 3
            x = self._normal((n,))
            root = 1 + x / stator.sqrt(9 * d)
            v = root * root * root
            u = self._exponential((n,))  # minus the logarithm of a uniform draw
            bound = 0.5 * x * x + d - d * v + d * stator.log(v)
            return d * v, stator.logical_or(root <= 0, -u > bound)

        drawn = self._rounds(shape, (a,), candidates)
        return stator.where(a < 1, drawn * stator.exp(-self._exponential(shape) / a), drawn)

    def _log_gamma(self, a: Parameter, shape: tuple[int, ...]) -> Array:
        """Logarithms of gamma draws, which are finite where the draws themselves underflow."""
        return stator.log(self._gamma(a + 1, shape)) - self._exponential(shape) / a

    def _integers(self, low: ArrayLike, high: ArrayLike, size: Size, dtype: DType, endpoint: bool) -> Array:
        """Integers between arrays of bounds: bits modulo the width, those beyond its last multiple drawn again."""
        op = "random.integers"
        if not isinstance(low, Array) and not isinstance(high, Array):
            _require_bounds(low, high, dtype, endpoint, op)
        first, last = (_bits64(_convert.array(v, op)) for v in (low, high))
        width = last - first + int(endpoint)
        top = 2**64 - 1

        def candidates(n: int, width: Array) -> tuple[Array, Array]:
            bits = self._bits.integers(0, top, (n,), dtype="uint64", endpoint=True)
            every = width == 0  # all of the 2**64 integers
            divisor = stator.where(every, 1, width).astype("uint64")
            last = stator.full((), top, dtype="uint64", device=self._bits.backend)
            surplus = stator.remainder(stator.remainder(last, divisor) + 1, divisor)  # 2**64 modulo the divisor
            value = stator.where(every, bits, stator.remainder(bits, divisor))
            return value, bits > last - surplus

        drawn = self._rounds(shape_of(size, width, op=op), (width,), candidates) + first
        return drawn if dtype == stator.uint64 else drawn.view("int64").astype(dtype, copy=False)

    def _fill(self, draw: Callable[[tuple[int, ...]], Array], size: Size, out: Out, op: str) -> Array:
        """Draws of a size, or into an array."""
        target = _convert.out_array(out, op)
        if target is None:
            return draw(shape_of(size, op=op))
        if size is not None and shape_of(size, op=op) != target.shape:
            raise ShapeError(f"size={size} and an out of shape {target.shape}", op=op, remedy="Pass one of them.")
        return _convert.store(draw(target.shape), target, op)
