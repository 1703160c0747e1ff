# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
# cython: annotation_typing=False, freethreading_compatible=True
"""Creation of arrays: filled arrays, ranges, triangles, copies, arrays from host memory, page-locked memory."""
import numpy as np

from cpython.buffer cimport PyBUF_FULL_RO, PyBuffer_FillInfo, PyObject_GetBuffer
from libc.stdint cimport int64_t
from libcpp cimport bool as cbool

from stator._array cimport Array, as_array, astype_op, new_array
from stator._backend cimport Backend, enter, resolve
from stator._convert cimport sized_dims, to_diagonal, to_dims, to_dtype, to_flag, to_int, to_number
from stator._dtype cimport DType, as_dtype, wrap_dtype
from stator._interop cimport copied, from_cuda_array_interface
from stator.cpp cimport backend as cpp_backend
from stator.cpp cimport creation, interop
from stator.cpp.array cimport Array as CppArray
from stator.cpp.array cimport Operand, Scalar
from stator.cpp.backend cimport Stream as CppStream
from stator.cpp.dtype cimport DType as CppDType
from stator.cpp.dtype cimport bfloat16, float64, itemsize
from stator.cpp.error cimport translate_exception
from stator.cpp.ref cimport Dims
from stator.cpp.std cimport optional

from stator._interop import from_dlpack
from stator.errors import DTypeError, NumberRangeError, InvalidValueError, StatorError, renamed


cdef CppDType dtype_or_default(object dtype, str op) except *:
    return float64 if dtype is None else <CppDType>as_dtype(dtype, op)


cdef object dtype_of(Array model, object dtype):
    return model.dtype if dtype is None else dtype


cdef object device_of(Array model, object device):
    return model.backend if device is None else device


cdef Array made(bint zeroed, object shape, object dtype, object device, str op):
    cdef Backend backend = resolve(device, op)
    cdef CppDType code = dtype_or_default(dtype, op)
    cdef Dims dims
    cdef CppStream stream
    cdef Array out = new_array(backend)
    to_dims(shape, dims, op)
    enter(backend, stream)
    with nogil:
        if zeroed:
            out.c = creation.zeros(backend.c, dims, code, stream)
        else:
            out.c = creation.empty(backend.c, dims, code, stream)
    return out


cdef Array array_of(object fill_value, object dtype, Backend backend, str op):
    try:
        return asarray(fill_value, dtype=dtype, device=backend)
    except StatorError as error:
        raise renamed(error, op) from None


cdef Array filled(object shape, object fill_value, object dtype, object device, str op):
    cdef Backend backend = resolve(device, op)
    cdef optional[CppDType] code
    cdef Dims dims
    cdef Scalar value
    cdef CppStream stream
    cdef Array out = new_array(backend), source
    to_dims(shape, dims, op)
    to_dtype(dtype, code, op)
    if isinstance(fill_value, (Array, np.ndarray)):
        source = array_of(fill_value, dtype, backend, op)
    else:
        source = None
        to_number(fill_value, value, op, "fill_value")
    enter(backend, stream)
    try:
        with nogil:
            if source is not None:
                out.c = creation.empty(backend.c, dims, source.c.dtype(), stream)
                creation.assign(out.c, Operand(source.c), stream)
            else:
                out.c = creation.full(backend.c, dims, value, code, stream)
    except StatorError as error:
        raise renamed(error, op) from None
    return out


def empty(shape: int | Sequence[int], *, dtype: DTypeLike | None = None, device: DeviceLike = None) -> Array:
    """An uninitialised array of a shape; dtype None is float64. Asynchronous."""
    return made(False, shape, dtype, device, "empty")


def zeros(shape: int | Sequence[int], *, dtype: DTypeLike | None = None, device: DeviceLike = None) -> Array:
    """An array of zeros; dtype None is float64. Asynchronous."""
    return made(True, shape, dtype, device, "zeros")


def full(shape: int | Sequence[int], fill_value: complex | Array, *, dtype: DTypeLike | None = None,
         device: DeviceLike = None) -> Array:
    """An array of one value. Asynchronous.

    fill_value: a number, or an array that broadcasts to the shape, such as one of no axes. dtype: None is that of the
    value: bool, int64, float64 or complex128 for a number. device: None is that of an Array, else the current backend.
    """
    if device is None and isinstance(fill_value, Array):
        device = (<Array>fill_value).backend
    return filled(shape, fill_value, dtype, device, "full")


