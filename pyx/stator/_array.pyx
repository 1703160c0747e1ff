# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
# cython: annotation_typing=False, freethreading_compatible=True
"""The class Array: attributes, conversions, indexing and operators."""
from warnings import warn

import numpy as np

from cpython.exc cimport PyErr_CheckSignals
from cpython.float cimport PyFloat_CheckExact
from cpython.long cimport PyLong_AsLongLongAndOverflow, PyLong_CheckExact
from libc.stdint cimport int64_t, uintptr_t
from libcpp cimport bool as cbool

from stator._backend cimport Backend, after_wait, enter, release_shared, resolve, warn_of_libraries
from stator._convert cimport (
    filled_address, from_dims, from_scalar, host_array, not_an_array, not_an_operand, shown, to_axis, to_choice,
    to_dims, to_dtype, to_flag, to_index, to_int, to_optional_flag, to_scalar, too_large, wrong_type,
)
from stator._dtype cimport DType, as_dtype, wrap_dtype
from stator.cpp cimport backend as cpp_backend
from stator.cpp cimport binding, bool_bytes, creation, elementwise, indexing, interop, matmul, movement, op_table
from stator.cpp.dtype cimport (
    DType as CppDType, Kind, bfloat16, bool_, boolean, can_cast_same_kind, complex_floating, floating, itemsize,
    kind_of, promote, signed_integer, unsigned_integer,
)
from stator.cpp.error cimport translate_exception
from stator.cpp.ref cimport Dims, Int64Span
from stator.cpp.std cimport optional, vector

from stator.errors import (
    DTypeError, IndexTypeError, NumberRangeError, InvalidValueError, MatrixAttributeError, OutOfRangeError, ShapeError,
    UnsupportedError,
)

include "_array_ops.pxi"
include "_array_index.pxi"


