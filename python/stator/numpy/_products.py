"""Products of vectors, matrices and tensors. Asynchronous."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import stator
from stator._array import Array
from stator.errors import DTypeError, InvalidValueError
from stator.numpy import _convert
from stator.numpy._convert import ArrayLike, DTypeLike, Out
from stator.numpy._rows import differs, same


@differs("Sums in the order of stator's kernels, so that the last bits may differ")
def dot(a: ArrayLike, b: ArrayLike, out: Out = None) -> Array:
    """Sums of products over the last axis of a and the last but one of b; the plain product where one is 0-d."""
    x, y = _convert.arrays("dot", a, b)
    target, kind = _convert.out_array(out, "dot"), stator.result_type(x.dtype, y.dtype)
    if target is not None and target.dtype != kind:
        raise InvalidValueError(f"out has dtype {target.dtype}, the result {kind}", op="dot", remedy="Give that dtype.")
    return _convert.called("dot", x, y, target)


@same
def vdot(a: ArrayLike, b: ArrayLike, /) -> Array:
    """sum(conj(a) * b) over all elements."""
    x, y = _convert.arrays("vdot", a, b)
    return stator.vecdot(stator.ravel(x), stator.ravel(y))


@same
def inner(a: ArrayLike, b: ArrayLike, /) -> Array:
    """Sums of products over the last axes; the plain product where one is 0-d."""
    x, y = _convert.arrays("inner", a, b)
    return x * y if x.ndim == 0 or y.ndim == 0 else stator.tensordot(x, y, axes=((x.ndim - 1,), (y.ndim - 1,)))


@same
def outer(a: ArrayLike, b: ArrayLike, out: Out = None) -> Array:
    """The products of each element of a with each of b, both flattened: (a.size, b.size)."""
    x, y = _convert.arrays("outer", a, b)
    return _convert.store(stator.outer(stator.ravel(x), stator.ravel(y)), out, "outer")


@same
def kron(a: ArrayLike, b: ArrayLike) -> Array:
    """The Kronecker product: each element of a times b, in blocks."""
    return stator.kron(*_convert.arrays("kron", a, b))


def _axes_of(value: int | Sequence[int], x: Array) -> tuple[int, ...]:
    found = value if isinstance(value, (tuple, list)) else (value,)
    return tuple(_convert.axis(k, x.ndim, "tensordot") for k in found)


@same
def tensordot(a: ArrayLike, b: ArrayLike, axes: Any = 2) -> Array:
    """Sums of products over axes: a number, the last of a and the first of b; or the axes of a and those of b."""
    x, y = _convert.arrays("tensordot", a, b)
    if isinstance(axes, (tuple, list)):
        if len(axes) != 2:
            raise InvalidValueError(f"axes={axes!r}", op="tensordot", remedy="Give the axes of a and those of b.")
        return stator.tensordot(x, y, axes=(_axes_of(axes[0], x), _axes_of(axes[1], y)))
    return stator.tensordot(x, y, axes=axes)


def _factors(op: str, x1: ArrayLike, x2: ArrayLike, dtype: DTypeLike) -> list[Array]:
    """Both arguments, in the dtype where one is given."""
    given = _convert.arrays(op, x1, x2)
    if dtype is None:
        return given
    found = _convert.dtype(dtype)
    for x in given:
        _convert.require_cast(x.dtype, found, op)
    return [x.astype(found, copy=False) for x in given]


def _places(op: str, axes: Any, axis: Any, cores: tuple[int, ...]) -> list[tuple[int, ...]] | None:
    """Where the factors and the result have their matrices or vectors; None where they are the last axes."""
    if axis is not None:
        if axes is not None or cores != (1, 1, 0):
            raise DTypeError(f"axis={axis!r}", op=op, remedy="Pass axes, one for each argument and the result.")
        return [(axis,), (axis,), ()]
    if axes is None:
        return None
    given = [tuple(a) if isinstance(a, (tuple, list)) else (a,) for a in axes]
    if len(given) == 2 and cores[2] == 0:
        given.append(())
    if tuple(len(a) for a in given) not in (cores, (1, 1, 1)):
        raise InvalidValueError(f"axes={axes!r}", op=op, remedy=f"Give {cores} axes of the arguments and the result.")
    return given


def _product(
    op: str,
    cores: tuple[int, int, int],
    of: Any,
    x1: Any,
    x2: Any,
    out: Out,
    axes: Any,
    axis: Any,
    keepdims: bool,
    dtype: Any,
) -> Array:
    """of(x1, x2) over the axes named; cores: how many axes the arguments and the result are matrices or vectors of."""
    factors = _factors(op, x1, x2, dtype)
    if keepdims and cores != (1, 1, 0):
        raise DTypeError("Got keepdims=True", op=op, remedy="Omit it; only vecdot has it.")
    least = (1, 1) if op == "matmul" else cores
    if any(x.ndim < n for x, n in zip(factors, least, strict=False)):
        raise InvalidValueError(f"Shapes {factors[0].shape} and {factors[1].shape}", op=op, remedy="Give more axes.")
    places = _places(op, axes, axis, cores)
    if places is None:
        result = of(*factors)
        return _convert.store(stator.expand_dims(result, axis=-1) if keepdims else result, out, op)
    moved = [_moved(x, place, op) for x, place in zip(factors, places, strict=False)]
    result, back = of(*moved), places[2]
    if keepdims:
        result, back = stator.expand_dims(result, axis=-1), back or places[0]
    if back:
        result = stator.moveaxis(
            result, tuple(range(-len(back), 0)), tuple(_convert.axis(k, result.ndim, op) for k in back)
        )
    return _convert.store(result, out, op)


def _moved(x: Array, place: tuple[int, ...], op: str) -> Array:
    """x with these axes at its end."""
    return stator.moveaxis(x, tuple(_convert.axis(k, x.ndim, op) for k in place), tuple(range(-len(place), 0)))


def _matvec(matrix: Array, vector: Array) -> Array:
    return stator.matmul(matrix, stator.expand_dims(vector, axis=-1))[..., 0]


def _vecmat(vector: Array, matrix: Array) -> Array:
    row = stator.expand_dims(stator.conj(vector) if vector.dtype.kind == "c" else vector, axis=-2)
    return stator.matmul(row, matrix)[..., 0, :]


@differs("The arguments casting, order and subok and the ufunc's methods are absent.")
def matmul(
    x1: ArrayLike,
    x2: ArrayLike,
    /,
    out: Out = None,
    *,
    axes: Any = None,
    axis: int | None = None,
    keepdims: bool = False,
    dtype: DTypeLike = None,
) -> Array:
    """The matrix product, with broadcasting of the leading axes."""
    return _product("matmul", (2, 2, 2), stator.matmul, x1, x2, out, axes, axis, keepdims, dtype)


@differs("The arguments casting, order and subok and the ufunc's methods are absent.")
def vecdot(
    x1: ArrayLike,
    x2: ArrayLike,
    /,
    out: Out = None,
    *,
    axes: Any = None,
    axis: int | None = None,
    keepdims: bool = False,
    dtype: DTypeLike = None,
) -> Array:
    """sum(conj(x1) * x2) along an axis of each, with broadcasting of the others."""
    return _product("vecdot", (1, 1, 0), stator.vecdot, x1, x2, out, axes, axis, keepdims, dtype)


@differs("The arguments casting, order and subok and the ufunc's methods are absent.")
def matvec(
    x1: ArrayLike,
    x2: ArrayLike,
    /,
    out: Out = None,
    *,
    axes: Any = None,
    axis: int | None = None,
    keepdims: bool = False,
    dtype: DTypeLike = None,
) -> Array:
    """Matrices (..., m, n) times vectors (..., n)."""
    return _product("matvec", (2, 1, 1), _matvec, x1, x2, out, axes, axis, keepdims, dtype)


@differs("The arguments casting, order and subok and the ufunc's methods are absent.")
def vecmat(
    x1: ArrayLike,
    x2: ArrayLike,
    /,
    out: Out = None,
    *,
    axes: Any = None,
    axis: int | None = None,
    keepdims: bool = False,
    dtype: DTypeLike = None,
) -> Array:
    """Conjugates of vectors (..., n) times matrices (..., n, m)."""
    return _product("vecmat", (1, 2, 1), _vecmat, x1, x2, out, axes, axis, keepdims, dtype)


def _letters(axes: Sequence[Any], op: str) -> str:
    """Axes as numbers from 0 to 51 and Ellipsis, as letters of the same order."""
    text = ""
    for k in axes:
        if k is Ellipsis:
            text += "..."
        elif isinstance(k, (int, np.integer)) and 0 <= k < 52:
            text += chr(ord("A") + int(k)) if k < 26 else chr(ord("a") + int(k) - 26)
        else:
            raise InvalidValueError(f"Got axis {k!r}", op=op, remedy="Pass axes from 0 to 51, or Ellipsis.")
    return text


def _subscripts(operands: tuple[Any, ...], op: str) -> tuple[str, list[Any]]:
    """The subscripts as text, and the operands, of either form of einsum's arguments."""
    if not operands:
        raise InvalidValueError("There are no arguments", op=op, remedy="Pass subscripts and operands.")
    if isinstance(operands[0], str):
        return operands[0].replace(" ", ""), list(operands[1:])
    given = list(operands)
    output = given.pop() if len(given) % 2 else None
    text = ",".join(_letters(axes, op) for axes in given[1::2])
    if output is not None:
        text += "->" + _letters(output, op)
    return text, given[::2]


