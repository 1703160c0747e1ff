# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
# cython: annotation_typing=False, freethreading_compatible=True
"""Memory shared with other libraries: the buffer protocol, DLPack, __cuda_array_interface__."""
import numpy as np

cimport cython
from cpython.buffer cimport (
    PyBUF_ANY_CONTIGUOUS, PyBUF_C_CONTIGUOUS, PyBUF_F_CONTIGUOUS, PyBUF_FORMAT, PyBUF_ND, PyBUF_STRIDES, PyBUF_WRITABLE,
)
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_IsValid, PyCapsule_New, PyCapsule_SetName
from libc.stdint cimport UINTPTR_MAX, int32_t, int64_t, uint64_t, uintptr_t
from libcpp cimport bool as cbool

from stator._array cimport Array, new_array, plain
from stator._backend cimport Backend, Stream, enter, resolve
from stator._convert cimport sized_dims, to_dims, to_flag
from stator._dtype cimport as_dtype
from stator.cpp cimport backend as cpp_backend
from stator.cpp cimport binding, creation, dlpack, interop
from stator.cpp.array cimport Array as CppArray, checked_size
from stator.cpp.dtype cimport DType as CppDType, bfloat16, dtype_count, itemsize
from stator.cpp.error cimport translate_exception
from stator.cpp.python cimport Py_INCREF

from operator import index as to_python_int

from stator._backend import current_stream
from stator.errors import (
    BackendMismatchError, DTypeError, InvalidValueError, ShapeError, UnsupportedError,
)


cdef extern from * nogil:
    """
    #include <stator/interop.hpp>
    namespace {
    // What the consumer of a capsule holds. It may be freed without the GIL, since it has no Python object.
    template <class M>
    struct Lent {
      M managed{};
      stator::Array array;
      void* consumer;  // its stream on cuda, else null
      int64_t extents[64];
    };
    template <class M>
    void give_back(M* managed) {
      auto* lent = static_cast<Lent<M>*>(managed->context);
      stator_let_callbacks_run([&] { stator::interop::unexport(lent->array, lent->consumer); });
      delete lent;
    }
    template <class M>
    M* lend(const stator::Array& array, int32_t type, int32_t index, dlpack::DataType dtype, void* consumer) {
      auto* lent = new Lent<M>{M{}, array, consumer, {}};
      void* data = nullptr;
      try {
        data = stator::interop::export_memory(array);
      } catch (...) {
        delete lent;
        throw;
      }
      const int ndim = array.ndim();
      for (int i = 0; i < ndim; ++i) {
        lent->extents[i] = array.shape()[i];
        lent->extents[32 + i] = array.strides()[i];
      }
      lent->managed.tensor = {data, {type, index}, ndim, dtype, lent->extents, lent->extents + 32, 0};
      lent->managed.context = lent;
      lent->managed.deleter = give_back<M>;
      return &lent->managed;
    }
    dlpack::Managed* lend_legacy(const stator::Array& array, int32_t type, int32_t index, dlpack::DataType dtype,
                                 void* consumer) {
      return lend<dlpack::Managed>(array, type, index, dtype, consumer);
    }
    dlpack::ManagedVersioned* lend_versioned(const stator::Array& array, int32_t type, int32_t index,
                                             dlpack::DataType dtype, void* consumer, uint64_t flags) {
      auto* managed = lend<dlpack::ManagedVersioned>(array, type, index, dtype, consumer);
      managed->version = {1, 0};
      managed->flags = flags;
      return managed;
    }
    // A producer's deleter may run Python code: after the end of the interpreter the memory is leaked.
    template <class M>
    void finish(void* managed) {
      if (!Py_IsInitialized()) return;
      auto* m = static_cast<M*>(managed);
      if (m->deleter) m->deleter(m);
    }
    void finish_legacy(void* managed) { finish<dlpack::Managed>(managed); }
    void finish_versioned(void* managed) { finish<dlpack::ManagedVersioned>(managed); }
    // Called with the GIL; the reference is leaked after the end of Python.
    void drop_reference(void* object) {
      if (Py_IsInitialized()) Py_DECREF(static_cast<PyObject*>(object));
    }
    }
    """
    dlpack.Managed* lend_legacy(const CppArray&, int32_t, int32_t, dlpack.DataType, void*) except +translate_exception
    dlpack.ManagedVersioned* lend_versioned(const CppArray&, int32_t, int32_t, dlpack.DataType, void*,
                                            unsigned long) except +translate_exception
    void finish_legacy(void*) noexcept
    void finish_versioned(void*) noexcept
    void drop_reference(void*) noexcept


