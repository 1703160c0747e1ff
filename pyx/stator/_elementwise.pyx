# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=python
# cython: annotation_typing=False, freethreading_compatible=True
"""Elementwise functions, made from the op table."""
from cpython.object cimport PyObject

from stator._array cimport as_array, binary_op, unary_op
from stator._function cimport Row, make_functions, sort_arguments
from stator.cpp cimport op_table

cdef tuple keywords = ("dtype", "out")


cdef object call_unary(object self, PyObject* const* args, Py_ssize_t count, PyObject* names):
    cdef Row row = <Row>self
    cdef PyObject* options[2]
    options[0] = options[1] = <PyObject*>None
    sort_arguments(row, args, count, names, 1, keywords, options)
    return unary_op(row.op, as_array(<object>args[0], row.name), <object>options[0], <object>options[1])


cdef object call_binary(object self, PyObject* const* args, Py_ssize_t count, PyObject* names):
    cdef Row row = <Row>self
    cdef PyObject* options[2]
    options[0] = options[1] = <PyObject*>None
    sort_arguments(row, args, count, names, 2, keywords, options)
    return binary_op(row.op, <object>args[0], <object>args[1], <object>options[0], <object>options[1])


functions = make_functions(
    <int>op_table.unary, call_unary, "(x, /, *, dtype=None, out=None)",
    "{oracle} of each element. Asynchronous.\n\n"
    "dtype: of a floating result, rounded once. out: of the exact shape; may be x itself.")
functions.update(make_functions(
    <int>op_table.binary, call_binary, "(x1, x2, /, *, dtype=None, out=None)",
    "{oracle} of each pair of elements, with broadcasting; one side may be a number. Asynchronous.\n\n"
    "dtype: of a floating result, rounded once. out: of the exact shape; may be x1 or x2."))
