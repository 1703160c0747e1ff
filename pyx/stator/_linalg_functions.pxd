from stator._array cimport Array
from stator._backend cimport Backend
from stator.cpp.array cimport Array as CppArray

# linalg.trace of an array of the backend.
cdef Array trace_of(Backend backend, const CppArray& a, object offset, object dtype)