# The buffer protocol's format of each DType; bfloat16 has none.
cdef const char** formats = ["?", "b", "h", "i", "l", "B", "H", "I", "L", "e", "", "f", "d", "Zf", "Zd"]


# Fills the view except for its owner; BufferError where the memory cannot be shared this way.
cdef int fill_buffer(const CppArray& array, Py_buffer* view, int flags) except -1:
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
        extents[i] = array.shape().data()[i]
        extents[32 + i] = array.strides().data()[i] * size
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


cdef void release_buffer(const CppArray& array, Py_buffer* view) noexcept:
    cdef CppArray lent = array
    PyMem_Free(view.internal)
    interop.unexport(lent)


@cython.no_gc_clear  # the collector may release a view of it after it has cleared other members of a cycle
cdef class SharedMemory:
    """SharedMemory(array)\n--\n
    The memory of an Array, through the buffer protocol."""
    cdef Array array

    def __init__(self, array: Array) -> None:
        self.array = <Array?>array

    def __getbuffer__(self, Py_buffer* view, int flags):
        fill_buffer(self.array.c, view, flags)
        view.obj = self

    def __releasebuffer__(self, Py_buffer* view):
        release_buffer(self.array.c, view)


# DLPack's (code, bits) of each DType; codes: 0 int, 1 uint, 2 float, 4 bfloat, 5 complex, 6 bool.
cdef tuple codes = ((6, 8), (0, 8), (0, 16), (0, 32), (0, 64), (1, 8), (1, 16), (1, 32), (1, 64), (2, 16), (4, 16),
                    (2, 32), (2, 64), (5, 64), (5, 128))


cdef void drop_legacy(object capsule) noexcept:
    if PyCapsule_IsValid(capsule, "dltensor"):
        finish_legacy(PyCapsule_GetPointer(capsule, "dltensor"))


cdef void drop_versioned(object capsule) noexcept:
    if PyCapsule_IsValid(capsule, "dltensor_versioned"):
        finish_versioned(PyCapsule_GetPointer(capsule, "dltensor_versioned"))


cdef object make_capsule(Array x, void* consumer, bint versioned, bint copied):
    cdef dlpack.DataType dtype
    cdef cpp_backend.Device device = x.c.device()
    cdef int32_t type = dlpack.CUDA if device.type == cpp_backend.cuda else dlpack.CPU
    cdef int32_t index = device.index
    cdef unsigned long flags = dlpack.COPIED if copied else 0
    cdef void* managed
    dtype.code, dtype.bits = codes[<int>x.c.dtype()]
    dtype.lanes = 1
    if interop.read_only(x.c):
        if not versioned:
            raise BufferError("the array is read-only, which DLPack before 1.0 cannot say; pass max_version=(1, 0), or "
                              "copy=True")
        flags |= dlpack.READ_ONLY
    with nogil:
        if versioned:
            managed = lend_versioned(x.c, type, index, dtype, consumer, flags)
        else:
            managed = lend_legacy(x.c, type, index, dtype, consumer)
    if versioned:
        return PyCapsule_New(managed, "dltensor_versioned", drop_versioned)
    return PyCapsule_New(managed, "dltensor", drop_legacy)


cdef dlpack.Tensor* tensor_of(object capsule) except NULL:
    if PyCapsule_IsValid(capsule, "dltensor_versioned"):
        versioned = <dlpack.ManagedVersioned*>PyCapsule_GetPointer(capsule, "dltensor_versioned")
        if versioned.version.major != 1:  # the rest of the structure may be another one
            raise UnsupportedError(f"DLPack version {versioned.version.major}", op="from_dlpack",
                                   remedy="The producer should honour max_version=(1, 0).")
        return &versioned.tensor
    if PyCapsule_IsValid(capsule, "dltensor"):
        return &(<dlpack.Managed*>PyCapsule_GetPointer(capsule, "dltensor")).tensor
    raise InvalidValueError("The capsule is not one of DLPack, or was consumed", op="from_dlpack",
                            remedy="Ask the producer for a new one.")


