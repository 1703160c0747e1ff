# stator/dtype.hpp
from stator.cpp.error cimport translate_exception
from stator.cpp.std cimport string_view, vector


cdef extern from "stator/dtype.hpp" namespace "stator" nogil:
    ctypedef enum DType:
        bool_ "stator::DType::bool_"
        int64 "stator::DType::int64"
        float16 "stator::DType::float16"
        bfloat16 "stator::DType::bfloat16"
        float32 "stator::DType::float32"
        float64 "stator::DType::float64"
        complex64 "stator::DType::complex64"
        complex128 "stator::DType::complex128"
    ctypedef enum Kind:
        boolean "stator::Kind::boolean"
        signed_integer "stator::Kind::signed_integer"
        unsigned_integer "stator::Kind::unsigned_integer"
        floating "stator::Kind::floating"
        complex_floating "stator::Kind::complex_floating"
    int dtype_count
    int itemsize(DType)
    Kind kind_of(DType)
    string_view name(DType)
    DType promote(const vector[DType]&) except +translate_exception  # takes a span in C++
    bint can_cast_same_kind(DType, DType)
