# stator/programs/prepare.hpp
from stator.cpp.backend cimport Backend, Stream
from stator.cpp.error cimport translate_exception
from stator.cpp.op_table cimport Op
from stator.cpp.std cimport vector


cdef extern from "stator/programs/prepare.hpp" namespace "stator" nogil:
    void prepare(const Backend&, const vector[Op]&, const Stream&) except +translate_exception
