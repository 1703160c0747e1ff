# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=python
# cython: annotation_typing=False, freethreading_compatible=True
"""Random numbers: Philox4x32-10, equal bits on every device."""
from collections import namedtuple

from libc.stdint cimport uint64_t

from stator._array cimport Array, new_array
from stator._backend cimport Backend, enter, resolve
from stator._convert cimport to_dims
from stator._dtype cimport as_dtype
from stator.cpp cimport random as cpp
from stator.cpp.backend cimport Stream as CppStream
from stator.cpp.dtype cimport DType as CppDType
from stator.cpp.dtype cimport float64
from stator.cpp.ref cimport Dims

from stator.errors import InvalidValueError

RandomState = namedtuple("RandomState", ("seed", "offset", "device"), module="stator.random")


cdef Array draw(Backend backend, bint normally, double a, double b, object size, object dtype):
    cdef CppDType code = float64 if dtype is None else <CppDType>as_dtype(dtype)
    cdef Dims dims
    cdef CppStream stream
    cdef Array out = new_array(backend)
    to_dims(() if size is None else size, dims, "random.normal" if normally else "random.uniform")
    enter(backend, stream)
    with backend.random_lock:
        with nogil:
            if normally:
                out.c = cpp.normal(backend.c, backend.random, dims, a, b, code, stream)
            else:
                out.c = cpp.uniform(backend.c, backend.random, dims, a, b, code, stream)
    return out


cdef uint64_t to_word(object value, str name) except? 0:
    try:
        return <uint64_t?>value
    except (OverflowError, TypeError):
        raise InvalidValueError(f"{name}={value!r}", op="random.seed",
                                remedy="Give an integer in [0, 2**64).") from None


cdef class Generator:
    """The random numbers of one backend."""
    cdef readonly Backend backend

    def __init__(self, backend: Backend) -> None:
        self.backend = <Backend?>backend

    def seed(self, seed: int, /) -> None:
        """Starts over from the seed."""
        cdef uint64_t word = to_word(seed, "seed")
        with self.backend.random_lock:
            self.backend.random.seed = word
            self.backend.random.offset = 0

    def get_state(self) -> RandomState:
        """Seed, offset of the next draw, and device: a small value that pickles."""
        with self.backend.random_lock:
            return RandomState(self.backend.random.seed, self.backend.random.offset, self.backend.device_name)

    def set_state(self, state: tuple[int, int, str], /) -> None:
        """Goes on from a state of any device: the draws are the same."""
        seed, offset, _ = state
        cdef uint64_t first = to_word(seed, "seed"), second = to_word(offset, "offset")
        with self.backend.random_lock:
            self.backend.random.seed = first
            self.backend.random.offset = second

    def uniform(self, low: float = 0.0, high: float = 1.0, size: int | Sequence[int] | None = None, *,
                dtype: DTypeLike | None = None) -> Array:
        """Uniform in [low, high)."""
        return draw(self.backend, False, low, high, size, dtype)

    def normal(self, loc: float = 0.0, scale: float = 1.0, size: int | Sequence[int] | None = None, *,
               dtype: DTypeLike | None = None) -> Array:
        """Normal of mean loc and standard deviation scale."""
        return draw(self.backend, True, loc, scale, size, dtype)


def uniform(low: float = 0.0, high: float = 1.0, size: int | Sequence[int] | None = None, *,
            dtype: DTypeLike | None = None, device: DeviceLike = None) -> Array:
    """Uniform in [low, high), from the backend's generator."""
    return draw(resolve(device), False, low, high, size, dtype)


def normal(loc: float = 0.0, scale: float = 1.0, size: int | Sequence[int] | None = None, *,
           dtype: DTypeLike | None = None, device: DeviceLike = None) -> Array:
    """Normal of mean loc and standard deviation scale, from the backend's generator."""
    return draw(resolve(device), True, loc, scale, size, dtype)
