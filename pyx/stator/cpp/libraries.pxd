# stator/libraries.hpp
from libcpp cimport bool as cbool

from stator.cpp.error cimport translate_exception
from stator.cpp.std cimport string, string_view, vector


cdef extern from "stator/libraries.hpp" namespace "stator" nogil:
    cdef cppclass LibraryInfo:
        string name, path, version, remedy, substitute, wheel_file
        cbool found

    vector[LibraryInfo] libraries(cbool) except +translate_exception
    void set_library_path(string_view, string_view) except +translate_exception
    void keep_library_warnings(cbool) except +translate_exception
    cbool library_warnings_waiting() noexcept
    vector[string] take_library_warnings() except +translate_exception
