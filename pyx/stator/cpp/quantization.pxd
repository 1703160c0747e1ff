# stator/nn/quantization.hpp
from libc.stdint cimport int64_t
from libcpp cimport bool as cbool

from stator.cpp.array cimport Array
from stator.cpp.backend cimport Stream
from stator.cpp.dtype cimport DType
from stator.cpp.error cimport translate_exception
from stator.cpp.ref cimport Dims
from stator.cpp.std cimport optional


cdef extern from "stator/nn/quantization.hpp" namespace "stator::nn" nogil:
    cdef cppclass QuantizationNumber:
        const Array* array
        double number

    cdef cppclass QuantizationOptions:
        optional[int64_t] axis, block_size, quant_min, quant_max

    cdef cppclass FakeQuantizeGradientOptions(QuantizationOptions):
        cbool learned
        double grad_factor

    cdef cppclass FakeQuantizeGradients:
        Array x, scale, zero_point

    cdef cppclass QuantizationParameters:
        Array scale, zero_point

    cdef cppclass ParameterOptions:
        DType dtype
        cbool symmetric
        optional[int64_t] quant_min, quant_max
        double eps

    cdef cppclass Range:
        Array min, max

    cdef cppclass QuantizedProductOptions:
        QuantizationNumber scale_a, scale_b, zero_point_a, zero_point_b, scale_out, zero_point_out
        const Array* bias
        DType dtype
        cbool relu

    cdef cppclass QuantizedConvolutionOptions:
        QuantizedProductOptions product
        Dims stride, padding, dilation
        int64_t groups

    cdef cppclass Int4Weights:
        Array packed, scale, zero_point

    Array quantize(const Array&, const QuantizationNumber&, const QuantizationNumber&, DType,
                   const QuantizationOptions&, const Stream&) except +translate_exception
    Array dequantize(const Array&, const QuantizationNumber&, const QuantizationNumber&, DType,
                     const QuantizationOptions&, const Stream&) except +translate_exception
    Array fake_quantize(const Array&, const QuantizationNumber&, const QuantizationNumber&,
                        const QuantizationOptions&, const Stream&) except +translate_exception
    FakeQuantizeGradients fake_quantize_backward(const Array&, const Array&, const QuantizationNumber&,
                                                 const QuantizationNumber&, const FakeQuantizeGradientOptions&,
                                                 const Stream&) except +translate_exception
    QuantizationParameters quantization_parameters(const Array&, const Array&, const ParameterOptions&,
                                                   const Stream&) except +translate_exception
    void observe_range(const Array&, const Array&, const Array&, optional[int64_t], optional[double],
                       const Stream&) except +translate_exception
    void observe_histogram(const Array&, const Array&, const Array&, const Array&,
                           const Stream&) except +translate_exception
    Range histogram_range(const Array&, const Array&, const Array&, int64_t,
                          const Stream&) except +translate_exception
    Array quantized_matmul(const Array&, const Array&, const QuantizedProductOptions&,
                           const Stream&) except +translate_exception
    Array quantized_linear(const Array&, const Array&, const QuantizedProductOptions&,
                           const Stream&) except +translate_exception
    Array quantized_conv1d(const Array&, const Array&, const QuantizedConvolutionOptions&,
                           const Stream&) except +translate_exception
    Array quantized_conv2d(const Array&, const Array&, const QuantizedConvolutionOptions&,
                           const Stream&) except +translate_exception
    Array quantized_conv3d(const Array&, const Array&, const QuantizedConvolutionOptions&,
                           const Stream&) except +translate_exception
    Int4Weights quantize_int4(const Array&, int64_t, const Stream&) except +translate_exception
    Array int4_linear(const Array&, const Array&, const Array&, const Array&, const Array*,
                      const Stream&) except +translate_exception
