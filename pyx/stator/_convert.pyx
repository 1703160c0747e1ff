# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
# cython: annotation_typing=False, freethreading_compatible=True
"""Conversion of Python values to and from the plain values of C++."""
import reprlib

import numpy as np

from cpython.buffer cimport PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.long cimport PyLong_AsLongLongAndOverflow, PyLong_CheckExact
from libc.stdint cimport uint64_t

from stator._dtype cimport as_dtype
from stator.cpp cimport array as cpp_array
from stator.cpp cimport indexing as cpp_indexing
from stator.cpp.dtype cimport bfloat16

from operator import index as to_python_int
from os import sysconf

from stator.errors import (
    DTypeError, IndexTypeError, NumberRangeError, InvalidValueError, OutOfMemoryError, OutOfRangeError, ShapeError,
)

cdef extern from "Python.h":
    int PySlice_Unpack(object, Py_ssize_t*, Py_ssize_t*, Py_ssize_t*) except -1


cdef str shown(object value):
    # Arrays by their shape, since their elements may be on a device; other values shortened.
    if hasattr(type(value), "__array__") and not isinstance(value, np.generic):
        return f"{type(value).__name__}{getattr(value, 'shape', '')}"
    if isinstance(value, int) and value.bit_length() > 128:
        return f"<integer of {value.bit_length()} bits>"
    return reprlib.repr(value)


cdef object wrong_type(object value, str op, str name, str wanted):
    what = shown(value)
    return DTypeError(f"Got {name}={what} of type {type(value).__name__}", op=op, remedy=f"Pass {wanted}.")


cdef int64_t to_int(object value, str op, str name="axis") except? -1:
    cdef int beyond = 0
    cdef int64_t number
    if PyLong_CheckExact(value):
        number = PyLong_AsLongLongAndOverflow(value, &beyond)
        if not beyond:
            return number
    try:
        return <int64_t>to_python_int(value)
    except OverflowError:
        raise ShapeError(f"{name}={shown(value)}, which does not fit 64 bits", op=op,
                         remedy="Give a smaller number.") from None
    except TypeError:
        raise wrong_type(value, op, name, "an integer") from None


cdef double to_float(object value, str op, str name) except? -1:
    # Not of an Array, which would be copied to the host silently.
    if isinstance(value, float):
        return value
    if isinstance(value, np.complexfloating) or hasattr(type(value), "__array__") and not isinstance(value, np.generic):
        raise wrong_type(value, op, name, "a real number")
    try:
        return float(value) if hasattr(value, "__float__") else to_python_int(value)
    except OverflowError:
        raise InvalidValueError(f"Got {name}={shown(value)}, which is beyond float64", op=op,
                                remedy="Pass a smaller number.") from None
    except (TypeError, ValueError):
        raise wrong_type(value, op, name, "a real number") from None


cdef int to_flag(object value, str op, str name) except -1:
    if value is True or value is False:
        return value is True
    if isinstance(value, (int, np.bool_, np.integer)) and value in (0, 1):
        return value == 1
    raise wrong_type(value, op, name, "True or False")


cdef int to_optional_flag(object value, optional[cbool]& out, str op, str name) except -1:
    if value is not None:
        out = optional[cbool](<cbool>to_flag(value, op, name))
    return 0


cdef bytes to_text(object value, str op, str name):
    if not isinstance(value, str):
        raise wrong_type(value, op, name, "a string")
    return value.encode("utf-8", "backslashreplace")


cdef int to_choice(object value, tuple choices, str op, str name) except -1:
    if isinstance(value, str) and value in choices:
        return choices.index(value)
    *others, last = [repr(choice) for choice in choices]
    wanted = f"{', '.join(others)} or {last}"
    if not isinstance(value, str):
        raise wrong_type(value, op, name, wanted)
    raise InvalidValueError(f"Got {name}={shown(value)}", op=op, remedy=f"Pass {wanted}.")


cdef int64_t to_diagonal(object value, str op, str name="k") except? -1:
    """The number of a diagonal. One beyond 64 bits is beyond every matrix, as the last one of 64 bits is."""
    if isinstance(value, (int, np.integer)) and not -2**63 <= value < 2**63:
        value = 2**63 - 1 if value > 0 else -2**63
    return to_int(value, op, name)


cdef int sized_dims(Py_ssize_t size, Dims& out, str op) except -1:
    if not 0 <= size <= 32:
        raise ShapeError(f"{size} dimensions", op=op, remedy="From 0 to 32 are supported.")
    out = Dims(<int>size, <int64_t>0)
    return 0


