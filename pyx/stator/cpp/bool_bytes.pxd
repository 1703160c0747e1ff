# stator/memory/bool_bytes.hpp
from libcpp cimport bool as cbool

from stator.cpp.array cimport Array
from stator.cpp.backend cimport Stream
from stator.cpp.error cimport translate_exception


cdef extern from "stator/memory/bool_bytes.hpp" namespace "stator" nogil:
    cbool any_bytes(const Array&) noexcept
    Array plain_bools(const Array&, const Stream&) except +translate_exception
