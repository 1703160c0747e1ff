"""NumPy's names and signatures on stator's arrays.

`import stator.numpy as np` runs programs written for NumPy on a device. Arguments may be arrays, numbers and lists;
NumPy arrays go through `asarray`, here as elsewhere, so that nothing is copied to a device silently. Names that differ
from NumPy's say so in docs/numpy_names.md, made from the table that this namespace is made of.
"""

from __future__ import annotations

from importlib import import_module

from stator.numpy import _rows

for _module in (
    "ufuncs",
    "creation",
    "shape",
    "join",
    "reductions",
    "quantiles",
    "sorting",
    "indexing",
    "grids",
    "math",
):
    import_module(f"stator.numpy._{_module}")

globals().update(_rows.namespace(""))

__all__ = sorted(_rows.namespace(""))


def __dir__() -> list[str]:
    return [*__all__]
