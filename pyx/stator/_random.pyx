# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
# cython: annotation_typing=False, freethreading_compatible=True
"""Random numbers by Philox4x32-10, with equal bits on every device."""
import os
from collections import namedtuple
from operator import index as to_python_int
from threading import RLock, get_ident, local

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int64_t, uint64_t
from libcpp cimport bool as cbool

from stator._array cimport Array, as_array, new_array, plain, take_op
from stator._backend cimport Backend, Stream, as_backend, enter, resolve
from stator._convert cimport (
    not_an_array, require_room, shown, to_dims, to_flag, to_float, to_int, to_number, too_many, wrong_type,
)
from stator._dtype cimport as_dtype
from stator.cpp cimport graph as cpp_graph
from stator.cpp cimport random as cpp
from stator.cpp.array cimport Array as CppArray
from stator.cpp.array cimport Scalar
from stator.cpp.backend cimport Stream as CppStream
from stator.cpp.dtype cimport DType as CppDType
from stator.cpp.dtype cimport bool_, float64, int64
from stator.cpp.random cimport State
from stator.cpp.ref cimport Dims
from stator.cpp.std cimport vector

import numpy as np

from stator._backend import current_stream
from stator.errors import AxisError, CaptureError, InvalidValueError, ShapeError

# offset: 32-bit words already used of the counter's block; always 0, since every draw begins a block.
RngState = namedtuple("RngState", ("seed", "counter", "offset", "device"), module="stator.random")

cdef enum Law:
    uniform_, normal_, exponential_, gamma_, poisson_, bernoulli_

cdef tuple NAMES = ("uniform", "normal", "exponential", "gamma", "poisson", "bernoulli")


cdef Array draw(Generator generator, Law law, str first, object of_first, str second, object of_second, object size,
                object dtype):
    cdef str op = "random." + <str>NAMES[<int>law]
    cdef double a = to_float(of_first, op, first), b = 0.0 if second is None else to_float(of_second, op, second)
    cdef CppDType code = float64
    cdef Dims dims
    cdef CppStream stream
    cdef Backend backend = generator.backend
    cdef State* state = generator.state()
    cdef Array out = new_array(backend)
    if dtype is not None:
        code = <CppDType>as_dtype(dtype, op)
    elif law == poisson_:
        code = int64
    elif law == bernoulli_:
        code = bool_
    to_dims(() if size is None else size, dims, op, "size")
    enter(backend, stream)
    generator.lock.acquire()
    try:
        with nogil:
            if law == uniform_:
                out.c = cpp.uniform(backend.c, state[0], dims, a, b, code, stream)
            elif law == normal_:
                out.c = cpp.normal(backend.c, state[0], dims, a, b, code, stream)
            elif law == exponential_:
                out.c = cpp.exponential(backend.c, state[0], dims, a, code, stream)
            elif law == gamma_:
                out.c = cpp.gamma(backend.c, state[0], dims, a, b, code, stream)
            elif law == poisson_:
                out.c = cpp.poisson(backend.c, state[0], dims, a, code, stream)
            else:
                out.c = cpp.bernoulli(backend.c, state[0], dims, a, code, stream)
    finally:
        generator.lock.release()
    return out


cdef Array draw_integers(Generator generator, object low, object high, object size, object dtype, object endpoint):
    cdef CppDType code = int64 if dtype is None else <CppDType>as_dtype(dtype, "random.integers")
    cdef Scalar first, last
    cdef Dims dims
    cdef CppStream stream
    cdef Array out = new_array(generator.backend)
    cdef State* state = generator.state()
    if high is None:
        low, high = 0, low
    for name, bound in (("low", low), ("high", high)):
        if not isinstance(bound, (int, np.integer)):
            raise wrong_type(bound, "random.integers", name, "an integer")
    to_number(int(low), first, "random.integers", "low")
    to_number(int(high) - (not to_flag(endpoint, "random.integers", "endpoint")), last, "random.integers", "high")
    to_dims(() if size is None else size, dims, "random.integers", "size")
    enter(generator.backend, stream)
    generator.lock.acquire()
    try:
        with nogil:
            out.c = cpp.integers(out.backend.c, state[0], dims, first, last, code, stream)
    finally:
        generator.lock.release()
    return out


