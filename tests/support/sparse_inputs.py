"""Matrices for the tests of sparse ops."""

import inputs
import numpy as np

from stator import sparse

DTYPES = ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"]
INDICES = ["int32", "int64"]
# Shape and density by name; "dense_row" has one full row among empty ones.
SHAPES = {
    "none": ((0, 0), 0),
    "no_rows": ((0, 5), 0),
    "no_columns": ((5, 0), 0),
    "empty": ((9, 7), 0),
    "one": ((1, 1), 1),
    "full": ((33, 31), 1),
    "random": ((67, 45), 0.2),
    "sparse": ((300, 257), 0.01),
    "dense_row": ((40, 3000), 0),
    "long_rows": ((5, 6000), 0.5),
    "tall": ((700, 3), 0.3),
}


def dense(name: str, dtype: str) -> np.ndarray:
    """A matrix of few different values, so that products of any dtype stay in range."""
    shape, density = SHAPES[name]
    rng = np.random.default_rng(len(name))
    x = inputs.random(rng, shape, dtype, 0.5, 2)
    x = np.where(rng.random(shape) < density, x, x.dtype.type(0))
    if name == "dense_row":
        x[17] = inputs.random(rng, shape[1:], dtype, 0.5, 2)
    return x


def on_device(be, x: np.ndarray, layout: str):
    return inputs.on_device(be, inputs.layouts()[layout](x))


def on(be, x: np.ndarray, *, index: str = "int32") -> sparse.CSR:
    return sparse.csr_from_dense(be.asarray(x), index_dtype=index)
