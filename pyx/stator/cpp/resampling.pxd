# stator/nn/resampling.hpp
from libc.stdint cimport int64_t
from libcpp cimport bool as cbool

from stator.cpp.array cimport Array
from stator.cpp.backend cimport Stream
from stator.cpp.error cimport translate_exception
from stator.cpp.ref cimport Dims
from stator.cpp.std cimport string_view, vector


cdef extern from "stator/nn/resampling.hpp" namespace "stator::nn" nogil:
    cdef cppclass InterpolateOptions:
        Dims size
        vector[double] scale
        string_view mode
        cbool align_corners

    cdef cppclass GridSampleOptions:
        string_view mode, padding
        cbool align_corners

    cdef cppclass GridSampleGradients:
        Array x, grid

    Array interpolate(const Array&, const InterpolateOptions&, const Stream&) except +translate_exception
    Array interpolate_backward(const Array&, const Array&, const InterpolateOptions&,
                               const Stream&) except +translate_exception
    Array pixel_shuffle(const Array&, int64_t, const Stream&) except +translate_exception
    Array pixel_unshuffle(const Array&, int64_t, const Stream&) except +translate_exception
    Array grid_sample(const Array&, const Array&, const GridSampleOptions&, const Stream&) except +translate_exception
    GridSampleGradients grid_sample_backward(const Array&, const Array&, const Array&, const GridSampleOptions&,
                                             const Stream&) except +translate_exception
