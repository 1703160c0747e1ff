from libc.stdint cimport int64_t, uintptr_t

from stator._dtype cimport DType
from stator.cpp.array cimport Scalar
from stator.cpp.indexing cimport Index
from stator.cpp.dtype cimport DType as CppDType
from stator.cpp.ref cimport Dims
from stator.cpp.std cimport optional, vector

cdef int64_t to_int(object value, str op) except? -1
cdef int64_t to_diagonal(object value, str op) except? -1
# `size` zeros; ShapeError for a size that no shape has.
cdef int sized_dims(Py_ssize_t size, Dims& out, str op) except -1
cdef int to_dims(object value, Dims& out, str op) except -1
# (rows, columns); ShapeError for another number of lengths.
cdef tuple matrix_shape(object shape, str op)
cdef tuple from_dims(const Dims& dims)
cdef int to_scalar(object value, Scalar& out) except -1
cdef object from_scalar(const Scalar& value)
cdef int to_axes(object axis, optional[vector[int64_t]]& out, str op) except -1
cdef int to_dtype(object value, optional[CppDType]& out) except -1
cdef int to_index(object key, vector[Index]& out) except -1
# For functions that return `count` Python objects: OutOfMemoryError where the machine cannot hold them, and that error.
cdef int require_room(int64_t count, str op) except -1
cdef object too_many(int64_t count, str op)
cdef object not_an_array(object value, str op)
# A new NumPy array, and the address of its memory.
cdef object host_array(tuple shape, DType dtype, uintptr_t* address)
