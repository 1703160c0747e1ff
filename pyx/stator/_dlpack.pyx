# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=python
# cython: annotation_typing=False, freethreading_compatible=True
"""DLPack capsules, both ways, versioned and legacy."""
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_IsValid, PyCapsule_New, PyCapsule_SetName
from libc.stdint cimport int32_t, int64_t, uintptr_t
from libcpp cimport bool as cbool

from stator._array cimport Array, new_array
from stator._backend cimport Backend, enter
from stator._convert cimport sized_dims
from stator.cpp cimport array as cpp
from stator.cpp cimport backend as cpp_backend
from stator.cpp cimport creation, dlpack, interop
from stator.cpp.backend cimport Stream
from stator.cpp.dtype cimport DType, dtype_count, itemsize
from stator.cpp.ref cimport Dims

from stator.errors import DTypeError, InvalidValueError, UnsupportedError


cdef extern from *:
    """
    #include <stator/interop.hpp>
    namespace {
    // What a capsule's consumer holds. Freed without the GIL: nothing here is Python's.
    template <class M>
    struct Lent {
      M managed{};
      stator::Array array;
      int64_t extents[64];
    };
    template <class M>
    void give_back(M* managed) {
      auto* lent = static_cast<Lent<M>*>(managed->context);
      stator::interop::unexport(lent->array);
      delete lent;
    }
    template <class M>
    M* lend(const stator::Array& array, int32_t type, int32_t index, dlpack::DataType dtype) {
      auto* lent = new Lent<M>{M{}, array, {}};
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
    dlpack::Managed* lend_legacy(const stator::Array& array, int32_t type, int32_t index, dlpack::DataType dtype) {
      return lend<dlpack::Managed>(array, type, index, dtype);
    }
    dlpack::ManagedVersioned* lend_versioned(const stator::Array& array, int32_t type, int32_t index,
                                             dlpack::DataType dtype, uint64_t flags) {
      auto* managed = lend<dlpack::ManagedVersioned>(array, type, index, dtype);
      managed->version = {1, 0};
      managed->flags = flags;
      return managed;
    }
    // A producer's deleter may be Python code: with the interpreter gone the memory is leaked.
    template <class M>
    void finish(void* managed) {
      if (!Py_IsInitialized()) return;
      auto* m = static_cast<M*>(managed);
      if (m->deleter) m->deleter(m);
    }
    void finish_legacy(void* managed) { finish<dlpack::Managed>(managed); }
    void finish_versioned(void* managed) { finish<dlpack::ManagedVersioned>(managed); }
    }
    """

from stator.cpp.error cimport translate_exception


cdef extern from * nogil:
    dlpack.Managed* lend_legacy(const cpp.Array&, int32_t, int32_t, dlpack.DataType) except +translate_exception
    dlpack.ManagedVersioned* lend_versioned(const cpp.Array&, int32_t, int32_t, dlpack.DataType,
                                            unsigned long) except +translate_exception
    void finish_legacy(void*) noexcept
    void finish_versioned(void*) noexcept


# (code, bits) by DType; codes: 0 int, 1 uint, 2 float, 4 bfloat, 5 complex, 6 bool
cdef tuple codes = ((6, 8), (0, 8), (0, 16), (0, 32), (0, 64), (1, 8), (1, 16), (1, 32), (1, 64), (2, 16), (4, 16),
                    (2, 32), (2, 64), (5, 64), (5, 128))


cdef void drop_legacy(object capsule) noexcept:
    if PyCapsule_IsValid(capsule, "dltensor"):
        finish_legacy(PyCapsule_GetPointer(capsule, "dltensor"))


cdef void drop_versioned(object capsule) noexcept:
    if PyCapsule_IsValid(capsule, "dltensor_versioned"):
        finish_versioned(PyCapsule_GetPointer(capsule, "dltensor_versioned"))