@differs("The order of products is always the cheapest: optimize changes nothing. No order and casting.")
def einsum(*operands: Any, out: Out = None, optimize: Any = False, dtype: DTypeLike = None) -> Array:
    """A sum of products in Einstein's notation: subscripts and operands, or each operand with a list of its axes."""
    text, given = _subscripts(operands, "einsum")
    factors = _convert.arrays("einsum", *given)
    if dtype is not None:
        for x in factors:
            _convert.require_cast(x.dtype, _convert.dtype(dtype), "einsum", "safe")
        factors = [x.astype(_convert.dtype(dtype), copy=False) for x in factors]
    result = stator.einsum(text, *factors)
    return _convert.store(result, out, "einsum")


@same
def einsum_path(*operands: Any, optimize: Any = "greedy", einsum_call: bool = False) -> tuple[list[Any], str]:
    """The order of contractions that NumPy would choose, and its description; reads only shapes."""
    text, given = _subscripts(operands, "einsum_path")
    shapes = [v.shape if isinstance(v, Array) else np.shape(v) for v in given]
    stand_ins = [np.broadcast_to(np.empty(()), shape) for shape in shapes]
    return np.einsum_path(text, *stand_ins, optimize=optimize, einsum_call=einsum_call)  # type: ignore[arg-type]


