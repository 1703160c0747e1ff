"""The readback of chosen entries of an array."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from stator._array import Array
from stator._creation import asarray
from stator.errors import DTypeError, ShapeError, StatorError
from stator.programs._arguments import array_of, under_name

if TYPE_CHECKING:
    from stator._backend import Backend
    from stator._typing import ArrayLike


def read_selected(backend: Backend, x: Array, mask: ArrayLike) -> np.ndarray[Any, Any]:
    """What Backend.transfers.read_selected does."""
    op = "Backend.transfers.read_selected"
    x = array_of(backend, x, op, "x")
    try:
        chosen = mask if isinstance(mask, Array) else asarray(mask, device=backend)
    except StatorError as error:
        raise under_name(error, op) from None
    chosen = array_of(backend, chosen, op, "mask")
    if chosen.dtype.name != "bool":
        raise DTypeError(
            f"The mask must be of bool, got {chosen.dtype.name}", op=op, remedy="Convert it with astype(bool)."
        )
    if chosen.ndim == 0 or chosen.shape != x.shape[: chosen.ndim]:
        raise ShapeError(
            f"The mask has the shape {chosen.shape}, and x {x.shape}",
            op=op,
            remedy="Give a mask of the first axes of x: a bool for each entry along them.",
        )
    try:
        selected: Array = x[chosen]
        return selected.to_numpy()
    except StatorError as error:
        raise under_name(error, op) from None
