# stator/random.hpp
from libc.stdint cimport int64_t, uint64_t
from libcpp cimport bool as cbool

from stator.cpp.array cimport Array, Scalar
from stator.cpp.backend cimport Backend, Stream
from stator.cpp.dtype cimport DType
from stator.cpp.error cimport translate_exception
from stator.cpp.ref cimport Dims
from stator.cpp.std cimport string_view, vector


cdef extern from "stator/random.hpp" namespace "stator::random" nogil:
    cdef cppclass State:
        uint64_t seed, counter

    Array uniform(const Backend&, State&, const Dims&, double, double, DType, const Stream&) except +translate_exception
    Array normal(const Backend&, State&, const Dims&, double, double, DType, const Stream&) except +translate_exception
    Array exponential(const Backend&, State&, const Dims&, double, DType, const Stream&) except +translate_exception
    Array gamma(const Backend&, State&, const Dims&, double, double, DType, const Stream&) except +translate_exception
    Array poisson(const Backend&, State&, const Dims&, double, DType, const Stream&) except +translate_exception
    Array integers(
        const Backend&, State&, const Dims&, Scalar, Scalar, DType, const Stream&) except +translate_exception
    Array bernoulli(const Backend&, State&, const Dims&, double, DType, const Stream&) except +translate_exception
    Array permutation(const Backend&, State&, int64_t, int64_t, const Stream&) except +translate_exception
    Array permutation(const Array&, State&, int64_t, const Stream&) except +translate_exception
    Array probabilities(const Backend&, string_view, const vector[double]&, int64_t,
                        const Stream&) except +translate_exception
    Array choice(const Backend&, State&, const Dims&, int64_t, cbool, const Array*,
                 const Stream&) except +translate_exception
    Array multinomial(const Backend&, State&, const Dims&, int64_t, const Array&,
                      const Stream&) except +translate_exception
    vector[State] spawn(const Backend&, State&, int64_t) except +translate_exception


cdef extern from "stator/random.hpp" namespace "stator::nn" nogil:
    Array dropout(const Array&, double, const State&, State*, const Stream&) except +translate_exception
    Array dropout_add(const Array&, const Array&, double, const State&, State*,
                      const Stream&) except +translate_exception
    Array dropout_backward(const Array&, double, const State&, const Stream&) except +translate_exception
