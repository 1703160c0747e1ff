# stator/nn/norm.hpp
from libc.stdint cimport int64_t
from libcpp cimport bool as cbool

from stator.cpp.array cimport Array
from stator.cpp.backend cimport Stream
from stator.cpp.error cimport translate_exception
from stator.cpp.ref cimport Dims
from stator.cpp.std cimport optional, string_view


cdef extern from "stator/nn/norm.hpp" namespace "stator::nn" nogil:
    cdef cppclass NormOptions:
        const Array* weight
        const Array* bias
        double eps

    cdef cppclass FusedNormOptions(NormOptions):
        const Array* residual
        string_view activation

    cdef cppclass LayerNormOptions(FusedNormOptions):
        optional[Dims] shape

    cdef cppclass Normalized:
        Array y
        optional[Array] sum

    cdef cppclass NormGradients:
        Array x, weight
        optional[Array] bias

    Normalized layer_norm(const Array&, const LayerNormOptions&, const Stream&) except +translate_exception
    Normalized rms_norm(const Array&, const LayerNormOptions&, const Stream&) except +translate_exception
    Normalized group_norm(const Array&, int64_t, const FusedNormOptions&, const Stream&) except +translate_exception
    Normalized instance_norm(const Array&, const FusedNormOptions&, const Stream&) except +translate_exception
    NormGradients layer_norm_backward(const Array&, const Array&, const LayerNormOptions&,
                                      const Stream&) except +translate_exception
    NormGradients rms_norm_backward(const Array&, const Array&, const LayerNormOptions&,
                                    const Stream&) except +translate_exception
    NormGradients group_norm_backward(const Array&, const Array&, int64_t, const FusedNormOptions&,
                                      const Stream&) except +translate_exception
    NormGradients instance_norm_backward(const Array&, const Array&, const FusedNormOptions&,
                                         const Stream&) except +translate_exception

    cdef cppclass WeightNormalized:
        Array w, lengths

    cdef cppclass WeightNormGradients:
        Array v, g

    cdef cppclass SpectralNormOptions:
        const Array* v
        int64_t iterations, axis
        double eps

    cdef cppclass SpectralNormalized:
        Array w, u, v, sigma

    WeightNormalized weight_norm(const Array&, const Array&, optional[int64_t],
                                 const Stream&) except +translate_exception
    WeightNormGradients weight_norm_backward(const Array&, const Array&, const Array&, optional[int64_t],
                                             const Stream&) except +translate_exception
    SpectralNormalized spectral_norm(const Array&, const Array&, const SpectralNormOptions&,
                                     const Stream&) except +translate_exception
    Array spectral_norm_backward(const Array&, const Array&, const Array&, const Array&, const Array&, int64_t,
                                 const Stream&) except +translate_exception

    cdef cppclass BatchNormOptions(FusedNormOptions):
        const Array* mean
        const Array* var
        cbool training

    cdef cppclass BatchNormResult:
        Array y, mean, var
        optional[Array] sum

    cdef cppclass ResponseNormOptions:
        double alpha, beta, k

    cdef cppclass ResponseNormResult:
        Array y, denom

    BatchNormResult batch_norm(const Array&, const BatchNormOptions&, const Stream&) except +translate_exception
    NormGradients batch_norm_backward(const Array&, const Array&, const BatchNormOptions&,
                                      const Stream&) except +translate_exception
    void update_running_stats(const Array&, const Array&, const Array&, const Array&, int64_t, double,
                              const Stream&) except +translate_exception
    ResponseNormResult local_response_norm(const Array&, int64_t, const ResponseNormOptions&,
                                           const Stream&) except +translate_exception
    Array local_response_norm_backward(const Array&, const Array&, const Array&, int64_t, const ResponseNormOptions&,
                                       const Stream&) except +translate_exception
