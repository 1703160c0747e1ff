# stator/version.hpp
cdef extern from "stator/version.hpp" namespace "stator" nogil:
    cdef cppclass BuildInfo:
        const char* version
        bint cuda
        const char* compiler
        const char* machine_code

    BuildInfo build_info()
