"""NumPy's functions called with stator's arrays: np.sum(x), np.add(x, 1), np.add.reduce(x).

Array.__array_function__ and Array.__array_ufunc__ come here. Nothing is copied to the host or to a device.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

import stator
from stator._array import Array
from stator._dask import tell
from stator._dtype import DType
from stator.errors import DTypeError
from stator.numpy import _rows


@lru_cache(maxsize=1)
def _functions() -> dict[Any, _rows.Row]:
    """NumPy's functions and the rows of the same names."""
    import stator.numpy  # noqa: F401  so that the table is filled

    found: dict[Any, _rows.Row] = {}
    for name, row in _rows.ROWS.items():
        place: Any = np
        for part in name.split("."):
            place = getattr(place, part, None)
        if callable(place) and not isinstance(place, type):
            found.setdefault(place, row)
    return found


def _own(function: Callable[..., Any]) -> Any:
    row = _functions().get(function)
    name = f"numpy.{getattr(function, '__name__', function)}"
    if row is None and isinstance(function, np.ufunc):
        scipys = sys.modules.get("scipy.special")
        if getattr(scipys, function.__name__, None) is function:
            name = f"scipy.special.{function.__name__}"
            own = getattr(stator.special, function.__name__, None) or getattr(stator, function.__name__, None)
            if own is not None:
                return own
    if row is None or row.absent:
        why = "It has no form for stator's arrays" if row is None else row.how
        raise DTypeError(why, op=name, remedy="Copy the arrays with to_numpy() first.")
    return row.value


def _returned(value: Any) -> Any:
    return value.numpy() if isinstance(value, DType) else value


def array_function(function: Callable[..., Any], types: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """The function of stator.numpy that has the name of NumPy's; dtypes are returned as NumPy's."""
    tell()
    if not all(issubclass(t, (Array, np.ndarray)) for t in types):
        return NotImplemented
    return _returned(_own(function)(*args, **options))


def array_ufunc(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """The elementwise function of stator.numpy, or of stator for one of scipy.special."""
    tell()
    # NumPy makes arrays without axes of its scalars before it compares them.
    inputs = tuple(v[()] if isinstance(v, np.ndarray) and v.ndim == 0 else v for v in inputs)
    others = (*inputs, *options.get("out", ()))
    if any(not isinstance(v, (Array, np.ndarray)) and _overrides(v) for v in others):
        return NotImplemented
    own = _own(ufunc)
    return (own if method == "__call__" else getattr(own, method))(*inputs, **options)


def _overrides(value: Any) -> bool:
    """Whether the class of a value takes part in NumPy's dispatch or refuses it."""
    return hasattr(type(value), "__array_ufunc__") and not isinstance(value, np.generic)
