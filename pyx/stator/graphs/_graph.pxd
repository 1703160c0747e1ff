from stator._backend cimport Backend, Stream
from stator.cpp cimport graph as cpp


cdef class Graph:
    cdef cpp.Graph c
    cdef readonly Backend backend
    cdef bint captured
    cdef object recording  # a Recorder, or None
    cdef list draws  # CapturedDraws, for each generator
    cdef object __weakref__