cdef int to_dims(object value, Dims& out, str op, str name="shape") except -1:
    cdef int i = 0
    if isinstance(value, (tuple, list)):
        pass
    elif isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        value = (value,)
    else:
        try:
            if isinstance(value, (str, bytes, bytearray, dict)):
                raise TypeError
            value = tuple(value)
        except TypeError:
            raise wrong_type(value, op, name, "an integer or a tuple of integers") from None
    sized_dims(len(value), out, op)
    for entry in value:
        if isinstance(entry, bool):
            raise wrong_type(entry, op, name, "integers")
        out[i] = to_int(entry, op, name)
        i += 1
    return 0


cdef int to_lengths(object value, int axes, Dims& out, str op, str name) except -1:
    if value is not None:
        to_dims(value, out, op, name)
        if out.size() == 1 and axes > 1:
            (&out)[0] = Dims(axes, out.data()[0])
    return 0


cdef int to_extents(object value, int axes, Dims& out, str op, str name) except -1:
    to_dims(value, out, op, name)
    if out.size() == 1 and axes > 1:
        (&out)[0] = Dims(axes, out.data()[0])
    if out.size() != axes:
        raise ShapeError(f"{name}={shown(value)} for {axes} spatial axes", op=op,
                         remedy="Pass an integer, or one for each axis")
    return 0


cdef tuple matrix_shape(object shape, str op):
    cdef Dims dims
    to_dims(shape, dims, op)
    if dims.size() != 2:
        raise ShapeError(f"shape {shape!r}", op=op, remedy="A sparse matrix has two axes.")
    return dims[0], dims[1]


cdef tuple from_dims(const Dims& dims):
    cdef int i
    if dims.size() == 1:
        return (dims.data()[0],)
    if dims.size() == 2:
        return (dims.data()[0], dims.data()[1])
    return tuple([dims.data()[i] for i in range(dims.size())])


cdef int to_scalar(object value, Scalar& out) except -1:
    if isinstance(value, float):
        out = Scalar(<double>value)
    elif isinstance(value, bool):
        out = Scalar(<cbool>(value is True))
    elif isinstance(value, int):
        try:
            if value > 0x7fffffffffffffff:
                out = Scalar(<uint64_t>value)
            else:
                out = Scalar(<int64_t>value)
        except OverflowError:
            return 0
    elif isinstance(value, complex):
        out = Scalar(cpp_array.complex128(value.real, value.imag))
    elif isinstance(value, np.generic) and value.dtype.kind in "biufcV":
        item = value.item()
        if isinstance(item, np.generic):  # float128
            return 0
        return to_scalar(item, out)
    else:
        return 0
    return 1


cdef int to_number(object value, Scalar& out, str op, str name) except -1:
    if not to_scalar(value, out):
        if isinstance(value, int):
            raise NumberRangeError(f"Got {name}={shown(value)}, which does not fit 64 bits", op=op,
                                   remedy="Pass a smaller number, or a float.")
        raise wrong_type(value, op, name, "a number")
    return 0


cdef object from_scalar(const Scalar& value):
    if value.type == cpp_array.boolean:
        return value.i != 0
    if value.type == cpp_array.integer:
        return value.i
    if value.type == cpp_array.unsigned_integer:
        return <uint64_t>value.i
    if value.type == cpp_array.floating:
        return value.re
    return complex(value.re, value.im)


cdef int to_axis(object value, optional[int64_t]& out, str op, str name="axis") except -1:
    if value is not None:
        out = optional[int64_t](to_int(value, op, name))
    return 0


cdef int to_ints(object value, vector[int64_t]& out, str op, str name) except -1:
    if isinstance(value, (tuple, list)):
        for entry in value:
            out.push_back(to_int(entry, op, name))
    else:
        out.push_back(to_int(value, op, name))
    return 0


cdef int to_axes(object axis, optional[vector[int64_t]]& out, str op, str name="axis") except -1:
    cdef vector[int64_t] axes
    if axis is not None:
        to_ints(axis, axes, op, name)
        out = optional[vector[int64_t]](axes)
    return 0


cdef tuple to_entries(object value, str op, str name):
    if not hasattr(type(value), "__array__"):
        try:
            return tuple(value)
        except TypeError:
            pass
    raise wrong_type(value, op, name, "a list or a tuple of Arrays")


cdef int to_dtype(object value, optional[CppDType]& out, str op="dtype", str name="dtype") except -1:
    if value is not None:
        out = optional[CppDType](<CppDType>as_dtype(value, op, name))
    return 0


