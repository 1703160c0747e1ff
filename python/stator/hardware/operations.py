"""Which ops a backend has, from the op table."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from functools import cache
from typing import TYPE_CHECKING, Any

from stator import _backend, _table
from stator._device import device_of
from stator._dtype import dtype as as_dtype
from stator._package import root
from stator.errors import DTypeError, InvalidValueError, StatorError, renamed
from stator.hardware.cuda import MAX_DIMENSIONS

if TYPE_CHECKING:
    from stator._backend import Backend
    from stator._typing import DTypeLike

# The libraries that families of ops call, by the device. Where a library has a substitute, kernels stand in for it.
LIBRARIES = {
    "cuda": {
        "fft": "cufft",
        "linalg": "cusolver",
        "matmul": "cublas",
        "recurrent": "cublas",
        "sparse": "cusparse",
    },
    "cpu": {"linalg": "openblas", "matmul": "openblas", "recurrent": "openblas"},
}
FACTS = ("asynchronous", "capturable", "deterministic", "bit_exact")


@cache
def _rows() -> dict[str, dict[str, Any]]:
    """The rows of the op table by the names of their entries, and by their calls."""
    found: dict[str, dict[str, Any]] = {}
    for row in _table.rows():
        found[row["name"]] = row
        found.setdefault(row["call"], row)
    return found


def _row(op: object, call: str) -> dict[str, Any] | None:
    """The row of an op; None for a name that is not there."""
    if not isinstance(op, str):
        raise DTypeError(f"Got op of type {type(op).__name__}", op=call, remedy="Give the name of an op as text.")
    return _rows().get(op)


def _unknown(op: str) -> InvalidValueError:
    """The error for a name that no op has. It names those that begin with it, else those most like it."""
    names = _rows()
    near = sorted((name for name in names if len(op) > 1 and name.startswith(op)), key=len)[:3]
    if not near:
        from difflib import get_close_matches

        near = get_close_matches(op, names, 3)
    return InvalidValueError(
        f"There is no op {op!r}",
        op="Backend.devices.supports",
        remedy=f"Name {' or '.join(near) or 'one of Backend.devices.available_ops()'}.",
    )


def _missing_library(be: Backend, family: str) -> str | None:
    """The library that ops of the family cannot do without on this backend, if it is not there."""
    kind = device_of(be).type
    wanted = LIBRARIES[kind].get(family)
    if wanted is None or _backend.emulated(kind):  # emulated devices have doubles of all libraries
        return None
    for library in _table.libraries(False):
        if library["name"] == wanted and not library["found"]:
            stands_in = library["substitute"] and not be.options["require_libraries"]
            return None if stands_in else wanted
    return None


def _has_target(be: Backend, row: dict[str, Any]) -> bool:
    return ("cuda" if be.device_name != "cpu" else "host") in row["targets"]


def _function(be: Backend, row: dict[str, Any]) -> Callable[..., Any] | None:
    return getattr(root().Backend.ops, row["name"], None)


def _parameters(be: Backend, row: dict[str, Any]) -> tuple[str, ...] | None:
    """The names of the parameters of the op's function; None where it is a method or has no signature."""
    function = _function(be, row)
    try:
        return tuple(inspect.signature(function).parameters) if function else None
    except (TypeError, ValueError):
        return None


def available_ops(be: Backend) -> tuple[str, ...]:
    """The names of the ops that the backend can run, in the order of the op table."""
    rows = dict.fromkeys(row["name"] for row in _rows().values())
    return tuple(name for name in rows if supports(be, name))


def operation_capabilities(be: Backend, op: str) -> dict[str, Any] | None:
    """What the op table says of an op, and its parameters; None for an unknown one."""
    row = _row(op, "Backend.devices.operation_capabilities")
    if row is None:
        return None
    return {
        "name": row["name"],
        "call": row["call"],
        "family": row["family"],
        "summary": row["summary"],
        "dtypes": tuple(row["dtypes"]),
        "parameters": _parameters(be, row),
        "supported": supports(be, op),
        "missing_library": _missing_library(be, row["family"]),
        "asynchronous": row["sync"] == "async",
        "capturable": row["capture"] == "capturable",
        "deterministic": row["determinism"] != "none",
        "bit_exact": row["determinism"] == "bit_exact",
        "launches": row["launches"]["cuda" if be.device_name != "cpu" else "host"],
        "tolerance": dict(row["tolerance"]),
    }


