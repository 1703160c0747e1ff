# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=python
# cython: annotation_typing=False, freethreading_compatible=True
"""Products."""
from stator._array cimport Array, as_array, matmul_op


def matmul(x1: Array, x2: Array, /, *, dtype: DTypeLike | None = None, compute_dtype: DTypeLike | None = None,
           out: Array | None = None) -> Array:
    """numpy.matmul: vectors, matrices, batch dimensions with broadcasting; transposed views are not copied.

    compute_dtype: what operands are rounded to before multiplying; accumulation is at least float32. Integers and bool
    are exact and wrap; two int8 operands give int32, or dtype=, an integer dtype.
    """
    return matmul_op(as_array(x1, "matmul"), as_array(x2, "matmul"), dtype, compute_dtype, out)
