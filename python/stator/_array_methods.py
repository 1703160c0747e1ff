"""The methods of Array beside those of the class itself: one table of what each one is called with.

A pair is a function of stator, which the method is, and the method's parameters. A function without them is the method
itself, for what NumPy's method takes and stator's function does not; those that are called most often are in Cython
(_methods).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from types import BuiltinFunctionType
from typing import Any

import numpy as np

from stator import _methods
from stator._array import Array
from stator._array_transfers import copy_from, copy_to
from stator._creation import asarray, copy, zeros_like
from stator._elementwise import clip
from stator._function import install_method
from stator._hints import HINTS, MissingAttribute
from stator._indexing import nonzero, take
from stator._matmul import dot
from stator._methods import on_device, stored
from stator._movement import ravel, repeat, tile
from stator._movement_views import expand_dims, permute_dims, reshape, squeeze
from stator._namespace import FUNCTIONS
from stator._printing import html
from stator._scan import cumprod, cumsum
from stator._sort import argsort, partition, sort
from stator.errors import (
    AxisError,
    DTypeError,
    InvalidValueError,
    StatorError,
    UnsupportedError,
    renamed,
)

_remainder: Callable[..., Array] = FUNCTIONS["remainder"]


def _reversed(x: Array) -> Array:
    return permute_dims(x, range(x.ndim - 1, -1, -1))


def _by_rows(order: object) -> bool:
    return isinstance(order, str) and order == "C"


def _in_order(x: Array, order: str, op: str) -> list[int]:
    """The axes from the slowest to the fastest in an order of elements: "C", "F", or "A" and "K" as they are stored."""
    order = order.upper() if isinstance(order, str) else order
    _one_of(order, ("C", "F", "A", "K"), "order", op)
    by_rows = list(range(x.ndim))
    if order == "K":
        return sorted(by_rows, key=lambda axis: -abs(x.strides[axis]))
    by_columns = order == "F" or (order == "A" and not x.is_contiguous and _reversed(x).is_contiguous)
    return by_rows[::-1] if by_columns else by_rows


def _one_of(value: object, choices: Sequence[str], name: str, op: str) -> None:
    remedy = f"Pass one of {', '.join(map(repr, choices))}."
    if not isinstance(value, str):
        raise DTypeError(f"Got {name} of type {type(value).__name__}", op=op, remedy=remedy)
    if value not in choices:
        raise InvalidValueError(f"{name}={value!r}", op=op, remedy=remedy)


def _by_kind(kind: str | None, order: object, op: str) -> None:
    if order is not None:
        raise UnsupportedError("The order of fields was given", op=op, remedy="Arrays have no fields: drop order=.")
    if kind is not None:
        _one_of(kind, ("quicksort", "mergesort", "heapsort", "stable"), "kind", op)


def _places(x: Array, indices: object, length: int, mode: str, op: str) -> Array:
    """Indices as an array, moved into range as NumPy's mode says."""
    return in_mode(on_device(x, indices, op), length, mode, op)


def in_mode(index: Array, length: int, mode: str, op: str) -> Array:
    """The indices of an axis of that length, moved into range as NumPy's mode says."""
    _one_of(mode, ("raise", "wrap", "clip"), "mode", op)
    if mode == "wrap":
        return _remainder(index, max(length, 1))
    if mode == "clip":
        return clip(index, 0, max(length - 1, 0))
    return index


def _axes(x: Array, op: str, **given: int) -> list[int]:
    for name, axis in given.items():
        try:
            place = operator.index(axis)
        except TypeError:
            raise DTypeError(f"Got {name} of type {type(axis).__name__}", op=op, remedy="Pass an integer.") from None
        if not -x.ndim <= place < x.ndim:
            raise AxisError(f"Got {name}={place} for shape {x.shape}", op=op, remedy="Use one of its axes.")
    return [operator.index(axis) % x.ndim for axis in given.values()]


