"""The class of elementwise functions with NumPy's rules of dtypes, out=, where=, reduce, accumulate, outer and at."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

import stator
from stator._array import Array
from stator._dtype import DType
from stator.errors import DTypeError, InvalidValueError, OutOfRangeError
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
def loop_dtypes(
    name: str, given: tuple[Any, ...], dtype: DType | None, casting: Any = "same_kind"
) -> tuple[DType, ...]:
    """The dtypes in which NumPy computes a ufunc: those of the operands, then those of the results.

    given: the dtype of each array, and the Python type of each number. casting: which casts the operands may take.
    """
    function = getattr(np, name)
    types = [v.numpy() if isinstance(v, DType) else v for v in given] + [None] * function.nout
    options: dict[str, Any] = {}
    if dtype is not None:
        comparison = all(t.endswith("->?") for t in function.types)
        options["signature"] = (None,) * function.nin + (None if comparison else dtype.numpy(),) * function.nout
    try:
        found = function.resolve_dtypes(tuple(types), casting=casting, **options)
        return tuple(stator.dtype(t) for t in found)
    except ValueError as error:  # of casting
        raise InvalidValueError(str(error), op=name, remedy="Pass one of NumPy's rules, such as 'unsafe'.") from None
    except TypeError as error:
        shown = ", ".join(str(v) if isinstance(v, DType) else v.__name__ for v in given)
        raise DTypeError(
            f"No loop for the dtypes {shown}{'' if dtype is None else f' and the result {dtype}'}",
            op=name,
            remedy="Convert the operands with astype.",
        ) from error


@lru_cache(maxsize=1024)
def reduction_dtype(name: str, given: DType, dtype: DType | None) -> DType:
    """The dtype in which NumPy's reduce, accumulate and reduceat of an array combine elements."""
    if stator.bfloat16 in (given, dtype):
        return dtype or given
    options: dict[str, Any] = {} if dtype is None else {"signature": (dtype.numpy(), None, None)}
    try:
        found = getattr(np, name).resolve_dtypes(
            (None, given.numpy(), None), casting="unsafe", reduction=True, **options
        )
    except TypeError:
        raise DTypeError(
            f"No reduction of {given}{'' if dtype is None else f' in {dtype}'}",
            op=name,
            remedy="Convert the array with astype.",
        ) from None
    return stator.dtype(found[1])


