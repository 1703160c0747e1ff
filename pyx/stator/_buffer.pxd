from libc.stdint cimport uintptr_t

from stator._dtype cimport DType
from stator.cpp.array cimport Array
from stator.cpp.dtype cimport DType as CppDType

# All of the view but its owner; BufferError where NumPy cannot share the memory.
cdef int fill_buffer(const Array& array, Py_buffer* view, int flags) except -1
cdef void release_buffer(const Array& array, Py_buffer* view) noexcept
# A new NumPy array, and the address of its memory.
cdef object host_array(tuple shape, DType dtype, uintptr_t* address)