cdef object make_capsule(Array x, bint versioned, bint copied):
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
            raise BufferError("the array is read-only, which DLPack before 1.0 cannot say; pass max_version=(1, 0)")
        flags |= dlpack.READ_ONLY
    with nogil:
        if versioned:
            managed = lend_versioned(x.c, type, index, dtype, flags)
        else:
            managed = lend_legacy(x.c, type, index, dtype)
    if versioned:
        return PyCapsule_New(managed, "dltensor_versioned", drop_versioned)
    return PyCapsule_New(managed, "dltensor", drop_legacy)


cdef dlpack.Tensor* tensor_of(object capsule) except NULL:
    if PyCapsule_IsValid(capsule, "dltensor_versioned"):
        versioned = <dlpack.ManagedVersioned*>PyCapsule_GetPointer(capsule, "dltensor_versioned")
        if versioned.version.major > 1:
            raise UnsupportedError(f"DLPack version {versioned.version.major}", op="from_dlpack",
                                   remedy="The producer should honour max_version=(1, 0).")
        return &versioned.tensor
    if PyCapsule_IsValid(capsule, "dltensor"):
        return &(<dlpack.Managed*>PyCapsule_GetPointer(capsule, "dltensor")).tensor
    raise InvalidValueError("not a DLPack capsule, or one that was consumed", op="from_dlpack",
                            remedy="Ask the producer for a new one.")


cdef tuple capsule_device(object capsule):
    cdef dlpack.Tensor* tensor = tensor_of(capsule)
    return tensor.device.type, tensor.device.index


cdef Array take_capsule(object capsule, Backend backend, object copy):
    cdef dlpack.Tensor* tensor = tensor_of(capsule)
    cdef bint versioned = PyCapsule_IsValid(capsule, "dltensor_versioned")
    cdef int i, code = -1, ndim = tensor.ndim
    cdef int64_t step = 1
    cdef Dims shape, strides
    cdef cbool host, locked = False, aligned
    cdef Stream stream
    cdef void* owner
    cdef void (*release)(void*) noexcept nogil
    cdef void* data
    cdef Array out = new_array(backend)
    for i in range(dtype_count):
        if codes[i] == (tensor.dtype.code, tensor.dtype.bits) and tensor.dtype.lanes == 1:
            code = i
    if code < 0:
        raise DTypeError(f"DLPack type code {tensor.dtype.code}, {tensor.dtype.bits} bits, {tensor.dtype.lanes} lanes",
                         op="from_dlpack", remedy="Convert it at the producer.")
    sized_dims(ndim, shape, "from_dlpack")
    sized_dims(ndim, strides, "from_dlpack")
    for i in range(ndim - 1, -1, -1):
        shape[i] = tensor.shape[i]
        strides[i] = step if tensor.strides == NULL else tensor.strides[i]
        step *= tensor.shape[i]
    data = <char*>tensor.data + tensor.byte_offset
    host = backend.type == cpp_backend.cpu
    aligned = step == 0 or <uintptr_t>data % <uintptr_t>itemsize(<DType>code) == 0
    if not aligned and (copy is False or not host):
        raise InvalidValueError(f"memory at an address that is no multiple of {itemsize(<DType>code)}, its items' size",
                                op="from_dlpack", remedy="Let it copy." if host else "Copy it at the producer.")
    if versioned:
        owner = PyCapsule_GetPointer(capsule, "dltensor_versioned")
        locked = ((<dlpack.ManagedVersioned*>owner).flags & dlpack.READ_ONLY) != 0
        release = finish_versioned
    else:
        owner = PyCapsule_GetPointer(capsule, "dltensor")
        release = finish_legacy
    if aligned:
        with nogil:
            out.c = interop.from_owner(backend.c, data, <DType>code, shape, strides, host, locked, owner, release)
    else:
        enter(backend, stream)
        with nogil:
            out.c = creation.from_host(backend.c, data, <DType>code, shape, strides, False, stream)
    PyCapsule_SetName(capsule, "used_dltensor_versioned" if versioned else "used_dltensor")
    if not aligned:
        release(owner)
    return out