def _cast_number(value: Any, dtype: DType, casting: str) -> Any:
    """A Python number as the rule "unsafe" casts it; other rules leave it to the arrays beside it."""
    return np.array(value).astype(dtype.numpy()).item() if casting == "unsafe" else value


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
        self._plain: set[tuple[Any, ...]] = set()  # types of operands for which `compute` does all
        self._casts = casts  # whether `compute` wants operands of the dtypes of NumPy's loop

    def __repr__(self) -> str:
        return f"<ufunc '{self.__name__}'>"

    def __reduce__(self) -> str:
        return self.__name__

    @property
    def types(self) -> list[str]:
        """The dtypes that it has loops for, as NumPy writes them: those of the operands, "->", those of the results."""
        known = "?bBhHiIlLqQefdFD->"
        found: list[str] = getattr(np, self.__name__).types
        return [text for text in found if all(char in known for char in text)]

    @property
    def ntypes(self) -> int:
        """How many there are."""
        return len(self.types)

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
        if out is None and where is True and dtype is None and casting == "same_kind" and len(args) == nin:
            key = tuple([v.dtype if isinstance(v, Array) else type(v) for v in args])
            if key in self._plain:
                return self._compute(*args)
        if not nin <= len(args) <= self.nargs:
            raise DTypeError(f"{len(args)} arguments", op=name, remedy=f"Give {nin}, and the out arrays after them.")
        if len(args) > nin:
            if out is not None:
                raise DTypeError("Out is given twice", op=name, remedy="Give it by its name or by its position.")
            out, args = args[nin:], args[:nin]
        outs = (out if isinstance(out, tuple) else (out,)) + (None,) * (self.nout - 1)
        values = _convert.operands(name, *args)
        results = self._run(values, _convert.dtype_or_none(dtype), casting)
        mask = None
        if where is not True:
            mask = _convert.array(where, name, like=results[0]).astype("bool", copy=False)
        done = tuple(self._finish(r, o, mask, casting) for r, o in zip(results, outs[: self.nout], strict=True))
        return done[0] if self.nout == 1 else done

    def _run(self, values: list[Any], dtype: DType | None, casting: str) -> tuple[Array, ...]:
        given = tuple(
            v.dtype if isinstance(v, Array) else np.dtype(bool) if v is True or v is False else type(v) for v in values
        )
        if stator.bfloat16 in given:
            cast = [v if dtype is None or not isinstance(v, Array) else v.astype(dtype, copy=False) for v in values]
            return self._results(self._compute(*cast))
        given = tuple(stator.bool if isinstance(v, np.dtype) else v for v in given)
        types = loop_dtypes(self.__name__, given, dtype, casting)
        inputs, outputs = types[: self.nin], types[self.nin :]
        on_bools = ON_BOOLS.get(self.__name__)
        if on_bools and all(t.name == "bool" for t in inputs):
            return (getattr(stator, on_bools)(*values),)
        if dtype is not None or self._casts or self._needs_cast(given, inputs, outputs[0]):
            values = [
                v.astype(t, copy=False) if isinstance(v, Array) else _cast_number(v, t, casting)
                for v, t in zip(values, inputs, strict=True)
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
        return short and not any(g.kind in "fc" for g, _ in arrays)

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
                f"{method} must be of a function of two operands and one result",
                op=f"{self.__name__}.{method}",
                remedy=f"Call {self.__name__}, or {method} of a function such as add.",
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
        """The function applied along axes (None: all), from `initial` or the first element to the last.

        Sums, products, extremes and logic are one launch; other associative functions a logarithm of them, and the rest
        one for each element of the axis, of which they take one.
        """
        self._binary("reduce")
        op = f"{self.__name__}.reduce"
        x = _convert.array(array, op)
        axes = _convert.axes(_convert.axis_or_none(axis, x), x.ndim, op)
        kind = reduction_dtype(self.__name__, x.dtype, _convert.dtype_or_none(dtype))
        if len(axes) > 1 and self.__name__ not in ASSOCIATIVE:
            raise InvalidValueError(
                f"axis={axis!r}", op=op, remedy="Pass one axis, since the order of the elements matters."
            )
        mask = None
        if where is not True:
            if initial is None and self.identity is None:
                raise InvalidValueError("where= without initial", op=op, remedy="Give initial.")
            mask = stator.broadcast_to(_convert.array(where, op, like=x).astype("bool", copy=False), x.shape)
        first = initial if initial is None else _convert.assigned(initial, kind, op, like=x)
        if not axes:  # as over an axis of one element
            x, mask = stator.expand_dims(x, axis=-1), None if mask is None else stator.expand_dims(mask, axis=-1)
            axes, keepdims = (x.ndim - 1,), False
        return _convert.store(self._reduced(x, axes, kind, first, mask, keepdims, op), out, op)

    def _reduced(
        self,
        x: Array,
        axes: tuple[int, ...],
        kind: DType,
        first: Array | None,
        mask: Array | None,
        keepdims: bool,
        op: str,
    ) -> Array:
        ordered = self.__name__ not in ASSOCIATIVE
        if mask is not None and not ordered:
            neutral = self.identity if first is None or self.identity is not None else first
            skipped = neutral if isinstance(neutral, Array) else stator.full((), neutral, device=x.backend).astype(kind)
            x, mask = stator.where(mask, x.astype(kind, copy=False), skipped), None
        known = REDUCTIONS.get(self.__name__)
        if known and x.size and (kind.kind != "c" or known in ("sum", "prod")):
            options = {"dtype": kind} if known in ("sum", "prod") else {}
            result: Array = getattr(stator, known)(x, axis=axes, keepdims=keepdims, **options).astype(kind, copy=False)
            return result if first is None else self(first, result)
        rows = x.astype(kind, copy=False)
        for axis in sorted(axes, reverse=True):
            rows = stator.moveaxis(rows, axis, 0)
            if ordered:
                chosen = None if mask is None else stator.moveaxis(mask, axis, 0)
                rows = self._fold_in_order(rows, first, chosen, op)
            else:
                rows = self._fold(rows, first is not None, op)
        if not ordered and first is not None:
            rows = self(first, rows) if x.size else stator.copy(stator.broadcast_to(first, rows.shape))
        return stator.expand_dims(rows, axis=axes) if keepdims else rows

    def _fold_in_order(self, x: Array, first: Array | None, mask: Array | None, op: str) -> Array:
        if first is None and not x.shape[0]:
            raise InvalidValueError("No elements to reduce", op=op, remedy="Give initial.")
        result = x[0] if first is None else stator.broadcast_to(first, x.shape[1:])
        for k in range(first is None, x.shape[0]):
            combined = self(result, x[k])
            result = combined if mask is None else stator.where(mask[k], combined, result)
        return stator.copy(result) if x.shape[0] <= (first is None) else result

    def _fold(self, x: Array, may_be_empty: bool, op: str) -> Array:
        if x.shape[0] == 0:
            if self.identity is None and not may_be_empty:
                raise InvalidValueError("No elements to reduce", op=op, remedy="Give initial.")
            value = 0 if self.identity is None else self.identity
            return stator.full(x.shape[1:], value, device=x.backend).astype(x.dtype)
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
        kind = reduction_dtype(self.__name__, x.dtype, _convert.dtype_or_none(dtype))
        if self.__name__ in SCANS and kind != stator.bool:
            return _convert.store(getattr(stator, SCANS[self.__name__])(x, axis=axis, dtype=kind), out, op)
        x = x.astype(kind, copy=False)
        if self.__name__ in ("maximum", "minimum") and kind != stator.bool and kind.kind != "c":
            scan = stator.cumulative_max if self.__name__ == "maximum" else stator.cumulative_min
            return _convert.store(scan(x, axis=axis).values, out, op)
        rows = list(stator.unstack(x, axis=axis))
        for i in range(1, len(rows)):
            rows[i] = self(rows[i - 1], rows[i])
        return _convert.store(stator.stack(rows, axis=axis) if rows else stator.copy(x), out, op)

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
        kind = reduction_dtype(self.__name__, x.dtype, _convert.dtype_or_none(dtype))
        parts = [
            self.reduce(rows[i:j], 0, dtype) if j > i + 1 else rows[i].astype(kind)
            for i, j in zip(starts, [*starts[1:], rows.shape[0]], strict=False)
        ]
        none = stator.empty((*x.shape[:axis], 0, *x.shape[axis + 1 :]), dtype=kind, device=x.backend)
        return _convert.store(stator.stack(parts, axis=axis) if parts else none, out, op)

    def outer(self, A: Any, B: Any, /, **options: Any) -> Any:
        """The function of all pairs of elements: the result has the axes of A, then those of B."""
        if self.nin != 2:
            self._binary("outer")
        a, b = _convert.arrays(f"{self.__name__}.outer", A, B)
        return self(stator.reshape(a, a.shape + (1,) * b.ndim), b, **options)

    def at(self, a: Array, indices: Any, b: Any = None, /) -> None:
        """a[indices] = f(a[indices], b), where an element that occurs twice is changed twice. In place.

        Sums, differences, products and extremes are one launch where the dtype of `a` holds b. Others are changed in as
        many rounds as an element occurs, for which their number is read back.
        """
        op = f"{self.__name__}.at"
        if not isinstance(a, Array):
            raise _convert.refused(a, op)
        if self.nin > 2 or self.nout > 1 or (b is None) != (self.nin == 1):
            raise DTypeError(f"{self.nin} operands and {self.nout} results", op=op, remedy="Give b to two operands.")
        key = tuple(
            _convert.places(k, op, like=a) if isinstance(k, list) else k
            for k in (indices if isinstance(indices, tuple) else (indices,))
        )
        places = stator.reshape(stator.arange(a.size, device=a.backend), a.shape)[key]
        values = None
        if self.nin == 2:
            values = stator.ravel(stator.broadcast_to(_convert.array(b, op, like=a), places.shape))
        places, flat = stator.ravel(places), stator.ravel(a)
        if not places.size:
            self(*([flat[:0]] if values is None else [flat[:0], values]))  # which checks the dtypes
        else:
            changed = self._scattered(flat, places, values)
            changed = self._in_rounds(flat, places, values) if changed is None else changed
            a[...] = stator.reshape(changed, a.shape)

    def _scattered(self, flat: Array, places: Array, values: Array | None) -> Array | None:
        """`at` by one scatter, where its arithmetic is that of NumPy's loop."""
        name = self.__name__
        if values is None or name not in SCATTERS or stator.bool in (flat.dtype, values.dtype):
            return None
        if flat.dtype.kind == "c" and name in ("maximum", "minimum"):
            return None
        modular = name in ("add", "subtract", "multiply") and all(v.dtype.kind in "iu" for v in (flat, values))
        if not modular and stator.result_type(flat.dtype, values.dtype) != flat.dtype:
            return None
        values = values.astype(flat.dtype, copy=False)
        values = stator.negative(values) if name == "subtract" else values
        return stator.scatter(flat, 0, places, values, reduce=SCATTERS[name])

    def _in_rounds(self, flat: Array, places: Array, values: Array | None) -> Array:
        """`at` in rounds, of which each changes an element once, in the order of the indices."""
        order = stator.argsort(places)
        sorted_places = stator.take(places, order)
        count = stator.arange(places.size, device=flat.backend)
        rank = stator.subtract(count, stator.searchsorted(sorted_places, sorted_places))
        flat = stator.copy(flat)
        for k in range(int(stator.max(rank)) + 1):
            chosen = stator.take(order, stator.nonzero(stator.equal(rank, k))[0])
            at = stator.take(places, chosen)
            operands = [stator.take(flat, at)] + ([] if values is None else [stator.take(values, chosen)])
            flat[at] = self(*operands).astype(flat.dtype, copy=False)
        return flat
