from stator._array cimport Array

# linalg.trace of an Array.
cdef Array trace_of(Array a, object offset, object dtype)
