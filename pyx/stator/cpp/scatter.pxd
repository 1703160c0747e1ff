# stator/scatter.hpp
from libc.stdint cimport int64_t
from libcpp cimport bool as cbool

from stator.cpp.array cimport Array, Operand
from stator.cpp.backend cimport Stream
from stator.cpp.error cimport translate_exception
from stator.cpp.std cimport optional


cdef extern from "stator/scatter.hpp" namespace "stator" nogil:
    ctypedef enum Reduce "stator::Reduce":
        set_ "stator::Reduce::set"
        add "stator::Reduce::add"
        multiply "stator::Reduce::multiply"
        minimum "stator::Reduce::minimum"
        maximum "stator::Reduce::maximum"

    Array scatter(const Array&, int64_t, const Array&, const Operand&, Reduce, optional[cbool],
                  const Stream&) except +translate_exception
    Array scatter_add(const Array&, int64_t, const Array&, const Operand&, optional[cbool],
                      const Stream&) except +translate_exception
    Array index_add(const Array&, int64_t, const Array&, const Operand&, optional[cbool],
                    const Stream&) except +translate_exception
    Array segment_sum(const Array&, const Array&, int64_t, optional[cbool],
                      const Stream&) except +translate_exception
    Array segment_mean(const Array&, const Array&, int64_t, optional[cbool],
                       const Stream&) except +translate_exception
    Array segment_min(const Array&, const Array&, int64_t, const Stream&) except +translate_exception
    Array segment_max(const Array&, const Array&, int64_t, const Stream&) except +translate_exception
