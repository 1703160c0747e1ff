# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=python
# cython: annotation_typing=False, freethreading_compatible=True
"""Creation."""
from libcpp.optional cimport optional

from stator._array cimport Array, as_array, new_array
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


cdef object dtype_of(Array model, object dtype):
    return model.dtype if dtype is None else dtype


cdef object device_of(Array model, object device):
    return model.backend if device is None else device


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


def ones(shape: int | Sequence[int], *, dtype: DTypeLike | None = None, device: DeviceLike = None) -> Array:
    """An array of ones. The dtype is float64 unless given."""
    return full(shape, 1, dtype=float if dtype is None else dtype, device=device)


def empty_like(x: Array, /, *, dtype: DTypeLike | None = None, device: DeviceLike = None) -> Array:
    """empty of x's shape; of its dtype and on its backend unless given."""
    cdef Array model = as_array(x, "empty_like")
    return empty(model.shape, dtype=dtype_of(model, dtype), device=device_of(model, device))


def zeros_like(x: Array, /, *, dtype: DTypeLike | None = None, device: DeviceLike = None) -> Array:
    """zeros of x's shape; of its dtype and on its backend unless given."""
    cdef Array model = as_array(x, "zeros_like")
    return zeros(model.shape, dtype=dtype_of(model, dtype), device=device_of(model, device))


def ones_like(x: Array, /, *, dtype: DTypeLike | None = None, device: DeviceLike = None) -> Array:
    """ones of x's shape; of its dtype and on its backend unless given."""
    cdef Array model = as_array(x, "ones_like")
    return full(model.shape, 1, dtype=dtype_of(model, dtype), device=device_of(model, device))


def full_like(x: Array, /, fill_value: complex, *, dtype: DTypeLike | None = None, device: DeviceLike = None) -> Array:
    """full of x's shape; of its dtype and on its backend unless given."""
    cdef Array model = as_array(x, "full_like")
    return full(model.shape, fill_value, dtype=dtype_of(model, dtype), device=device_of(model, device))


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
