# stator/nn/attention.hpp
from libcpp cimport bool as cbool

from stator.cpp.array cimport Array
from stator.cpp.backend cimport Stream
from stator.cpp.error cimport translate_exception
from stator.cpp.std cimport optional


cdef extern from "stator/nn/attention.hpp" namespace "stator::nn" nogil:
    cdef cppclass AttentionOptions:
        optional[double] scale
        cbool causal
        const Array* mask

    Array attention(const Array&, const Array&, const Array&, const AttentionOptions&, Array*,
                    const Stream&) except +translate_exception
