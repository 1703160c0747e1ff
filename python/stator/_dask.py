"""What dask.array has to know about stator's arrays: that they may be chunks, and how to count their elements.

Everything else of dask.array goes through NumPy's protocols. dask has no hook by which a library can say this before
dask is imported, so it is declared where a process that has imported dask.array first uses arrays.
"""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any

from stator._array import Array
from stator._creation import full

if TYPE_CHECKING:
    from stator._typing import DTypeLike

_told = False


def tell() -> None:
    """Tells dask.array, if this process has imported it and does not know them yet."""
    global _told
    if not _told and "dask.array.backends" in sys.modules:
        _told = True
        from dask.array.chunk_types import register_chunk_type
        from dask.array.dispatch import numel_lookup

        register_chunk_type(Array)
        numel_lookup.register(Array, _numel)


def _numel(
    x: Array, *, axis: Any = None, keepdims: bool = False, dtype: DTypeLike = "float64", **unused: object
) -> Array:
    """How many elements of x each element of a reduction over the axes is made of, where x is."""
    along = range(x.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
    reduced = {a % x.ndim for a in along}
    shape = [1 if a in reduced else n for a, n in enumerate(x.shape) if keepdims or a not in reduced]
    count = math.prod(x.shape[a] for a in reduced)
    return full(shape, count, dtype=dtype, device=x.device)