# The fields are checked before anything that they point to is read.
cdef int check_tensor(dlpack.Tensor* tensor, int type, int index) except -1:
    cdef int ndim = tensor.ndim
    if tensor.device.type != type or tensor.device.index != index:
        raise InvalidValueError(f"a tensor on DLPack device {(tensor.device.type, tensor.device.index)} of a producer "
                                f"whose __dlpack_device__ is {(type, index)}", op="from_dlpack",
                                remedy="The producer contradicts itself: copy with its own means.")
    if not 0 <= ndim <= 32:
        raise ShapeError(f"{ndim} dimensions", op="from_dlpack", remedy="From 0 to 32 are supported.")
    if ndim > 0 and tensor.shape == NULL:
        raise InvalidValueError(f"{ndim} dimensions without a shape", op="from_dlpack",
                                remedy="The producer must give one.")
    if tensor.byte_offset > <uint64_t>(UINTPTR_MAX - <uintptr_t>tensor.data):
        raise InvalidValueError(f"byte_offset {tensor.byte_offset}", op="from_dlpack",
                                remedy="The producer must give memory of its own.")
    return 0


# An Array that shares the memory; a copy where the memory is not aligned to its items, unless copy is False.
cdef Array take_capsule(object capsule, Backend backend, int type, int index, object copy):
    cdef dlpack.Tensor* tensor = tensor_of(capsule)
    cdef bint versioned = PyCapsule_IsValid(capsule, "dltensor_versioned")
    cdef int i, code = -1, ndim = tensor.ndim
    cdef int64_t step = 1, elements
    cdef interop.ForeignMemory memory
    cdef cbool host, aligned
    cdef cpp_backend.Stream stream
    cdef void* owner
    cdef void (*release)(void*) noexcept nogil
    cdef Array out = new_array(backend)
    check_tensor(tensor, type, index)
    for i in range(dtype_count):
        if codes[i] == (tensor.dtype.code, tensor.dtype.bits) and tensor.dtype.lanes == 1:
            code = i
    if code < 0:
        raise DTypeError(f"DLPack type code {tensor.dtype.code}, {tensor.dtype.bits} bits, {tensor.dtype.lanes} lanes",
                         op="from_dlpack", remedy="Convert it at the producer.")
    sized_dims(ndim, memory.shape, "from_dlpack")
    sized_dims(ndim, memory.strides, "from_dlpack")
    for i in range(ndim):
        memory.shape[i] = tensor.shape[i]
    elements = checked_size(<const char*>"from_dlpack", memory.shape, itemsize(<CppDType>code))
    if elements > 0 and tensor.data == NULL:
        raise InvalidValueError(f"{elements} elements without memory", op="from_dlpack",
                                remedy="The producer must give their address.")
    for i in range(ndim - 1, -1, -1):
        memory.strides[i] = step if tensor.strides == NULL else tensor.strides[i]
        step *= max(memory.shape[i], 1)
    memory.data = <char*>tensor.data + tensor.byte_offset
    memory.dtype = <CppDType>code
    if elements > 0 and backend.type == cpp_backend.cuda:
        interop.require_reachable(backend.c, memory.data, <const char*>"from_dlpack")
    host = memory.host_shared = backend.type == cpp_backend.cpu
    aligned = elements == 0 or <uintptr_t>memory.data % <uintptr_t>itemsize(<CppDType>code) == 0
    if not aligned and (copy is False or not host):
        size = itemsize(<CppDType>code)
        raise InvalidValueError(f"memory at an address that is not a multiple of {size}, its items' size",
                                op="from_dlpack", remedy="Pass copy=None." if host else "Copy it at the producer.")
    if versioned:
        owner = PyCapsule_GetPointer(capsule, "dltensor_versioned")
        memory.read_only = ((<dlpack.ManagedVersioned*>owner).flags & dlpack.READ_ONLY) != 0
        release = finish_versioned
    else:
        owner = PyCapsule_GetPointer(capsule, "dltensor")
        release = finish_legacy
    if aligned:
        with nogil:
            out.c = interop.from_owner(backend.c, memory, owner, release)
    else:
        enter(backend, stream)
        with nogil:
            out.c = creation.from_host(backend.c, memory.data, memory.dtype, memory.shape, memory.strides, False,
                                       stream)
    PyCapsule_SetName(capsule, "used_dltensor_versioned" if versioned else "used_dltensor")
    if aligned and not host:
        enter(backend, stream)
        binding.note_order(out.c, stream)
    if not aligned:
        release(owner)
    return out


