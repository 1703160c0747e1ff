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
    Array triu(const Array&, int64_t, const Stream&) except +translate_exception
    Array tril(const Array&, int64_t, const Stream&) except +translate_exception
    Array diag(const Array&, int64_t, const Stream&) except +translate_exception
    Array tri(const Backend&, int64_t, int64_t, int64_t, DType, const Stream&) except +translate_exception
    Array eye(const Backend&, int64_t, int64_t, int64_t, DType, const Stream&) except +translate_exception
    Array linspace(const Backend&, Scalar, Scalar, int64_t, cbool, optional[DType],
                   const Stream&) except +translate_exception
