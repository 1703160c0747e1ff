"""Loops and branches on the device: parts of captured work that run under a condition."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from stator._array import Array
from stator._backend import current_stream
from stator._creation import copy
from stator.errors import DTypeError, InvalidValueError, ShapeError
from stator.graphs import _graph
from stator.graphs._graph import Structure, flatten, unflatten
from stator.graphs.graphs import callable_of, capture

if TYPE_CHECKING:
    from stator._backend import Backend

_LIMIT = 2**62  # of rounds, where none is given


def _flag(value: object, op: str) -> Array:
    if isinstance(value, Array) and value.dtype.name == "bool" and value.size == 1:
        return value
    raise DTypeError(
        "The condition must be an array of one bool", op=op, remedy="Return a comparison, or all() or any() of one."
    )


def _checked(op: str, structure: Structure, arrays: list[Array], other: Structure, others: list[Array]) -> None:
    """A round gives what it was given, and both branches the same: as many arrays, of the same shapes and dtypes."""
    if structure != other:
        raise InvalidValueError(
            "The results are not of one structure", op=op, remedy="Return the same tuples, lists, dicts and numbers."
        )
    for i, (x, y) in enumerate(zip(arrays, others, strict=True)):
        if x.shape != y.shape:
            raise ShapeError(
                f"Array {i} has shape {x.shape}, and then {y.shape}", op=op, remedy="Return arrays of the same shapes."
            )
        if x.dtype != y.dtype:
            raise DTypeError(
                f"Array {i} has dtype {x.dtype}, and then {y.dtype}", op=op, remedy="Convert the result with astype()."
            )


def _captured(backend: Backend, work: Callable[[], Any]) -> Any:
    """What the work returns; where nothing is being captured, it is captured and launched."""
    if _graph.is_capturing(current_stream(backend)):
        return work()
    with capture(backend, None) as graph:
        result = work()
    graph.launch()
    return result


def while_loop(
    backend: Backend, cond: Callable[[Any], Array], body: Callable[[Any], Any], carry: Any, limit: int | None
) -> Any:
    """What Backend.graphs.while_loop does."""
    op = "Backend.graphs.while_loop"
    callable_of(cond, op, "cond")
    callable_of(body, op, "body")
    given, structure = flatten(carry)
    if not given:
        raise InvalidValueError("The carry has no array", op=op, remedy="Give what a round changes as arrays.")

    def work() -> Any:
        state = [copy(x) for x in given]
        part = _graph.begin_part(
            _flag(cond(unflatten(structure, state)), op), _LIMIT if limit is None else limit, current_stream(backend)
        )
        made, other = flatten(body(unflatten(structure, state)))
        _checked(op, structure, state, other, made)
        # What lies in the memory of another array is read before that changes.
        lent = [
            copy(x) if x is not s and any(_graph.shares_memory(x, t) for t in state) else x
            for x, s in zip(made, state, strict=True)
        ]
        for x, s in zip(lent, state, strict=True):
            if x is not s:
                s[...] = x
        _graph.end_part(part, _flag(cond(unflatten(structure, state)), op))
        return unflatten(structure, state)

    return _captured(backend, work)


def cond(
    backend: Backend,
    condition: Array,
    then: Callable[..., Any],
    otherwise: Callable[..., Any],
    operands: tuple[Any, ...],
) -> Any:
    """What Backend.graphs.cond does."""
    op = "Backend.graphs.cond"
    flag = _flag(condition, op)
    callable_of(then, op, "then")
    callable_of(otherwise, op, "otherwise")

    def work() -> Any:
        stream, opposite = current_stream(backend), ~flag
        part = _graph.begin_part(flag, None, stream)
        first, structure = flatten(then(*operands))
        results = [copy(x) for x in first]
        _graph.end_part(part, flag)
        part = _graph.begin_part(opposite, None, stream)
        second, other = flatten(otherwise(*operands))
        _checked(op, structure, first, other, second)
        for result, x in zip(results, second, strict=True):
            result[...] = x
        _graph.end_part(part, opposite)
        return unflatten(structure, results)

    return _captured(backend, work)
