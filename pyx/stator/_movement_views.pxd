from libc.stdint cimport int64_t

from stator._array cimport Array
from stator.cpp.array cimport Array as CppArray
from stator.cpp.std cimport vector

# The views as Arrays; backends: one for each of them, or one for all.
cdef tuple wrapped(vector[CppArray]& pieces, list backends)
# The views of split into `count` parts along an axis, or of unstack.
cdef tuple parts_of(Array source, int64_t count, int64_t axis, bint unstacked, str op)
