# stator/fft.hpp
from libc.stdint cimport int64_t, uint64_t
from libcpp cimport bool as cbool

from stator.cpp.array cimport Array
from stator.cpp.backend cimport Backend, Stream
from stator.cpp.dtype cimport DType
from stator.cpp.error cimport translate_exception
from stator.cpp.std cimport optional, string_view, vector


cdef extern from "stator/op_table.hpp" namespace "stator" nogil:
    ctypedef enum Transform "stator::Op":
        fft_ "stator::Op::fft"
        ifft_ "stator::Op::ifft"
        fft2_ "stator::Op::fft2"
        ifft2_ "stator::Op::ifft2"
        fftn_ "stator::Op::fftn"
        ifftn_ "stator::Op::ifftn"
        rfft_ "stator::Op::rfft"
        rfft2_ "stator::Op::rfft2"
        rfftn_ "stator::Op::rfftn"
        irfft_ "stator::Op::irfft"
        irfft2_ "stator::Op::irfft2"
        irfftn_ "stator::Op::irfftn"
        hfft_ "stator::Op::hfft"
        ihfft_ "stator::Op::ihfft"


cdef extern from "stator/fft.hpp" namespace "stator::fft" nogil:
    cdef cppclass Options:
        optional[vector[int64_t]] lengths, axes
        string_view norm

    Array transform(Transform, const Array&, const Options&, const Stream&) except +translate_exception

    Array fftshift(const Array&, const optional[vector[int64_t]]&, const Stream&) except +translate_exception
    Array ifftshift(const Array&, const optional[vector[int64_t]]&, const Stream&) except +translate_exception
    Array fftfreq(const Backend&, int64_t, double, DType, const Stream&) except +translate_exception
    Array rfftfreq(const Backend&, int64_t, double, DType, const Stream&) except +translate_exception
    Array fftconvolve(const Array&, const Array&, string_view, const optional[vector[int64_t]]&,
                      const Stream&) except +translate_exception

    cdef cppclass CacheInfo:
        uint64_t hits, misses, evictions
        size_t plans, bytes, limit

    CacheInfo cache_info() except +translate_exception
    void clear_cache() except +translate_exception
    void set_cache_limit(size_t) except +translate_exception


cdef extern from "stator/fft.hpp" namespace "stator::fft" nogil:
    cdef cppclass FrameOptions:
        optional[int64_t] hop_length, win_length
        const Array* window
        cbool center, normalized
        optional[cbool] onesided

    cdef cppclass StftOptions(FrameOptions):
        string_view pad_mode

    cdef cppclass IstftOptions(FrameOptions):
        optional[int64_t] length
        cbool return_complex, check

    Array stft(const Array&, int64_t, const StftOptions&, const Stream&) except +translate_exception
    Array istft(const Array&, int64_t, const IstftOptions&, const Stream&) except +translate_exception