def ones(shape: int | Sequence[int], *, dtype: DTypeLike | None = None, device: DeviceLike = None) -> Array:
    """An array of ones; dtype None is float64. Asynchronous."""
    return filled(shape, 1, float if dtype is None else dtype, device, "ones")


def empty_like(x: Array, /, *, dtype: DTypeLike | None = None, device: DeviceLike = None) -> Array:
    """An uninitialised array of x's shape; dtype and device None are those of x. Asynchronous."""
    cdef Array model = as_array(x, "empty_like")
    return made(False, model.shape, dtype_of(model, dtype), device_of(model, device), "empty_like")


def zeros_like(x: Array, /, *, dtype: DTypeLike | None = None, device: DeviceLike = None) -> Array:
    """An array of zeros of x's shape; dtype and device None are those of x. Asynchronous."""
    cdef Array model = as_array(x, "zeros_like")
    return made(True, model.shape, dtype_of(model, dtype), device_of(model, device), "zeros_like")


def ones_like(x: Array, /, *, dtype: DTypeLike | None = None, device: DeviceLike = None) -> Array:
    """An array of ones of x's shape; dtype and device None are those of x. Asynchronous."""
    cdef Array model = as_array(x, "ones_like")
    return filled(model.shape, 1, dtype_of(model, dtype), device_of(model, device), "ones_like")


def full_like(x: Array, /, fill_value: complex | Array, *, dtype: DTypeLike | None = None,
              device: DeviceLike = None) -> Array:
    """An array of x's shape of one value, as full; dtype and device None are those of x. Asynchronous."""
    cdef Array model = as_array(x, "full_like")
    return filled(model.shape, fill_value, dtype_of(model, dtype), device_of(model, device), "full_like")


def arange(start: float, /, stop: float | None = None, step: float = 1, *, dtype: DTypeLike | None = None,
           device: DeviceLike = None) -> Array:
    """The ceil((stop - start) / step) values start + i * step; arange(n) starts at 0. Asynchronous.

    Real dtypes; None is int64 for integers, else float64.

    >>> stator.arange(2, 11, 3).tolist()
    [2, 5, 8]
    """
    cdef Backend backend = resolve(device, "arange")
    cdef optional[CppDType] code
    cdef Scalar first, last, increment
    cdef CppStream stream
    cdef Array out = new_array(backend)
    if stop is None:
        start, stop = 0, start
    to_number(start, first, "arange", "start")
    to_number(stop, last, "arange", "stop")
    to_number(step, increment, "arange", "step")
    to_dtype(dtype, code, "arange")
    enter(backend, stream)
    with nogil:
        out.c = creation.arange(backend.c, first, last, increment, code, stream)
    return out


def linspace(start: complex, stop: complex, /, num: int = 50, *, dtype: DTypeLike | None = None,
             device: DeviceLike = None, endpoint: bool = True) -> Array:
    """num evenly spaced numbers from start to stop. Asynchronous.

    stop is exactly the last number, or excluded with endpoint=False. dtype: None is float64, or complex128 for a
    complex end; integer dtypes round down.
    """
    cdef Backend backend = resolve(device, "linspace")
    cdef int64_t count = to_int(num, "linspace", "num")
    cdef optional[CppDType] code
    cdef Scalar first, last
    cdef cbool closed = to_flag(endpoint, "linspace", "endpoint")
    cdef CppStream stream
    cdef Array out = new_array(backend)
    to_number(start, first, "linspace", "start")
    to_number(stop, last, "linspace", "stop")
    to_dtype(dtype, code, "linspace")
    enter(backend, stream)
    with nogil:
        out.c = creation.linspace(backend.c, first, last, count, closed, code, stream)
    return out


def triu(x: Array, /, *, k: int = 0) -> Array:
    """A copy of matrices (..., m, n) with 0 below diagonal k. Asynchronous."""
    cdef Array source = as_array(x, "triu")
    cdef Array out = new_array(source.backend)
    cdef int64_t diagonal = to_diagonal(k, "triu", "k")
    cdef CppStream stream
    enter(source.backend, stream)
    with nogil:
        out.c = creation.triu(source.c, diagonal, stream)
    return out


