# stator/elementwise.hpp
from libc.stdint cimport int64_t
from libcpp cimport bool as cbool

from stator.cpp.array cimport Array, Operand
from stator.cpp.backend cimport Stream
from stator.cpp.dtype cimport DType
from stator.cpp.error cimport translate_exception
from stator.cpp.op_table cimport Op
from stator.cpp.std cimport optional


cdef extern from "stator/elementwise.hpp" namespace "stator" nogil:
    cdef cppclass ElementwiseOptions:
        optional[DType] dtype
        const Array* out

    cdef cppclass OperandSpan "std::span<const stator::Operand>":
        OperandSpan(const Operand*, size_t)

    Array elementwise(Op, OperandSpan, const ElementwiseOptions&, const Stream&) except +translate_exception
    Array unary(Op, const Array&, const ElementwiseOptions&, const Stream&) except +translate_exception
    cdef cppclass Fractions:
        Array mantissa
        Array exponent

    Fractions frexp(const Array&, const Stream&) except +translate_exception
    Array binary(Op, const Operand&, const Operand&, const ElementwiseOptions&,
                 const Stream&) except +translate_exception


cdef extern from "stator/elementwise.hpp" namespace "stator::nn" nogil:
    cdef cppclass GatedGradients:
        Array gate, up

    Array glu(const Array&, int64_t, const Stream&) except +translate_exception
    Array glu_backward(const Array&, const Array&, int64_t, const Stream&) except +translate_exception
    Array swiglu(const Array&, const Array&, const Stream&) except +translate_exception
    Array swiglu(const Array&, int64_t, const Stream&) except +translate_exception
    GatedGradients swiglu_backward(const Array&, const Array&, const Array&,
                                   const Stream&) except +translate_exception
    Array swiglu_backward(const Array&, const Array&, int64_t, const Stream&) except +translate_exception
    Array geglu(const Array&, const Array&, cbool, const Stream&) except +translate_exception
    Array geglu(const Array&, int64_t, cbool, const Stream&) except +translate_exception
    GatedGradients geglu_backward(const Array&, const Array&, const Array&, cbool,
                                  const Stream&) except +translate_exception
    Array geglu_backward(const Array&, const Array&, int64_t, cbool, const Stream&) except +translate_exception
