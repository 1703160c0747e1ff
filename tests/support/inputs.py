"""Inputs for every op: dtypes, layouts, sizes around warps and blocks, special values."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from reference import numpy_dtype

import stator

DTYPES = [d for row in stator.op_table() if row["name"] == "asarray" for d in row["dtypes"]]
FLOATS = ["float16", "bfloat16", "float32", "float64"]
SIZES = [0, 1, 31, 32, 33, 255, 256, 257, 4099]


def random(
    rng: np.random.Generator, shape: tuple[int, ...], dtype: str, low: float = -4, high: float = 4
) -> np.ndarray:
    """Random values of a dtype; integers span small and extreme values."""
    if dtype == "bool":
        return rng.random(shape) < 0.5
    if dtype.startswith(("int", "uint")):
        info = np.iinfo(dtype)
        small = rng.integers(max(info.min, int(low) * 4), int(high) * 4, shape)
        extreme = rng.integers(info.min, info.max, shape, dtype=np.dtype(dtype), endpoint=True)
        return np.where(rng.random(shape) < 0.8, small.astype(dtype), extreme).astype(dtype)
    values = rng.uniform(low, high, shape)
    if dtype.startswith("complex"):
        return (values + 1j * rng.uniform(low, high, shape)).astype(dtype)
    return values.astype(numpy_dtype(dtype))


SPECIAL_REALS = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, 88.0, -88.0, 710.0, -745.0, 1e-30, -1e-30]


def special(dtype: str) -> np.ndarray:
    """NaN, infinities, signed zeros, denormals and extremes of a floating dtype."""
    kind = numpy_dtype(dtype)
    import ml_dtypes

    info = ml_dtypes.finfo(kind)
    values = [*SPECIAL_REALS, float(info.max), -float(info.max), float(info.smallest_normal)]
    with np.errstate(over="ignore"):
        tail = [info.smallest_subnormal, -info.smallest_subnormal]
        return np.concatenate([np.array(values).astype(kind), np.array(tail, dtype=kind)])


def layouts() -> dict[str, Callable[[np.ndarray], np.ndarray]]:
    """Layouts by name: functions that give an array of the same values and shape in that layout."""

    def transposed(x: np.ndarray) -> np.ndarray:
        return np.asarray(x.T.copy()).T

    def sliced(x: np.ndarray) -> np.ndarray:
        wide = np.zeros(tuple(2 * n + 1 for n in x.shape), x.dtype)
        view = wide[tuple(slice(1, 2 * n + 1, 2) for n in x.shape)]
        view[...] = x
        return view

    def reversed_(x: np.ndarray) -> np.ndarray:
        flip = tuple(slice(None, None, -1) for _ in x.shape)
        return x[flip].copy()[flip]

    return {"contiguous": np.ascontiguousarray, "transposed": transposed, "sliced": sliced, "reversed": reversed_}


def on_device(be, x: np.ndarray):
    """x on the backend with the same strides, so that the kernel gets this layout and not a dense copy."""
    if x.ndim == 0 or x.size == 0 or x.flags.c_contiguous:
        return be.asarray(x)
    base = x
    while isinstance(base.base, np.ndarray):
        base = base.base
    flat = be.asarray(base.T if base.flags.f_contiguous and not base.flags.c_contiguous else base)
    offset = (x.__array_interface__["data"][0] - base.__array_interface__["data"][0]) // x.itemsize
    strides = tuple(s // x.itemsize for s in x.strides)
    return stator.as_strided(flat, x.shape, strides, offset)