cdef int push_index(object key, vector[Index]& out) except -1:
    cdef Index entry
    cdef Py_ssize_t start = 0, stop = 0, step = 0
    cdef int beyond = 0
    if PyLong_CheckExact(key):
        entry.type = cpp_indexing.integer
        entry.start = PyLong_AsLongLongAndOverflow(key, &beyond)
        if not beyond:
            out.push_back(entry)
            return 0
    if key is None:
        entry.type = cpp_indexing.newaxis
    elif key is ...:
        entry.type = cpp_indexing.ellipsis
    elif isinstance(key, slice):
        entry.type = cpp_indexing.slice_
        try:
            PySlice_Unpack(key, &start, &stop, &step)
        except ValueError:
            if key.step is None or to_python_int(key.step) != 0:
                raise  # from a bound's own __index__
            step = 0  # getitem raises the error for it
        except TypeError:
            raise DTypeError(f"The bounds of {shown(key)} are not integers", op="Array.__getitem__",
                             remedy="Use integers or None.") from None
        entry.start, entry.stop, entry.step = start, stop, step
        entry.has_start = entry.has_stop = True  # PySlice_Unpack has replaced None by the ends
    else:
        entry.type = cpp_indexing.integer
        try:
            entry.start = to_int(key, "Array.__getitem__", "index")
        except ShapeError as error:
            raise OutOfRangeError(error.cause, op=error.op, remedy="No axis is so long.") from None
        except DTypeError as error:
            raise IndexTypeError(error.cause, op=error.op,
                                 remedy="Pass integers, slices, ..., None, or arrays of integers or bools.") from None
    out.push_back(entry)
    return 0


cdef int to_index(object key, vector[Index]& out) except -1:
    if isinstance(key, tuple):
        for entry in key:
            push_index(entry, out)
        return 0
    return push_index(key, out)


cdef object too_many(int64_t count, str op):
    return OutOfMemoryError(f"Host memory: {count} results are more than it holds", op=op, remedy="Ask for fewer.")


cdef int require_room(int64_t count, str op) except -1:
    # An array with its C++ part takes more than this.
    cdef int64_t bytes_each = 256
    if count > 100000 and count > sysconf("SC_PHYS_PAGES") * sysconf("SC_PAGE_SIZE") // bytes_each:
        raise too_many(count, op)
    return 0


cdef object not_an_array(object value, str op):
    if isinstance(value, (np.ndarray, list, tuple)):
        remedy = "Convert it with stator.asarray(x)."
    elif hasattr(value, "__dlpack__"):
        remedy = "Convert it with stator.from_dlpack(x) or stator.asarray(x)."
    else:
        remedy = "Pass a stator.Array."
    return DTypeError(f"Expected an Array, got {type(value).__module__}.{type(value).__name__}", op=op, remedy=remedy)


cdef object not_an_operand(object value, str op):
    if isinstance(value, int) and not -2**63 <= value < 2**64:
        return too_large(value, op)
    return not_an_array(value, op)


cdef object too_large(object value, str op):
    return NumberRangeError(f"The integer {shown(value)} does not fit 64 bits", op=op,
                            remedy="Give a smaller number, or a float.")


cdef uintptr_t filled_address(object out, object array) except? 0:
    """The memory of a NumPy array that to_numpy(out=) fills."""
    op, dtype = "Array.to_numpy", array.dtype.numpy()
    if not isinstance(out, np.ndarray):
        raise wrong_type(out, op, "out", "a NumPy array")
    if out.dtype != dtype:
        raise DTypeError(f"out is of {out.dtype} and the array of {dtype}", op=op, remedy="Give out the array's dtype.")
    if out.shape != array.shape or not out.flags.c_contiguous or not out.flags.writeable:
        raise InvalidValueError(f"The array out has shape {out.shape} and this array {array.shape}, or out is not "
                                "contiguous or not writable", op=op,
                                remedy="Pass a contiguous, writable array of the same shape.")
    return out.ctypes.data


cdef object host_array(tuple shape, DType dtype, uintptr_t* address):
    # ml_dtypes' bfloat16 has no buffer format, so its bits are exchanged as uint16.
    cdef Py_buffer view
    cdef bint viewed = dtype.code == bfloat16
    target = dtype.numpy()
    try:
        out = np.empty(shape, np.uint16 if viewed else target)
    except MemoryError as error:
        raise OutOfMemoryError(f"Host memory: {error}", op="Array.to_numpy", remedy="Copy it in parts.") from None
    PyObject_GetBuffer(out, &view, PyBUF_WRITABLE)
    address[0] = <uintptr_t>view.buf
    PyBuffer_Release(&view)
    return out.view(target) if viewed else out