def reshaped(x: Array, shape: Any, order: str, copy: bool | None) -> Array:
    """The elements in another shape, read and placed in an order: what Array.reshape does but for "C"."""
    _one_of(order, ("C", "F", "A"), "order", "Array.reshape")
    if _in_order(x, order, "Array.reshape") == list(range(x.ndim)) and order == "A":
        return reshape(x, shape, copy=copy)
    extents = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    return _reversed(reshape(_reversed(x), extents[::-1], copy=copy))


def flatten(self: Array, order: str = "C") -> Array:
    """A copy with one axis; order: "C" by rows, "F" by columns, "A" or "K" as the array is stored."""
    x = self if _by_rows(order) else permute_dims(self, _in_order(self, order, "Array.flatten"))
    return reshape(x, -1, copy=True)


def _ravel(self: Array, order: str = "C") -> Array:
    """The elements with one axis, as stator.ravel: a view where the strides allow it; order as in flatten."""
    return ravel(self if _by_rows(order) else permute_dims(self, _in_order(self, order, "Array.ravel")))


def _copy(self: Array, order: str = "C") -> Array:
    """A copy, as stator.copy; order: "F" stores it by columns, "A" and "K" as the array is stored."""
    if type(order) is str and order == "C":
        return copy(self)
    axes = _in_order(self, order, "Array.copy")
    return permute_dims(copy(permute_dims(self, axes)), [axes.index(axis) for axis in range(self.ndim)])


def _dot(self: Array, b: Array, out: Array | None = None) -> Array:
    """The dot product, as stator.dot, or the product with a number or a 0-d array."""
    try:
        if out is None and isinstance(b, Array) and self.ndim and b.ndim:
            return dot(self, b)
        scaled = isinstance(b, (int, float, complex)) or (isinstance(b, Array) and 0 in (self.ndim, b.ndim))
        return stored(self * b if scaled else dot(self, b), out, "Array.dot")
    except StatorError as error:
        raise renamed(error, "Array.dot") from None


def tolist(self: Array) -> Any:
    """The elements as nested lists of Python numbers; a number for a 0-d array. Synchronises."""
    return (self.astype("float32") if self.dtype == "bfloat16" else self).to_numpy().tolist()


def tobytes(self: Array, order: str = "C") -> bytes:
    """The bytes of the elements, by rows ("C") or by columns ("F"). Synchronises."""
    bits = self.view("uint16") if self.dtype == "bfloat16" else self  # NumPy has no bfloat16 of its own
    return permute_dims(bits, _in_order(self, order, "Array.tobytes")).to_numpy().tobytes()


def __format__(self: Array, spec: str) -> str:
    """That of the number for a 0-d array, which synchronises; other arrays take no format."""
    if self.ndim == 0:
        return format(self.item(), spec)
    if spec:
        raise DTypeError(
            f"The format {spec!r} for an array of shape {self.shape}",
            op="Array.__format__",
            remedy="Format one number, such as x.item(0), or use set_printoptions.",
        )
    return str(self)


def __round__(self: Array, ndigits: int | None = None) -> Array:
    """As the method round: the elements rounded half to even, in the array's dtype."""
    return _methods.round(self, 0 if ndigits is None else ndigits)


def __copy__(self: Array) -> Array:
    """A copy on the device. Asynchronous."""
    return copy(self)


def __deepcopy__(self: Array, memo: object) -> Array:
    """A copy on the device. Asynchronous."""
    return copy(self)


def __reduce_ex__(self: Array, protocol: Any) -> tuple[Any, ...]:
    """For pickle: the elements of the array or view, its dtype, shape and device. Synchronises.

    From protocol 5 the elements may travel out of band.
    """
    from stator._pickling import reduce_array

    return reduce_array(self, operator.index(protocol))


def __dask_tokenize__(self: Array) -> tuple[Any, ...]:
    """What dask names the array by: its device, dtype, shape and a digest of the elements. Synchronises."""
    from hashlib import blake2b

    return "stator.Array", str(self.device), self.dtype.name, self.shape, blake2b(self.tobytes()).hexdigest()


def _repr_html_(self: Array) -> str:
    """For notebooks: shape, dtype and device above the elements that repr prints. Synchronises."""
    return html(self)


