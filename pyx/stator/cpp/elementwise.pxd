# stator/elementwise.hpp
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