cdef Array draw_permutation(Generator generator, object x, object axis):
    cdef Array source = None, out = new_array(generator.backend)
    cdef int64_t n = 0, at = to_int(axis, "random.permutation")
    cdef CppStream stream
    cdef State* state = generator.state()
    if isinstance(x, Array):
        source = plain(<Array>x)
    elif isinstance(x, (list, np.ndarray)):
        raise not_an_array(x, "random.permutation")
    else:
        n = to_int(x, "random.permutation", "x")
    enter(generator.backend, stream)
    generator.lock.acquire()
    try:
        with nogil:
            if source is None:
                out.c = cpp.permutation(out.backend.c, state[0], n, n, stream)
            else:
                out.c = cpp.permutation(source.c, state[0], at, stream)
    finally:
        generator.lock.release()
    return out


# Probabilities as an Array: an Array as it is, numbers after a check on the host.
cdef Array to_probabilities(Backend backend, object p, int64_t least, str op):
    cdef Array out
    cdef vector[double] numbers
    cdef CppStream stream
    cdef bytes name = op.encode()
    cdef const char* text = name
    if isinstance(p, Array):
        return as_array(p, op)
    if not isinstance(p, (list, tuple)):
        raise not_an_array(p, op)
    for entry in p:
        numbers.push_back(to_float(entry, op, "p" if op == "random.choice" else "pvals"))
    out = new_array(backend)
    enter(backend, stream)
    with nogil:
        out.c = cpp.probabilities(backend.c, text, numbers, least, stream)
    return out


cdef Array draw_choice(Generator generator, object a, object size, object replace, object p, object axis):
    cdef Array source = None, given = None, out = new_array(generator.backend)
    cdef const CppArray* weights = NULL
    cdef Dims dims
    cdef int64_t n, d, count = 1, at = to_int(axis, "random.choice")
    cdef cbool again = to_flag(replace, "random.choice", "replace")
    cdef CppStream stream
    cdef State* state = generator.state()
    if isinstance(a, Array):
        source = plain(<Array>a)
        if source.c.ndim() == 0 or not -source.c.ndim() <= at < source.c.ndim():
            raise AxisError(f"axis {at} of shape {source.shape}", op="random.choice", remedy="Name an axis of a.")
        n = source.shape[at]
    elif isinstance(a, (list, np.ndarray)):
        raise not_an_array(a, "random.choice")
    else:
        n = to_int(a, "random.choice", "a")
    to_dims(() if size is None else size, dims, "random.choice", "size")
    if p is not None:
        if not again:
            for d in range(dims.size()):
                count *= dims[d]
        if isinstance(p, (list, tuple)) and len(p) != n:
            raise ShapeError(f"{len(p)} probabilities for {n} outcomes", op="random.choice", remedy="Give one each.")
        given = to_probabilities(generator.backend, p, 0 if again else count, "random.choice")
        weights = &given.c
    enter(generator.backend, stream)
    generator.lock.acquire()
    try:
        with nogil:
            out.c = cpp.choice(out.backend.c, state[0], dims, n, again, weights, stream)
    finally:
        generator.lock.release()
    return out if source is None else take_op(source, out, axis, None)


cdef Array draw_multinomial(Generator generator, object n, object pvals, object size):
    cdef Array given, out = new_array(generator.backend)
    cdef Dims dims
    cdef int64_t trials = to_int(n, "random.multinomial", "n")
    cdef CppStream stream
    cdef State* state = generator.state()
    to_dims(() if size is None else size, dims, "random.multinomial", "size")
    given = to_probabilities(generator.backend, pvals, 0, "random.multinomial")
    enter(generator.backend, stream)
    generator.lock.acquire()
    try:
        with nogil:
            out.c = cpp.multinomial(out.backend.c, state[0], dims, trials, given.c, stream)
    finally:
        generator.lock.release()
    return out


include "graphs/_random_states.pxi"


