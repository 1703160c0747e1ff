"""Differences, integrals, interpolation and convolution."""

from __future__ import annotations

from typing import Any

import numpy as np

import stator
from stator._array import Array
from stator.errors import DTypeError, InvalidValueError, ShapeError
from stator.numpy import _convert
from stator.numpy._convert import ArrayLike
from stator.numpy._rows import differs, same

WINDOW = 1 << 22  # elements of the windows of one product of convolve


@same
def diff(a: ArrayLike, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Array:
    """The differences of neighbours along an axis, n times."""
    x = _convert.array(a, "diff")
    if n < 0:
        raise InvalidValueError(f"n={n}", op="diff", remedy="Give an order that is not negative.")
    along = _convert.axis(axis, x.ndim, "diff")

    def end(value: Any) -> Array | None:
        if value is None:
            return None
        given = _convert.array(value, "diff", like=x)
        shape = (*x.shape[:along], 1, *x.shape[along + 1 :])
        return stator.broadcast_to(given, shape) if given.ndim == 0 else given

    if n == 0:
        return x
    return stator.diff(x, axis=along, n=n, prepend=end(prepend), append=end(append))


@same
def ediff1d(ary: ArrayLike, to_end: Any = None, to_begin: Any = None) -> Array:
    """The differences of neighbours of the flattened array, between what is given for the ends."""
    x = stator.ravel(_convert.array(ary, "ediff1d"))
    if x.dtype.name == "bool":
        raise DTypeError("An array of bool", op="ediff1d", remedy="Convert it with astype.")
    parts = [stator.diff(x)]
    if to_begin is not None:
        parts.insert(0, stator.ravel(_convert.array(to_begin, "ediff1d", like=x)))
    if to_end is not None:
        parts.append(stator.ravel(_convert.array(to_end, "ediff1d", like=x)))
    for part in parts:
        _convert.require_cast(part.dtype, x.dtype, "ediff1d")
    return stator.concat([p.astype(x.dtype, copy=False) for p in parts])


@same
def trapezoid(y: ArrayLike, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Array:
    """The integral along an axis by the trapezoidal rule."""
    values = _convert.array(y, "trapezoid")
    along = _convert.axis(axis, values.ndim, "trapezoid")
    step: Any = dx
    if x is not None:
        places = _convert.array(x, "trapezoid", like=values)
        if places.ndim == 1:
            step = stator.diff(places)
            step = stator.reshape(step, (-1,) + (1,) * (values.ndim - along - 1))
        else:
            step = stator.diff(places, axis=along)
    elif not _convert.is_number(dx):
        step = _convert.array(dx, "trapezoid", like=values)
    rows = stator.moveaxis(values, along, 0)
    pairs = stator.moveaxis(stator.add(rows[1:], rows[:-1]), 0, along)
    return stator.sum(stator.divide(stator.multiply(pairs, step), 2.0), axis=along)


@differs("A dozen launches; xp is not checked to increase, as in NumPy")
def interp(
    x: ArrayLike, xp: ArrayLike, fp: ArrayLike, left: Any = None, right: Any = None, period: float | None = None
) -> Array:
    """Values of the straight lines between the points (xp, fp), in float64 or complex128."""
    places, knots, values = _convert.arrays("interp", x, xp, fp)
    if knots.ndim != 1 or values.shape != knots.shape:
        raise ShapeError("xp and fp are not vectors of one length", op="interp", remedy="Give as many of each.")
    if knots.size == 0:
        raise InvalidValueError("array of sample points is empty", op="interp", remedy="Give points.")
    if values.dtype.kind == "c":
        lefts, rights = ((None,) * 2 if v is None else (complex(v).real, complex(v).imag) for v in (left, right))
        parts = [
            interp(places, knots, part(values), lefts[k], rights[k], period)
            for k, part in enumerate((stator.real, stator.imag))
        ]
        return stator.stack(parts, axis=-1).view("complex128")[..., 0]
    places, knots, values = (v.astype("float64", copy=False) for v in (places, knots, values))
    if period is not None:
        if period == 0:
            raise InvalidValueError("period must be a non-zero value", op="interp", remedy="Give another.")
        period = abs(period)
        places, knots = stator.remainder(places, period), stator.remainder(knots, period)
        order = stator.argsort(knots)
        knots, values = stator.take(knots, order), stator.take(values, order)
        knots = stator.concat([stator.subtract(knots[-1:], period), knots, stator.add(knots[:1], period)])
        values = stator.concat([values[-1:], values, values[:1]])
        left = right = None
    last = knots.shape[0] - 1
    low = stator.clip(stator.subtract(stator.searchsorted(knots, places, side="right"), 1), 0, max(last - 1, 0))
    high = stator.clip(stator.add(low, 1), 0, last)
    x0, x1, y0, y1 = (stator.take(v, i) for v, i in ((knots, low), (knots, high), (values, low), (values, high)))
    width = stator.subtract(x1, x0)
    slope = stator.divide(stator.subtract(y1, y0), stator.where(stator.equal(width, 0), 1.0, width))
    found = stator.add(stator.multiply(slope, stator.subtract(places, x0)), y0)
    # Beside an infinity the line from the other end may have a value, and the ends have theirs.
    from_end = stator.add(stator.multiply(slope, stator.subtract(places, x1)), y1)
    from_end = stator.where(stator.logical_and(stator.isnan(from_end), stator.equal(y0, y1)), y0, from_end)
    found = stator.where(stator.isnan(found), from_end, found)
    found = stator.where(stator.equal(places, x0), y0, found)
    found = stator.where(stator.equal(places, x1), y1, found)
    found = stator.where(stator.less(places, knots[0]), values[0] if left is None else left, found)
    found = stator.where(stator.greater(places, knots[-1]), values[-1] if right is None else right, found)
    return stator.where(stator.isnan(places), float("nan") if last else values[0], found)


def _gradient(f: Array, step: Any, along: int, order: int) -> Array:
    rows = stator.moveaxis(f, along, 0)
    out = stator.empty(rows.shape, dtype=f.dtype, device=f.backend)
    column = (-1,) + (1,) * (f.ndim - 1)
    if isinstance(step, Array) and step.ndim == 1:
        before, after = stator.reshape(step[:-1], column), stator.reshape(step[1:], column)
        both = stator.add(before, after)
        a = stator.divide(stator.negative(after), stator.multiply(before, both))
        b = stator.divide(stator.subtract(after, before), stator.multiply(before, after))
        c = stator.divide(before, stator.multiply(after, both))
        middle = stator.add(
            stator.add(stator.multiply(a, rows[:-2]), stator.multiply(b, rows[1:-1])), stator.multiply(c, rows[2:])
        )
        first, second, last, previous = step[0], step[1:2], step[-1], step[-2:-1]
    else:
        middle = stator.divide(
            stator.subtract(rows[2:], rows[:-2]), stator.multiply(step, 2) if isinstance(step, Array) else 2.0 * step
        )
        first = second = last = previous = step
    out[1:-1] = middle
    if order == 1:
        out[0] = stator.divide(stator.subtract(rows[1], rows[0]), first)
        out[-1] = stator.divide(stator.subtract(rows[-1], rows[-2]), last)
    else:
        out[0] = _edge(rows[0], rows[1], rows[2], first, second)
        out[-1] = stator.negative(_edge(rows[-1], rows[-2], rows[-3], last, previous))
    return stator.moveaxis(out, 0, along)


def _edge(f0: Array, f1: Array, f2: Array, near: Any, far: Any) -> Array:
    """The derivative at the end of three points by the parabola through them, away from f1."""
    far = stator.reshape(far, ()) if isinstance(far, Array) else far
    a = -(2.0 * near + far) / (near * (near + far))
    b = (near + far) / (near * far)
    c = -near / (far * (near + far))
    return stator.add(stator.add(stator.multiply(f0, a), stator.multiply(f1, b)), stator.multiply(f2, c))


@same
def gradient(f: ArrayLike, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """The derivatives along axes by differences of second order; of distances or coordinates for each axis."""
    x = _convert.array(f, "gradient")
    axes = _convert.axes(axis, x.ndim, "gradient")
    if x.dtype.name == "bool":
        raise DTypeError("An array of bool", op="gradient", remedy="Convert it with astype.")
    x = _convert.floating(x)
    if edge_order not in (1, 2):
        raise InvalidValueError(f"edge_order={edge_order!r}", op="gradient", remedy="Pass 1 or 2.")
    steps: list[Any] = [1.0] * len(axes) if not varargs else list(varargs)
    if len(steps) == 1 and (steps[0].ndim if isinstance(steps[0], Array) else np.ndim(steps[0])) == 0 and axes:
        steps = steps * len(axes)
    if len(steps) != len(axes):
        raise DTypeError(f"{len(varargs)} distances for {len(axes)} axes", op="gradient", remedy="Give one for each.")
    found = []
    for along, step in zip(axes, steps, strict=True):
        if x.shape[along] < edge_order + 1:
            raise ShapeError("An axis is too short", op="gradient", remedy=f"Give at least {edge_order + 1} elements.")
        if not _convert.is_number(step):
            places = _convert.array(step, "gradient", like=x)
            if places.ndim == 1 and places.shape[0] != x.shape[along]:
                raise ShapeError("Coordinates of another length", op="gradient", remedy="Give one for each element.")
            if places.ndim > 1:
                raise ShapeError("Coordinates of several axes", op="gradient", remedy="Give numbers or vectors.")
            step = stator.diff(_convert.floating(places)) if places.ndim else places
            step = step.astype(x.dtype, copy=False) if x.dtype.kind != "c" else step
        found.append(_gradient(x, step, along, edge_order))
    return found[0] if len(axes) == 1 else tuple(found)


def _full_convolution(a: Array, v: Array) -> Array:
    """Sums of products of the windows of the longer vector: products with a view, a part of it at a time."""
    n, m = a.shape[0], v.shape[0]
    kernel = stator.flip(v)
    padded = stator.pad(a, [(m - 1, m - 1)])
    total = n + m - 1
    step = max(WINDOW // m, 1)
    parts = [
        stator.matmul(stator.as_strided(padded, (min(step, total - k), m), (1, 1), k), kernel)
        for k in range(0, total, step)
    ]
    return parts[0] if len(parts) == 1 else stator.concat(parts)


def _mode(mode: Any, op: str) -> str:
    chosen = {0: "valid", 1: "same", 2: "full"}.get(mode, mode)
    for name in ("valid", "same", "full"):
        if isinstance(chosen, str) and name.startswith(chosen.lower()) and chosen:
            return name
    raise InvalidValueError(f"mode={mode!r}", op=op, remedy="Pass 'full', 'same' or 'valid'.")


def _cut(full: Array, n: int, m: int, mode: str) -> Array:
    """The part of a full convolution of n and m <= n elements that a mode keeps."""
    if mode == "full":
        return full
    if mode == "same":
        return full[(m - 1) // 2 : (m - 1) // 2 + n]
    return full[m - 1 : n]


def _vectors(a: ArrayLike, v: ArrayLike, op: str) -> tuple[Array, Array]:
    x, y = (stator.reshape(p, (1,)) if p.ndim == 0 else p for p in _convert.arrays(op, a, v))
    if x.ndim != 1 or y.ndim != 1 or not x.size or not y.size:
        raise InvalidValueError(f"shapes {x.shape} and {y.shape}", op=op, remedy="Give vectors that are not empty.")
    kind = stator.result_type(x.dtype, y.dtype)
    if kind.name == "bool":
        return x.astype("uint8"), y.astype("uint8")
    return x.astype(kind, copy=False), y.astype(kind, copy=False)


HOW = "Matrix products of windows: the last bits differ, and long kernels take time with the product of the lengths"


@differs(HOW)
def convolve(a: ArrayLike, v: ArrayLike, mode: Any = "full") -> Array:
    """The convolution of two vectors."""
    x, y = _vectors(a, v, "convolve")
    if y.shape[0] > x.shape[0]:
        x, y = y, x
    found = _cut(_full_convolution(x, y), x.shape[0], y.shape[0], _mode(mode, "convolve"))
    return _as_given(found, a, v)


@differs(HOW)
def correlate(a: ArrayLike, v: ArrayLike, mode: Any = "valid") -> Array:
    """The sums of products of one vector with the conjugate of another one at each shift."""
    x, y = _vectors(a, v, "correlate")
    y = stator.conj(y) if y.dtype.kind == "c" else y
    full = _full_convolution(x, stator.flip(y)) if x.shape[0] >= y.shape[0] else _full_convolution(stator.flip(y), x)
    n, m = x.shape[0], y.shape[0]
    mode = _mode(mode, "correlate")
    found = _cut(full, n, m, mode) if n >= m else stator.flip(_cut(stator.flip(full), m, n, mode))
    return _as_given(found, a, v)


def _as_given(found: Array, *given: ArrayLike) -> Array:
    """bool for two bool vectors, as NumPy gives it."""
    kinds = {v.dtype.name if isinstance(v, Array) else np.asarray(v).dtype.name for v in given}
    return stator.not_equal(found, 0) if kinds == {"bool"} else found


@differs("Vectors of three elements, as in NumPy 2; those of two are refused with the same class")
def cross(
    a: ArrayLike, b: ArrayLike, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Array:
    """The vector product of vectors of three elements."""
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = _convert.arrays("cross", a, b)
    x, y = stator.moveaxis(x, axisa, -1), stator.moveaxis(y, axisb, -1)
    if x.shape[-1] != 3 or y.shape[-1] != 3:
        raise ShapeError(f"{x.shape[-1]} and {y.shape[-1]} elements", op="cross", remedy="Give vectors of three.")
    shape = stator.broadcast_shapes(x.shape, y.shape)
    return stator.moveaxis(
        stator.linalg.cross(stator.broadcast_to(x, shape), stator.broadcast_to(y, shape), axis=-1), -1, axisc
    )