cdef Array copied(Array x):
    x = plain(x)
    cdef Array out = new_array(x.backend)
    cdef cpp_backend.Stream stream
    enter(x.backend, stream)
    with nogil:
        out.c = creation.copy(x.c, stream)
    return out


cdef Backend backend_at(int type, int index, object device):
    # The given or current backend when it is on that device, else the device's shared backend.
    cdef Backend backend
    if type == dlpack.CPU or type == dlpack.CUDA_HOST:
        name = "cpu"
    elif type == dlpack.CUDA or type == dlpack.CUDA_MANAGED:
        name = f"cuda:{index}"
    else:
        raise BufferError(f"DLPack device type {type} is neither cpu nor cuda")
    backend = resolve(device)
    return backend if backend.device_name == name else resolve(name)


def from_dlpack(x: object, /, *, device: DeviceLike = None, copy: bool | None = None) -> Array:
    """An array that shares the memory of a DLPack producer, or a copy of it.

    Copies when the device differs (synchronises), when the memory is not aligned to its items, or with copy=True;
    copy=False raises InvalidValueError instead. Otherwise asynchronous: on cuda later work of the current stream starts
    after the producer's.
    """
    cdef Backend origin
    cdef Array out
    if copy is not None:
        copy = bool(to_flag(copy, "from_dlpack", "copy"))
    if device is not None:
        device = resolve(device, "from_dlpack")
    if type(x).__name__ == "PyCapsule":
        raise DTypeError("A DLPack capsule, which does not say on which device it is", op="from_dlpack",
                         remedy="Pass the array that made it: stator.from_dlpack(x), not x.__dlpack__().")
    if not hasattr(x, "__dlpack__") or not hasattr(x, "__dlpack_device__"):
        raise DTypeError(f"{type(x).__name__} has no __dlpack__ and __dlpack_device__", op="from_dlpack",
                         remedy="Use asarray.")
    try:
        kind, index = map(to_python_int, x.__dlpack_device__())
    except (TypeError, ValueError):
        raise DTypeError(f"__dlpack_device__() of {type(x).__name__} is {x.__dlpack_device__()!r}", op="from_dlpack",
                         remedy="The producer must give two integers.") from None
    origin = backend_at(kind, index, device)
    options = {"stream": current_stream(origin).native} if origin.type == cpp_backend.cuda else {}
    try:
        capsule = x.__dlpack__(max_version=(1, 0), **options)
    except TypeError:
        capsule = x.__dlpack__(**options)
    out = take_capsule(capsule, origin, kind, index, copy)
    if device is not None and resolve(device) is not origin:
        if copy is False:
            raise InvalidValueError(f"copy=False from {origin.device_name} to {device.device_name}", op="from_dlpack",
                                    remedy="Pass copy=None.")
        return out.to_device(device)
    return copied(out) if copy else out


# Orders the consumer's stream after the array's uses, by DLPack's rules for `stream`. Returns the stream after which
# the memory is used again: where the consumer names none, or the default one of its thread, the legacy default stream,
# which waits for all that block with it.
cdef uintptr_t order_after(Array x, object stream) except? 0:
    cdef uintptr_t consumer
    if x.c.device().type == cpp_backend.cpu:
        if stream is not None:
            raise InvalidValueError(f"stream={stream!r} for an array on cpu", op="Array.__dlpack__",
                                    remedy="Pass None.")
        return 0
    if stream is None:
        stream = 1
    if isinstance(stream, bool) or not isinstance(stream, int):
        raise DTypeError(f"stream={stream!r}", op="Array.__dlpack__", remedy="Pass None or an integer.")
    if stream == -1:
        return <uintptr_t>interop.legacy_stream()
    if stream <= 0:
        raise InvalidValueError(f"stream={stream}", op="Array.__dlpack__",
                                remedy="1 is the legacy default stream, 2 the per-thread one, -1 means no order.")
    consumer = stream
    with nogil:
        interop.order_after_uses(x.c, <void*>consumer, <const char*>"Array.__dlpack__")
    return consumer if consumer > 2 else <uintptr_t>interop.legacy_stream()


def to_dlpack(x: Array, stream: object, max_version: object, dl_device: object, copy: object) -> object:
    """The result of Array.__dlpack__."""
    cdef Array array = <Array?>x
    cdef bint lent_copy = bool(copy)
    cdef uintptr_t consumer
    if dl_device is not None and tuple(dl_device) != array.__dlpack_device__():
        if copy is False or tuple(dl_device) != (1, 0):
            raise BufferError(f"memory of {array.backend.device_name} cannot be given as DLPack device {dl_device}"
                              + (" without a copy" if copy is False else ""))
        array = array.to_device("cpu")
        stream = None
        lent_copy = True
    elif copy:
        array = copied(array)
    consumer = order_after(array, stream)
    return make_capsule(array, <void*>consumer, max_version is not None and max_version[0] >= 1, lent_copy)


