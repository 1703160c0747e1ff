from stator.cpp cimport dtype as cpp


cdef class DType:
    cdef cpp.DType code
    cdef readonly str name
    cdef readonly int itemsize

cdef DType wrap_dtype(cpp.DType code)
cdef int as_dtype(object value) except -1