def tril(x: Array, /, *, k: int = 0) -> Array:
    """A copy of matrices (..., m, n) with 0 above diagonal k. Asynchronous."""
    cdef Array source = as_array(x, "tril")
    cdef Array out = new_array(source.backend)
    cdef int64_t diagonal = to_diagonal(k, "tril", "k")
    cdef CppStream stream
    enter(source.backend, stream)
    with nogil:
        out.c = creation.tril(source.c, diagonal, stream)
    return out


def diag(x: Array, /, k: int = 0) -> Array:
    """The matrix with the vector x on diagonal k, or a copy of diagonal k of a matrix. Asynchronous."""
    cdef Array source = as_array(x, "diag")
    cdef Array out = new_array(source.backend)
    cdef int64_t diagonal = to_diagonal(k, "diag", "k")
    cdef CppStream stream
    enter(source.backend, stream)
    with nogil:
        out.c = creation.diag(source.c, diagonal, stream)
    return out


cdef Array ones_in_band(bint below, object rows, object cols, object k, object dtype, object device, str op):
    cdef int64_t height = to_int(rows, op, "N" if below else "n_rows"), width = height
    cdef int64_t diagonal = to_diagonal(k, op, "k")
    if cols is not None:
        width = to_int(cols, op, "M" if below else "n_cols")
    cdef CppDType code = float64 if dtype is None else <CppDType>as_dtype(dtype, op)
    cdef Backend backend = resolve(device, op)
    cdef CppStream stream
    cdef Array out = new_array(backend)
    enter(backend, stream)
    with nogil:
        if below:
            out.c = creation.tri(backend.c, height, width, diagonal, code, stream)
        else:
            out.c = creation.eye(backend.c, height, width, diagonal, code, stream)
    return out


def tri(N: int, M: int | None = None, k: int = 0, *, dtype: DTypeLike | None = None,
        device: DeviceLike = None) -> Array:
    """A matrix (N, M) with ones on and below diagonal k, else 0. Asynchronous.

    M: None is N. dtype: None is float64.
    """
    return ones_in_band(True, N, M, k, dtype, device, "tri")


def eye(n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: DTypeLike | None = None,
        device: DeviceLike = None) -> Array:
    """A matrix (n_rows, n_cols) with ones on diagonal k, else 0. Asynchronous.

    n_cols: None is n_rows. dtype: None is float64.
    """
    return ones_in_band(False, n_rows, n_cols, k, dtype, device, "eye")


def copy(x: Array, /) -> Array:
    """A row-major copy of x in any layout, in one launch. Asynchronous."""
    cdef Array source = as_array(x, "copy")
    cdef CppStream stream
    cdef Array out = new_array(source.backend)
    enter(source.backend, stream)
    with nogil:
        out.c = creation.copy(source.c, stream)
    return out


def astype(x: Array, dtype: DTypeLike, /, *, copy: bool = True, device: DeviceLike = None) -> Array:
    """x converted to a dtype. Asynchronous unless it goes to another device.

    Float to integer saturates and NaN gives 0; complex to real drops the imaginary part. copy=False returns x itself
    where it has the dtype. device: where the result is to be; None is x's.
    """
    cdef Array out = astype_op(as_array(x, "astype"), dtype, to_flag(copy, "astype", "copy"))
    return out if device is None else out.to_device(resolve(device, "astype"))


cdef extern from *:
    """
    namespace {
    // Releases a Py_buffer that an array owned. Called with the GIL; the buffer is leaked after the end of Python.
    void release_held(void* held) {
      if (!Py_IsInitialized()) return;
      PyBuffer_Release(static_cast<Py_buffer*>(held));
      delete static_cast<Py_buffer*>(held);
    }
    }
    """
    void release_held(void*) noexcept nogil
    Py_buffer* new_view "new Py_buffer"() except +translate_exception nogil
    void delete_view "delete "(Py_buffer*) nogil
    void PyBuffer_Release(Py_buffer*)


cdef int strides_of(Py_buffer* view, Dims& strides, int size) except -1:
    # Strides in elements; returns 0 where they are not multiples of the item size, so that NumPy has to copy first.
    cdef int i
    sized_dims(view.ndim, strides, "asarray")
    for i in range(view.ndim):
        if view.strides[i] % size:
            return 0
        strides[i] = view.strides[i] // size
    return 1