def cuda_array_interface(x: Array) -> dict[str, Any]:
    """The value of Array.__cuda_array_interface__."""
    cdef Array array = <Array?>x
    cdef uintptr_t address
    cdef void* stream
    if array.c.dtype() == bfloat16:
        raise AttributeError("__cuda_array_interface__ has no bfloat16; use DLPack")
    if not array.lent:
        with nogil:
            interop.export_memory(array.c)
        array.lent = True
    address = <uintptr_t>array.c.data_ptr() if array.c.size() else 0
    with nogil:
        stream = interop.last_stream(array.c).native()
        interop.order_after_uses(array.c, stream, <const char*>"Array.__cuda_array_interface__")
    return {
        "shape": array.shape,
        "typestr": array.dtype.numpy().str,
        "data": (address, interop.read_only(array.c)),
        "strides": None if array.c.is_contiguous() else array.strides,
        "version": 3,
        "stream": <uintptr_t>stream,
    }


cdef object wrong_interface(str what, object seen):
    return InvalidValueError(f"__cuda_array_interface__ with {what} {seen!r}", op="asarray",
                             remedy="The producer must follow version 3 of the interface.")


cdef Array from_cuda_array_interface(object source, Backend backend):
    cdef Array out = new_array(backend)
    cdef interop.ForeignMemory memory
    cdef int size
    cdef uintptr_t address, producer = 0, consumer
    record = source.__cuda_array_interface__
    if not isinstance(record, dict) or not {"shape", "typestr", "data"} <= record.keys():
        raise wrong_interface("the value", record)
    if record.get("mask") is not None:
        raise DTypeError("masked arrays are not supported", op="asarray", remedy="Fill them first.")
    extents, steps, order = record["shape"], record.get("strides"), record.get("stream")
    try:
        memory.dtype = <CppDType>as_dtype(np.dtype(record["typestr"]))
        address, memory.read_only = to_python_int(record["data"][0]), bool(record["data"][1])
    except DTypeError:
        raise
    except (TypeError, ValueError, OverflowError, LookupError):
        raise wrong_interface("typestr and data", (record["typestr"], record["data"])) from None
    memory.data = <void*>address
    size = itemsize(memory.dtype)
    to_dims(extents, memory.shape, "asarray")
    if checked_size(<const char*>"asarray", memory.shape, size) > 0 and not address:
        raise wrong_interface("elements at the address", address)
    if steps is None:
        steps = [size] * memory.shape.size()
        for i in range(memory.shape.size() - 2, -1, -1):
            steps[i] = steps[i + 1] * max(memory.shape[i + 1], 1)
    if not isinstance(steps, (tuple, list)) or len(steps) != memory.shape.size():
        raise wrong_interface(f"shape {tuple(extents)!r} and strides", steps)
    if any([isinstance(s, int) and s % size for s in steps]):
        raise InvalidValueError(f"strides {steps!r}, no multiples of the {size} bytes of an element",
                                op="asarray", remedy="Copy it at the producer.")
    to_dims([s // size if isinstance(s, int) else s for s in steps], memory.strides, "asarray")
    if order is not None:
        try:
            producer = to_python_int(order)
        except (TypeError, OverflowError):
            raise wrong_interface("stream", order) from None
        if producer == 0:
            raise wrong_interface("stream", order)
    if backend.type != cpp_backend.cuda:
        raise BackendMismatchError("the object's memory is on cuda", op="asarray", remedy="Pass device='cuda'.")
    if address:
        interop.require_reachable(backend.c, <void*>address, <const char*>"asarray")
    if producer:
        on = current_stream(backend)
        consumer = on.native
        with nogil:
            interop.order(backend.c, <void*>producer, <void*>consumer, <const char*>"asarray")
    Py_INCREF(source)
    try:
        with nogil:
            out.c = interop.from_owner(backend.c, memory, <void*>source, drop_reference)
    except BaseException:
        drop_reference(<void*>source)
        raise
    if producer:
        binding.note_order(out.c, (<Stream>on).c)
    return out
