# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=python
# cython: annotation_typing=False, freethreading_compatible=True
"""Memory shared through Python's buffer protocol."""
import numpy as np

from cpython.buffer cimport (
    PyBUF_ANY_CONTIGUOUS, PyBUF_C_CONTIGUOUS, PyBUF_F_CONTIGUOUS, PyBUF_FORMAT, PyBUF_ND, PyBUF_STRIDES, PyBUF_WRITABLE,
    PyBuffer_Release, PyObject_GetBuffer,
)
from cpython.mem cimport PyMem_Free, PyMem_Malloc

from stator.cpp cimport backend as cpp_backend
from stator.cpp cimport interop
from stator.cpp.dtype cimport bfloat16, itemsize
from stator.cpp.ref cimport Dims

# By DType; bfloat16 has none.
cdef const char** formats = ["?", "b", "h", "i", "l", "B", "H", "I", "L", "e", "", "f", "d", "Zf", "Zd"]


cdef int fill_buffer(const Array& array, Py_buffer* view, int flags) except -1:
    cdef Py_ssize_t* extents
    cdef int i, ndim = array.ndim(), size = itemsize(array.dtype())
    if array.device().type != cpp_backend.cpu:
        raise BufferError("memory of a cuda device; use to_numpy() to copy it")
    if array.dtype() == bfloat16:
        raise BufferError("bfloat16 has no format in the buffer protocol")
    if flags & PyBUF_WRITABLE and interop.read_only(array):
        raise BufferError("the array is read-only")
    cdef bint dense = array.is_contiguous()
    if not dense and ((flags & PyBUF_STRIDES) != PyBUF_STRIDES or (flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS
                      or (flags & PyBUF_ANY_CONTIGUOUS) == PyBUF_ANY_CONTIGUOUS):
        raise BufferError("the array is not contiguous")
    if (flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS and not (dense and ndim <= 1):
        raise BufferError("the array is not Fortran-contiguous")
    extents = <Py_ssize_t*>PyMem_Malloc(2 * 32 * sizeof(Py_ssize_t))
    if extents == NULL:
        raise MemoryError
    try:
        with nogil:
            view.buf = interop.export_memory(array)
    except BaseException:
        PyMem_Free(extents)
        raise
    for i in range(ndim):
        extents[i] = (<Dims&>array.shape())[i]
        extents[32 + i] = (<Dims&>array.strides())[i] * size
    view.internal = extents
    view.len = array.nbytes()
    view.itemsize = size
    view.readonly = interop.read_only(array)
    view.ndim = ndim
    view.format = <char*>formats[<int>array.dtype()] if flags & PyBUF_FORMAT else NULL
    view.shape = extents if flags & PyBUF_ND else NULL
    view.strides = extents + 32 if (flags & PyBUF_STRIDES) == PyBUF_STRIDES else NULL
    view.suboffsets = NULL
    return 0


cdef void release_buffer(const Array& array, Py_buffer* view) noexcept:
    cdef Array lent = array
    PyMem_Free(view.internal)
    interop.unexport(lent)


cdef object host_array(tuple shape, DType dtype, uintptr_t* address):
    # ml_dtypes' bfloat16 has no buffer format either: its bits go through uint16.
    cdef Py_buffer view
    cdef bint viewed = dtype.code == bfloat16
    target = dtype.numpy()
    out = np.empty(shape, np.uint16 if viewed else target)
    PyObject_GetBuffer(out, &view, PyBUF_WRITABLE)
    address[0] = <uintptr_t>view.buf
    PyBuffer_Release(&view)
    return out.view(target) if viewed else out
