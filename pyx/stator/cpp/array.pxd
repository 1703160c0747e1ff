# stator/array.hpp
from libc.stdint cimport int64_t, uint64_t
from libcpp cimport bool as cbool

from stator.cpp.backend cimport Device, Stream
from stator.cpp.dtype cimport DType
from stator.cpp.error cimport translate_exception
from stator.cpp.ref cimport Dims


cdef extern from "stator/complex.hpp" namespace "stator" nogil:
    cdef cppclass complex128:
        complex128(double, double)


cdef extern from "stator/array.hpp" namespace "stator" nogil:
    ctypedef enum ScalarType "stator::Scalar::Type":
        boolean "stator::Scalar::Type::boolean"
        integer "stator::Scalar::Type::integer"
        unsigned_integer "stator::Scalar::Type::unsigned_integer"
        floating "stator::Scalar::Type::floating"
        complex_floating "stator::Scalar::Type::complex_floating"

    cdef cppclass Scalar:
        ScalarType type
        int64_t i
        double re, im
        Scalar()
        Scalar(cbool)
        Scalar(int64_t)
        Scalar(uint64_t)
        Scalar(double)
        Scalar(complex128)

    cdef cppclass Array:
        Array()
        Array(const Array&)
        DType dtype()
        const Dims& shape()
        const Dims& strides()
        int64_t offset()
        int ndim()
        int64_t size()
        size_t nbytes()
        cbool is_contiguous()
        Device device() except +translate_exception
        void* data_ptr() except +translate_exception
        void to_host(void*, const Stream&) except +translate_exception
        Scalar item(const Stream&) except +translate_exception

    cdef cppclass Operand:
        Operand(const Array&)
        Operand(Scalar)

    int64_t checked_size(const char*, const Dims&, int) except +translate_exception
    int normalize_axis(const char*, int64_t, int) except +translate_exception
