"""Dtypes, their promotion and limits, and constants."""

from __future__ import annotations

from typing import Any

import numpy as np

import stator
from stator._array import Array
from stator._dtype import DType
from stator.errors import DTypeError, InvalidValueError
from stator.numpy import _convert
from stator.numpy._convert import DTypeLike
from stator.numpy._rows import add, differs, same

for _dtype in stator._dtype.all_dtypes:
    if _dtype.name != "bfloat16":
        add(_dtype.name, _dtype, "A stator dtype; called with a value it makes an array, 0-d of a number")
add("bool_", stator.bool, "A stator dtype; called with a value it makes an array, 0-d of a number")
_HOW = "A stator dtype; called with a value it makes an array, 0-d of a number"
for _name, _target in {
    "byte": "int8",
    "ubyte": "uint8",
    "short": "int16",
    "ushort": "uint16",
    "intc": "int32",
    "uintc": "uint32",
    "int_": "int64",
    "uint": "uint64",
    "intp": "int64",
    "uintp": "uint64",
    "long": "int64",
    "ulong": "uint64",
    "longlong": "int64",
    "ulonglong": "uint64",
    "half": "float16",
    "single": "float32",
    "double": "float64",
    "csingle": "complex64",
    "cdouble": "complex128",
}.items():
    add(_name, stator.dtype(_target), _HOW)
for _name in ("e", "euler_gamma", "inf", "nan", "pi", "little_endian"):
    add(_name, getattr(np, _name))
add("True_", True, "Python's True")
add("False_", False, "Python's False")
for _name in (
    "generic",
    "number",
    "integer",
    "signedinteger",
    "unsignedinteger",
    "inexact",
    "floating",
    "complexfloating",
):
    add(_name, getattr(np, _name), "NumPy's abstract class, for issubdtype")
add("ndarray", Array, "It is stator.Array, which has no constructor")
add("dtype", _convert.dtype, "A function that gives a stator dtype of any of NumPy's spellings")


def _host(value: Any) -> Any:
    if isinstance(value, DType):
        return value.numpy()
    return value.dtype.numpy() if isinstance(value, Array) else value


@differs("bfloat16 is a dtype")
def can_cast(from_: Any, to: DTypeLike, casting: str = "safe") -> bool:
    """Whether values of a dtype can be cast to another one by a rule."""
    try:
        return bool(np.can_cast(_host(from_), _host(to), casting))  # type: ignore[arg-type]
    except TypeError as error:
        raise DTypeError(f"can_cast of {from_!r} and {to!r}: {error}", op="can_cast", remedy="Pass dtypes.") from None


@differs("A stator dtype")
def promote_types(type1: DTypeLike, type2: DTypeLike) -> DType:
    """The dtype that both dtypes are cast to."""
    return stator.result_type(_convert.dtype(type1), _convert.dtype(type2))


@differs("A stator dtype")
def result_type(*arrays_and_dtypes: Any) -> DType:
    """The dtype of an op on arrays, dtypes and Python numbers, which are weak."""
    given = [
        v
        if isinstance(v, Array) or _convert.is_number(v)
        else _convert.dtype(_host(v) if not isinstance(v, DType) else v)
        if isinstance(v, (str, type, np.dtype, DType))
        else _convert.array(v, "result_type").dtype
        for v in arrays_and_dtypes
    ]
    if given and all(_convert.is_number(v) for v in given):
        return _convert.dtype(np.result_type(*given))
    return stator.result_type(*given)


@differs("A stator dtype; of an Array its own dtype")
def min_scalar_type(a: Any, /) -> DType:
    """The smallest dtype that holds a number."""
    return a.dtype if isinstance(a, Array) else _convert.dtype(np.min_scalar_type(a))


@differs("A stator dtype, not a scalar class")
def common_type(*arrays: Any) -> DType:
    """The inexact dtype that all arrays are cast to."""
    given = _convert.arrays("common_type", *arrays)
    found: Any = np.float16
    for x in given:
        if x.dtype.name == "bool":
            raise DTypeError("An array of bool", op="common_type", remedy="Give arrays of numbers.")
        kind = np.float64 if x.dtype.kind in "iu" else x.dtype.numpy()
        found = np.promote_types(found, kind)
    return _convert.dtype(found)


@same
def mintypecode(typechars: Any, typeset: str = "GDFgdf", default: str = "d") -> str:
    """The character of the smallest dtype that characters can be cast to."""
    return np.mintypecode([_host(t).char if isinstance(t, (Array, DType)) else t for t in typechars], typeset, default)


@same
def issubdtype(arg1: Any, arg2: Any) -> bool:
    """Whether a dtype is of a class of dtypes."""
    return bool(np.issubdtype(_host(arg1), _host(arg2)))


@same
def isdtype(dtype: Any, kind: Any) -> bool:
    """Whether a dtype is of a kind of the array API standard."""
    kinds = tuple(_host(k) for k in kind) if isinstance(kind, tuple) else _host(kind)
    return bool(np.isdtype(np.dtype(_host(dtype)), kinds))


class FloatLimits:
    """The limits of a floating dtype: NumPy's fields as Python numbers, and `dtype`, that of the real numbers."""

    def __init__(self, dtype: DType) -> None:
        self._found = stator.finfo(dtype)
        host = self._found.dtype.numpy()
        if dtype.name == "bfloat16":
            import ml_dtypes

            self._library: Any = ml_dtypes.finfo(host)  # type: ignore[no-untyped-call]
        else:
            self._library = np.finfo(host)

    def __getattr__(self, name: str) -> Any:
        if hasattr(self._found, name):
            return getattr(self._found, name)
        value = getattr(self._library, name)
        return float(value) if isinstance(value, np.generic) else value

    def __repr__(self) -> str:
        return repr(self._found).replace("FloatInfo", "finfo")


@differs("The limits as Python numbers")
def finfo(dtype: DTypeLike) -> Any:
    """The limits of a floating dtype."""
    kind = dtype.dtype if isinstance(dtype, Array) else _convert.dtype(dtype)
    if kind.kind not in "fc":
        raise InvalidValueError(f"The dtype {kind} is not inexact", op="finfo", remedy="Use iinfo for integers.")
    return FloatLimits(kind)


@differs("The limits as Python numbers, in the fields of the array API")
def iinfo(int_type: DTypeLike) -> Any:
    """The limits of an integer dtype."""
    kind = int_type.dtype if isinstance(int_type, Array) else _convert.dtype(int_type)
    if kind.kind not in "iu":
        raise InvalidValueError(f"The dtype {kind} is not of integers", op="iinfo", remedy="Use finfo for others.")
    return stator.iinfo(kind)


@same
def isscalar(element: Any) -> bool:
    """Whether it is a number or a text, and no array."""
    return bool(np.isscalar(element))


@same
def iterable(y: Any) -> bool:
    """Whether it can be iterated over."""
    return y.ndim > 0 if isinstance(y, Array) else np.iterable(y)


add("typename", np.typename)
add("typecodes", np.typecodes)
