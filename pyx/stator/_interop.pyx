# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=python
# cython: annotation_typing=False, freethreading_compatible=True
"""DLPack's rules, and __cuda_array_interface__ both ways."""
import numpy as np

from libc.stdint cimport uintptr_t
from libcpp cimport bool as cbool

from stator._array cimport Array, new_array
from stator._backend cimport Backend, enter, resolve
from stator._convert cimport to_dims
from stator._dlpack cimport make_capsule, take_capsule
from stator._dtype cimport as_dtype
from stator.cpp cimport backend as cpp_backend
from stator.cpp cimport creation, dlpack, interop
from stator.cpp.dtype cimport DType as CppDType
from stator.cpp.dtype cimport bfloat16, itemsize
from stator.cpp.ref cimport Dims

from stator.errors import BackendMismatchError, DTypeError, InvalidValueError


cdef extern from *:
    """
    // Called by a holder of the GIL; leaked when Python is gone.
    static void drop_reference(void* object) {
      if (Py_IsInitialized()) Py_DECREF(static_cast<PyObject*>(object));
    }
    """
    void drop_reference(void*) noexcept nogil
    void Py_INCREF(object)


cdef Array copied(Array x):
    cdef Array out = new_array(x.backend)
    cdef cpp_backend.Stream stream
    enter(x.backend, stream)
    with nogil:
        out.c = creation.copy(x.c, stream)
    return out


cdef uintptr_t native_of_current(Backend backend) except? 0:
    cdef cpp_backend.Stream stream = backend.c.stream(0)
    enter(backend, stream)
    return <uintptr_t>stream.native()


cdef Backend backend_at(int type, int index, object device):
    # The given or current backend when it is at the place, else the shared one there.
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
    """An array that shares the memory of a DLPack producer; copied when the device differs, the memory is not aligned
    to its items, or copy=True."""
    cdef Backend place
    cdef Array out
    if not hasattr(x, "__dlpack__") or not hasattr(x, "__dlpack_device__"):
        raise DTypeError(f"{type(x).__name__} has no __dlpack__ and __dlpack_device__", op="from_dlpack",
                         remedy="Use asarray.")
    kind, index = x.__dlpack_device__()
    place = backend_at(kind, index, device)
    options = {"stream": native_of_current(place)} if place.type == cpp_backend.cuda else {}
    try:
        capsule = x.__dlpack__(max_version=(1, 0), **options)
    except TypeError:
        capsule = x.__dlpack__(**options)
    out = take_capsule(capsule, place, copy)
    if device is not None and resolve(device) is not place:
        if copy is False:
            raise InvalidValueError(f"copy=False from {place.device_name} to {device}", op="from_dlpack",
                                    remedy="Let it copy.")
        return out.to_device(device)
    return copied(out) if copy else out


cdef int order_after(Array x, object stream) except -1:
    # DLPack's rules for a consumer's stream.
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
        return 0
    if stream <= 0:
        raise InvalidValueError(f"stream={stream}", op="Array.__dlpack__",
                                remedy="1 is the legacy default stream, 2 the per-thread one, -1 means no order.")
    consumer = stream
    with nogil:
        interop.order_after_uses(x.c, <void*>consumer)
    return 0


def to_dlpack(x: Array, stream: object, max_version: object, dl_device: object, copy: object) -> object:
    """The capsule of Array.__dlpack__."""
    cdef Array array = <Array?>x
    cdef bint lent_copy = bool(copy)
    if dl_device is not None and tuple(dl_device) != array.__dlpack_device__():
        if copy is False or tuple(dl_device) != (1, 0):
            raise BufferError(f"memory of {array.backend.device_name} cannot be given as DLPack device {dl_device}"
                              + (" without a copy" if copy is False else ""))
        array = array.to_device("cpu")
        stream = None
        lent_copy = True
    elif copy:
        array = copied(array)
    order_after(array, stream)
    return make_capsule(array, max_version is not None and max_version[0] >= 1, lent_copy)


def cuda_array_interface(x: Array) -> dict[str, Any]:
    """What Array.__cuda_array_interface__ gives."""
    cdef Array array = <Array?>x
    cdef int size = itemsize(array.c.dtype())
    cdef uintptr_t address
    cdef void* stream
    if array.c.device().type != cpp_backend.cuda:
        raise AttributeError("__cuda_array_interface__: the array is on cpu")
    if array.c.dtype() == bfloat16:
        raise AttributeError("__cuda_array_interface__ has no bfloat16; use DLPack")
    if not array.lent:
        interop.export_memory(array.c)
        array.lent = True
    address = <uintptr_t>array.c.data_ptr() if array.c.size() else 0
    with nogil:
        stream = interop.last_stream(array.c).native()
        interop.order_after_uses(array.c, stream)
    return {
        "shape": array.shape,
        "typestr": array.dtype.numpy().str,
        "data": (address, interop.read_only(array.c)),
        "strides": None if array.c.is_contiguous() else tuple([s * size for s in array.strides]),
        "version": 3,
        "stream": <uintptr_t>stream,
    }


cdef Array from_cuda_array_interface(object source, Backend backend):
    cdef Array out = new_array(backend)
    cdef dict record = source.__cuda_array_interface__
    cdef CppDType code = <CppDType>as_dtype(np.dtype(record["typestr"]))
    cdef Dims shape, strides
    cdef uintptr_t address = record["data"][0], producer
    cdef cbool locked = record["data"][1]
    cdef uintptr_t consumer
    if backend.type != cpp_backend.cuda:
        raise BackendMismatchError("the object's memory is on cuda", op="asarray", remedy="Pass device='cuda'.")
    if record.get("mask") is not None:
        raise DTypeError("masked arrays are not supported", op="asarray", remedy="Fill them first.")
    to_dims(record["shape"], shape, "asarray")
    steps = record.get("strides")
    if steps is None:
        steps = [1] * len(record["shape"])
        for i in range(len(steps) - 2, -1, -1):
            steps[i] = steps[i + 1] * record["shape"][i + 1]
        to_dims(steps, strides, "asarray")
    else:
        to_dims([s // itemsize(code) for s in steps], strides, "asarray")
    if record.get("stream") is not None:
        producer = record["stream"]
        consumer = native_of_current(backend)
        with nogil:
            interop.order(backend.c, <void*>producer, <void*>consumer)
    Py_INCREF(source)
    try:
        with nogil:
            out.c = interop.from_owner(backend.c, <void*>address, code, shape, strides, False, locked, <void*>source,
                                       drop_reference)
    except BaseException:
        drop_reference(<void*>source)
        raise
    return out
