# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=python
# cython: annotation_typing=False, freethreading_compatible=True
"""Creation."""
from libcpp.optional cimport optional

from stator._array cimport Array, new_array
from stator._backend cimport Backend, enter, resolve
from stator._convert cimport to_dims, to_dtype, to_scalar
from stator._dtype cimport as_dtype
from stator.cpp cimport creation
from stator.cpp.array cimport Scalar
from stator.cpp.backend cimport Stream as CppStream
from stator.cpp.dtype cimport DType as CppDType
from stator.cpp.dtype cimport float64
from stator.cpp.ref cimport Dims

from stator.errors import DTypeError


cdef CppDType dtype_or_default(object dtype) except *:
    return float64 if dtype is None else <CppDType>as_dtype(dtype)


cdef int number(object value, Scalar& out, str op) except -1:
    if not to_scalar(value, out):
        raise DTypeError(f"expected a number, got {type(value).__name__} {value!r}", op=op,
                         remedy="Pass a Python number.")
    return 0


def empty(shape: int | Sequence[int], *, dtype: DTypeLike | None = None, device: DeviceLike = None) -> Array:
    """An array of whatever the memory holds. The dtype is float64 unless given."""
    cdef Backend backend = resolve(device)
    cdef CppDType code = dtype_or_default(dtype)
    cdef Dims dims
    cdef CppStream stream
    cdef Array out = new_array(backend)
    to_dims(shape, dims, "empty")
    enter(backend, stream)
    with nogil:
        out.c = creation.empty(backend.c, dims, code, stream)
    return out


def zeros(shape: int | Sequence[int], *, dtype: DTypeLike | None = None, device: DeviceLike = None) -> Array:
    """An array of zeros. The dtype is float64 unless given."""
    cdef Backend backend = resolve(device)
    cdef CppDType code = dtype_or_default(dtype)
    cdef Dims dims
    cdef CppStream stream
    cdef Array out = new_array(backend)
    to_dims(shape, dims, "zeros")
    enter(backend, stream)
    with nogil:
        out.c = creation.zeros(backend.c, dims, code, stream)
    return out


def full(shape: int | Sequence[int], fill_value: complex, *, dtype: DTypeLike | None = None,
         device: DeviceLike = None) -> Array:
    """An array of one value. The dtype is the value's (bool, int64, float64, complex128) unless given."""
    cdef Backend backend = resolve(device)
    cdef optional[CppDType] code
    cdef Dims dims
    cdef Scalar value
    cdef CppStream stream
    cdef Array out = new_array(backend)
    to_dims(shape, dims, "full")
    number(fill_value, value, "full")
    to_dtype(dtype, code)
    enter(backend, stream)
    with nogil:
        out.c = creation.full(backend.c, dims, value, code, stream)
    return out


def arange(start: float, /, stop: float | None = None, step: float = 1, *, dtype: DTypeLike | None = None,
           device: DeviceLike = None) -> Array:
    """ceil((stop - start) / step) values start + i * step; arange(n) counts from 0."""
    cdef Backend backend = resolve(device)
    cdef optional[CppDType] code
    cdef Scalar first, last, increment
    cdef CppStream stream
    cdef Array out = new_array(backend)
    if stop is None:
        start, stop = 0, start
    number(start, first, "arange")
    number(stop, last, "arange")
    number(step, increment, "arange")
    to_dtype(dtype, code)
    enter(backend, stream)
    with nogil:
        out.c = creation.arange(backend.c, first, last, increment, code, stream)
    return out
