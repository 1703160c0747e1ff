# stator/indexing.hpp
from libc.stdint cimport int64_t
from libcpp cimport bool as cbool

from stator.cpp.array cimport Array, Operand, Scalar
from stator.cpp.backend cimport Stream
from stator.cpp.error cimport translate_exception
from stator.cpp.ref cimport Dims
from stator.cpp.std cimport optional, vector


cdef extern from "stator/indexing.hpp" namespace "stator" nogil:
    ctypedef enum IndexType "stator::Index::Type":
        integer "stator::Index::Type::integer"
        slice_ "stator::Index::Type::slice"
        newaxis "stator::Index::Type::newaxis"
        ellipsis "stator::Index::Type::ellipsis"

    cdef cppclass Index:
        IndexType type
        int64_t start, stop, step
        cbool has_start, has_stop

    cdef cppclass IndexSpan "std::span<const stator::Index>":
        IndexSpan(const Index*, size_t)

    Array getitem(const Array&, IndexSpan) except +translate_exception
    void setitem(const Array&, IndexSpan, const Operand&, const Stream&) except +translate_exception

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


cdef extern from "stator/indexing.hpp" namespace "stator" nogil:
    cdef cppclass Capacity:
        optional[int64_t] size
        Scalar fill

    Array masked_fill(const Array&, const Array&, const Operand&, const Stream&) except +translate_exception
    Array masked_select(const Array&, const Array&, const Capacity&, const Stream&) except +translate_exception
    Array masked_scatter(const Array&, const Array&, const Array&, const Stream&) except +translate_exception
    vector[Array] nonzero(const Array&, const Capacity&, const Stream&) except +translate_exception
    Array compress(const Array&, const Array&, optional[int64_t], const Stream&) except +translate_exception


cdef extern from "stator/indexing.hpp" namespace "stator::nn" nogil:
    Array masked_fill_backward(const Array&, const Array&, const Stream&) except +translate_exception
    Array masked_select_backward(const Array&, const Array&, const Stream&) except +translate_exception

    cdef cppclass MaskedScatterGradients:
        Array x, source

    MaskedScatterGradients masked_scatter_backward(const Array&, const Array&, const Dims&,
                                                   const Stream&) except +translate_exception


cdef extern from "stator/indexing.hpp" namespace "stator" nogil:
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
