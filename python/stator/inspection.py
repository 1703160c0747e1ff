"""The inspection functions of the array API standard 2025.12. Nothing here opens a backend."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from stator import _backend
from stator._array import Array
from stator._device import Device
from stator._dtype import DType, all_dtypes, dtype, result_type
from stator.errors import DTypeError, InvalidValueError, ShapeError, renamed

if TYPE_CHECKING:
    from stator._typing import DTypeLike

_KINDS = {
    "bool": "b",
    "signed integer": "i",
    "unsigned integer": "u",
    "integral": "iu",
    "real floating": "f",
    "complex floating": "c",
    "numeric": "iufc",
}
_BEYOND_THE_STANDARD = ("float16", "bfloat16")


@dataclass(frozen=True)
class FloatInfo:
    """The limits of a floating dtype; eps is the distance from 1 to the next number."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: DType


@dataclass(frozen=True)
class IntegerInfo:
    """The limits of an integer dtype."""

    bits: int
    max: int
    min: int
    dtype: DType


def _dtype_of(value: DTypeLike | Array, op: str) -> DType:
    if isinstance(value, Array):
        return value.dtype
    try:
        return dtype(value)
    except DTypeError as error:
        raise renamed(error, op) from None


def finfo(type: DTypeLike | Array, /) -> FloatInfo:
    """The limits of a floating dtype, or of the parts of a complex one; DTypeError for others."""
    kind = _dtype_of(type, "finfo")
    if kind.kind not in "fc":
        raise DTypeError(f"The dtype {kind} is not floating", op="finfo", remedy="Use iinfo for integers.")
    real = dtype({"complex64": "float32", "complex128": "float64"}.get(kind.name, kind.name))
    spec = real.numpy()  # LibraryNotFoundError where bfloat16 has no NumPy dtype
    if real.name == "bfloat16":
        import ml_dtypes

        library: Any = ml_dtypes
    else:
        library = np
    found = library.finfo(spec)
    return FloatInfo(
        int(found.bits), float(found.eps), float(found.max), float(found.min), float(found.smallest_normal), real
    )


def iinfo(type: DTypeLike | Array, /) -> IntegerInfo:
    """The limits of an integer dtype; DTypeError for others."""
    kind = _dtype_of(type, "iinfo")
    if kind.kind not in _KINDS["integral"]:
        raise DTypeError(f"The dtype {kind} is not of integers", op="iinfo", remedy="Use finfo for floating dtypes.")
    found = np.iinfo(kind.numpy())
    return IntegerInfo(int(found.bits), int(found.max), int(found.min), kind)


def isdtype(dtype: DTypeLike, kind: DTypeLike | str | tuple[Any, ...]) -> bool:
    """Whether a dtype is of a kind, is a given dtype, or is one of a tuple of both.

    kind: "bool", "signed integer", "unsigned integer", "integral", "real floating", "complex floating" or "numeric";
    InvalidValueError for others.
    """
    own = _dtype_of(dtype, "isdtype")
    if isinstance(kind, tuple):
        return any(isdtype(own, k) for k in kind)
    if isinstance(kind, str):
        if kind not in _KINDS:
            raise InvalidValueError(f"kind {kind!r}", op="isdtype", remedy=f"One of {', '.join(_KINDS)}, or a dtype.")
        return own.kind in _KINDS[kind]
    return own == _dtype_of(kind, "isdtype")


def can_cast(from_: DTypeLike | Array, to: DTypeLike, /) -> bool:
    """Whether promotion of the two dtypes gives `to`, which then can hold the values of from_."""
    target = _dtype_of(to, "can_cast")
    return result_type(_dtype_of(from_, "can_cast"), target) == target


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The common shape that arrays of these shapes broadcast to; ShapeError where there is none."""
    for shape in shapes:
        if not isinstance(shape, (tuple, list)) or not all(isinstance(n, (int, np.integer)) for n in shape):
            raise DTypeError(
                "A shape must be a tuple of integers", op="broadcast_shapes", remedy="Pass tuples of integers."
            )
        if any(not 0 <= n < 2**63 for n in shape) or len(shape) > 32:
            raise ShapeError(
                f"shape {tuple(shape)}",
                op="broadcast_shapes",
                remedy="A shape has at most 32 extents, which are not negative and fit 64 bits.",
            )
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        raise ShapeError(
            f"shapes {', '.join(map(str, shapes))} do not broadcast",
            op="broadcast_shapes",
            remedy="Trailing extents must be equal, or 1.",
        ) from None


class NamespaceInfo:
    """The result of __array_namespace_info__()."""

    def capabilities(self) -> dict[str, bool | int]:
        """Boolean indexing and data-dependent shapes, which synchronise, and at most 32 dimensions."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 32}

    def default_device(self) -> Device:
        """The device of new arrays if no backend is current and STATOR_DEVICE is not set.

        The first GPU, else the CPU.
        """
        return Device("cuda", 0) if _backend.available("cuda")[0] else Device("cpu")

    def devices(self) -> tuple[Device, ...]:
        """Every device that a Backend can be opened for."""
        counts = {kind: _backend.device_count(kind) if _backend.available(kind)[0] else 0 for kind in ("cpu", "cuda")}
        return tuple(Device(kind, i) for kind, count in counts.items() for i in range(count))

    def default_dtypes(self, *, device: Device | str | None = None) -> dict[str, DType]:
        """The default dtypes by kind, which are the same on every device."""
        names = {
            "real floating": "float64",
            "complex floating": "complex128",
            "integral": "int64",
            "indexing": "int64",
        }
        return {kind: dtype(name) for kind, name in names.items()}

    def dtypes(
        self, *, device: Device | str | None = None, kind: str | tuple[str, ...] | None = None
    ) -> dict[str, DType]:
        """The standard's dtypes of a kind by name, the same on every device.

        stator also has float16 and bfloat16, which are not in the standard.
        """
        standard = [d for d in all_dtypes if d.name not in _BEYOND_THE_STANDARD]
        return {d.name: d for d in standard if kind is None or isdtype(d, kind)}


def __array_namespace_info__() -> NamespaceInfo:
    """The inspection object of the array API standard."""
    return NamespaceInfo()


__all__ = [
    "FloatInfo",
    "IntegerInfo",
    "NamespaceInfo",
    "__array_namespace_info__",
    "broadcast_shapes",
    "can_cast",
    "finfo",
    "iinfo",
    "isdtype",
]


def __dir__() -> list[str]:
    return [*__all__]