def fill(self: Array, value: complex) -> None:
    """Sets every element to a number or a 0-d array, which becomes the dtype as in x[...] = value."""
    if isinstance(value, (list, tuple)) or getattr(value, "ndim", 0) != 0:
        raise InvalidValueError(
            f"A {type(value).__name__} of several values",
            op="Array.fill",
            remedy="Give a number, or use x[...] = value.",
        )
    try:
        self[...] = value
    except StatorError as error:
        raise renamed(error, "Array.fill") from None


def _sort(
    self: Array, axis: int = -1, kind: str | None = None, order: None = None, *, stable: bool | None = None
) -> None:
    """Sorts in place, as stator.sort; always stable, whatever kind and stable are."""
    _by_kind(kind, order, "Array.sort")
    self[...] = sort(self, axis, stable=stable is None or stable)


def _argsort(
    self: Array, axis: int | None = -1, kind: str | None = None, order: None = None, *, stable: bool | None = None
) -> Array:
    """The int64 indices that sort the array, as stator.argsort; axis: None is that of the flattened array."""
    if kind is None and order is None and stable is None and axis is not None and self.ndim > 0:
        return argsort(self, axis)
    _by_kind(kind, order, "Array.argsort")
    x, along = (self, axis) if axis is not None and self.ndim > 0 else (ravel(self), -1)
    return argsort(x, along, stable=stable is None or stable)


def _partition(self: Array, kth: int | Sequence[int], axis: int = -1) -> None:
    """Orders in place so that the elements at the positions kth are those of the sorted array, as stator.partition."""
    self[...] = partitioned(self, kth, axis)


def partitioned(x: Array, kth: Any, axis: int) -> Array:
    """A copy as stator.partition makes it; kth may be a list, and complex numbers are sorted."""
    if x.size == 0:  # which has no such position, as NumPy does not say
        return copy(x)
    places = kth.tolist() if isinstance(kth, (np.ndarray, np.generic)) else kth
    if x.dtype.kind != "c":
        return partition(x, places, axis=axis)
    length = x.shape[_axes(x, "partition", axis=axis)[0]]
    for place in places if isinstance(places, (list, tuple)) else [places]:
        if not -length <= operator.index(place) < length:
            raise InvalidValueError(f"kth={kth!r} of {length} elements", op="partition", remedy="Give one in range.")
    return sort(x, axis)


def _take(
    self: Array,
    indices: Array | int | Sequence[Any],
    axis: int | None = None,
    out: Array | None = None,
    mode: str = "raise",
) -> Array:
    """The elements at indices along an axis, as stator.take; indices may be a list or a number.

    axis: None takes from the flattened array. mode: "raise", "wrap" or "clip" for indices out of range.
    """
    if out is None and type(mode) is str and mode == "raise" and isinstance(indices, Array):
        try:
            return take(self, indices, axis)
        except StatorError as error:
            raise renamed(error, "Array.take") from None
    length = self.size if axis is None else self.shape[_axes(self, "Array.take", axis=axis)[0]]
    try:
        return stored(take(self, _places(self, indices, length, mode, "Array.take"), axis), out, "Array.take")
    except StatorError as error:
        raise renamed(error, "Array.take") from None


def put(
    self: Array, indices: Array | int | Sequence[Any], values: Array | complex | Sequence[Any], mode: str = "raise"
) -> None:
    """Sets the elements at indices of the flattened array; values are repeated as often as needed.

    mode: "raise", "wrap" or "clip" for indices out of range.
    """
    try:
        places = ravel(_places(self, indices, self.size, mode, "Array.put"))
        numbers = isinstance(values, (int, list, tuple))  # which must be in range
        given = ravel(asarray(values, dtype=self.dtype if numbers else None, device=self.backend))
        if places.size and given.size:
            Flat(self)[places] = cycled(given.astype(self.dtype, copy=False), places.size)
    except StatorError as error:
        raise renamed(error, "Array.put") from None


