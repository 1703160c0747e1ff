"""NumPy's names and signatures on stator's arrays.

`import stator.numpy as np` runs programs written for NumPy on a device. Arguments may be arrays, numbers and lists;
NumPy arrays go through `asarray`, here as elsewhere, so that nothing is copied to a device silently. Names that differ
from NumPy's say so in docs/numpy_names.md, made from the table that this namespace is made of.

`x[0]` of a vector is a 0-d view, not a number: exchange elements with `x[[0, 1]] = x[[1, 0]]`, since
`x[0], x[1] = x[1], x[0]` leaves the old `x[1]` in both; `x[0].item()` is a number.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from stator._namespace import missing
from stator.numpy import _rows

MODULES = (
    "_ufuncs",
    "_creation",
    "_shape",
    "_join",
    "_reductions",
    "_quantiles",
    "_padding",
    "_sorting",
    "_indexing",
    "_grids",
    "_math",
    "_statistics",
    "_signal",
    "_dtypes",
    "_printing",
    "_bits",
    "_files",
    "_polynomials",
    "_products",
    "_windows",
    "_stride_tricks",
    "fft",
    "linalg",
    "random",
    "_absent",
)

if TYPE_CHECKING:
    from stator.numpy._bits import *  # noqa: F403
    from stator.numpy._creation import *  # noqa: F403
    from stator.numpy._dtypes import *  # noqa: F403
    from stator.numpy._files import *  # noqa: F403
    from stator.numpy._grids import *  # noqa: F403
    from stator.numpy._indexing import *  # noqa: F403
    from stator.numpy._join import *  # noqa: F403
    from stator.numpy._math import *  # noqa: F403
    from stator.numpy._padding import *  # noqa: F403
    from stator.numpy._polynomials import *  # noqa: F403
    from stator.numpy._printing import *  # noqa: F403
    from stator.numpy._products import *  # noqa: F403
    from stator.numpy._quantiles import *  # noqa: F403
    from stator.numpy._reductions import *  # noqa: F403
    from stator.numpy._shape import *  # noqa: F403
    from stator.numpy._signal import *  # noqa: F403
    from stator.numpy._sorting import *  # noqa: F403
    from stator.numpy._statistics import *  # noqa: F403
    from stator.numpy._windows import *  # noqa: F403

for _module in MODULES:
    import_module(f"stator.numpy.{_module}")

globals().update(_rows.namespace(""))

__all__ = sorted(_rows.namespace(""))


def __dir__() -> list[str]:
    return [*__all__]


if not TYPE_CHECKING:
    __getattr__ = missing(__name__, __all__)
