# stator/masks.hpp
from libc.stdint cimport int64_t

from stator.cpp.array cimport Array, Operand, Scalar
from stator.cpp.backend cimport Stream
from stator.cpp.error cimport translate_exception
from stator.cpp.ref cimport Dims
from stator.cpp.std cimport optional, vector


cdef extern from "stator/masks.hpp" namespace "stator" nogil:
    cdef cppclass Capacity:
        optional[int64_t] size
        Scalar fill

    Array masked_fill(const Array&, const Array&, const Operand&, const Stream&) except +translate_exception
    Array masked_select(const Array&, const Array&, const Capacity&, const Stream&) except +translate_exception
    Array masked_scatter(const Array&, const Array&, const Array&, const Stream&) except +translate_exception
    vector[Array] nonzero(const Array&, const Capacity&, const Stream&) except +translate_exception
    Array compress(const Array&, const Array&, optional[int64_t], const Stream&) except +translate_exception


cdef extern from "stator/masks.hpp" namespace "stator::nn" nogil:
    Array masked_fill_backward(const Array&, const Array&, const Stream&) except +translate_exception
    Array masked_select_backward(const Array&, const Array&, const Stream&) except +translate_exception

    cdef cppclass MaskedScatterGradients:
        Array x, source

    MaskedScatterGradients masked_scatter_backward(const Array&, const Array&, const Dims&,
                                                   const Stream&) except +translate_exception
