# stator/reduce.hpp
from libc.stdint cimport int64_t
from libcpp cimport bool as cbool

from stator.cpp.array cimport Array
from stator.cpp.backend cimport Stream
from stator.cpp.dtype cimport DType
from stator.cpp.error cimport translate_exception
from stator.cpp.op_table cimport Op
from stator.cpp.ref cimport Dims
from stator.cpp.std cimport optional, vector


cdef extern from "stator/reduce.hpp" namespace "stator" nogil:
    cdef cppclass ReduceOptions:
        optional[vector[int64_t]] axes
        cbool keepdims
        optional[DType] dtype
        const Array* out
        const Array* where
        double parameter

    Array reduce(Op, const Array&, const ReduceOptions&, const Stream&) except +translate_exception


cdef extern from "stator/reduce.hpp" namespace "stator::nn" nogil:
    cdef cppclass ReductionGradientOptions:
        optional[vector[int64_t]] axes
        cbool keepdims

    Array sum_backward(const Array&, const Dims&, const ReductionGradientOptions&,
                       const Stream&) except +translate_exception
    Array mean_backward(const Array&, const Dims&, const ReductionGradientOptions&,
                        const Stream&) except +translate_exception
    Array prod_backward(const Array&, const Array&, const ReductionGradientOptions&,
                        const Stream&) except +translate_exception
