# stator/nn/nn.hpp
from libc.stdint cimport int64_t
from libcpp cimport bool as cbool

from stator.cpp.array cimport Array
from stator.cpp.backend cimport Stream
from stator.cpp.dtype cimport DType
from stator.cpp.error cimport translate_exception
from stator.cpp.random cimport State
from stator.cpp.std cimport optional, string_view


cdef extern from "stator/nn/nn.hpp" namespace "stator::nn" nogil:
    Array softmax_backward(const Array&, const Array&, int64_t, const Stream&) except +translate_exception

    cdef cppclass SoftmaxMask:
        const Array* mask
        cbool causal

    Array softmax(const Array&, int64_t, optional[DType], const SoftmaxMask&,
                  const Stream&) except +translate_exception
    Array log_softmax(const Array&, int64_t, optional[DType], const SoftmaxMask&,
                      const Stream&) except +translate_exception
    Array log_softmax_backward(const Array&, const Array&, int64_t, const SoftmaxMask&,
                               const Stream&) except +translate_exception
    Array softmin(const Array&, int64_t, optional[DType], const SoftmaxMask&,
                  const Stream&) except +translate_exception
    Array softmin_backward(const Array&, const Array&, int64_t, const Stream&) except +translate_exception
    cdef cppclass GumbelOptions:
        double tau
        cbool hard
        int64_t axis
        SoftmaxMask masking

    Array gumbel_softmax(const Array&, const State&, State*, const GumbelOptions&,
                         const Stream&) except +translate_exception
    Array gumbel_softmax_backward(const Array&, const Array&, double, int64_t,
                                  const Stream&) except +translate_exception

    cdef cppclass CrossEntropyOptions:
        const Array* weight
        int64_t ignore_index
        double label_smoothing
        string_view reduction
        optional[int64_t] axis

    Array cross_entropy(const Array&, const Array&, const CrossEntropyOptions&,
                        const Stream&) except +translate_exception
    Array cross_entropy_backward(const Array&, const Array&, const Array&, const CrossEntropyOptions&,
                                 const Stream&) except +translate_exception
