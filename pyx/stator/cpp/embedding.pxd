# stator/nn/embedding.hpp
from libc.stdint cimport int64_t
from libcpp cimport bool as cbool

from stator.cpp.array cimport Array
from stator.cpp.backend cimport Stream
from stator.cpp.dtype cimport DType
from stator.cpp.error cimport translate_exception
from stator.cpp.std cimport optional, string_view


cdef extern from "stator/nn/embedding.hpp" namespace "stator::nn" nogil:
    cdef cppclass EmbeddingGradientOptions:
        optional[int64_t] padding_idx
        cbool scale_grad_by_freq

    cdef cppclass EmbeddingBagOptions:
        const Array* offsets
        string_view mode
        optional[int64_t] padding_idx

    Array embedding(const Array&, const Array&, optional[int64_t], const Stream&) except +translate_exception
    Array embedding_backward(const Array&, const Array&, int64_t, const EmbeddingGradientOptions&,
                             const Stream&) except +translate_exception
    Array embedding_bag(const Array&, const Array&, const EmbeddingBagOptions&,
                        const Stream&) except +translate_exception
    Array embedding_bag_backward(const Array&, const Array&, const Array&, const EmbeddingBagOptions&,
                                 const Stream&) except +translate_exception
    Array one_hot(const Array&, int64_t, DType, const Stream&) except +translate_exception
