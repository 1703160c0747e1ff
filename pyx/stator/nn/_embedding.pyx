# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
# cython: annotation_typing=False, freethreading_compatible=True
"""Rows of a table by indices, bags of them, and their gradients."""
from libc.stdint cimport int64_t

from stator._array cimport Array, as_array, as_out, new_array
from stator._backend cimport enter
from stator._convert cimport to_dtype, to_flag, to_text
from stator._integers cimport to_int, to_optional_int
from stator.cpp cimport embedding as cpp
from stator.cpp.backend cimport Stream as CppStream
from stator.cpp.dtype cimport DType as CppDType
from stator.cpp.std cimport optional, string_view


def embedding(weight: Array, indices: Array, /, *, padding_idx: int | None = None) -> Array:
    """The rows of weight (n, d) at the indices, of indices' shape and d. Asynchronous.

    indices are integers from -n to n - 1; for one out of range the next synchronising call raises OutOfRangeError. The
    row padding_idx is read as any other, and has no gradient.

    >>> weight = be.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> stator.nn.embedding(weight, be.asarray([1, 0])).tolist()
    [[3.0, 4.0], [1.0, 2.0]]
    """
    cdef Array table = as_array(weight, "nn.embedding"), at = as_array(indices, "nn.embedding")
    cdef Array out = new_array(table.backend)
    cdef optional[int64_t] padding
    cdef CppStream stream
    to_optional_int(padding_idx, padding, "nn.embedding", "padding_idx")
    enter(table.backend, stream)
    with nogil:
        out.c = cpp.embedding(table.c, at.c, padding, stream)
    return out


def embedding_backward(grad: Array, indices: Array, /, num_embeddings: int, *, padding_idx: int | None = None,
                       scale_grad_by_freq: bool = False) -> Array:
    """The gradient of embedding's weight, (num_embeddings, d). Asynchronous; equal bits from run to run.

    grad has the shape of embedding's result. scale_grad_by_freq: rows are divided by how often their index occurs.

    >>> stator.nn.embedding_backward(be.ones((2, 1)), be.asarray([0, 0]), 2).tolist()
    [[2.0], [0.0]]
    """
    cdef Array g = as_array(grad, "nn.embedding_backward"), at = as_array(indices, "nn.embedding_backward")
    cdef Array out = new_array(g.backend)
    cdef int64_t rows = to_int(num_embeddings, "nn.embedding_backward", "num_embeddings")
    cdef cpp.EmbeddingGradientOptions options
    cdef CppStream stream
    to_optional_int(padding_idx, options.padding_idx, "nn.embedding_backward", "padding_idx")
    options.scale_grad_by_freq = to_flag(scale_grad_by_freq, "nn.embedding_backward", "scale_grad_by_freq")
    enter(g.backend, stream)
    with nogil:
        out.c = cpp.embedding_backward(g.c, at.c, rows, options, stream)
    return out


# `mode` must outlive the options.
cdef int set_bags(cpp.EmbeddingBagOptions* options, object offsets, bytes mode, object padding_idx,
                  str op) except -1:
    options.offsets = as_out(offsets, op, "offsets")
    options.mode = string_view(<const char*>mode, len(mode))
    to_optional_int(padding_idx, options.padding_idx, op, "padding_idx")
    return 0


def embedding_bag(weight: Array, indices: Array, /, offsets: Array | None = None, *, mode: str = "mean",
                  padding_idx: int | None = None) -> Array:
    """Rows of weight (n, d) reduced in bags: (bags, d). Asynchronous.

    A bag has the rows at one row of indices (bags, length), or at the indices (k,) from offsets[b] to offsets[b + 1],
    where offsets begin with 0 and do not decrease. mode: "sum", "mean" or "max". Rows of the index padding_idx do not
    count, and a bag without rows gives zeros. For an index or offset out of range the next synchronising call raises
    OutOfRangeError.

    >>> weight = be.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> stator.nn.embedding_bag(weight, be.asarray([[0, 1]]), mode="sum").tolist()
    [[4.0, 6.0]]
    """
    cdef Array table = as_array(weight, "nn.embedding_bag"), at = as_array(indices, "nn.embedding_bag")
    cdef Array out = new_array(table.backend)
    cdef bytes how = to_text(mode, "nn.embedding_bag", "mode")
    cdef cpp.EmbeddingBagOptions options
    cdef CppStream stream
    set_bags(&options, offsets, how, padding_idx, "nn.embedding_bag")
    enter(table.backend, stream)
    with nogil:
        out.c = cpp.embedding_bag(table.c, at.c, options, stream)
    return out


def embedding_bag_backward(grad: Array, weight: Array, indices: Array, /, offsets: Array | None = None, *,
                           mode: str = "mean", padding_idx: int | None = None) -> Array:
    """The gradient of embedding_bag's weight, (n, d). Asynchronous; equal bits from run to run.

    grad is (bags, d); the other arguments are those of embedding_bag. Of equal largest elements the first has the
    gradient.

    >>> weight = be.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> stator.nn.embedding_bag_backward(be.ones((1, 2)), weight, be.asarray([[0, 1]])).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """
    cdef Array g = as_array(grad, "nn.embedding_bag_backward"), table = as_array(weight, "nn.embedding_bag_backward")
    cdef Array at = as_array(indices, "nn.embedding_bag_backward"), out = new_array(g.backend)
    cdef bytes how = to_text(mode, "nn.embedding_bag_backward", "mode")
    cdef cpp.EmbeddingBagOptions options
    cdef CppStream stream
    set_bags(&options, offsets, how, padding_idx, "nn.embedding_bag_backward")
    enter(g.backend, stream)
    with nogil:
        out.c = cpp.embedding_bag_backward(g.c, table.c, at.c, options, stream)
    return out


def one_hot(indices: Array, /, num_classes: int, *, dtype: DTypeLike | None = None) -> Array:
    """Zeros with 1 at each index along a new last axis of num_classes. Asynchronous.

    dtype: int64 for None, and any that is not complex. For an index out of -num_classes to num_classes - 1 the next
    synchronising call raises OutOfRangeError.

    >>> stator.nn.one_hot(be.asarray([2, 0]), 3).tolist()
    [[0, 0, 1], [1, 0, 0]]
    """
    cdef Array at = as_array(indices, "nn.one_hot"), out = new_array(at.backend)
    cdef int64_t classes = to_int(num_classes, "nn.one_hot", "num_classes")
    cdef optional[CppDType] code
    cdef CppDType kind = CppDType.int64
    cdef CppStream stream
    if dtype is not None:
        to_dtype(dtype, code, "nn.one_hot")
        kind = code.value()
    enter(at.backend, stream)
    with nogil:
        out.c = cpp.one_hot(at.c, classes, kind, stream)
    return out
