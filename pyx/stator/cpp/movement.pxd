# stator/movement.hpp
from libc.stdint cimport int64_t
from libcpp cimport bool as cbool

from stator.cpp.array cimport Array, Scalar
from stator.cpp.backend cimport Backend, Stream
from stator.cpp.dtype cimport DType
from stator.cpp.error cimport translate_exception
from stator.cpp.ref cimport Dims, Int64Span
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
