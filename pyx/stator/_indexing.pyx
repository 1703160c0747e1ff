# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=python
# cython: annotation_typing=False, freethreading_compatible=True
"""Indexing with arrays."""
from stator._array cimport Array, as_array, take_op


def take(x: Array, indices: Array, /, *, axis: int | None = None, out: Array | None = None) -> Array:
    """numpy.take along an axis (None: of the flattened array). -n..n-1 is valid.

    An index outside reads 0 and raises OutOfRangeError at the next synchronising call of the stream.
    """
    return take_op(as_array(x, "take"), as_array(indices, "take"), axis, out)
