# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
# cython: annotation_typing=False, freethreading_compatible=True
"""Devices, backends, streams and events."""
import warnings
from contextvars import ContextVar
from functools import partial
from threading import RLock, main_thread

cimport cython
from cpython.exc cimport PyErr_CheckSignals
from cpython.pycapsule cimport PyCapsule_GetContext, PyCapsule_New, PyCapsule_SetContext
from libc.stdint cimport int64_t, uint32_t, uintptr_t
from libcpp cimport bool as cbool

from stator._convert cimport to_choice, to_flag, to_int, to_text, wrong_type
from stator.cpp cimport binding, interop, libraries
from stator.cpp cimport scope as cpp_scope
from stator.cpp.python cimport Py_DECREF, Py_INCREF
from stator.cpp.std cimport decoded, string, vector

from stator.errors import (
    BackendMismatchError, InvalidValueError, StatorError, found_by_kernels, from_native, interrupt_noted,
    note_allocator_error, note_interrupt,
)

cdef object resolver = None


# Kept for every module, and for as long as the process lives.
Py_INCREF(from_native)
interop.set_binding(<void*>from_native)


include "backend/_current.pxi"
include "backend/_entered.pxi"
include "streams/_streams.pxi"
include "config/_options.pxi"
include "memory/_allocator.pxi"
include "memory/_figures.pxi"
include "devices/_properties.pxi"
include "backend/_process.pxi"


cdef Backend resolve(object device, str op="device"):
    if isinstance(device, Backend):
        return <Backend>device
    return <Backend?>resolver(device, op)


cdef Backend as_backend(object value, str op):
    if not isinstance(value, Backend):
        raise wrong_type(value, op, "backend", "a Backend")
    return <Backend>value


def resolve_backend(device: object, op: str = "device") -> Backend:
    """The backend of a Backend, a Device or a string, which is an argument of the op; the current backend for None."""
    return resolve(device, op)


cdef int warn_of_libraries() except -1:
    cdef vector[string] texts
    cdef size_t i
    if libraries.library_warnings_waiting():
        texts = libraries.take_library_warnings()
        for i in range(texts.size()):
            warnings.warn(decoded(texts[i]), RuntimeWarning, stacklevel=2)
    return 0


cdef int after_wait(Backend backend) except -1:
    warn_of_libraries()
    cdef bint seen
    with nogil:
        seen = backend.c.poll_division_by_zero()
    if interop.owners_waiting():
        binding.run_deleters()
    if seen:
        warnings.warn("integer division by zero gave 0", RuntimeWarning, stacklevel=2)
    return 0


def set_resolver(function: Callable[[Any, str], Backend]) -> None:
    """Sets the function that finds the backend for a `device=` argument (python/stator/backend.py)."""
    global resolver
    resolver = function


def available(kind: str) -> tuple[bool, str]:
    """Whether a Backend of "cpu" or "cuda" can be opened, and the reason if not. Creates no context."""
    cdef cpp.DeviceType type = cpp.cuda if kind == "cuda" else cpp.cpu
    cdef string reason
    cdef bint usable
    with nogil:
        usable = cpp.is_available(type, &reason)
    return usable, decoded(reason)


def device_count(kind: str) -> int:
    """The number of devices of "cpu" or "cuda"."""
    return cpp.device_count(cpp.cuda if kind == "cuda" else cpp.cpu)


def emulated(kind: str) -> bool:
    """Whether the devices of "cpu" or "cuda" are emulated ones, which STATOR_EMULATE asks for."""
    return cpp.is_emulated(cpp.cuda if kind == "cuda" else cpp.cpu)


def parse_device(text: str) -> str:
    """The full name of a device: "cuda:0" for "cuda"."""
    cdef bytes encoded = to_text(text, "Device.parse", "text")
    return decoded(cpp.parse_device(<const char*>encoded).str())


def most_streams() -> int:
    """The largest number of streams that a backend can have."""
    return cpp.stream_limit


def set_jit_cache(path: str | None, size: int | None) -> None:
    """Sets CUDA_CACHE_PATH and CUDA_CACHE_MAXSIZE of the process, where they are given, before the driver starts."""
    cdef bytes folder = to_text(path or "", "Backend", "jit_cache_path")
    cdef size_t most = to_size(size, "jit_cache_size")
    cpp.set_jit_cache(string(<const char*>folder, len(folder)), most)


def shutdown() -> None:
    """Closes every open backend of Python, as its end does. Synchronises."""
    warn_of_libraries()
    with nogil:
        binding.end_binding()


