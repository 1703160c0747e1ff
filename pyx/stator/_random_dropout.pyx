# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
# cython: annotation_typing=False, freethreading_compatible=True
"""Dropout, and its gradient from the same draws."""
from stator._array cimport Array, as_array, new_array
from stator._backend cimport Backend, enter
from stator._convert cimport to_float
from stator._random cimport Generator, from_state, to_state, to_uint64
from stator.cpp cimport random as cpp
from stator.cpp.backend cimport Stream as CppStream
from stator.cpp.random cimport State

import numpy as np


cdef Generator to_source(object rng, State* state, Backend backend, str op):
    cdef Generator generator = None
    if rng is None:
        return Generator(backend)
    if isinstance(rng, Generator):
        generator = <Generator>rng
        generator.state()  # an error for one that was never made
    elif isinstance(rng, (int, np.integer)):
        state.seed = to_uint64(rng, op, "rng")
        state.counter = 0
    else:
        state[0] = to_state(rng, op, "rng")
    return generator


cdef int begin_draws(Generator generator, State* state) except -1:
    if generator is not None:
        generator.lock.acquire()
        state[0] = generator.state()[0]
    return 0


cdef int end_draws(Generator generator, const State* after) except -1:
    if generator is not None:
        if after != NULL:
            generator.state()[0] = after[0]
        generator.lock.release()
    return 0


def dropout(x: Array, p: float = 0.5, /, *, rng: int | Generator | RngState | None = None) -> tuple[Array, RngState]:
    """x / (1 - p) with probability 1 - p, else 0; and the state that made this mask. Asynchronous.

    x is floating; p is from 0 to 1, else InvalidValueError. dropout_backward takes the state. rng: a seed, a state, or
    a generator (None: the backend's), which advances by ceil(x.size / 4) counters.

    >>> y, state = stator.nn.dropout(be.ones(4), 0.5, rng=1)
    >>> set(y.tolist()) <= {0.0, 2.0}
    True
    """
    cdef Array source = as_array(x, "nn.dropout")
    return dropped("nn.dropout", source, None, p, rng)


def dropout_add(x: Array, residual: Array, p: float = 0.5, /, *,
                rng: int | Generator | RngState | None = None) -> tuple[Array, RngState]:
    """dropout(x) + residual in one pass, rounded once; and the state that made the mask. Asynchronous.

    residual has x's shape and dtype, which is floating: ShapeError, DTypeError. The mask is that of dropout with the
    same rng, so the gradient of x is dropout_backward(grad, p, state); that of residual is grad itself.

    >>> import stator
    >>> be = stator.Backend("cpu")
    >>> y, state = stator.nn.dropout_add(be.ones(4), be.full(4, 10.0), 0.0, rng=1)
    >>> y.to_numpy().tolist()
    [11.0, 11.0, 11.0, 11.0]
    """
    cdef Array source = as_array(x, "nn.dropout_add")
    return dropped("nn.dropout_add", source, as_array(residual, "nn.dropout_add"), p, rng)


cdef tuple dropped(str op, Array source, Array residual, object p, object rng):
    cdef Array out = new_array(source.backend)
    cdef double rate = to_float(p, op, "p")
    cdef State state, after
    cdef const State* behind = NULL
    cdef Generator generator = to_source(rng, &state, source.backend, op)
    cdef CppStream stream
    enter(source.backend, stream)
    begin_draws(generator, &state)
    try:
        if residual is None:
            with nogil:
                out.c = cpp.dropout(source.c, rate, state, &after, stream)
        else:
            with nogil:
                out.c = cpp.dropout_add(source.c, residual.c, rate, state, &after, stream)
        behind = &after
    finally:
        end_draws(generator, behind)
    return out, from_state(state, source.backend)


def dropout_backward(grad: Array, p: float, state: RngState, /) -> Array:
    """The gradient of dropout's x: grad with the mask of the state that dropout returned. Asynchronous.

    grad is floating, of x's shape; p is that of dropout.

    >>> y, state = stator.nn.dropout(be.ones(4), 0.5, rng=1)
    >>> stator.nn.dropout_backward(be.ones(4), 0.5, state).tolist() == y.tolist()
    True
    """
    cdef Array g = as_array(grad, "nn.dropout_backward"), out = new_array(g.backend)
    cdef double rate = to_float(p, "nn.dropout_backward", "p")
    cdef State given = to_state(state, "nn.dropout_backward", "state")
    cdef CppStream stream
    enter(g.backend, stream)
    with nogil:
        out.c = cpp.dropout_backward(g.c, rate, given, stream)
    return out
