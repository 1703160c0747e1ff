# stator/nn/pooling.hpp
from libc.stdint cimport int64_t
from libcpp cimport bool as cbool

from stator.cpp.array cimport Array
from stator.cpp.backend cimport Stream
from stator.cpp.error cimport translate_exception
from stator.cpp.ref cimport Dims
from stator.cpp.std cimport optional


cdef extern from "stator/nn/pooling.hpp" namespace "stator::nn" nogil:
    cdef cppclass PoolOptions:
        Dims kernel, stride, padding, dilation
        cbool ceil_mode

    cdef cppclass MaxPooled:
        Array y
        optional[Array] indices

    cdef cppclass AvgPoolOptions(PoolOptions):
        cbool count_include_pad
        optional[int64_t] divisor

    MaxPooled max_pool(const Array&, const PoolOptions&, cbool, const Stream&) except +translate_exception
    Array max_pool_backward(const Array&, const Array&, const Array&, const PoolOptions&,
                            const Stream&) except +translate_exception
    Array max_unpool(const Array&, const Array&, const PoolOptions&, const Dims&,
                     const Stream&) except +translate_exception
    Array max_unpool_backward(const Array&, const Array&, int, const Stream&) except +translate_exception
    Array avg_pool(const Array&, const AvgPoolOptions&, const Stream&) except +translate_exception
    Array avg_pool_backward(const Array&, const Array&, const AvgPoolOptions&,
                            const Stream&) except +translate_exception
    Array lp_pool(const Array&, double, const PoolOptions&, const Stream&) except +translate_exception
    Array lp_pool_backward(const Array&, const Array&, const Array&, double, const PoolOptions&,
                           const Stream&) except +translate_exception
    Array adaptive_avg_pool(const Array&, const Dims&, const Stream&) except +translate_exception
    Array adaptive_avg_pool_backward(const Array&, const Array&, int, const Stream&) except +translate_exception
    MaxPooled adaptive_max_pool(const Array&, const Dims&, cbool, const Stream&) except +translate_exception
    Array adaptive_max_pool_backward(const Array&, const Array&, const Array&, int,
                                     const Stream&) except +translate_exception
