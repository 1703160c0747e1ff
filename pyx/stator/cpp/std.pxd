# The parts of the standard library that are used here. Cython reads its own, complete declarations again for every
# module
# that uses one, which took four tenths of its time. Conversions to Python still work, since they go by the C++ name.
from libcpp cimport bool as cbool

from stator.cpp.error cimport translate_exception


cdef extern from "<string>" namespace "std" nogil:
    cdef cppclass string:
        string()
        string(const char*, size_t) except +translate_exception
        const char* data()
        size_t size()

cdef extern from "<string_view>" namespace "std" nogil:
    cdef cppclass string_view:
        string_view()
        string_view(const char*)
        string_view(const char*, size_t)
        const char* data()
        size_t size()

cdef extern from "<vector>" namespace "std" nogil:
    cdef cppclass vector[T]:
        vector()
        vector& operator=(const vector&) except +translate_exception
        vector(size_t, const T&) except +translate_exception
        T& operator[](size_t)
        T* data()
        size_t size()
        cbool empty()
        void clear()
        void push_back(const T&) except +translate_exception
        void reserve(size_t) except +translate_exception

cdef extern from "<optional>" namespace "std" nogil:
    cdef cppclass optional[T]:
        optional()
        optional& operator=(const optional&) except +translate_exception
        optional(const T&) except +translate_exception
        T& value() except +translate_exception

cdef extern from "<utility>" namespace "std" nogil:
    cdef cppclass pair[T, U]:
        T first
        U second
        pair()
        pair(const T&, const U&)


# Not s.decode(), which Cython gives a copy of the string, made where no handler sees that it fails.
cdef inline str decoded(const string& s):
    return s.data()[:s.size()].decode()
