# stator/linalg.hpp
from stator.cpp.array cimport Array
from stator.cpp.backend cimport Stream
from stator.cpp.dtype cimport DType
from stator.cpp.error cimport translate_exception
from stator.cpp.std cimport optional


cdef extern from "stator/linalg.hpp" namespace "stator" nogil:
    cdef cppclass MatmulOptions:
        optional[DType] dtype, compute_dtype
        const Array* out

    Array matmul(const Array&, const Array&, const MatmulOptions&, const Stream&) except +translate_exception
