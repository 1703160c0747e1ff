# stator/indexing.hpp
from libc.stdint cimport int64_t
from libcpp cimport bool as cbool

from stator.cpp.array cimport Array, Operand
from stator.cpp.backend cimport Stream
from stator.cpp.creation cimport Index
from stator.cpp.error cimport translate_exception
from stator.cpp.std cimport optional


cdef extern from "stator/indexing.hpp" namespace "stator" nogil:
    Array take(const Array&, const Array&, optional[int64_t], const Array*, const Stream&) except +translate_exception

    cdef cppclass ArrayIndex:
        Index basic
        Array array
        cbool is_boolean, boolean

    cdef cppclass ArrayIndexSpan "std::span<const stator::ArrayIndex>":
        ArrayIndexSpan(const ArrayIndex*, size_t)

    Array index_get(const Array&, ArrayIndexSpan, const Stream&) except +translate_exception
    void index_put(const Array&, ArrayIndexSpan, const Operand&, const Stream&) except +translate_exception
    Array take_along_axis(const Array&, const Array&, int64_t, const Stream&) except +translate_exception
    void put_along_axis(const Array&, const Array&, const Operand&, int64_t,
                        const Stream&) except +translate_exception
