# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
# cython: annotation_typing=False, freethreading_compatible=True
"""Managed memory: arrays in it, hints about it, and how NumPy sees it."""
from libc.stdint cimport uintptr_t

from stator._array cimport Array, as_given, new_array
from stator._backend cimport Backend, after_wait, as_backend, enter, enter_stream
from stator._convert cimport from_dims, to_choice, to_dims
from stator._dtype cimport as_dtype
from stator.cpp cimport backend as cpp_backend
from stator.cpp cimport interop
from stator.cpp cimport managed as cpp
from stator.cpp.array cimport Array as CppArray
from stator.cpp.backend cimport Stream as CppStream
from stator.cpp.dtype cimport DType as CppDType
from stator.cpp.dtype cimport float64, itemsize
from stator.cpp.ref cimport Dims
from stator.cpp.std cimport optional

# In the order of the C++ enumerations.
cdef tuple KINDS = ("managed", "pinned", "host")
cdef tuple ADVICE = ("read_mostly", "unset_read_mostly", "preferred_location", "unset_preferred_location",
                     "accessed_by", "unset_accessed_by")

cdef extern from *:
    """
    namespace {
    bool has_value(const std::optional<stator::AdviceState>& state) { return state.has_value(); }
    }
    """
    bint has_value(const optional[cpp.AdviceState]&) noexcept nogil


cdef object place_name(Array array, int place):
    """Of a device, "cpu" for the host, None for no location."""
    if place == cpp.no_place:
        return None
    return "cpu" if place == cpp.host_place or array.backend.type == cpp_backend.cpu else f"cuda:{place}"


def kind(backend: Backend) -> str:
    """What managed memory is on the device: "managed" by CUDA, "pinned" in its stead, or "host"."""
    cdef Backend owner = as_backend(backend, "Backend.memory.managed")
    cdef cpp.ManagedKind found
    with nogil:
        found = cpp.managed_kind(owner.c)
    return KINDS[<int>found]


def managed(backend: Backend, shape: int | Sequence[int], dtype: DTypeLike | None) -> Array:
    """See Backend.memory.managed."""
    cdef Backend owner = as_backend(backend, "Backend.memory.managed")
    cdef CppDType code = float64 if dtype is None else <CppDType>as_dtype(dtype, "Backend.memory.managed")
    cdef Dims dims
    cdef CppStream stream
    cdef Array out = new_array(owner)
    to_dims(shape, dims, "Backend.memory.managed")
    enter(owner, stream)
    with nogil:
        out.c = cpp.managed(owner.c, dims, code)
    return out


cdef int move(Backend backend, object memory, int place, object stream, str op) except -1:
    cdef Array array
    cdef CppStream on
    if isinstance(memory, Array) and (<Array>memory).backend is backend:
        array = <Array>memory
    else:
        from stator.memory._unified import array_of
        array = array_of(backend, memory, op)
    enter_stream(backend, stream, on, op)
    with nogil:
        cpp.prefetch(array.c, place, on)
    return 0


def prefetch_to_device(backend: Backend, memory: object, device: object, stream: StreamLike | None) -> None:
    """See Backend.memory.prefetch_to_device."""
    cdef Backend owner = as_backend(backend, "Backend.memory.prefetch_to_device")
    cdef int place
    if device is None:
        place = owner.c.device().index
    else:
        from stator.memory._unified import device_index
        place = device_index(backend, device, "Backend.memory.prefetch_to_device")
    move(owner, memory, place, stream, "Backend.memory.prefetch_to_device")


def prefetch_to_host(backend: Backend, memory: object, stream: StreamLike | None) -> None:
    """See Backend.memory.prefetch_to_host."""
    cdef str op = "Backend.memory.prefetch_to_host"
    move(as_backend(backend, op), memory, cpp.host_place, stream, op)


def advise(x: Array, advice: str, place: int | None) -> None:
    """Gives advice about the pages of an array; place is the index of a device, None the host."""
    cdef Array array = as_given(x, "Backend.memory.advise")
    cdef int where = cpp.host_place if place is None else place
    cdef int which = to_choice(advice, ADVICE, "Backend.memory.advise", "advice")
    with nogil:
        cpp.advise(array.c, <cpp.Advice>(which + 1), where)


def advice_state(x: Array) -> tuple[bool, str | None, tuple[str, ...]] | None:
    """Whether the pages are read mostly, their preferred location, and who accesses them; None if unknown."""
    cdef Array array = as_given(x, "UnifiedAllocation.access_hints")
    cdef optional[cpp.AdviceState] state
    cdef size_t i
    with nogil:
        state = cpp.advice_state(array.c)
    if not has_value(state):
        return None
    accessed = [place_name(array, state.value().accessed_by[i]) for i in range(state.value().accessed_by.size())]
    return bool(state.value().read_mostly), place_name(array, state.value().preferred), tuple(accessed)


def migrations(x: Array) -> tuple[int, int, int, int, str | None]:
    """Prefetches to devices and their bytes, those to the host and theirs, and the last location."""
    cdef Array array = as_given(x, "UnifiedAllocation.migration_stats")
    cdef cpp.Migrations asked
    with nogil:
        asked = cpp.migrations(array.c)
    return (asked.to_device, asked.to_device_bytes, asked.to_host, asked.to_host_bytes,
            place_name(array, asked.last))


cdef class HostView:
    """HostView(x)\n--\n
    The memory of an array as NumPy's array interface has it, lent to the host until the object is gone. Synchronises.
    """
    cdef CppArray c
    cdef Array array
    cdef uintptr_t memory

    def __init__(self, x: Array) -> None:
        cdef Array array = as_given(x, "memory.host_view")
        cdef CppStream stream
        cdef void* memory
        if self.array is not None:
            raise TypeError("HostView.__init__ was called twice")
        enter(array.backend, stream)
        with nogil:
            memory = cpp.lend_to_host(array.c)
        self.c = array.c
        self.memory = <uintptr_t>memory
        self.array = array
        after_wait(array.backend)

    def __dealloc__(self):
        if self.memory:
            with nogil:
                interop.unexport(self.c)

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """Elements as plain bytes of their size."""
        cdef int size = itemsize(self.c.dtype())
        strides = from_dims(self.c.strides())
        return {"version": 3, "shape": from_dims(self.c.shape()), "typestr": f"|V{size}",
                "strides": tuple([size * n for n in strides]),
                "data": (self.memory, interop.read_only(self.c))}
