# stator/nn/convolution.hpp
from libc.stdint cimport int64_t
from libcpp cimport bool as cbool

from stator.cpp.array cimport Array
from stator.cpp.backend cimport Stream
from stator.cpp.error cimport translate_exception
from stator.cpp.ref cimport Dims


cdef extern from "stator/nn/convolution.hpp" namespace "stator::nn" nogil:
    cdef cppclass ConvolutionOptions:
        const Array* bias
        Dims stride, padding, dilation, output_padding
        cbool same, channels_last
        int64_t groups

    cdef cppclass ConvolutionGradients:
        Array x, weight, bias

    cdef cppclass WindowOptions:
        Dims kernel, stride, padding, dilation

    Array conv1d(const Array&, const Array&, const ConvolutionOptions&, const Stream&) except +translate_exception
    Array conv2d(const Array&, const Array&, const ConvolutionOptions&, const Stream&) except +translate_exception
    Array conv3d(const Array&, const Array&, const ConvolutionOptions&, const Stream&) except +translate_exception
    Array conv_transpose1d(const Array&, const Array&, const ConvolutionOptions&,
                           const Stream&) except +translate_exception
    Array conv_transpose2d(const Array&, const Array&, const ConvolutionOptions&,
                           const Stream&) except +translate_exception
    Array conv_transpose3d(const Array&, const Array&, const ConvolutionOptions&,
                           const Stream&) except +translate_exception
    ConvolutionGradients conv1d_backward(const Array&, const Array&, const Array&, const ConvolutionOptions&,
                                         const Stream&) except +translate_exception
    ConvolutionGradients conv2d_backward(const Array&, const Array&, const Array&, const ConvolutionOptions&,
                                         const Stream&) except +translate_exception
    ConvolutionGradients conv3d_backward(const Array&, const Array&, const Array&, const ConvolutionOptions&,
                                         const Stream&) except +translate_exception
    ConvolutionGradients conv_transpose1d_backward(const Array&, const Array&, const Array&,
                                                   const ConvolutionOptions&,
                                                   const Stream&) except +translate_exception
    ConvolutionGradients conv_transpose2d_backward(const Array&, const Array&, const Array&,
                                                   const ConvolutionOptions&,
                                                   const Stream&) except +translate_exception
    ConvolutionGradients conv_transpose3d_backward(const Array&, const Array&, const Array&,
                                                   const ConvolutionOptions&,
                                                   const Stream&) except +translate_exception
    Array unfold(const Array&, const WindowOptions&, const Stream&) except +translate_exception
    Array fold(const Array&, const Dims&, const WindowOptions&, const Stream&) except +translate_exception
