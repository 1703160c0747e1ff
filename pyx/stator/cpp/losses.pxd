# stator/nn/losses.hpp
from libc.stdint cimport int64_t
from libcpp cimport bool as cbool

from stator.cpp.array cimport Array
from stator.cpp.backend cimport Stream
from stator.cpp.error cimport translate_exception
from stator.cpp.std cimport string_view


cdef extern from "stator/nn/losses.hpp" namespace "stator::nn" nogil:
    cdef cppclass LogitLossOptions:
        const Array* weight
        const Array* pos_weight
        string_view reduction

    cdef cppclass NllLossOptions:
        const Array* weight
        int64_t ignore_index
        string_view reduction

    cdef cppclass CtcLossOptions:
        int64_t blank
        string_view reduction
        cbool zero_infinity

    Array mse_loss(const Array&, const Array&, string_view, const Stream&) except +translate_exception
    Array l1_loss(const Array&, const Array&, string_view, const Stream&) except +translate_exception
    Array huber_loss(const Array&, const Array&, double, string_view, const Stream&) except +translate_exception
    Array smooth_l1_loss(const Array&, const Array&, double, string_view, const Stream&) except +translate_exception
    Array binary_cross_entropy_with_logits(const Array&, const Array&, const LogitLossOptions&,
                                           const Stream&) except +translate_exception
    Array kl_div(const Array&, const Array&, cbool, string_view, const Stream&) except +translate_exception
    Array mse_loss_backward(const Array&, const Array&, const Array&, string_view,
                            const Stream&) except +translate_exception
    Array l1_loss_backward(const Array&, const Array&, const Array&, string_view,
                           const Stream&) except +translate_exception
    Array huber_loss_backward(const Array&, const Array&, const Array&, double, string_view,
                              const Stream&) except +translate_exception
    Array smooth_l1_loss_backward(const Array&, const Array&, const Array&, double, string_view,
                                  const Stream&) except +translate_exception
    Array binary_cross_entropy_with_logits_backward(const Array&, const Array&, const Array&, const LogitLossOptions&,
                                                    const Stream&) except +translate_exception
    Array kl_div_backward(const Array&, const Array&, const Array&, cbool, string_view,
                          const Stream&) except +translate_exception
    Array nll_loss(const Array&, const Array&, const NllLossOptions&, const Stream&) except +translate_exception
    Array nll_loss_backward(const Array&, const Array&, const Array&, const NllLossOptions&,
                            const Stream&) except +translate_exception
    Array ctc_loss(const Array&, const Array&, const Array&, const Array&, const CtcLossOptions&,
                   const Stream&) except +translate_exception
    Array ctc_loss_backward(const Array&, const Array&, const Array&, const Array&, const Array&,
                            const CtcLossOptions&, const Stream&) except +translate_exception