cdef class Generator:
    """Generator(backend, *, seed=None)\n--\n
    A generator of random numbers: the backend's own, or with a seed a separate one."""

    def __init__(self, backend: Backend, *, seed: int | None = None) -> None:
        self.backend = as_backend(backend, "random.Generator")
        self.lock = self.backend.random_lock
        if seed is not None:
            self.own.seed = to_uint64(seed, "random.Generator", "seed")
            self.own.counter = 0
            self.lock = RLock()

    cdef State* state(self) except NULL:
        if self.lock is None:
            raise InvalidValueError("a generator without a backend", op="random", remedy="Use Generator(backend).")
        if begun_captures != 0:
            found = draws_of(self)
            if found is not None:
                return &(<CapturedDraws>found).state
        return self.real_state()

    cdef State* real_state(self) noexcept:
        return &self.backend.random if self.lock is self.backend.random_lock else &self.own

    def seed(self, seed: int, /) -> None:
        """Restarts the generator from a seed in [0, 2**64)."""
        cdef State* state = self.state()
        cdef uint64_t value = to_uint64(seed, "random.seed", "seed")
        self.lock.acquire()
        try:
            state.seed = value
            state.counter = 0
        finally:
            self.lock.release()

    def get_state(self) -> RngState:
        """The state before the next draw: (seed, counter, offset, device), which can be pickled."""
        cdef State* state = self.state()
        self.lock.acquire()
        try:
            return from_state(state[0], self.backend)
        finally:
            self.lock.release()

    def set_state(self, state: RngState, /) -> None:
        """Continues from a state, of any device: the draws that follow are the same."""
        cdef State given = to_state(state, "random.set_state", "state")
        cdef State* own = self.state()
        self.lock.acquire()
        try:
            own[0] = given
        finally:
            self.lock.release()

    def spawn(self, n_children: int, /) -> list[Generator]:
        """New generators of the same backend, independent of each other and of this one."""
        cdef vector[State] states
        cdef Generator child
        cdef State* state = self.state()
        cdef int64_t count = to_int(n_children, "random.spawn", "n_children")
        cdef size_t i
        cdef list out = []
        require_room(count, "random.spawn")
        self.lock.acquire()
        try:
            with nogil:
                states = cpp.spawn(self.backend.c, state[0], count)
        finally:
            self.lock.release()
        try:
            for i in range(states.size()):
                child = Generator(self.backend, seed=0)
                child.own = states[i]
                out.append(child)
                if i % 4096 == 0:
                    PyErr_CheckSignals()
            return out
        except (MemoryError, RuntimeError):  # the latter for a lock
            out.clear()  # the error needs memory too
            raise too_many(count, "random.spawn") from None

    def uniform(self, low: float = 0.0, high: float = 1.0, size: int | Sequence[int] | None = None, *,
                dtype: DTypeLike | None = None) -> Array:
        """Draws from the uniform distribution on [low, high). Asynchronous.

        size: the shape; None is 0-d. dtype: floating; None is float64. InvalidValueError if low > high.
        """
        return draw(self, uniform_, "low", low, "high", high, size, dtype)

    def normal(self, loc: float = 0.0, scale: float = 1.0, size: int | Sequence[int] | None = None, *,
               dtype: DTypeLike | None = None) -> Array:
        """Draws from the normal distribution of mean loc and standard deviation scale. Asynchronous.

        size: the shape; None is 0-d. dtype: floating; None is float64. InvalidValueError for a negative scale.
        """
        return draw(self, normal_, "loc", loc, "scale", scale, size, dtype)

    def exponential(self, scale: float = 1.0, size: int | Sequence[int] | None = None, *,
                    dtype: DTypeLike | None = None) -> Array:
        """Draws from the exponential distribution of mean scale. Asynchronous.

        size: the shape; None is 0-d. dtype: floating; None is float64. InvalidValueError for a negative scale.
        """
        return draw(self, exponential_, "scale", scale, None, 0, size, dtype)

    def gamma(self, shape: float, scale: float = 1.0, size: int | Sequence[int] | None = None, *,
              dtype: DTypeLike | None = None) -> Array:
        """Draws from the gamma distribution of mean shape * scale. Asynchronous.

        size: the shape of the result; None is 0-d. dtype: floating; None is float64.
        """
        return draw(self, gamma_, "shape", shape, "scale", scale, size, dtype)

    def poisson(self, lam: float = 1.0, size: int | Sequence[int] | None = None, *,
                dtype: DTypeLike | None = None) -> Array:
        """Draws from the Poisson distribution of mean lam. Asynchronous.

        size: the shape; None is 0-d. dtype: integer, in which draws saturate; None is int64.
        """
        return draw(self, poisson_, "lam", lam, None, 0, size, dtype)

    def bernoulli(self, p: float = 0.5, size: int | Sequence[int] | None = None, *,
                  dtype: DTypeLike | None = None) -> Array:
        """Draws 1 with probability p, else 0. Asynchronous.

        size: the shape; None is 0-d. dtype: None is bool.
        """
        return draw(self, bernoulli_, "p", p, None, 0, size, dtype)

    def integers(self, low: int, high: int | None = None, size: int | Sequence[int] | None = None, *,
                 dtype: DTypeLike | None = None, endpoint: bool = False) -> Array:
        """Draws integers from low to high, each with exactly equal probability. Asynchronous.

        high is excluded unless endpoint; None draws from [0, low). size: the shape; None is 0-d. dtype: an integer
        dtype that holds both bounds; None is int64.
        """
        return draw_integers(self, low, high, size, dtype, endpoint)

    def permutation(self, x: int | Array, /, *, axis: int = 0) -> Array:
        """The integers 0 to x - 1, int64, or an array's slices along axis, in random order. Asynchronous."""
        return draw_permutation(self, x, axis)

    def choice(self, a: int | Array, size: int | Sequence[int] | None = None, replace: bool = True,
               p: Sequence[float] | Array | None = None, *, axis: int = 0) -> Array:
        """Draws integers from 0 to a - 1, or slices of the array a along an axis. Asynchronous.

        size: the shape of the draws; None is 0-d. replace=False draws each at most once. p: probabilities, None for
        equal ones. A sequence is checked at once. An Array stays on the device and is checked there: errors are raised
        by the next call that synchronises, or at once where the backend checks indices eagerly.
        """
        return draw_choice(self, a, size, replace, p, axis)

    def multinomial(self, n: int, pvals: Sequence[float] | Array,
                    size: int | Sequence[int] | None = None) -> Array:
        """Draws how often each outcome occurs in n trials: int64, (*size, outcomes). Asynchronous.

        n is at most 2**53. pvals: the probabilities of the outcomes, as p in choice.
        """
        return draw_multinomial(self, n, pvals, size)