cdef class Array:
    """Array()\n--\n
    An n-dimensional array on a device, or a view of one: made by asarray, zeros, ... and by every op.

    x[0] of a vector is a view of its element, an array without axes that sees later changes, where NumPy gives a
    number; x[0].item() and float(x[0]) are numbers, and x[0].copy() is an array of its own. So x[0], x[1] = x[1], x[0]
    leaves the old x[1] in both: exchange elements by x[[0, 1]] = x[[1, 0]], and shuffle with
    stator.random.permutation.
    """

    __hash__ = None

    def __init__(self) -> None:
        raise TypeError("Array has no constructor. Use stator.asarray, stator.zeros, ...")

    def __dealloc__(self):
        if self.lent:
            interop.unexport(self.c, interop.legacy_stream())
        elif binding.let_go(self.c):
            release_shared()

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self.c.ndim()

    @property
    def shape(self) -> tuple[int, ...]:
        """Length of each axis."""
        return from_dims(self.c.shape())

    @property
    def strides(self) -> tuple[int, ...]:
        """The step from one index to the next along each axis, in bytes, as in NumPy; torch counts elements."""
        cdef Dims steps = self.c.strides()
        cdef int i
        for i in range(self.c.ndim()):
            steps[i] = steps[i] * itemsize(self.c.dtype())
        return from_dims(steps)

    @property
    def size(self) -> int:
        """Number of elements."""
        return self.c.size()

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return wrap_dtype(self.c.dtype()).itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements: size * itemsize."""
        return self.c.nbytes()

    def __sizeof__(self) -> int:
        cdef int64_t i, elements = 1  # an axis of stride 0, which repeats elements, counts once
        for i in range(self.c.ndim()):
            if self.c.strides().data()[i] != 0 or self.c.shape().data()[i] == 0:
                elements *= self.c.shape().data()[i]
        return object.__sizeof__(self) + elements * itemsize(self.c.dtype())

    @property
    def dtype(self) -> DType:
        """Type of the elements."""
        return wrap_dtype(self.c.dtype())

    @property
    def device(self) -> Device:
        """The device that the array is on."""
        return as_given(self, "Array.device").backend.device

    @property
    def data_ptr(self) -> int:
        """Address of the first element. Does not synchronise."""
        return <uintptr_t>self.c.data_ptr()

    @property
    def is_contiguous(self) -> bool:
        """Whether the elements are row-major and without gaps."""
        return self.c.is_contiguous()

    @property
    def T(self) -> Array:
        """A view with the axes in reverse order, as NumPy's: of a matrix (m, n) its transpose (n, m)."""
        cdef Array out
        if self.c.ndim() > 2:
            from stator._movement_views import permute_dims
            return permute_dims(self, tuple(range(self.c.ndim() - 1, -1, -1)))
        if self.c.ndim() == 2:
            return swap_last(self)
        out = new_array(self.backend)
        out.c = self.c
        return out

    @property
    def mT(self) -> Array:
        """A view with the last two axes swapped: (..., m, n) to (..., n, m). MatrixAttributeError for fewer axes."""
        if self.c.ndim() < 2:
            raise MatrixAttributeError(f"shape {self.shape} has fewer than two axes", op="Array.mT",
                                       remedy="Reshape it first.")
        return swap_last(self)

    def to_numpy(self, *, out: numpy.ndarray | None = None) -> numpy.ndarray:
        """A copy as a NumPy array. Synchronises: waits for the array's last stream.

        out: a contiguous NumPy array of the same shape and dtype, which is filled and returned.
        """
        cdef uintptr_t address = 0
        cdef Array source
        if out is None:
            out = host_array(self.shape, wrap_dtype(self.c.dtype()), &address)
        else:
            address = filled_address(out, self)
        source = plain(self)
        with nogil:
            source.c.to_host(<void*>address, CppStream())
        after_wait(self.backend)
        return out

    def __array__(self, dtype: object = None, copy: bool | None = None) -> numpy.ndarray:
        """A copy, for numpy.asarray; numpy.from_dlpack and .data share the memory. Synchronises."""
        if copy is False:
            raise InvalidValueError("The result of numpy.asarray is a copy", op="Array.__array__",
                                    remedy="Use numpy.from_dlpack(x) to share memory of the cpu.")
        out = self.to_numpy()
        return out if dtype is None else out.astype(dtype, copy=False)

    @property
    def data(self) -> memoryview:
        """A memoryview of the array's own memory; AttributeError on cuda. Synchronises.

        Later uses of the array are synchronous, since the caller may read or write the memory at any time.
        """
        self.c.data_ptr()  # an error once the backend is closed, also where nothing can be imported any more
        if self.c.device().type == cpp_backend.cuda:
            raise AttributeError(f"data: the array is on {self.backend.device_name}; use to_numpy() to copy it")
        from stator._interop import SharedMemory
        return memoryview(SharedMemory(self))

    def __array_namespace__(self, *, api_version: str | None = None) -> object:
        """The module stator, which implements the array API standard."""
        import stator
        if api_version not in (None, "2021.12", "2022.12", "2023.12", "2024.12", "2025.12"):
            raise InvalidValueError(f"api_version={api_version!r} of the array API", op="Array.__array_namespace__",
                                    remedy="Use '2025.12' or an earlier one.")
        return stator

    __array_priority__ = 10  # libraries take the class of a mixed result from it: above NumPy's 0, below dask's 11

    def __array_ufunc__(self, ufunc: object, method: str, /, *inputs: object, **options: object) -> object:
        """numpy.add(x, 1) is stator.numpy.add(x, 1); NumPy arrays among the operands are refused, never copied."""
        from stator.numpy._protocols import array_ufunc
        return array_ufunc(ufunc, method, inputs, options)

    def __array_function__(self, function: object, types: object, args: tuple[object, ...],
                           options: dict[str, object], /) -> object:
        """numpy.sum(x) is stator.numpy.sum(x); what has no such form raises DTypeError."""
        from stator.numpy._protocols import array_function
        return array_function(function, types, args, options)

    def __dlpack__(self, *, stream: object = None, max_version: tuple[int, int] | None = None,
                   dl_device: tuple[int, int] | None = None, copy: bool | None = None) -> object:
        """A DLPack capsule that shares the memory.

        cuda: asynchronous; later work on `stream` starts after the work that uses the array. cpu: synchronises.
        """
        self.c.data_ptr()
        from stator import _interop
        return _interop.to_dlpack(self, stream, max_version, dl_device, copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        """The device as DLPack's (device type, index)."""
        cdef cpp_backend.Device device = self.c.device()
        return 2 if device.type == cpp_backend.cuda else 1, device.index

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The CUDA Array Interface, version 3; AttributeError on cpu. Asynchronous."""
        if self.c.device().type != cpp_backend.cuda:
            raise AttributeError("__cuda_array_interface__: the array is on cpu")
        self.c.data_ptr()
        from stator import _interop
        return _interop.cuda_array_interface(self)

    def to_device(self, device: DeviceLike, /, *, stream: object = None) -> Array:
        """The array itself when it is on the device, else a copy there. Synchronises when it copies."""
        if stream is not None:
            raise UnsupportedError("A stream was given", op="Array.to_device",
                                   remedy="Pass stream=None, and use `with backend.stream(s):`.")
        return moved_to(self, resolve(device, "Array.to_device"))

    def to(self, device: DeviceLike, /) -> Array:
        """As to_device(); astype() changes the dtype."""
        return self.to_device(device)

    def view(self, dtype: DTypeLike | None = None) -> Array:
        """A view of the same bytes as another dtype (None: its own); the last axis is scaled when item sizes differ.

        Read as bools, every byte but 0 is true.
        """
        cdef CppDType code = self.c.dtype() if dtype is None else <CppDType>as_dtype(dtype, "Array.view")
        cdef Array out = new_array(self.backend)
        with nogil:
            out.c = movement.view(self.c, code)
        return out

    def reshape(self, *shape: int | Sequence[int], order: str = "C", copy: bool | None = None) -> Array:
        """As stator.reshape; order "F" counts the first axis fastest, "A" does where the array is stored so."""
        wanted = shape[0] if len(shape) == 1 else shape
        if type(order) is str and order == "C":
            return reshape_op(self, wanted, copy)
        from stator._array_methods import reshaped
        return reshaped(self, wanted, order, copy)

    def astype(self, dtype: DTypeLike, order: str = "K", casting: str = "unsafe", subok: bool = True,
               copy: bool = True) -> Array:
        """As stator.astype. order "F" stores the result by columns; subok has no effect.

        casting: the rule of numpy.can_cast by which the conversion is allowed, else DTypeError.
        """
        cdef cbool anew = to_flag(copy, "astype", "copy")
        cdef int by = to_choice(order, ("K", "C", "F", "A"), "astype", "order")
        to_flag(subok, "astype", "subok")
        if type(casting) is not str or casting != "unsafe":
            from stator._methods import require_cast
            require_cast(self.dtype, wrap_dtype(<CppDType>as_dtype(dtype, "astype")), "astype", casting)
        return astype_op(self, dtype, anew) if by < 2 else astype_op(self, dtype, False).copy(order)

    def __getitem__(self, key: object) -> Array:
        cdef Redirection to = redirection
        cdef Array out
        if to != NULL and (found := to("Array.__getitem__", (self, key), {})) is not NotImplemented:
            return found
        out = view_at(self, key)
        return index_get_op(self, key) if out is None else out

    def __setitem__(self, key: object, value: Array | complex) -> None:
        cdef Redirection to = redirection
        if to != NULL and to("Array.__setitem__", (self, key, value), {}) is not NotImplemented:
            return
        if is_advanced(key):
            index_put_op(self, key, value)
        else:
            set_view(self, key, value)

    def __bool__(self) -> bool:
        if self.c.size() != 1:
            raise InvalidValueError(f"The truth value of an array of shape {self.shape} is ambiguous",
                                    op="Array.__bool__", remedy="Use any(x), all(x) or x.size > 0.")
        return bool(number(self, "Array.__bool__"))

    def __int__(self) -> int:
        return int(number(self, "Array.__int__"))

    def __float__(self) -> float:
        cdef cpp.Scalar value
        read_number(self, "Array.__float__", value)
        return value.re if value.type == cpp.floating else float(from_scalar(value))

    def __complex__(self) -> complex:
        return complex(number(self, "Array.__complex__"))

    def __index__(self) -> int:
        cdef Kind kind = kind_of(self.c.dtype())
        if self.c.ndim() != 0 or kind not in (signed_integer, unsigned_integer):
            raise DTypeError(f"a {self.dtype} array of shape {self.shape} is not an index", op="Array.__index__",
                             remedy="Use a 0-d integer array.")
        return number(self, "Array.__index__")

    def item(self, *args: int) -> Any:
        """One element as a Python number: the only one, or that of an index. Synchronises.

        args: an index into the flattened array, or one per axis.
        """
        if len(args) == 1 and self.c.ndim() == 1 and PyLong_CheckExact(args[0]):
            return item_of(view_at(self, args[0]))
        return item_of(view_at(self, flat_index(self, args)) if args else self)

    def __len__(self) -> int:
        if self.c.ndim() == 0:
            raise DTypeError("A 0-d array has no length", op="Array.__len__", remedy="Use .size.")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        """The rows of an array of several axes, as views; the elements of one with a single axis as NumPy scalars.

        Elements are copied to the host some thousand at a time, which synchronises; rows are not read.
        """
        if self.c.ndim() == 0:
            raise DTypeError("A 0-d array has no rows", op="Array.__iter__", remedy="Reshape it to one axis.")
        return _elements(self) if self.c.ndim() == 1 else _rows(self)

    def __contains__(self, value: object) -> bool:
        """Whether an element is equal to the value. Synchronises."""
        return bool(binary_op(op_table.equal, self, value, None, None).any())

    def __repr__(self) -> str:
        as_array(self, "Array.__repr__")
        from stator._printing import preview
        text = f"<closed, shape {self.shape}>" if self.backend.closed else preview(self, "Array(")
        return f"Array({text}, dtype={self.dtype}, device='{self.backend.device_name}')"

    def __dir__(self) -> list[str]:
        from stator._hints import attributes_of
        return attributes_of(self)

    def __divmod__(self, other):
        return both(operator(op_table.floor_divide, self, other), operator(op_table.remainder, self, other))

    def __rdivmod__(self, other):
        return both(operator(op_table.floor_divide, other, self), operator(op_table.remainder, other, self))

    def __add__(self, other):
        return operator(op_table.add, self, other)

    def __radd__(self, other):
        return operator(op_table.add, other, self)

    def __iadd__(self, other):
        return binary_op(op_table.add, self, other, None, self)

    def __sub__(self, other):
        return operator(op_table.subtract, self, other)

    def __rsub__(self, other):
        return operator(op_table.subtract, other, self)

    def __isub__(self, other):
        return binary_op(op_table.subtract, self, other, None, self)

    def __mul__(self, other):
        return operator(op_table.multiply, self, other)

    def __rmul__(self, other):
        return operator(op_table.multiply, other, self)

    def __imul__(self, other):
        return binary_op(op_table.multiply, self, other, None, self)

    def __truediv__(self, other):
        return operator(op_table.divide, self, other)

    def __rtruediv__(self, other):
        return operator(op_table.divide, other, self)

    def __itruediv__(self, other):
        return binary_op(op_table.divide, self, other, None, self)

    def __floordiv__(self, other):
        return operator(op_table.floor_divide, self, other)

    def __rfloordiv__(self, other):
        return operator(op_table.floor_divide, other, self)

    def __ifloordiv__(self, other):
        return binary_op(op_table.floor_divide, self, other, None, self)

    def __mod__(self, other):
        return operator(op_table.remainder, self, other)

    def __rmod__(self, other):
        return operator(op_table.remainder, other, self)

    def __imod__(self, other):
        return binary_op(op_table.remainder, self, other, None, self)

    def __and__(self, other):
        return operator(op_table.bitwise_and, self, other)

    def __rand__(self, other):
        return operator(op_table.bitwise_and, other, self)

    def __iand__(self, other):
        return binary_op(op_table.bitwise_and, self, other, None, self)

    def __or__(self, other):
        return operator(op_table.bitwise_or, self, other)

    def __ror__(self, other):
        return operator(op_table.bitwise_or, other, self)

    def __ior__(self, other):
        return binary_op(op_table.bitwise_or, self, other, None, self)

    def __xor__(self, other):
        return operator(op_table.bitwise_xor, self, other)

    def __rxor__(self, other):
        return operator(op_table.bitwise_xor, other, self)

    def __ixor__(self, other):
        return binary_op(op_table.bitwise_xor, self, other, None, self)

    def __lshift__(self, other):
        return operator(op_table.bitwise_left_shift, self, other)

    def __rlshift__(self, other):
        return operator(op_table.bitwise_left_shift, other, self)

    def __ilshift__(self, other):
        return binary_op(op_table.bitwise_left_shift, self, other, None, self)

    def __rshift__(self, other):
        return operator(op_table.bitwise_right_shift, self, other)

    def __rrshift__(self, other):
        return operator(op_table.bitwise_right_shift, other, self)

    def __irshift__(self, other):
        return binary_op(op_table.bitwise_right_shift, self, other, None, self)

    def __pow__(self, other, modulo):
        return NotImplemented if modulo is not None else operator(op_table.pow, self, other)

    def __rpow__(self, other, modulo):
        return NotImplemented if modulo is not None else operator(op_table.pow, other, self)

    def __ipow__(self, other):
        return binary_op(op_table.pow, self, other, None, self)

    def __matmul__(self, other):
        if hasattr(other, "__stator_sparse__") or (hasattr(other, "__array_function__")
                                                   and not isinstance(other, (Array, np.ndarray))):
            return NotImplemented  # to the reflected operator of a sparse matrix, or of a class such as dask's
        return matmul_op(self, as_array(other, "matmul"), None, None, None)

    def __rmatmul__(self, other):
        return matmul_op(as_array(other, "matmul"), self, None, None, None)

    def __imatmul__(self, other):
        return copy_into(self, matmul_op(self, as_array(other, "matmul"), None, None, None))

    def __neg__(self):
        return unary_op(op_table.negative, self, None, None)

    def __pos__(self):
        return unary_op(op_table.positive, self, None, None)

    def __abs__(self):
        return astype_op(self, "bool", True) if self.c.dtype() == bool_ else unary_op(op_table.abs, self, None, None)

    def __invert__(self):
        return unary_op(op_table.bitwise_invert, self, None, None)

    def __eq__(self, other):
        return operator(op_table.equal, self, other)

    def __ne__(self, other):
        return operator(op_table.not_equal, self, other)

    def __lt__(self, other):
        return operator(op_table.less, self, other)

    def __le__(self, other):
        return operator(op_table.less_equal, self, other)

    def __gt__(self, other):
        return operator(op_table.greater, self, other)

    def __ge__(self, other):
        return operator(op_table.greater_equal, self, other)
