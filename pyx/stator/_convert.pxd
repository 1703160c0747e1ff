from libc.stdint cimport int64_t, uintptr_t
from libcpp cimport bool as cbool

from stator._dtype cimport DType
from stator.cpp.array cimport Scalar
from stator.cpp.indexing cimport Index
from stator.cpp.dtype cimport DType as CppDType
from stator.cpp.ref cimport Dims
from stator.cpp.std cimport optional, vector

# Each takes the op and the name of the parameter, which the error for another type of value names.
cdef int64_t to_int(object value, str op, str name=*) except? -1
cdef int64_t to_diagonal(object value, str op, str name=*) except? -1
cdef double to_float(object value, str op, str name) except? -1
cdef int to_flag(object value, str op, str name) except -1
cdef int to_optional_flag(object value, optional[cbool]& out, str op, str name) except -1
cdef bytes to_text(object value, str op, str name)
# The index among the choices.
cdef int to_choice(object value, tuple choices, str op, str name) except -1
# `size` zeros; ShapeError for a size that no shape has.
cdef int sized_dims(Py_ssize_t size, Dims& out, str op) except -1
cdef int to_dims(object value, Dims& out, str op, str name=*) except -1
# A length for each axis, from an integer or a sequence. to_lengths sets nothing for None, and takes any number of them;
# to_extents raises ShapeError for another number.
cdef int to_lengths(object value, int axes, Dims& out, str op, str name) except -1
cdef int to_extents(object value, int axes, Dims& out, str op, str name) except -1
# (rows, columns); ShapeError for another number of lengths.
cdef tuple matrix_shape(object shape, str op)
cdef tuple from_dims(const Dims& dims)
# 1 when the value is a Python or NumPy number that fits, else 0.
cdef int to_scalar(object value, Scalar& out) except -1
cdef int to_number(object value, Scalar& out, str op, str name) except -1
cdef object from_scalar(const Scalar& value)
# An integer or None; integers, one or several; these or None.
cdef int to_axis(object value, optional[int64_t]& out, str op, str name=*) except -1
cdef int to_ints(object value, vector[int64_t]& out, str op, str name) except -1
cdef int to_axes(object axis, optional[vector[int64_t]]& out, str op, str name=*) except -1
# The entries of a sequence of Arrays.
cdef tuple to_entries(object value, str op, str name)
cdef int to_dtype(object value, optional[CppDType]& out, str op=*, str name=*) except -1
cdef int to_index(object key, vector[Index]& out) except -1
# For functions that return `count` Python objects: OutOfMemoryError where the machine cannot hold them, and that error.
cdef int require_room(int64_t count, str op) except -1
cdef object too_many(int64_t count, str op)
# The value in short, without the elements of an array.
cdef str shown(object value)
# The error for an argument of another type than is wanted: "an integer", ...
cdef object wrong_type(object value, str op, str name, str wanted)
# The error for what is not an Array, and for what is neither an Array nor a number of at most 64 bits.
cdef object not_an_array(object value, str op)
cdef object not_an_operand(object value, str op)
# The error for an integer beyond 64 bits.
cdef object too_large(object value, str op)
# A new NumPy array, and the address of its memory.
cdef object host_array(tuple shape, DType dtype, uintptr_t* address)
# The memory of a NumPy array that to_numpy(out=) fills, after its checks.
cdef uintptr_t filled_address(object out, object array) except? 0
