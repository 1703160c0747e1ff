# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
# cython: annotation_typing=False, freethreading_compatible=True
"""Dropout, and its gradient from the same draws."""
from stator._array cimport Array, as_array, new_array
from stator._backend cimport enter
from stator._convert cimport to_float
from stator._random cimport Generator, from_state, to_state, to_uint64
from stator.cpp cimport random as cpp
from stator.cpp.backend cimport Stream as CppStream
from stator.cpp.random cimport State

import numpy as np


def dropout(x: Array, p: float = 0.5, /, *, rng: int | Generator | RngState | None = None) -> tuple[Array, RngState]:
    """x / (1 - p) with probability 1 - p, else 0; and the state that made this mask. Asynchronous.

    x is floating. dropout_backward takes the state. rng: a seed, a state, or a generator (None: the backend's), which
    advances by ceil(x.size / 4) counters.
    """
    cdef Array source = as_array(x, "nn.dropout"), out = new_array(source.backend)
    cdef double rate = to_float(p, "nn.dropout", "p")
    cdef State state, after
    cdef Generator generator = None
    cdef CppStream stream
    if rng is None:
        generator = Generator(source.backend)
    elif isinstance(rng, Generator):
        generator = <Generator>rng
        generator.state()  # an error for one that was never made
    elif isinstance(rng, (int, np.integer)):
        state.seed = to_uint64(rng, "nn.dropout", "rng")
        state.counter = 0
    else:
        state = to_state(rng, "nn.dropout", "rng")
    enter(source.backend, stream)
    if generator is None:
        with nogil:
            out.c = cpp.dropout(source.c, rate, state, NULL, stream)
    else:
        generator.lock.acquire()
        try:
            state = generator.state()[0]
            with nogil:
                out.c = cpp.dropout(source.c, rate, state, &after, stream)
            generator.state()[0] = after
        finally:
            generator.lock.release()
    return out, from_state(state, source.backend)


def dropout_backward(grad: Array, p: float, state: RngState, /) -> Array:
    """The gradient of dropout's x: grad with the mask of the state that dropout returned. Asynchronous."""
    cdef Array g = as_array(grad, "nn.dropout_backward"), out = new_array(g.backend)
    cdef double rate = to_float(p, "nn.dropout_backward", "p")
    cdef State given = to_state(state, "nn.dropout_backward", "state")
    cdef CppStream stream
    enter(g.backend, stream)
    with nogil:
        out.c = cpp.dropout_backward(g.c, rate, given, stream)
    return out
