# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
# cython: annotation_typing=False, freethreading_compatible=True
"""Attention."""
from stator._array cimport Array, as_array, as_out, new_array, plain_or_other
from stator._backend cimport enter
from stator._convert cimport to_flag, to_float
from stator.cpp cimport attention as cpp
from stator.cpp.backend cimport Stream as CppStream


def attention(q: Array, k: Array, v: Array, /, *, scale: float | None = None, causal: bool = False,
              mask: Array | None = None, return_lse: bool = False) -> Array | tuple[Array, Array]:
    """softmax(scale q @ k.T + mask) @ v over the last two axes, whose scores are not stored. Asynchronous.

    q (..., L, d), k (..., S, d), v (..., S, d_v) are of one floating dtype, d and d_v up to 256. The heads of q, the
    axis before L, may be a multiple of those of k and v, which are then shared. scale: None is 1 / sqrt(d). causal:
    query i sees keys 0 to i. mask: broadcast to (..., L, S), bool, True where a key takes part, or of q's dtype, added
    to the scores. A query that sees no key gives zeros. return_lse: also the logarithm of each query's sum of
    exponentials, (..., L), float32 but for float64.

    >>> q = k = v = be.asarray([[1.0, 0.0], [0.0, 1.0]])
    >>> stator.nn.attention(q, k, v, causal=True)[0].tolist()
    [1.0, 0.0]
    """
    cdef Array first = as_array(q, "nn.attention"), second = as_array(k, "nn.attention")
    cdef Array third = as_array(v, "nn.attention"), out = new_array(first.backend), lse = None
    cdef cpp.AttentionOptions options
    cdef cpp.Array* lse_out = NULL
    cdef CppStream stream
    if scale is not None:
        options.scale = to_float(scale, "nn.attention", "scale")
    options.causal = to_flag(causal, "nn.attention", "causal")
    mask = plain_or_other(mask)
    options.mask = as_out(mask, "nn.attention", "mask")
    if to_flag(return_lse, "nn.attention", "return_lse"):
        lse = new_array(first.backend)
        lse_out = &lse.c
    enter(first.backend, stream)
    with nogil:
        out.c = cpp.attention(first.c, second.c, third.c, options, lse_out, stream)
    return out if lse is None else (out, lse)
