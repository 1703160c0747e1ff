# stator/matmul.hpp
from libc.stdint cimport int64_t, uint64_t
from libcpp cimport bool as cbool

from stator.cpp.array cimport Array, Scalar
from stator.cpp.backend cimport Stream
from stator.cpp.dtype cimport DType
from stator.cpp.error cimport translate_exception
from stator.cpp.ref cimport Int64Span
from stator.cpp.std cimport optional, string_view


cdef extern from "stator/matmul.hpp" namespace "stator" nogil:
    cdef cppclass MatmulOptions:
        optional[DType] dtype, compute_dtype
        const Array* out

    Array matmul(const Array&, const Array&, const MatmulOptions&, const Stream&) except +translate_exception


cdef extern from "stator/matmul.hpp" namespace "stator" nogil:
    cdef cppclass ArraySpan "std::span<const stator::Array>":
        ArraySpan(const Array*, size_t)

    Array dot(const Array&, const Array&, optional[DType], const Stream&) except +translate_exception
    Array vecdot(const Array&, const Array&, int64_t, optional[DType], const Stream&) except +translate_exception
    Array outer(const Array&, const Array&, const Stream&) except +translate_exception
    Array kron(const Array&, const Array&, const Stream&) except +translate_exception
    Array tensordot(const Array&, const Array&, Int64Span, Int64Span, optional[DType],
                    const Stream&) except +translate_exception
    Array einsum(string_view, ArraySpan, optional[DType], const Stream&) except +translate_exception
    Array addmm(const Array&, const Array&, const Array&, const Scalar&, const Scalar&,
                const Stream&) except +translate_exception
    Array baddbmm(const Array&, const Array&, const Array&, const Scalar&, const Scalar&,
                  const Stream&) except +translate_exception

cdef extern from "stator/matmul.hpp" namespace "stator::nn" nogil:
    cdef cppclass Quantized:
        Array values, scale

    cdef cppclass ScaledMatmulOptions:
        string_view a_format, b_format
        const Array* bias
        DType dtype

    Quantized quantize_fp8(const Array&, string_view, optional[int64_t], const Stream&) except +translate_exception
    Array scaled_matmul(const Array&, const Array&, const Array&, const Array&, const ScaledMatmulOptions&,
                        const Stream&) except +translate_exception

cdef extern from "stator/matmul.hpp" namespace "stator::linalg" nogil:
    cdef cppclass MatmulCacheInfo:
        uint64_t hits, misses, evictions
        size_t plans, limit

    MatmulCacheInfo matmul_cache_info() except +translate_exception
    void clear_matmul_cache() except +translate_exception
    void set_matmul_cache_limit(size_t) except +translate_exception

cdef extern from "stator/matmul.hpp" namespace "stator::nn" nogil:
    Array linear(const Array&, const Array&, const Array*, string_view, const Stream&) except +translate_exception

    cdef cppclass LinearGradientOptions:
        string_view activation
        const Array* saved
        cbool bias

    cdef cppclass LinearGradients:
        Array x, weight
        optional[Array] bias

    LinearGradients linear_backward(const Array&, const Array&, const Array&, const LinearGradientOptions&,
                                    const Stream&) except +translate_exception


cdef extern from "stator/matmul.hpp" namespace "stator" nogil:
    Array cdist(const Array&, const Array&, double, const Stream&) except +translate_exception