def _result(value: Any, like: Array, op: str) -> Array:
    return _convert.array(value, op, like=like)


@differs("Calls the function once for each slice, each with launches of its own.")
def apply_along_axis(func1d: Any, axis: int, arr: ArrayLike, *args: Any, **kwargs: Any) -> Array:
    """func1d(slice, *args, **kwargs) of each 1-d slice along an axis; its results take the place of the axis."""
    op = "apply_along_axis"
    x = _convert.array(arr, op)
    at = _convert.axis(axis, x.ndim, op)
    moved = stator.moveaxis(x, at, -1)
    places = list(np.ndindex(moved.shape[:-1]))
    if not places:
        raise InvalidValueError(
            f"An array of shape {x.shape}", op=op, remedy="Pass an array whose other axes have elements."
        )
    results = [_result(func1d(moved[place], *args, **kwargs), x, op) for place in places]
    if len({r.shape for r in results}) > 1:
        raise InvalidValueError("Results of several shapes", op=op, remedy="func1d must return one shape.")
    stacked = stator.stack([r.astype(results[0].dtype, copy=False) for r in results])
    joined = stator.reshape(stacked, (*moved.shape[:-1], *results[0].shape))
    outer_axes, inner_axes = moved.ndim - 1, results[0].ndim
    order = [*range(at), *range(outer_axes, outer_axes + inner_axes), *range(at, outer_axes)]
    return stator.permute_dims(joined, order)


@same
def apply_over_axes(func: Any, a: ArrayLike, axes: int | Sequence[int]) -> Array:
    """func(x, axis) for each axis in turn; an axis that it removes is put back with length 1."""
    op = "apply_over_axes"
    x = _convert.array(a, op)
    found = axes if isinstance(axes, (tuple, list)) else (axes,)
    for k in [_convert.axis(k, x.ndim, op) for k in found]:
        result = func(x, k)
        if not isinstance(result, Array):
            raise DTypeError(f"func returned {type(result).__name__}", op=op, remedy="Return an Array.")
        if result.ndim == x.ndim - 1:
            result = stator.expand_dims(result, axis=k)
        if result.ndim != x.ndim:
            raise InvalidValueError(
                f"func returned {result.ndim} axes of {x.ndim}", op=op, remedy="Keep the axes, or remove the one given."
            )
        x = result
    return x
