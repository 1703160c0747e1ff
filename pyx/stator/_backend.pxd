from stator.cpp cimport backend as cpp
from stator.cpp.random cimport State


cdef class Backend:
    cdef cpp.Backend c
    cdef cpp.DeviceType type
    cdef State random         # the state of its generator (stator._random), guarded by random_lock
    cdef object random_lock
    cdef object __weakref__

cdef class Stream:
    cdef cpp.Stream c
    cdef readonly Backend backend
    cdef object __weakref__

cdef class Event:
    cdef cpp.Event c
    cdef readonly Backend backend

# Called by every op first: releases foreign owners, and sets `stream` to the backend's current stream.
cdef int enter(Backend backend, cpp.Stream& stream) except -1
# Sets `stream` to that of a call's argument: of a Stream of the backend, or an object with __cuda_stream__; to the
# current stream for None.
cdef int enter_stream(Backend backend, object value, cpp.Stream& stream, str op) except -1
# Releases everything that is no longer used, including foreign owners.
cdef int settle() except -1
# The backend of a Backend, a Device or a string, which is an argument of the op; the current backend for None.
cdef Backend resolve(object device, str op=*)
# The value as a Backend, DTypeError otherwise.
cdef Backend as_backend(object value, str op)
# Called after a synchronising call: warns if an integer was divided by zero.
cdef int after_wait(Backend backend) except -1
# Gives the warnings about libraries that are waiting, as RuntimeWarning.
cdef int warn_of_libraries() except -1
# Lets go of a Python object that C++ owned; the `release` of the functions of interop.hpp.
cdef void drop_owner(void* owner) noexcept with gil
# After binding.let_go() of interop allowed it.
cdef void release_shared() noexcept
