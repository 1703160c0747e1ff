"""Many small problems of different sizes in one launch."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from stator._array import Array
from stator._creation import asarray
from stator._movement import concat
from stator._movement_views import reshape
from stator.errors import DTypeError, InvalidValueError, StatorError
from stator.programs._arguments import array_of, function_of, kernel_of, under_name, whole
from stator.programs._program import Kernel

if TYPE_CHECKING:
    from stator._backend import Backend, Stream

_OP = "Backend.programs.batched"


def _columns(backend: Backend, problems: Sequence[object]) -> list[list[Any]]:
    """The first arrays of all problems, the second ones, and so on; those of the host as NumPy arrays."""
    rows: list[tuple[object, ...]] = [p if isinstance(p, tuple) else (p,) for p in problems]
    columns: list[list[Any]] = [[] for _ in rows[0]]
    for i, row in enumerate(rows):
        if len(row) != len(columns) or not row:
            raise InvalidValueError(
                f"The problem {i} has {len(row)} arrays, and the first one {len(columns)}",
                op=_OP,
                remedy="Give every problem the same arrays, one at least; those that it has no use for may be empty.",
            )
        for column, given in zip(columns, row, strict=True):
            value = array_of(backend, given, _OP, f"problem {i}") if isinstance(given, Array) else _of_host(given, i)
            if column and column[0].dtype != value.dtype:
                raise DTypeError(
                    f"The problem {i} has an array of {value.dtype} where the first one has {column[0].dtype}",
                    op=_OP,
                    remedy="Convert it: every problem has the same dtypes.",
                )
            column.append(value)
    return columns


def _of_host(given: object, i: int) -> np.ndarray[Any, Any]:
    try:
        return np.asarray(given)
    except (TypeError, ValueError) as error:
        raise DTypeError(f"The problem {i} has no array: {error}", op=_OP, remedy="Give arrays.") from None


def _pack(backend: Backend, column: list[Any]) -> Array:
    """A new array of all elements, one problem's after the other's."""
    if not any(isinstance(value, Array) for value in column):
        return asarray(np.concatenate([value.reshape(-1) for value in column]), device=backend)
    parts = [asarray(value, device=backend) for value in column]
    return concat([reshape(part, (-1,)) for part in parts])


def batched(
    backend: Backend,
    kernel: Kernel | Callable[..., None],
    problems: Sequence[Any],
    args: tuple[object, ...],
    blocks: int,
    block: int | tuple[int, ...] | None,
    shared: int,
    stream: Stream | None,
) -> list[Any]:
    """What Backend.programs.batched does."""
    whole(shared, _OP, "shared")
    whole(blocks, _OP, "blocks", 1)
    if not isinstance(problems, (list, tuple)):
        raise DTypeError(
            f"Got problems of type {type(problems).__name__}", op=_OP, remedy="Give a list of tuples of arrays."
        )
    function = None if isinstance(kernel, Kernel) else function_of(kernel, _OP)
    if function is None:
        kernel_of(backend, kernel, _OP)
    if not problems:
        return []
    try:
        on = nullcontext() if stream is None else backend.stream(stream)
        with on:
            columns = _columns(backend, problems)
            packed = [_pack(backend, column) for column in columns]
            starts = [[0, *accumulate(math.prod(value.shape) for value in column)] for column in columns]
            if isinstance(kernel, Kernel):
                offsets = asarray(np.asarray(starts, "int64").reshape(-1), device=backend)
                threads = kernel.suggest_block(shared=shared) if block is None else block
                kernel.launch((len(problems), blocks), threads, offsets, *packed, *args, shared=shared)
            views = [
                [reshape(elements[a:b], value.shape) for value, a, b in zip(column, at, at[1:], strict=False)]
                for column, elements, at in zip(columns, packed, starts, strict=True)
            ]
            results = list(zip(*views, strict=True))
    except StatorError as error:
        raise under_name(error, _OP) from None
    if function is not None:
        with on:
            _call(function, results, args)
    return [r if isinstance(p, tuple) else r[0] for r, p in zip(results, problems, strict=True)]


def _call(function: Callable[..., object], problems: list[tuple[Array, ...]], args: tuple[object, ...]) -> None:
    for arrays in problems:
        if function(*arrays, *args) is not None:
            raise DTypeError(
                "The function returned a value, which nothing uses",
                op=_OP,
                remedy="Write into the arrays that it is given, as in y[...] = 2 * x, and return nothing.",
            )