cdef Array from_buffer(object source, Backend backend, CppDType code, bint share, bint pinned):
    cdef Py_buffer* view = new_view()
    cdef interop.ForeignMemory memory
    cdef CppStream stream
    cdef Array out = new_array(backend)
    cdef cbool staged = pinned
    cdef int i
    try:
        PyObject_GetBuffer(source, view, PyBUF_FULL_RO)
    except BaseException:
        delete_view(view)
        raise
    try:
        if not strides_of(view, memory.strides, itemsize(code)):
            if share:
                raise InvalidValueError("copy=False with strides that are not a multiple of the element size",
                                        op="asarray", remedy="Pass copy=None.")
            return from_buffer(np.ascontiguousarray(source), backend, code, False, pinned)
        sized_dims(view.ndim, memory.shape, "asarray")
        for i in range(view.ndim):
            memory.shape[i] = view.shape[i]
        if share:
            memory.data, memory.dtype = view.buf, code
            memory.host_shared = True
            memory.read_only = view.readonly
            with nogil:
                out.c = interop.from_owner(backend.c, memory, view, release_held)
            view = NULL  # now owned by the array
        else:
            enter(backend, stream)
            with nogil:
                out.c = creation.from_host(backend.c, view.buf, code, memory.shape, memory.strides, staged, stream)
        return out
    finally:
        if view != NULL:
            PyBuffer_Release(view)
            delete_view(view)


cdef Array from_numpy(object source, Backend backend, object copy, bint pinned):
    cdef CppDType code
    cdef bint share = copy is False
    if not source.dtype.isnative:
        if share:
            raise InvalidValueError(f"byte order {source.dtype.str} cannot be shared: copy=False", op="asarray",
                                    remedy="Pass copy=None.")
        source = source.astype(source.dtype.newbyteorder("="))
    code = <CppDType>as_dtype(source.dtype, "asarray")
    if share and backend.type != cpp_backend.cpu:
        raise InvalidValueError(f"copy=False to {backend.device_name}", op="asarray",
                                remedy="Only cpu shares memory with NumPy.")
    return from_buffer(source.view(np.uint16) if code == bfloat16 else source, backend, code, share, pinned)


def asarray(obj: ArrayLike, /, *, dtype: DTypeLike | None = None, device: DeviceLike = None, copy: bool | None = None,
            pinned: bool = False) -> Array:
    """An array of a NumPy array, nested sequences, a number, or another library's array.

    Other libraries' arrays are those with the buffer protocol, DLPack or __cuda_array_interface__. Memory is copied
    unless copy=False, which shares it on the same device (cpu for NumPy) and raises InvalidValueError where that is
    impossible. An Array is returned as it is unless dtype or device differ or copy=True. Python numbers that dtype
    cannot hold raise as in full(); arrays are cast as by astype(). pinned: stage the copy through page-locked memory,
    so that it overlaps with other work. Asynchronous once host memory has been read; an Array of another device
    synchronises.

    >>> stator.asarray([[1, 2], [3, 4]], dtype="float32").shape
    (2, 2)
    """
    cdef Backend target
    cdef Array out
    cdef bint fresh = True, page_locked = to_flag(pinned, "asarray", "pinned")
    if copy is not None:
        copy = bool(to_flag(copy, "asarray", "copy"))
    if isinstance(obj, Array):
        out = <Array>obj
        target = out.backend if device is None else resolve(device, "asarray")
        fresh = target is not out.backend
        if fresh and copy is False:
            raise InvalidValueError(f"copy=False from {out.backend.device_name} to {target.device_name}", op="asarray",
                                    remedy="Pass copy=None.")
        out = out.to_device(target)
    elif not isinstance(obj, (np.ndarray, np.generic)) and (
            hasattr(obj, "__dlpack__") or hasattr(obj, "__cuda_array_interface__")):
        if hasattr(obj, "__dlpack__"):
            target = None if device is None else resolve(device, "asarray")
            out = from_dlpack(obj, device=target, copy=copy is not False)
            return convert(out, dtype, copy, True)
        target = resolve(device, "asarray")
        out = from_cuda_array_interface(obj, target)
        fresh = False
        copy = copy is not False
    else:
        target = resolve(device, "asarray")
        values = as_numpy(obj, copy)
        if dtype is not None and isinstance(obj, (list, tuple, int, complex)) and not isinstance(obj, np.generic):
            values = with_integers(obj, values, wrap_dtype(<CppDType>as_dtype(dtype, "asarray")))
            require_fit(values, wrap_dtype(<CppDType>as_dtype(dtype, "asarray")))
        out = from_numpy(values, target, copy, page_locked)
    return convert(out, dtype, copy, fresh)


