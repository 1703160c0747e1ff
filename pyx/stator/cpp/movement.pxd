# stator/movement.hpp
from libc.stdint cimport int64_t
from libcpp cimport bool as cbool

from stator.cpp.array cimport Array, Scalar
from stator.cpp.backend cimport Backend, Stream
from stator.cpp.dtype cimport DType
from stator.cpp.error cimport translate_exception
from stator.cpp.ref cimport Int64Span
from stator.cpp.std cimport optional, pair, string_view, vector


cdef extern from "stator/movement.hpp" namespace "stator" nogil:
    Array concat(const vector[Array]&, optional[int64_t], const Array*, const Stream&) except +translate_exception
    Array stack(const vector[Array]&, int64_t, const Array*, const Stream&) except +translate_exception
    vector[Array] split(const Array&, int64_t, int64_t) except +translate_exception
    vector[Array] split(const Array&, Int64Span, int64_t) except +translate_exception
    Array ravel(const Array&, const Stream&) except +translate_exception
    Array rot90(const Array&, int64_t, int64_t, int64_t) except +translate_exception
    Array roll(const Array&, Int64Span, const optional[vector[int64_t]]&, const Stream&) except +translate_exception
    Array pad(const Array&, const vector[pair[int64_t, int64_t]]&, string_view, Scalar,
              const Stream&) except +translate_exception
    Array tile(const Array&, Int64Span, const Stream&) except +translate_exception
    Array repeat(const Array&, int64_t, optional[int64_t], const Stream&) except +translate_exception
    Array repeat(const Array&, const Array&, optional[int64_t], const Stream&) except +translate_exception
    Array triu(const Array&, int64_t, const Stream&) except +translate_exception
    Array tril(const Array&, int64_t, const Stream&) except +translate_exception
    Array diag(const Array&, int64_t, const Stream&) except +translate_exception
    Array tri(const Backend&, int64_t, int64_t, int64_t, DType, const Stream&) except +translate_exception
    Array eye(const Backend&, int64_t, int64_t, int64_t, DType, const Stream&) except +translate_exception
    Array linspace(const Backend&, Scalar, Scalar, int64_t, cbool, optional[DType],
                   const Stream&) except +translate_exception
