"""The class of elementwise functions with NumPy's rules of dtypes, out=, where=, reduce, accumulate, outer and at."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

import stator
from stator._array import Array
from stator._dtype import DType
from stator.errors import DTypeError, InvalidValueError, OutOfRangeError, UnsupportedError
from stator.numpy import _convert

Compute = Callable[..., Any]
ASSOCIATIVE = {
    *("add", "multiply", "maximum", "minimum", "fmax", "fmin", "bitwise_and", "bitwise_or", "bitwise_xor"),
    *("logical_and", "logical_or", "logical_xor", "logaddexp", "logaddexp2", "gcd", "lcm", "hypot"),
}
REDUCTIONS = {
    **{"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min", "fmax": "nanmax", "fmin": "nanmin"},
    **{"logical_and": "all", "logical_or": "any", "logaddexp": "logsumexp"},
}
SCANS = {"add": "cumulative_sum", "multiply": "cumulative_prod"}
SCATTERS = {"add": "add", "subtract": "add", "maximum": "max", "minimum": "min", "multiply": "mul"}
ON_BOOLS = {
    **{"add": "logical_or", "multiply": "logical_and", "maximum": "logical_or", "minimum": "logical_and"},
    **{"fmax": "logical_or", "fmin": "logical_and", "absolute": "copy", "conjugate": "copy", "positive": "copy"},
    **{"bitwise_count": "copy", "floor": "copy", "ceil": "copy", "trunc": "copy", "left_shift": "", "right_shift": ""},
}


@lru_cache(maxsize=4096)
def loop_dtypes(name: str, given: tuple[Any, ...], dtype: DType | None) -> tuple[DType, ...]:
    """The dtypes in which NumPy computes a ufunc: those of the operands, then those of the results.

    given: the dtype of each array, and the Python type of each number.
    """
    function = getattr(np, name)
    types = [v.numpy() if isinstance(v, DType) else v for v in given] + [None] * function.nout
    options: dict[str, Any] = {}
    if dtype is not None:
        comparison = all(t.endswith("->?") for t in function.types)
        options["signature"] = (None,) * function.nin + (None if comparison else dtype.numpy(),) * function.nout
    try:
        found = function.resolve_dtypes(tuple(types), casting="same_kind", **options)
        return tuple(stator.dtype(t) for t in found)
    except TypeError as error:
        shown = ", ".join(str(v) if isinstance(v, DType) else v.__name__ for v in given)
        raise DTypeError(
            f"No loop for the dtypes {shown}{'' if dtype is None else f' and the result {dtype}'}",
            op=name,
            remedy="Convert the operands with astype.",
        ) from error


class ufunc:
    """An elementwise function with broadcasting. `compute` takes the operands, arrays or numbers, without options."""

    def __init__(
        self, name: str, compute: Compute, nin: int, nout: int = 1, identity: Any = None, casts: bool = False
    ) -> None:
        self.__name__ = name
        self.__qualname__ = name
        self.__module__ = "stator.numpy"
        summary = (getattr(compute, "__doc__", None) or "").split("\n--\n\n")[-1].strip().split("\n\n")
        text = next((part for part in summary if not part.startswith(compute.__name__ + "(")), "")
        self.__doc__ = f"{text}\n\nAs numpy.{name}, with out=, where= and dtype=. Asynchronous."
        self.nin, self.nout, self.nargs = nin, nout, nin + nout
        self.identity = identity
        self._compute = compute
        self._plain: set[tuple[Any, ...]] = set()  # types of operands for which `compute` alone does all
        self._casts = casts  # whether `compute` wants operands of the dtypes of NumPy's loop

    def __repr__(self) -> str:
        return f"<ufunc '{self.__name__}'>"

    def __reduce__(self) -> str:
        return self.__name__

    def __call__(
        self,
        *args: Any,
        out: Any = None,
        where: Any = True,
        dtype: Any = None,
        casting: str = "same_kind",
        order: str = "K",
        subok: bool = True,
    ) -> Any:
        """The function of `args`, which end with the out arrays where there are more than `nin`."""
        name, nin = self.__name__, self.nin
        if out is None and where is True and dtype is None and len(args) == nin:
            key = tuple([v.dtype if isinstance(v, Array) else type(v) for v in args])
            if key in self._plain:
                return self._compute(*args)
        if not nin <= len(args) <= self.nargs:
            raise DTypeError(f"{len(args)} arguments", op=name, remedy=f"Give {nin}, and the out arrays after them.")
        if len(args) > nin:
            if out is not None:
                raise DTypeError("Out is given twice", op=name, remedy="Give it by its name or by its place.")
            out, args = args[nin:], args[:nin]
        outs = (out if isinstance(out, tuple) else (out,)) + (None,) * (self.nout - 1)
        values = _convert.operands(name, *args)
        results = self._run(values, _convert.dtype_or_none(dtype))
        mask = None
        if where is not True:
            mask = _convert.array(where, name, like=results[0]).astype("bool", copy=False)
        done = tuple(self._finish(r, o, mask, casting) for r, o in zip(results, outs[: self.nout], strict=True))
        return done[0] if self.nout == 1 else done

    def _run(self, values: list[Any], dtype: DType | None) -> tuple[Array, ...]:
        given = tuple(
            v.dtype if isinstance(v, Array) else np.dtype(bool) if v is True or v is False else type(v) for v in values
        )
        if stator.bfloat16 in given:
            cast = [v if dtype is None or not isinstance(v, Array) else v.astype(dtype, copy=False) for v in values]
            return self._results(self._compute(*cast))
        given = tuple(stator.bool if isinstance(v, np.dtype) else v for v in given)
        types = loop_dtypes(self.__name__, given, dtype)
        inputs, outputs = types[: self.nin], types[self.nin :]
        on_bools = ON_BOOLS.get(self.__name__)
        if on_bools and all(t.name == "bool" for t in inputs):
            return (getattr(stator, on_bools)(*values),)
        if dtype is not None or self._casts or self._needs_cast(given, inputs, outputs[0]):
            values = [
                v.astype(t, copy=False) if isinstance(v, Array) else v for v, t in zip(values, inputs, strict=True)
            ]
            return self._cast(self._results(self._compute(*values)), outputs)
        results = self._results(self._compute(*values))
        if all(r.dtype == t for r, t in zip(results, outputs, strict=True)):
            self._plain.add(tuple(v.dtype if isinstance(v, Array) else type(v) for v in values))
            return results
        return self._cast(results, outputs)

    @staticmethod
    def _cast(results: tuple[Array, ...], outputs: tuple[DType, ...]) -> tuple[Array, ...]:
        return tuple(r.astype(t, copy=False) for r, t in zip(results, outputs, strict=True))

    @staticmethod
    def _needs_cast(given: tuple[Any, ...], inputs: tuple[DType, ...], output: DType) -> bool:
        """Where the ops themselves would promote otherwise: bool to a number, small integers to short floats."""
        arrays = [(g, t) for g, t in zip(given, inputs, strict=True) if isinstance(g, DType)]
        if any(g.name == "bool" and t.name != "bool" for g, t in arrays):
            return True
        short = inputs[0].name in ("float16", "float32")
        return short and not any("floating" in g.kind for g, _ in arrays)

    def _results(self, found: Any) -> tuple[Array, ...]:
        return found if isinstance(found, tuple) else (found,)

    def _finish(self, result: Array, out: Any, mask: Array | None, casting: str) -> Array:
        target = _convert.out_array(out, self.__name__)
        if mask is None:
            if target is not None and target.shape != result.shape:
                result = stator.broadcast_to(result, target.shape)
            return _convert.store(result, target, self.__name__, casting)
        if target is None:
            shape = stator.broadcast_shapes(result.shape, mask.shape)
            return stator.where(mask, result, stator.zeros(shape, dtype=result.dtype, device=result.backend))
        _convert.require_cast(result.dtype, target.dtype, self.__name__, casting)
        target[...] = stator.where(mask, result.astype(target.dtype, copy=False), target)
        return target

    def _binary(self, method: str) -> None:
        if self.nin != 2 or self.nout != 1:
            raise InvalidValueError(
                f"{method} of {self.__name__}", op=f"{self.__name__}.{method}", remedy="Two operands, one result."
            )

    def reduce(
        self,
        array: Any,
        axis: Any = 0,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = True,
    ) -> Array:
        """The function applied along axes (None: all), from the first element to the last.

        Sums, products, extremes and logic are one launch; other associative functions a logarithm of them, and the rest
        one for each element of the axis.
        """
        self._binary("reduce")
        op = f"{self.__name__}.reduce"
        x = _convert.array(array, op)
        axes = _convert.axes(axis, x.ndim, op)
        if where is not True:
            fill = self.identity if initial is None and self.identity is not None else initial
            if fill is None:
                raise InvalidValueError("where= without initial", op=op, remedy="Give initial.")
            x = stator.where(_convert.array(where, op, like=x).astype("bool", copy=False), x, fill)
        known = REDUCTIONS.get(self.__name__)
        if known and x.size:
            result: Array = (
                getattr(stator, known)(x, axis=axes, keepdims=keepdims, dtype=_convert.dtype_or_none(dtype))
                if axes
                else x
            )
        else:
            result = x if dtype is None else x.astype(_convert.dtype(dtype))
            for one in sorted(axes, reverse=True):
                result = self._fold(stator.moveaxis(result, one, 0), op)
            if keepdims:
                result = stator.expand_dims(result, axis=axes)
        if initial is not None:
            result = self(result, initial)
        return _convert.store(result, out, op)

    def _fold(self, x: Array, op: str) -> Array:
        if x.shape[0] == 0:
            if self.identity is None:
                raise InvalidValueError("No elements to reduce", op=op, remedy="Give initial.")
            return stator.full(x.shape[1:], self.identity, dtype=x.dtype, device=x.backend)
        if self.__name__ not in ASSOCIATIVE:
            result = x[0]
            for i in range(1, x.shape[0]):
                result = self(result, x[i])
            return result
        while x.shape[0] > 1:
            half = x.shape[0] // 2
            folded = self(x[:half], x[half : 2 * half])
            x = stator.concat([folded, x[2 * half :].astype(folded.dtype, copy=False)]) if x.shape[0] % 2 else folded
        return x[0]

    def accumulate(self, array: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Array:
        """The results of the function after each element of an axis; sums, products and extremes are one launch."""
        self._binary("accumulate")
        op = f"{self.__name__}.accumulate"
        x = _convert.array(array, op)
        axis = _convert.axis(axis, x.ndim, op)
        kind = _convert.dtype_or_none(dtype)
        if self.__name__ in SCANS:
            return _convert.store(getattr(stator, SCANS[self.__name__])(x, axis=axis, dtype=kind), out, op)
        if kind is not None:
            x = x.astype(kind, copy=False)
        if self.__name__ in ("maximum", "minimum"):
            scan = stator.cumulative_max if self.__name__ == "maximum" else stator.cumulative_min
            return _convert.store(scan(x, axis=axis).values, out, op)
        rows = list(stator.unstack(x, axis=axis))
        for i in range(1, len(rows)):
            rows[i] = self(rows[i - 1], rows[i])
        result = stator.stack([r.astype(rows[-1].dtype, copy=False) for r in rows], axis=axis) if rows else x
        return _convert.store(result, out, op)

    def reduceat(self, array: Any, indices: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Array:
        """The reductions of the slices that begin at `indices`, which are read on the host: one launch for each."""
        self._binary("reduceat")
        op = f"{self.__name__}.reduceat"
        x = _convert.array(array, op)
        axis = _convert.axis(axis, x.ndim, op)
        starts = [int(i) for i in (indices.to_numpy() if isinstance(indices, Array) else indices)]
        rows = stator.moveaxis(x, axis, 0)
        if any(not 0 <= i < rows.shape[0] for i in starts):
            raise OutOfRangeError(f"indices {starts}", op=op, remedy="Give indices of the axis.")
        parts = [
            self.reduce(rows[i:j], 0, dtype) if j > i else rows[i]
            for i, j in zip(starts, [*starts[1:], rows.shape[0]], strict=True)
        ]
        return _convert.store(stator.stack(parts, axis=axis), out, op)

    def outer(self, A: Any, B: Any, /, **options: Any) -> Any:
        """The function of all pairs of elements: the result has the axes of A, then those of B."""
        if self.nin != 2:
            self._binary("outer")
        a, b = _convert.arrays(f"{self.__name__}.outer", A, B)
        return self(stator.reshape(a, a.shape + (1,) * b.ndim), b, **options)

    def at(self, a: Array, indices: Any, b: Any = None, /) -> None:
        """a[indices] = f(a[indices], b), where an element that occurs twice is changed twice. In place.

        Sums, differences, products and extremes; UnsupportedError for other functions.
        """
        op = f"{self.__name__}.at"
        if not isinstance(a, Array):
            raise _convert.refused(a, op)
        if self.__name__ not in SCATTERS or b is None:
            raise UnsupportedError(
                f"{self.__name__} has no form that adds up", op=op, remedy="Use add, multiply or maximum."
            )
        key = tuple(
            _convert.array(k, op, like=a) if isinstance(k, list) else k
            for k in (indices if isinstance(indices, tuple) else (indices,))
        )
        places = stator.reshape(stator.arange(a.size, device=a.backend), a.shape)[key]
        shape = places.shape
        flat = stator.ravel(places)
        values = stator.broadcast_to(_convert.array(b, op, like=a), shape).astype(a.dtype)
        if self.__name__ == "subtract":
            values = stator.negative(values)
        changed = stator.scatter(stator.ravel(a), 0, flat, stator.ravel(values), reduce=SCATTERS[self.__name__])
        a[...] = stator.reshape(changed, a.shape)
