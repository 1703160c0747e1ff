"""pad: elements added at the ends of axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import stator
from stator._array import Array
from stator.errors import DTypeError, InvalidValueError
from stator.numpy import _convert
from stator.numpy._convert import ArrayLike
from stator.numpy._creation import linspace
from stator.numpy._quantiles import median
from stator.numpy._reductions import max as largest
from stator.numpy._reductions import mean
from stator.numpy._reductions import min as smallest
from stator.numpy._rows import differs

STATISTICS: dict[str, Callable[..., Array]] = {"maximum": largest, "mean": mean, "median": median, "minimum": smallest}
OPTIONS = {
    **{"constant": "constant_values", "linear_ramp": "end_values", "reflect": "reflect_type", "edge": "", "empty": ""},
    **{"symmetric": "reflect_type", "wrap": ""},
    **dict.fromkeys(STATISTICS, "stat_length"),
}
Pairs = list[list[Any]]


def _pairs(value: Any, ndim: int, name: str) -> Pairs:
    """A pair for each axis of a number, a pair or pairs."""
    host = value.to_numpy() if isinstance(value, Array) else value
    try:
        found: Pairs = np.broadcast_to(np.asarray(host), (ndim, 2)).tolist()
    except ValueError as error:
        raise InvalidValueError(f"{name}: {error}", op="pad", remedy="Give one, a pair, or a pair per axis.") from None
    return found


def _widths(x: Array, pad_width: Any) -> list[tuple[int, int]]:
    if isinstance(pad_width, dict):
        widths = [(0, 0)] * x.ndim
        for key, width in pad_width.items():
            widths[_convert.axis(key, x.ndim, "pad")] = (width, width) if np.ndim(width) == 0 else tuple(width)
        pad_width = widths or 0
    kind = pad_width.dtype.numpy() if isinstance(pad_width, Array) else np.asarray(pad_width).dtype
    if kind.kind not in "iu":
        raise DTypeError("pad_width must be of integers", op="pad", remedy="Give a number, a pair, or pairs.")
    widths = [(low, high) for low, high in _pairs(pad_width, x.ndim, "pad_width")]
    if any(low < 0 or high < 0 for low, high in widths):
        raise InvalidValueError(f"pad_width={pad_width!r}", op="pad", remedy="Give widths that are not negative.")
    return widths


def _along(x: Array, axis: int, low: int | None, high: int | None) -> Array:
    return x[(slice(None),) * axis + (slice(low, high),)]


def _constant(x: Array, axis: int, widths: tuple[int, int], ends: list[Any]) -> Array:
    for side, value in enumerate(ends):
        width = [(0, 0)] * x.ndim
        width[axis] = (widths[0], 0) if side == 0 else (0, widths[1])
        value = _convert.on_host(value, x.dtype, "pad").item()
        x = stator.pad(x, width, "constant", constant_values=value)
    return x


def _ramp(x: Array, axis: int, widths: tuple[int, int], ends: list[Any]) -> Array:
    def ramp(width: int, end: Any, edge: Array) -> Array:
        edge = stator.squeeze(edge, axis)
        edge = edge if x.dtype.kind == "c" else edge.astype("float64", copy=False)
        end = stator.full(edge.shape, end, dtype=edge.dtype, device=x.backend)
        kind = "int64" if x.dtype.kind in "iu" else x.dtype  # from which integers wrap
        found: Array = linspace(end, edge, width, endpoint=False, dtype=kind, axis=axis).astype(x.dtype, copy=False)
        return found

    first = ramp(widths[0], ends[0], _along(x, axis, 0, 1))
    last = stator.flip(ramp(widths[1], ends[1], _along(x, axis, -1, None)), axis=axis)
    return stator.concat([first, x, last], axis=axis)


def _statistic(x: Array, axis: int, widths: tuple[int, int], lengths: list[Any], mode: str) -> Array:
    whole = x.shape[axis]
    counts = [whole if n is None else min(int(n), whole) for n in lengths]
    if mode in ("maximum", "minimum") and 0 in counts:
        raise InvalidValueError("stat_length of 0 yields no value for padding", op="pad", remedy="Give at least 1.")

    def block(part: Array, width: int) -> Array:
        value = STATISTICS[mode](part, axis, keepdims=True)
        if x.dtype.kind in "iu" and mode in ("mean", "median"):
            value = stator.round(value)
        return stator.broadcast_to(value.astype(x.dtype, copy=False), (*x.shape[:axis], width, *x.shape[axis + 1 :]))

    first = block(_along(x, axis, 0, counts[0]), widths[0])
    last = block(_along(x, axis, whole - counts[1], None), widths[1])
    return stator.concat([first, x, last], axis=axis)


def _odd(x: Array, axis: int, widths: tuple[int, int], edge: int) -> Array:
    """Reflections of which each element is as far from the end as the one that it mirrors, on the other side."""
    left, right = widths
    if x.shape[axis] == 1 and not edge:
        return _constant_edges(x, axis, widths)
    while left or right:
        n = x.shape[axis]
        low, high = min(left, n - 1 + edge), min(right, n - 1 + edge)
        first, last = _along(x, axis, 0, 1), _along(x, axis, n - 1, None)
        before = stator.flip(_along(x, axis, 1 - edge, 1 - edge + low), axis=axis)
        after = stator.flip(_along(x, axis, n - 1 + edge - high, n - 1 + edge), axis=axis)
        mirrored = [stator.subtract(stator.multiply(end, 2), part) for end, part in ((first, before), (last, after))]
        x = stator.concat([v.astype(x.dtype, copy=False) for v in (mirrored[0], x, mirrored[1])], axis=axis)
        left, right = left - low, right - high
    return x


def _constant_edges(x: Array, axis: int, widths: tuple[int, int]) -> Array:
    width = [(0, 0)] * x.ndim
    width[axis] = widths
    return stator.pad(x, width, "edge")


@differs("A function as mode is refused; an empty axis is padded only with numbers")
def pad(array: ArrayLike, pad_width: Any, mode: str = "constant", **kwargs: Any) -> Array:
    """A copy with elements added at the ends of axes.

    mode: "constant" (constant_values), "linear_ramp" (end_values), "maximum", "mean", "median", "minimum"
    (stat_length), "reflect", "symmetric" (reflect_type), "edge", "wrap" or "empty", with what each takes.
    """
    x = _convert.array(array, "pad")
    widths = _widths(x, pad_width)
    if not x.ndim:
        return stator.copy(x)
    if mode not in OPTIONS or set(kwargs) - {OPTIONS[mode]}:
        raise InvalidValueError(
            f"mode {mode!r} with {sorted(kwargs)}", op="pad", remedy=f"Use one of {', '.join(OPTIONS)} and its options."
        )
    option = kwargs.get(OPTIONS[mode])
    if mode in ("reflect", "symmetric") and option == "odd":
        for axis, width in enumerate(widths):
            x = _odd(x, axis, width, int(mode == "symmetric"))
        return x
    if mode not in ("constant", "linear_ramp", *STATISTICS):
        if option not in (None, "even"):
            raise InvalidValueError(f"reflect_type={option!r}", op="pad", remedy="Pass 'even' or 'odd'.")
        return stator.pad(x, widths, "constant" if mode == "empty" else mode)
    if mode == "constant" and (option is None or np.ndim(option if not isinstance(option, Array) else 1) == 0):
        value = _convert.on_host(0 if option is None else option, x.dtype, "pad").item()
        return stator.pad(x, widths, "constant", constant_values=value)
    if x.size == 0 and mode != "constant" and any(n == 0 and any(w) for n, w in zip(x.shape, widths, strict=True)):
        raise InvalidValueError(f"mode {mode!r} of an empty axis", op="pad", remedy="Use mode 'constant'.")
    options: Pairs = (
        [[None, None]] * x.ndim
        if option is None and mode in STATISTICS
        else _pairs(0 if option is None else option, x.ndim, OPTIONS[mode])
    )
    x = stator.copy(x) if not any(any(w) for w in widths) else x
    for axis, (width, given) in enumerate(zip(widths, options, strict=True)):
        if not any(width):
            continue
        if mode == "constant":
            x = _constant(x, axis, width, given)
        elif mode == "linear_ramp":
            x = _ramp(x, axis, width, given)
        else:
            x = _statistic(x, axis, width, given, mode)
    return x