cdef Generator of(object device, str op):
    return Generator(resolve(device, op))


def get_state(*, device: DeviceLike = None) -> RngState:
    """The state of the backend's generator: seed, counter, offset, device.

    >>> state = stator.random.get_state()
    >>> x = stator.random.uniform(size=3)
    >>> stator.random.set_state(state)
    >>> bool((stator.random.uniform(size=3) == x).all())
    True
    """
    return of(device, "random.get_state").get_state()


def set_state(state: RngState, /, *, device: DeviceLike = None) -> None:
    """Makes the backend's generator continue from a state of any device."""
    of(device, "random.set_state").set_state(state)


def spawn(n_children: int, /, *, device: DeviceLike = None) -> list[Generator]:
    """New generators, independent of each other and of the backend's."""
    return of(device, "random.spawn").spawn(n_children)


def uniform(low: float = 0.0, high: float = 1.0, size: int | Sequence[int] | None = None, *,
            dtype: DTypeLike | None = None, device: DeviceLike = None) -> Array:
    """Draws from the uniform distribution on [low, high), by the backend's generator. Asynchronous.

    size: the shape; None is 0-d. dtype: floating; None is float64. InvalidValueError if low > high.
    """
    return draw(of(device, "random.uniform"), uniform_, "low", low, "high", high, size, dtype)


def normal(loc: float = 0.0, scale: float = 1.0, size: int | Sequence[int] | None = None, *,
           dtype: DTypeLike | None = None, device: DeviceLike = None) -> Array:
    """Draws from the normal distribution of mean loc and standard deviation scale. Asynchronous.

    size: the shape; None is 0-d. dtype: floating; None is float64. By the backend's generator. InvalidValueError for a
    negative scale.
    """
    return draw(of(device, "random.normal"), normal_, "loc", loc, "scale", scale, size, dtype)


