# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=python
# cython: annotation_typing=False, freethreading_compatible=True
"""Reductions, made from the op table."""
from cpython.object cimport PyObject

from stator._array cimport Array, as_array, as_out, new_array
from stator._backend cimport enter
from stator._convert cimport to_axes, to_dtype
from stator._function cimport Row, make_functions, sort_arguments
from stator.cpp cimport backend as cpp_backend
from stator.cpp cimport op_table, reductions

cdef tuple keywords = ("axis", "keepdims", "dtype", "out")


cdef object call_reduce(object self, PyObject* const* args, Py_ssize_t count, PyObject* names):
    cdef Row row = <Row>self
    cdef PyObject* options[4]
    cdef reductions.ReduceOptions reduce_options
    cdef cpp_backend.Stream stream
    cdef Array x, result
    options[0] = options[1] = options[2] = options[3] = <PyObject*>None
    sort_arguments(row, args, count, names, 1, keywords, options)
    x = as_array(<object>args[0], row.name)
    to_axes(<object>options[0], reduce_options.axes, row.name)
    reduce_options.keepdims = bool(<object>options[1])
    to_dtype(<object>options[2], reduce_options.dtype)
    reduce_options.out = as_out(<object>options[3], row.name)
    enter(x.backend, stream)
    result = new_array(x.backend)
    with nogil:
        result.c = reductions.reduce(row.op, x.c, reduce_options, stream)
    return result if reduce_options.out == NULL else <object>options[3]


functions = make_functions(
    <int>op_table.reduce, call_reduce, "(x, /, *, axis=None, keepdims=False, dtype=None, out=None)",
    "{oracle} over an axis, several, or all of them; a 0-d array where none is left. Asynchronous.\n\n"
    "dtype: of the accumulation and the result.")
