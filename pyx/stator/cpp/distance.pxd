# stator/distance.hpp
from stator.cpp.array cimport Array
from stator.cpp.backend cimport Stream
from stator.cpp.error cimport translate_exception


cdef extern from "stator/distance.hpp" namespace "stator" nogil:
    Array cdist(const Array&, const Array&, double, const Stream&) except +translate_exception
