from stator.cpp cimport backend as cpp
from stator.cpp.random cimport State


cdef class Backend:
    cdef cpp.Backend c
    cdef cpp.DeviceType type
    cdef State random         # of stator._random, guarded by random_lock
    cdef object random_lock
    cdef object __weakref__

cdef class Stream:
    cdef cpp.Stream c
    cdef readonly Backend backend
    cdef object __weakref__

cdef class Event:
    cdef cpp.Event c
    cdef readonly Backend backend

# Every call enters here: `stream` becomes the current one of the backend.
cdef int enter(Backend backend, cpp.Stream& stream) except -1
# Frees what nobody holds any more, here and with foreign owners.
cdef int settle() except -1
# A Backend, a Device or a string, or None for the current backend.
cdef Backend resolve(object device)
# After a synchronising call.
cdef int after_wait(Backend backend) except -1