def exponential(scale: float = 1.0, size: int | Sequence[int] | None = None, *, dtype: DTypeLike | None = None,
                device: DeviceLike = None) -> Array:
    """Draws from the exponential distribution of mean scale, by the backend's generator. Asynchronous.

    size: the shape; None is 0-d. dtype: floating; None is float64. InvalidValueError for a negative scale.
    """
    return draw(of(device, "random.exponential"), exponential_, "scale", scale, None, 0, size, dtype)


def gamma(shape: float, scale: float = 1.0, size: int | Sequence[int] | None = None, *,
          dtype: DTypeLike | None = None, device: DeviceLike = None) -> Array:
    """Draws from the gamma distribution of mean shape * scale, by the backend's generator. Asynchronous.

    size: the shape of the result; None is 0-d. dtype: floating; None is float64.
    """
    return draw(of(device, "random.gamma"), gamma_, "shape", shape, "scale", scale, size, dtype)


def poisson(lam: float = 1.0, size: int | Sequence[int] | None = None, *, dtype: DTypeLike | None = None,
            device: DeviceLike = None) -> Array:
    """Draws from the Poisson distribution of mean lam, by the backend's generator. Asynchronous.

    size: the shape; None is 0-d. dtype: integer, in which draws saturate; None is int64.
    """
    return draw(of(device, "random.poisson"), poisson_, "lam", lam, None, 0, size, dtype)


def bernoulli(p: float = 0.5, size: int | Sequence[int] | None = None, *, dtype: DTypeLike | None = None,
              device: DeviceLike = None) -> Array:
    """Draws 1 with probability p, else 0, by the backend's generator. Asynchronous.

    size: the shape; None is 0-d. dtype: None is bool.
    """
    return draw(of(device, "random.bernoulli"), bernoulli_, "p", p, None, 0, size, dtype)


def integers(low: int, high: int | None = None, size: int | Sequence[int] | None = None, *,
             dtype: DTypeLike | None = None, endpoint: bool = False, device: DeviceLike = None) -> Array:
    """Draws integers from low to high, each with exactly equal probability. Asynchronous.

    high is excluded unless endpoint; None draws from [0, low). size: the shape; None is 0-d. dtype: an integer dtype
    that holds both bounds; None is int64. By the backend's generator.

    >>> x = stator.random.integers(0, 10, size=100)
    >>> bool(x.min() >= 0), bool(x.max() < 10)
    (True, True)
    """
    return draw_integers(of(device, "random.integers"), low, high, size, dtype, endpoint)


def permutation(x: int | Array, /, *, axis: int = 0, device: DeviceLike = None) -> Array:
    """The integers 0 to x - 1, int64, or an array's slices along axis, in random order. Asynchronous.

    By the backend's generator; for an array that of its own backend.
    """
    return draw_permutation(of((<Array>x).backend if isinstance(x, Array) else device, "random.permutation"), x, axis)


def choice(a: int | Array, size: int | Sequence[int] | None = None, replace: bool = True,
           p: Sequence[float] | Array | None = None, *, axis: int = 0, device: DeviceLike = None) -> Array:
    """Draws integers from 0 to a - 1, or slices of the array a along an axis. Asynchronous.

    size: the shape of the draws; None is 0-d. replace=False draws each at most once. p: probabilities, None for equal
    ones. A sequence is checked at once. An Array stays on the device and is checked there: errors are raised by the
    next call that synchronises, or at once where the backend checks indices eagerly.
    """
    cdef Generator generator = of((<Array>a).backend if isinstance(a, Array) else device, "random.choice")
    return draw_choice(generator, a, size, replace, p, axis)


def multinomial(n: int, pvals: Sequence[float] | Array, size: int | Sequence[int] | None = None, *,
                device: DeviceLike = None) -> Array:
    """Draws how often each outcome occurs in n trials: int64, (*size, outcomes). Asynchronous.

    n is at most 2**53. pvals: the probabilities of the outcomes, as p in choice.

    >>> stator.random.multinomial(3, [0.0, 1.0]).tolist()
    [0, 3]
    """
    cdef Generator generator = of((<Array>pvals).backend if isinstance(pvals, Array) else device, "random.multinomial")
    return draw_multinomial(generator, n, pvals, size)


def checked_seed(seed: int, /) -> int:
    """The seed, an integer in [0, 2**64); InvalidValueError for others."""
    return to_uint64(seed, "random.seed", "seed")
