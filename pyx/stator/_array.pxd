from stator._backend cimport Backend
from stator.cpp cimport array as cpp
from stator.cpp.backend cimport Stream as CppStream
from stator.cpp.dtype cimport DType as CppDType
from stator.cpp.op_table cimport Op
from stator.cpp.python cimport PyObject


cdef class Array:
    cdef cpp.Array c
    cdef readonly Backend backend
    cdef bint lent  # __cuda_array_interface__ has exported the memory
    cdef object __weakref__

ctypedef object (*Redirection)(str, tuple, dict)

# Gives the operators to another function, or with null back to themselves.
cdef void set_redirection(Redirection to) noexcept
# An empty Array object of the backend, its C++ array to be filled in.
cdef Array new_array(Backend backend)
# An Array of that C++ array.
cdef Array wrap_array(Backend backend, const cpp.Array& array)
# The value as an Array that an op may read, DTypeError otherwise.
cdef Array as_array(object value, str op)
# The same without plain(): for views, and for what is written.
cdef Array as_given(object value, str op)
# Every byte of a bool but 0 is true: the array itself, or one of 0 and 1 where its bytes may differ. Asynchronous.
cdef Array plain(Array x)
# Whether what may be a view of x is a copy of bytes that plain() would read.
cdef bint has_copied_bytes(Array x, Array out) noexcept
cdef object plain_or_other(object value)  # of a parameter that may also be None
# The C++ array of `out` or another optional parameter, null for None.
cdef const cpp.Array* as_out(object out, str op, str name=*) except? NULL
# The op of a table entry; out and dtype may be None. binary_op takes a Python number on one side.
cdef Array unary_op(Op op, Array x, object dtype, object out)
cdef Array binary_op(Op op, object a, object b, object dtype, object out)
# Operands are Arrays and Python numbers.
cdef Array elementwise_op(Op op, PyObject* const* values, int count, object dtype, object out)
cdef Array matmul_op(Array a, Array b, object dtype, object compute_dtype, object out)
cdef Array take_op(Array x, Array indices, object axis, object out)
cdef Array reshape_op(Array x, object shape, object copy)
cdef Array astype_op(Array x, object dtype, bint copy, str op=*)
