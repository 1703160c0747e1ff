"""Inputs of sorting, searching and sets: many ties, and values that are hard to order."""

import inputs
import numpy as np
from reference import numpy_dtype

DTYPES = [d for d in inputs.DTYPES if not d.startswith("complex")]


def drawn(shape, dtype, seed=0):
    """Numbers with many ties; NaN, infinities and both zeros where the dtype has them."""
    rng = np.random.default_rng(seed)
    x = np.round(inputs.random(rng, shape, dtype).astype(np.float64)).astype(numpy_dtype(dtype))
    if dtype in inputs.FLOATS and x.size:
        x = x.astype(numpy_dtype(dtype))
        flat = x.reshape(-1)
        flat[rng.integers(0, x.size, max(x.size // 9, 1))] = rng.choice([np.nan, np.inf, -np.inf, -0.0, 0.0])
        flat[rng.integers(0, x.size, max(x.size // 9, 1))] = -0.0
        flat[rng.integers(0, x.size)] = np.nan
    return x


def complex_lines(shape, dtype, seed=0):
    """Complex numbers with ties in both parts, both zeros, infinities, and NaN in either part."""
    rng = np.random.default_rng(seed)
    parts = rng.integers(-2, 3, (2, *shape)).astype(np.float64)
    for part in parts:
        flat = part.reshape(-1)
        for value in (np.nan, np.inf, -np.inf, -0.0, -0.0):
            flat[rng.integers(0, flat.size, max(flat.size // 12, 1))] = value
    out = np.empty(shape, dtype)
    out.real, out.imag = parts
    return out
