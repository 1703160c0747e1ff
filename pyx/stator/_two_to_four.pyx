# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=python
# cython: annotation_typing=False, freethreading_compatible=True
"""2:4 sparsity of dense arrays."""
from libc.stdint cimport int64_t

from stator._array cimport Array, as_array, new_array
from stator._backend cimport enter
from stator._convert cimport to_int
from stator.cpp cimport sparse as cpp
from stator.cpp.backend cimport Stream as CppStream


def prune_2to4(x: Array, /, *, axis: int = -1) -> Array:
    """x with two of each four neighbours along the axis set to 0: the two largest magnitudes stay.

    Of equal magnitudes the first stay; NaN is the largest. float16 to float64.
    """
    cdef Array dense = as_array(x, "sparse.prune_2to4")
    cdef Array out = new_array(dense.backend)
    cdef int64_t along = to_int(axis, "sparse.prune_2to4")
    cdef CppStream stream
    enter(out.backend, stream)
    with nogil:
        out.c = cpp.prune_2to4(dense.c, along, stream)
    return out


cdef class TwoToFour:
    """What compress keeps: two values of each four along an axis, and their places.

    positions is uint8: bits 0-1 the place of the first value of four, bits 2-3 of the second.
    """
    cdef readonly Array values
    cdef readonly Array positions
    cdef readonly int64_t length
    cdef readonly int axis
    __array_ufunc__ = None
    __stator_sparse__ = True

    def __init__(self) -> None:
        raise TypeError("use sparse.compress")

    cdef cpp.TwoToFour packed(self):
        cdef cpp.TwoToFour c
        c.values = self.values.c
        c.positions = self.positions.c
        c.length = self.length
        c.axis = self.axis
        return c

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the pruned array."""
        shape = list(self.values.shape)
        shape[self.axis] = self.length
        return tuple(shape)

    @property
    def dtype(self) -> DType:
        """Type of the values."""
        return self.values.dtype

    @property
    def nbytes(self) -> int:
        """Bytes of values and positions: of the dense array's 9 / 16 in float32, 5 / 8 in float16."""
        return self.values.nbytes + self.positions.nbytes

    def to_dense(self) -> Array:
        """The pruned array."""
        cdef cpp.TwoToFour c = self.packed()
        cdef Array out = new_array(self.values.backend)
        cdef CppStream stream
        enter(out.backend, stream)
        with nogil:
            out.c = cpp.to_dense(c, stream)
        return out

    def __matmul__(self, other: Array) -> Array:
        return matmul_2to4(self, other)

    def __rmatmul__(self, other: Array) -> Array:
        return matmul_2to4(other, self)


def compress(x: Array, /, *, axis: int = -1) -> TwoToFour:
    """prune_2to4 in half the memory and a byte for each four: values and their places."""
    cdef Array dense = as_array(x, "sparse.compress")
    cdef int64_t along = to_int(axis, "sparse.compress")
    cdef TwoToFour out = TwoToFour.__new__(TwoToFour)
    cdef cpp.TwoToFour c
    cdef CppStream stream
    enter(dense.backend, stream)
    with nogil:
        c = cpp.compress_2to4(dense.c, along, stream)
    out.values = new_array(dense.backend)
    out.values.c = c.values
    out.positions = new_array(dense.backend)
    out.positions.c = c.positions
    out.length = c.length
    out.axis = c.axis
    return out


def matmul_2to4(a: Array | TwoToFour, b: Array | TwoToFour, /) -> Array:
    """a @ b where one of them is packed along the inner axis: half the multiplications.

    A right operand is packed by compress(b, axis=-2), a left one by compress(a, axis=-1). Two arrays:
    matmul(a, prune_2to4(b, axis=-2)), the product itself where b is 2:4 already; compress what is used again.
    """
    cdef Array left, right, out
    cdef cpp.TwoToFour packed
    cdef CppStream stream
    if isinstance(a, TwoToFour):
        packed = (<TwoToFour>a).packed()
        right = as_array(b, "sparse.matmul_2to4")
        out = new_array(right.backend)
        enter(out.backend, stream)
        with nogil:
            out.c = cpp.matmul_2to4(packed, right.c, stream)
        return out
    left = as_array(a, "sparse.matmul_2to4")
    out = new_array(left.backend)
    enter(out.backend, stream)
    if isinstance(b, TwoToFour):
        packed = (<TwoToFour>b).packed()
        with nogil:
            out.c = cpp.matmul_2to4(left.c, packed, stream)
        return out
    right = as_array(b, "sparse.matmul_2to4")
    with nogil:
        out.c = cpp.matmul_2to4(left.c, right.c, stream)
    return out
