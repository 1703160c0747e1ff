"""Arrays as text, through a copy on the host, which is counted; NumPy's print options hold."""

from __future__ import annotations

from typing import Any

import numpy as np

from stator._array import Array
from stator.numpy import _convert
from stator.numpy._rows import add, differs

HOW = "Copies the elements to the host"


@differs(HOW)
def array2string(a: Array, *args: Any, **options: Any) -> str:
    """The elements as text, with the options of numpy.array2string. Synchronises."""
    return np.array2string(_convert.array(a, "array2string").to_numpy(), *args, **options)


@differs(HOW)
def array_repr(arr: Array, *args: Any, **options: Any) -> str:
    """The text that makes an array, with the options of numpy.array_repr. Synchronises."""
    return np.array_repr(_convert.array(arr, "array_repr").to_numpy(), *args, **options)


@differs(HOW)
def array_str(a: Array, *args: Any, **options: Any) -> str:
    """The elements as text, with the options of numpy.array_str. Synchronises."""
    return np.array_str(_convert.array(a, "array_str").to_numpy(), *args, **options)


for _name in ("set_printoptions", "get_printoptions", "printoptions"):
    add(_name, getattr(np, _name), "NumPy's own, whose options hold for array2string, array_repr and array_str")


@differs("Of a 0-d array the element is copied to the host")
def format_float_positional(x: Any, *args: Any, **options: Any) -> str:
    """A number as decimal text, with the options of numpy.format_float_positional."""
    return np.format_float_positional(_number(x), *args, **options)


@differs("Of a 0-d array the element is copied to the host")
def format_float_scientific(x: Any, *args: Any, **options: Any) -> str:
    """A number as text with an exponent, with the options of numpy.format_float_scientific."""
    return np.format_float_scientific(_number(x), *args, **options)


def _number(x: Any) -> Any:
    return x.to_numpy()[()] if isinstance(x, Array) else x