cdef object as_numpy(object obj, object copy):
    if isinstance(obj, np.ndarray):
        return obj
    if type(obj).__name__ == "PyCapsule":
        raise DTypeError("A DLPack capsule is not an array", op="asarray",
                         remedy="Pass the array that made it: stator.from_dlpack(x), not x.__dlpack__().")
    if copy is False:
        try:
            return np.asarray(memoryview(obj))
        except TypeError:
            raise InvalidValueError(f"copy=False: a {type(obj).__name__} has no memory to share", op="asarray",
                                    remedy="Drop copy=False.") from None
    try:
        out = np.asarray(obj)
    except OverflowError:
        raise NumberRangeError("An integer does not fit 64 bits", op="asarray", remedy="Use floats.") from None
    except TypeError as error:
        raise DTypeError(str(error), op="asarray", remedy="Give numbers.") from None
    except ValueError as error:
        raise InvalidValueError(str(error), op="asarray", remedy="Give lists of equal lengths.") from None
    if out.dtype == object and isinstance(obj, int):
        raise NumberRangeError("The integer does not fit 64 bits", op="asarray", remedy="Use a float.")
    return out


cdef object with_integers(object obj, object values, DType dtype):
    # NumPy makes float64 of lists of integers on both sides of 2^63, which loses the last bits of what dtype holds.
    if values.dtype != np.float64 or dtype.kind not in "iu" or not np.any(np.abs(values) > 2.0**53):
        return values
    numbers = np.asarray(obj, object)
    if not all(isinstance(v, (int, np.integer)) for v in numbers.flat):
        return values
    try:
        return numbers.astype(dtype.numpy())
    except OverflowError as error:
        raise InvalidValueError(str(error), op="asarray", remedy="Use numbers in range, or a wider dtype.") from None


cdef int require_fit(object values, DType dtype) except -1:
    # Python numbers must be in the range of the dtype, as in full(); arrays are cast, as by astype().
    if values.dtype.kind == "c" and dtype.kind not in "cb":
        raise DTypeError(f"a complex number cannot become {dtype}", op="asarray",
                         remedy="Use a complex dtype, or the real parts.")
    if values.dtype.kind in "iu" and dtype.kind in "iu" and values.size:
        bounds = np.iinfo(dtype.numpy())
        for value in (int(values.min()), int(values.max())):
            if not bounds.min <= value <= bounds.max:
                raise NumberRangeError(f"the number {value} is out of range for {dtype}", op="asarray",
                                       remedy="Use numbers in range, or a wider dtype.")
    return 0


cdef Array convert(Array x, object dtype, object copy, bint fresh):
    # `fresh`: x is already a copy.
    if dtype is not None and <CppDType>as_dtype(dtype, "asarray") != x.c.dtype():
        if copy is False:
            raise InvalidValueError(f"copy=False from {x.dtype} to {dtype}", op="asarray", remedy="Pass copy=None.")
        return astype_op(x, dtype, True)
    return copied(x) if copy and not fresh else x


cdef class PinnedMemory:
    """PinnedMemory(nbytes, device=None)\n--\n
    Page-locked memory, as a buffer of bytes."""
    cdef CppArray c
    cdef readonly Backend backend

    def __init__(self, nbytes: int, device: DeviceLike = None) -> None:
        cdef int64_t count = to_int(nbytes, "memory.pinned_empty", "nbytes")
        self.backend = resolve(device, "memory.pinned_empty")
        with nogil:
            self.c = interop.pinned(self.backend.c, <size_t>count)

    def __dealloc__(self):
        interop.release_later(self.c)

    def __getbuffer__(self, Py_buffer* view, int flags):
        cdef void* memory
        with nogil:
            memory = interop.export_memory(self.c)
        PyBuffer_FillInfo(view, self, memory, self.c.nbytes(), 0, flags)

    def __releasebuffer__(self, Py_buffer* view):
        cdef CppArray lent = self.c
        with nogil:
            interop.unexport(lent)