cdef class Backend:
    """The base class of stator.Backend (python/stator/backend.py)."""

    def __cinit__(self, device: str = "auto", *, allow_tf32: bool = False, deterministic: bool = False,
                  check_indices: str = "lazy", memory_limit: int | None = None, memory_pool_size: int | None = None,
                  pinned_memory_limit: int | None = None, pool_policy: str = "caching", stream_pool_size: int = 8,
                  profiling: bool = False, blas_workspace_size: int | None = None, jit_cache_path: str | None = None,
                  jit_cache_size: int | None = None, require_libraries: bool | None = None,
                  allocator: object = None):
        cdef cpp.BackendOptions options
        cdef bytes name = to_text(str(device), "Backend", "device")
        cdef const char* text = name
        read_flags(&options, allow_tf32, deterministic, check_indices, pool_policy, profiling, require_libraries)
        read_sizes(&options, memory_limit, memory_pool_size, pinned_memory_limit, stream_pool_size,
                   blas_workspace_size)
        read_jit_cache(&options, jit_cache_path, jit_cache_size)
        if allocator is None:
            with nogil:
                self.c = cpp.open_backend(text, options)
        else:
            self.c = open_with_allocator(text, options, allocator)
        with nogil:
            binding.bind(self.c)
        self.type = self.c.device().type
        self.random.seed = self.random.counter = 0
        self.random_lock = RLock()  # a memory callback may draw while a draw allocates

    def __dealloc__(self):
        interop.release_later(self.c)

    # Compiled, so that an interrupt comes before or after what they do.
    def __enter__(self) -> Self:
        return add_backend(self)

    def __exit__(self, *error: object) -> None:
        remove_backend(self)
        self.close()

    def close(self) -> None:
        """Synchronises, then releases every resource of the backend, newest first. Idempotent."""
        settle()
        with nogil:
            binding.wait_before_close(self.c)
            self.c.close()
        settle()

    @property
    def closed(self) -> bool:
        """Whether close() was called."""
        return self.c.closed()

    @property
    def device_name(self) -> str:
        """The device as text: "cpu", "cuda:0", ..."""
        return decoded(self.c.device().str())

    @property
    def kernels(self) -> str:
        """The target of the kernels in use: "cuda", "host_v3", "host_checked", ..."""
        return decoded(self.c.kernels())

    @property
    def options(self) -> dict[str, Any]:
        """The options that the backend was opened with."""
        return options_as_dict(&self.c.options())

    def stream(self, stream: int | StreamLike, /, *, priority: int | None = None) -> Stream:
        """A stream of the pool by index, created at first use; `with be.stream(s):` makes it current.

        An object with __cuda_stream__ gives what streams.external() does. priority: when much work waits, that of
        streams of a higher priority, which is a lower number, begins first. InvalidValueError out of
        streams.priority_range, and for a stream that was created with another priority. None: any, and 0 for a new one.
        """
        cdef int64_t at
        cdef int number = 0
        cdef cpp.Stream out
        if isinstance(stream, Stream) or hasattr(stream, "__cuda_stream__"):
            if priority is not None:
                raise InvalidValueError("A priority for a stream that exists", op="Backend.stream",
                                        remedy="Give it with the index of a new one.")
            return as_stream(self, stream, "Backend.stream")
        if not hasattr(stream, "__index__"):
            raise wrong_type(stream, "Backend.stream", "stream",
                             "a Stream, the index of one, or an object with __cuda_stream__()")
        at = to_int(stream, "Backend.stream", "stream")
        if not 0 <= at < self.c.stream_count():
            raise InvalidValueError(f"stream={at}", op="Backend.stream",
                                    remedy=f"Pass an index from 0 to {self.c.stream_count() - 1}, or open the backend "
                                           "with a larger stream_pool_size.")
        if priority is not None:
            number = to_priority(priority, "Backend.stream")
            with nogil:
                out = self.c.stream(<int>at, number)
        else:
            with nogil:
                out = self.c.stream(<int>at)
        return new_stream(self, out)

    def synchronize(self) -> None:
        """Waits for all streams, and raises errors that kernels have recorded."""
        with nogil:
            self.c.synchronize()
        after_wait(self)

    def resources(self) -> list[dict[str, Any]]:
        """The live tracked objects: kind, bytes, age in seconds to three decimals, origin (the op) and exported."""
        cdef vector[cpp.Resource] found
        cdef size_t i
        settle()
        with nogil:
            found = self.c.resources()
        return [{"kind": decoded(found[i].kind), "bytes": found[i].bytes, "age": round(found[i].age, 3),
                 "origin": decoded(found[i].origin), "exported": found[i].exported} for i in range(found.size())]

    def _set_memory_limit(self, limit: int | None) -> None:
        cdef size_t bytes = to_size(limit, "memory_limit")
        settle()
        with nogil:
            self.c.set_memory_limit(bytes)

    def statistics(self) -> dict[str, Any]:
        """Counts of kernel launches, library calls, bytes copied and, in `calls`, each runtime call."""
        cdef cpp.Statistics s
        cdef size_t i
        with nogil:
            s = self.c.statistics()
        return {"kernel_launches": s.kernel_launches, "library_calls": s.library_calls, "h2d_bytes": s.h2d_bytes,
                "d2h_bytes": s.d2h_bytes, "d2d_bytes": s.d2d_bytes,
                "calls": {decoded(s.calls[i].first): s.calls[i].second for i in range(s.calls.size())}}

    def _forbid_host_copies(self, forbid: bool) -> None:
        cdef bint value = bool(forbid)
        with nogil:
            self.c.forbid_host_copies(value)

    @property
    def native(self) -> object:
        """A PyCapsule "stator.Context" with the C++ stator::Context*, which keeps the backend alive."""
        capsule = PyCapsule_New(<void*>self.c.context().get(), "stator.Context", forget_native)
        Py_INCREF(self)
        PyCapsule_SetContext(capsule, <void*>self)
        return capsule


