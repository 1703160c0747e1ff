from stator.cpp cimport dtype as cpp


cdef class DType:
    cdef cpp.DType code
    cdef readonly str name
    cdef readonly int itemsize
    cdef object numpy_dtype  # the NumPy dtype, once it was asked for

cdef DType wrap_dtype(cpp.DType code)
# The code of what `name`, a parameter of the op, gives.
cdef int as_dtype(object value, str op=*, str name=*) except -1
