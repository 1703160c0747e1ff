# stator/creation.hpp
from libc.stdint cimport int64_t
from libcpp cimport bool as cbool

from stator.cpp.array cimport Array, Operand, Scalar
from stator.cpp.backend cimport Backend, Stream
from stator.cpp.dtype cimport DType
from stator.cpp.error cimport translate_exception
from stator.cpp.ref cimport Dims, Int64Span
from stator.cpp.std cimport optional, vector


cdef extern from "stator/creation.hpp" namespace "stator" nogil:
    Array empty(const Backend&, const Dims&, DType, const Stream&) except +translate_exception
    Array zeros(const Backend&, const Dims&, DType, const Stream&) except +translate_exception
    Array full(const Backend&, const Dims&, Scalar, optional[DType], const Stream&) except +translate_exception
    Array arange(const Backend&, Scalar, Scalar, Scalar, optional[DType], const Stream&) except +translate_exception
    Array from_host(const Backend&, const void*, DType, const Dims&, const Dims&, cbool,
                    const Stream&) except +translate_exception
    Array copy(const Array&, const Stream&) except +translate_exception
    Array copy_to(const Array&, const Backend&, const Stream&) except +translate_exception
    Array astype(const Array&, DType, cbool, const Stream&) except +translate_exception
    void assign(const Array&, const Operand&, const Stream&) except +translate_exception
    Array permute_dims(const Array&, Int64Span) except +translate_exception
    Array broadcast_to(const Array&, const Dims&) except +translate_exception
    Array reshape(const Array&, Int64Span, optional[cbool], const Stream&) except +translate_exception
    Array as_strided(const Array&, const Dims&, const Dims&, int64_t) except +translate_exception
    Array view(const Array&, DType) except +translate_exception
    Array squeeze(const Array&, const optional[vector[int64_t]]&) except +translate_exception
    Array expand_dims(const Array&, Int64Span) except +translate_exception
    Array moveaxis(const Array&, Int64Span, Int64Span) except +translate_exception
    Array flip(const Array&, const optional[vector[int64_t]]&) except +translate_exception
    Array matrix_transpose(const Array&) except +translate_exception
    Array diagonal(const Array&, int64_t) except +translate_exception
    vector[Array] broadcast_arrays(const vector[Array]&) except +translate_exception
    vector[Array] meshgrid(const vector[Array]&, cbool) except +translate_exception
    vector[Array] unstack(const Array&, int64_t) except +translate_exception

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
