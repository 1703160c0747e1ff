"""How arrays are shown: only the elements that are printed are copied to the host."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from contextvars import ContextVar
from functools import partial
from typing import Any

import numpy as np

from stator._array import Array
from stator._backend import Entered
from stator.errors import DTypeError, InvalidValueError

# What differs from NumPy's own options, which hold for everything else.
_options: dict[str, Any] = {"threshold": 200, "edgeitems": 3}
_inside: ContextVar[dict[str, Any] | None] = ContextVar("stator.printoptions", default=None)


def get_printoptions() -> dict[str, Any]:
    """The options that hold now: NumPy's, and over them those that were set for stator."""
    return {**np.get_printoptions(), **_options, **(_inside.get() or {})}


def _checked(op: str, given: dict[str, Any]) -> dict[str, Any]:
    given = {name: value for name, value in given.items() if value is not None}
    try:
        for name in ("precision", "threshold", "edgeitems", "linewidth"):
            if name in given and not (isinstance(given[name], (int, float)) and given[name] >= 0):
                raise TypeError(f"{name} has to be a number that is not negative")
        with np.printoptions(**given):
            np.array2string(np.zeros(1))
    except (AttributeError, TypeError) as error:
        raise DTypeError(f"Options {given}: {error}", op=op, remedy="Pass what numpy.set_printoptions takes.") from None
    except (ValueError, KeyError, OverflowError) as error:
        raise InvalidValueError(
            f"Options {given}: {error}", op=op, remedy="Pass what numpy.set_printoptions takes."
        ) from None
    return given


def set_printoptions(
    *,
    precision: int | None = None,
    threshold: int | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    suppress: bool | None = None,
    nanstr: str | None = None,
    infstr: str | None = None,
    sign: str | None = None,
    floatmode: str | None = None,
    formatter: dict[str, Callable[[Any], str]] | None = None,
) -> None:
    """Sets how arrays are shown, by the options of numpy.set_printoptions.

    What is not set is as NumPy has it. threshold: arrays of more elements show edgeitems at each end of an axis; it is
    200 at first, and edgeitems is 3.
    """
    _options.update(_checked("set_printoptions", dict(locals())))


def printoptions(
    *,
    precision: int | None = None,
    threshold: int | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    suppress: bool | None = None,
    nanstr: str | None = None,
    infstr: str | None = None,
    sign: str | None = None,
    floatmode: str | None = None,
    formatter: dict[str, Callable[[Any], str]] | None = None,
) -> AbstractContextManager[dict[str, Any]]:
    """As set_printoptions, inside a `with`, for the thread or task that entered it; gives all options."""
    changed = _checked("printoptions", dict(locals()))
    begin = partial(_inside.set, {**(_inside.get() or {}), **changed})
    return Entered(begin, _inside.reset, {**get_printoptions(), **changed})


def _edges(x: Array, edge: int, axis: int = 0) -> np.ndarray[Any, Any]:
    """On the host, the array with each axis cut to its ends and one element between, which is not shown."""
    while axis < x.ndim and x.shape[axis] <= 2 * edge + 1:
        axis += 1
    if axis == x.ndim:
        return x.to_numpy()
    before, length = (slice(None),) * axis, x.shape[axis]
    head, tail = x[(*before, slice(edge))], x[(*before, slice(length - edge - 1, None))]
    return np.concatenate([_edges(head, edge, axis + 1), _edges(tail, edge, axis + 1)], axis)


def preview(x: Array, prefix: str = "") -> str:
    """The elements as text. Synchronises."""
    options = get_printoptions()
    options = {k: options[k] for k in options if k not in ("legacy", "override_repr")}
    if x.size > options["threshold"]:
        values = _edges(x, int(options["edgeitems"]))
        options["threshold"] = 0
    else:
        values = x.to_numpy()
    with np.printoptions(**options):
        text = np.array2string(values, separator=", ", prefix=prefix)
    return text if x.size or x.shape == (0,) else f"{text}, shape={x.shape}"


def html(x: Array) -> str:
    """A table for notebooks: shape, dtype and device over the elements that repr shows. Synchronises."""
    from html import escape  # a table of 2,000 names, which only notebooks need

    head = f"<b>Array</b> of shape {x.shape}, {x.dtype}, on {x.device}"  # device also refuses an array without memory
    state = "closed" if x.backend.closed else preview(x)
    return f"<div>{head}<pre>{escape(state)}</pre></div>"
