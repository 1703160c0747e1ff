# stator/nn/recurrent.hpp
from libc.stdint cimport int64_t
from libcpp cimport bool as cbool

from stator.cpp.array cimport Array
from stator.cpp.backend cimport Stream
from stator.cpp.error cimport translate_exception
from stator.cpp.std cimport optional, string_view, vector


cdef extern from "stator/nn/recurrent.hpp" namespace "stator::nn" nogil:
    cdef cppclass GruStep:
        Array h, workspace

    cdef cppclass GruStepGradients:
        Array input_gates, hidden_gates, hx

    cdef cppclass LstmStep:
        Array h, c, workspace

    cdef cppclass LstmStepGradients:
        Array gates, cx

    cdef cppclass CellWeights:
        CellWeights(const Array&, const Array&, const Array*, const Array*)

    cdef cppclass LstmState:
        Array h, c

    cdef cppclass RecurrentOptions:
        int64_t num_layers
        cbool bias, bidirectional, batch_first
        const Array* lengths
        optional[vector[int64_t]] host_lengths
        string_view nonlinearity

    cdef cppclass RecurrentResult:
        Array y, h, c

    cdef cppclass RecurrentGradients:
        Array x, h0, c0
        vector[Array] weights

    cdef cppclass ResultGradients:
        const Array* y
        const Array* h
        const Array* c

    GruStep gru_pointwise(const Array&, const Array&, const Array&, const Array*, const Array*,
                          const Stream&) except +translate_exception
    GruStepGradients gru_pointwise_backward(const Array&, const Array&, const Stream&) except +translate_exception
    LstmStep lstm_pointwise(const Array&, const Array&, const Array&, const Array*, const Array*,
                            const Stream&) except +translate_exception
    LstmStepGradients lstm_pointwise_backward(const Array*, const Array*, const Array&, const Array&,
                                              const Stream&) except +translate_exception
    Array rnn_pointwise(const Array&, const Array&, const Array*, const Array*, string_view,
                        const Stream&) except +translate_exception
    Array rnn_pointwise_backward(const Array&, const Array&, string_view, const Stream&) except +translate_exception
    Array rnn_cell(const Array&, const Array*, const CellWeights&, string_view,
                   const Stream&) except +translate_exception
    Array gru_cell(const Array&, const Array*, const CellWeights&, const Stream&) except +translate_exception
    LstmState lstm_cell(const Array&, const Array*, const Array*, const CellWeights&,
                        const Stream&) except +translate_exception
    RecurrentResult rnn(const Array&, const Array*, const vector[Array]&, const RecurrentOptions&, vector[Array]*,
                        const Stream&) except +translate_exception
    RecurrentResult gru(const Array&, const Array*, const vector[Array]&, const RecurrentOptions&, vector[Array]*,
                        const Stream&) except +translate_exception
    RecurrentResult lstm(const Array&, const Array*, const Array*, const vector[Array]&, const RecurrentOptions&,
                         vector[Array]*, const Stream&) except +translate_exception
    RecurrentGradients rnn_backward(const ResultGradients&, const Array&, const vector[Array]&, const vector[Array]&,
                                    const RecurrentOptions&, const Stream&) except +translate_exception
    RecurrentGradients gru_backward(const ResultGradients&, const Array&, const vector[Array]&, const vector[Array]&,
                                    const RecurrentOptions&, const Stream&) except +translate_exception
    RecurrentGradients lstm_backward(const ResultGradients&, const Array&, const vector[Array]&, const vector[Array]&,
                                     const RecurrentOptions&, const Stream&) except +translate_exception