cdef void forget_native(object capsule) noexcept:
    Py_DECREF(<object>PyCapsule_GetContext(capsule))


cdef class Stream:
    """Stream()\n--\n
    An ordered queue of work of one backend; `with stream:` makes it the backend's current stream."""

    def __init__(self) -> None:
        raise TypeError("Stream has no constructor. Use Backend.stream().")

    def __dealloc__(self):
        interop.release_later(self.c)

    @property
    def index(self) -> int:
        """The index in the backend's pool; for a stream of another library a number after those."""
        return self.c.index()

    @property
    def priority(self) -> int:
        """The priority: the lower the number, the higher it is."""
        return self.c.priority()

    @property
    def external(self) -> bool:
        """Whether it is a stream of another library."""
        return self.c.external()

    @property
    def native(self) -> int:
        """The cudaStream_t as an integer; an opaque address on cpu."""
        cdef uintptr_t out
        with nogil:
            out = <uintptr_t>self.c.native()
        return out

    def __cuda_stream__(self) -> tuple[int, int]:
        """The stream as cuda.core's protocol has it: (version, cudaStream_t)."""
        if self.backend is None or self.backend.type != cpp.cuda:
            raise BackendMismatchError("a cpu stream is not a CUDA stream", op="Stream.__cuda_stream__",
                                       remedy="Open a cuda backend.")
        return 0, self.native

    def record(self) -> Event:
        """An event that happens after all work enqueued so far. Asynchronous."""
        cdef Event out = Event.__new__(Event)
        if scopes_entered and self.backend is not None:
            choose_scope(self.backend)
        with nogil:
            out.c = self.c.record()
        out.backend = self.backend
        return out

    def wait(self, event: Event, /) -> None:
        """Makes later work of this stream start after the event. Asynchronous."""
        cdef Event other = as_event(event, "Stream.wait", "event")
        with nogil:
            self.c.wait(other.c)

    def add_callback(self, function: Callable[[], object], /) -> None:
        """Calls the function after all work enqueued so far; later work of the stream starts after it. Asynchronous.

        It runs on a thread of the runtime, or one that waits for the stream, and must not wait for other work of the
        device; a call of stator in it raises UnsupportedError. What it raises goes to sys.unraisablehook. close() and
        the end of the process wait for it; after a fault of the device it is dropped. An emulated device calls it when
        a thread waits for the stream.
        """
        cdef list cell = [function]
        if not callable(function):
            raise wrong_type(function, "Stream.add_callback", "function", "a function without arguments")
        Py_INCREF(cell)
        with nogil:
            interop.add_callback(self.c, <void*>cell, run_callback, drop_owner)

    def close(self) -> None:
        """Waits for a stream of another library, and releases it. InvalidValueError for the backend's own streams.

        Calls with the Stream, and ops where it is current, then raise BackendClosedError.
        """
        with nogil:
            self.c.close()
        settle()

    def __enter__(self) -> Stream:
        return add_stream(self)

    def __exit__(self, *error: object) -> None:
        remove_stream(self)

    def synchronize(self) -> None:
        """Waits for the stream, and raises an error that its kernels have recorded."""
        with nogil:
            self.c.synchronize()
        after_wait(self.backend)

    def done(self) -> bool:
        """Whether all work of the stream has finished. Does not wait."""
        cdef bint out
        with nogil:
            out = self.c.done()
        return out

    def __await__(self) -> AwaitGenerator[Any, Any, None]:
        """`await stream` waits as synchronize() does, on another thread, so that the event loop goes on."""
        return waiting(self)

    def __eq__(self, other: object) -> bool:
        return (isinstance(other, Stream) and (<Stream>other).backend is self.backend
                and (<Stream>other).c.index() == self.c.index())

    def __hash__(self) -> int:
        return hash((id(self.backend), self.c.index()))

    def __repr__(self) -> str:
        return f"<stator.Stream {self.index} of {'no backend' if self.backend is None else self.backend.device_name}>"


libraries.keep_library_warnings(True)
