# stator/indexing.hpp
from libc.stdint cimport int64_t
from libcpp.optional cimport optional

from stator.cpp.array cimport Array
from stator.cpp.backend cimport Stream
from stator.cpp.error cimport translate_exception


cdef extern from "stator/indexing.hpp" namespace "stator" nogil:
    Array take(const Array&, const Array&, optional[int64_t], const Array*, const Stream&) except +translate_exception
