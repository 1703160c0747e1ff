# The parts of the standard library that are used here. Cython reads its own, complete declarations again for every
# module
# that uses one, which took four tenths of its time. Conversions to Python still work, since they go by the C++ name.
from libcpp cimport bool as cbool


cdef extern from "<string>" namespace "std" nogil:
    cdef cppclass string:
        string()
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
        vector(size_t, const T&) except +
        T& operator[](size_t)
        T* data()
        size_t size()
        cbool empty()
        void clear()
        void push_back(const T&) except +
        void reserve(size_t) except +

cdef extern from "<optional>" namespace "std" nogil:
    cdef cppclass optional[T]:
        optional()
        optional(const T&)
        T& value() except +

cdef extern from "<utility>" namespace "std" nogil:
    cdef cppclass pair[T, U]:
        T first
        U second
        pair()
        pair(const T&, const U&)