def cycled(values: Array, count: int) -> Array:
    """count elements of a vector, repeated from the front as often as needed."""
    return values if values.size == count else tile(values, -(-count // values.size))[:count]


def _repeat(self: Array, repeats: int | Array | Sequence[int], axis: int | None = None) -> Array:
    """Each element repeated along an axis, as stator.repeat; repeats may be a list."""
    counts: Any = on_device(self, repeats, "Array.repeat") if isinstance(repeats, (list, tuple)) else repeats
    return repeat(self, counts, axis)


def _nonzero(self: Array) -> tuple[Array, ...]:
    """The coordinates of the elements that are not zero, as stator.nonzero. Synchronises."""
    return nonzero(self)


class Flat:
    """The elements of an array in row-major order, as numpy.ndarray.flat: they are read and assigned by index."""

    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, base: Array) -> None:
        self.base = base

    def __len__(self) -> int:
        return self.base.size

    def __iter__(self) -> Iterator[Any]:
        return iter(ravel(self.base))

    def __getitem__(self, key: Any) -> Array:
        return copy(ravel(self.base)[key])

    def __setitem__(self, key: Any, value: Any) -> None:
        row = ravel(self.base)
        if isinstance(value, (Array, list, tuple)) and isinstance(key, (slice, list)):  # NumPy repeats the values
            count = row[key].size
            given = ravel(on_device(self.base, value, "Array.flat"))
            value = cycled(given, count) if given.size else given
        row[key] = value
        if self.base.size and row.data_ptr != self.base.data_ptr:  # a copy, since the strides allow no view
            self.base[...] = reshape(row, self.base.shape)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return ravel(self.base).__array__(dtype, copy)

    def copy(self) -> Array:
        """The elements as an array of one axis."""
        return flatten(self.base)

    def __repr__(self) -> str:
        return f"<stator.Array.flat of shape {self.base.shape}>"


def _set_flat(self: Array, value: Any) -> None:
    given = ravel(asarray(value, device=self.backend))
    self[...] = reshape(cycled(given, self.size) if given.size else given, self.shape)  # NumPy repeats the values


def _part(x: Array, which: int) -> Array:
    return expand_dims(x, axis=-1).view(_PART[x.dtype.name])[..., which]


_PART = {"complex64": "float32", "complex128": "float64"}


def _real(self: Array) -> Array:
    """The real parts, as NumPy's: a view of a complex array, and the array itself where it is real."""
    return _part(self, 0) if self.dtype.name in _PART else self


def _set_real(self: Array, value: Any) -> None:
    _real(self)[...] = value


def _imag(self: Array) -> Array:
    """The imaginary parts, as NumPy's: a view of a complex array, and zeros where the array is real."""
    return _part(self, 1) if self.dtype.name in _PART else zeros_like(self)


def _set_imag(self: Array, value: Any) -> None:
    if self.dtype.name not in _PART:
        raise DTypeError(
            f"An array of {self.dtype} has no imaginary parts", op="Array.imag", remedy="Use a complex dtype."
        )
    _part(self, 1)[...] = value


def choose(self: Array, choices: Array | Sequence[Any], out: Array | None = None, mode: str = "raise") -> Array:
    """At each position the element of the choice that the array names, as numpy.choose."""
    _one_of(mode, ("raise", "wrap", "clip"), "mode", "Array.choose")
    return _numpys("choose", self, choices, out, mode)


def argpartition(
    self: Array, kth: int | Sequence[int], axis: int | None = -1, kind: str = "introselect", order: None = None
) -> Array:
    """The int64 indices that partition the array; they are those that sort it."""
    _by_kind(None, order, "Array.argpartition")
    _one_of(kind, ("introselect",), "kind", "Array.argpartition")
    try:
        given: list[Any] = list(kth) if isinstance(kth, (list, tuple)) else [kth]
        places = [operator.index(k) for k in given]
    except TypeError:
        raise DTypeError(
            f"Got kth of type {type(kth).__name__}", op="Array.argpartition", remedy="Pass an integer, or several."
        ) from None
    along = None if axis is None else _axes(self, "Array.argpartition", axis=axis)[0]
    return _numpys("argpartition", self, places, along)


def _numpys(name: str, *args: Any, **options: Any) -> Array:
    import stator.numpy

    try:
        found: Array = getattr(stator.numpy, name)(*args, **options)
    except StatorError as error:
        raise renamed(error, f"Array.{name}") from None
    return found


def _beside_initial(name: str) -> Callable[..., Array]:
    """A reduction that begins with initial=, which stator's own functions do not take."""

    def compute(*args: Any, initial: Any, **options: Any) -> Array:
        given = {k: v for k, v in options.items() if v is not None}
        if initial is not None:
            if not isinstance(initial, (Array, bool, int, float, complex, np.generic)):
                raise DTypeError(
                    f"Got initial of type {type(initial).__name__}", op=f"Array.{name}", remedy="Pass a number."
                )
            given["initial"] = initial
        return _numpys(name, *args, **given)

    return compute


_SUM = "axis=None, dtype=None, out=None, keepdims=False, *, where=None"
_MAX = "axis=None, out=None, keepdims=False, *, where=None"
_INITIAL = ", initial=None"
_STD = "axis=None, dtype=None, out=None, ddof=None, keepdims=False, *, where=None"
_ARG = "axis=None, out=None, *, keepdims=False"

METHODS: dict[str, Callable[..., Any] | tuple[Callable[..., Any], str] | property] = {
    **{name: (FUNCTIONS[name], _SUM + _INITIAL) for name in ("sum", "prod")},
    **{name: (FUNCTIONS[name], _MAX + _INITIAL) for name in ("max", "min")},
    **{name: (FUNCTIONS[name], _MAX) for name in ("any", "all")},
    "mean": (FUNCTIONS["mean"], _SUM),
    **{name: (FUNCTIONS[name], _STD) for name in ("std", "var")},
    **{name: (FUNCTIONS[name], _ARG) for name in ("argmax", "argmin")},
    "conj": _methods.conj,
    "conjugate": _methods.conj,
    "cumprod": (cumprod, "axis=None, dtype=None, out=None"),
    "cumsum": (cumsum, "axis=None, dtype=None, out=None"),
    "squeeze": (squeeze, "axis=None"),
    **{f.__name__: f for f in (_methods.clip, _methods.compress, _methods.diagonal, _methods.round)},
    **{f.__name__: f for f in (_methods.searchsorted, _methods.swapaxes, _methods.trace, _methods.transpose)},
    **{f.__name__: f for f in (__format__, __round__, __copy__, __deepcopy__, __reduce_ex__, _repr_html_)},
    "__dask_tokenize__": __dask_tokenize__,
    **{f.__name__: f for f in (argpartition, choose, copy_from, copy_to, fill)},
    **{f.__name__: f for f in (flatten, put, tobytes, tolist)},
    "argsort": _argsort,
    "copy": _copy,
    "dot": _dot,
    "flat": property(Flat, _set_flat, doc="The elements in row-major order, read and assigned by index."),
    "imag": property(_imag, _set_imag),
    "nonzero": _nonzero,
    "partition": _partition,
    "ravel": _ravel,
    "real": property(_real, _set_real),
    "repeat": _repeat,
    "sort": _sort,
    "take": _take,
}


def install() -> None:
    """Gives Array the methods of the table, and says of names that it has not what to use."""
    for name in HINTS["Array"]:
        hint = MissingAttribute()
        hint.__set_name__(Array, name)
        install_method(Array, name, hint)
    for name, entry in METHODS.items():
        if isinstance(entry, tuple):
            function, parameters = entry
            text = (function.__doc__ or "").partition("\n")[0]
            given = ("initial", _beside_initial(name)) if parameters.endswith(_INITIAL) else None
            install_method(Array, name, function, parameters, text, given)
        elif isinstance(entry, BuiltinFunctionType):
            parameters = (
                (getattr(entry, "__text_signature__", None) or "").strip("()").partition(", ")[2].removeprefix("/, ")
            )
            install_method(Array, name, entry, parameters, entry.__doc__)
        else:
            if not isinstance(entry, property):
                entry.__name__, entry.__qualname__ = name, f"Array.{name}"
            install_method(Array, name, entry)