def _fits(be: Backend, shape: object, itemsize: int) -> bool:
    extents = (shape,) if isinstance(shape, int) else shape
    if not isinstance(extents, (tuple, list)) or not all(isinstance(n, int) for n in extents):
        raise DTypeError(
            "A shape must be a tuple of integers", op="Backend.devices.supports", remedy="Pass a tuple of integers."
        )
    if any(n < 0 for n in extents):
        raise InvalidValueError(f"shape={shape!r}", op="Backend.devices.supports", remedy="Extents are 0 or more.")
    return (
        len(extents) <= MAX_DIMENSIONS
        and math.prod(extents) * itemsize <= _backend.device_properties(be)["total_memory"]
    )


def supports(be: Backend, op: str, dtype: DTypeLike | None = None, **parameters: Any) -> bool:
    """Whether the backend can run an op, for operands of a dtype and under conditions; see Backend.devices.supports."""
    row = _row(op, "Backend.devices.supports")
    if row is None:
        raise _unknown(op)
    itemsize = 1
    if dtype is not None:
        try:
            found = as_dtype(dtype)
        except StatorError as error:
            raise renamed(error, "Backend.devices.supports") from None
        itemsize = found.itemsize
        if found.name not in row["dtypes"]:
            return False
    if not _has_target(be, row) or _missing_library(be, row["family"]):
        return False
    shape = parameters.pop("shape", None)
    if shape is not None and not _fits(be, shape, itemsize):
        return False
    facts = {
        "asynchronous": row["sync"] == "async",
        "capturable": row["capture"] == "capturable",
        "deterministic": row["determinism"] != "none",
        "bit_exact": row["determinism"] == "bit_exact",
    }
    for name in [name for name in parameters if name in FACTS]:
        if parameters.pop(name) and not facts[name]:
            return False
    known = _parameters(be, row) if parameters else ()
    return known is not None and all(name in known for name in parameters)


@dataclass(frozen=True)
class OperationGroup:
    """Ops that belong together: names of the op table, and as attributes their functions.

    >>> be.devices.operations().fft.rfft is stator.fft.rfft
    True
    """

    name: str
    names: tuple[str, ...]
    supported: bool

    def __getattr__(self, name: str) -> Callable[..., Any]:
        function: Callable[..., Any] | None = None if name.startswith("_") else getattr(root().Backend.ops, name, None)
        if function is None or name not in self.names:
            raise AttributeError(f"the group {self.name} has no function {name!r}", name=name)
        return function

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


@dataclass(frozen=True)
class OperationsBundle:
    """The groups of special ops of a backend."""

    fft: OperationGroup
    convolution: OperationGroup
    rnn: OperationGroup
    sparse: OperationGroup
    quantization: OperationGroup

    def groups(self) -> tuple[OperationGroup, ...]:
        """The groups in the order of the fields."""
        return tuple(getattr(self, each.name) for each in fields(self))


FAMILIES = {
    "fft": "fft",
    "convolution": "convolution",
    "rnn": "recurrent",
    "sparse": "sparse",
    "quantization": "quantization",
}


def group(be: Backend, name: str) -> OperationGroup:
    """The group of a name of FAMILIES: the ops of the family that the backend can run."""
    rows = {row["name"]: row for row in _rows().values() if row["family"] == FAMILIES[name]}
    names = tuple(each for each in rows if supports(be, each))
    return OperationGroup(name, names, bool(rows) and len(names) == len(rows))


def operations_bundle(be: Backend) -> OperationsBundle:
    """All groups."""
    return OperationsBundle(**{name: group(be, name) for name in FAMILIES})
