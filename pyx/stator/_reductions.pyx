# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=python
# cython: annotation_typing=False, freethreading_compatible=True
"""Reductions, made from the op table."""
from cpython.object cimport PyObject

from stator._array cimport Array, as_array, as_out, new_array
from stator._backend cimport enter
from stator._convert cimport to_axes, to_dtype
from stator._function cimport Row, make_function, sort_arguments, text
from stator.cpp cimport backend as cpp_backend
from stator.cpp cimport op_table, reductions

from stator.errors import DTypeError


cdef double to_number(object value, str op, str what) except? -1:
    try:
        return value
    except TypeError:
        raise DTypeError(f"{what}={value!r} is not a number", op=op, remedy="Pass a float.") from None


cdef tuple keywords = ("axis", "keepdims", "dtype", "out", "where", None)


cdef object call_reduce(object self, PyObject* const* args, Py_ssize_t count, PyObject* names):
    cdef Row row = <Row>self
    cdef PyObject* options[6]
    cdef reductions.ReduceOptions reduce_options
    cdef cpp_backend.Stream stream
    cdef Array x, result
    cdef int k
    for k in range(5):
        options[k] = <PyObject*>None
    options[5] = <PyObject*>row.defaults[0]
    sort_arguments(row, args, count, names, 1, row.keywords, options)
    x = as_array(<object>args[0], row.name)
    to_axes(<object>options[0], reduce_options.axes, row.name)
    reduce_options.keepdims = bool(<object>options[1])
    to_dtype(<object>options[2], reduce_options.dtype)
    reduce_options.out = as_out(<object>options[3], row.name)
    reduce_options.where = as_out(<object>options[4], row.name)
    reduce_options.parameter = to_number(<object>options[5], row.name, row.keywords[5])
    enter(x.backend, stream)
    result = new_array(x.backend)
    with nogil:
        result.c = reductions.reduce(row.op, x.c, reduce_options, stream)
    return result if reduce_options.out == NULL else <object>options[3]


# The number that an op takes besides, with its default.
cdef dict parameters = {"var": ("correction", 0.0), "std": ("correction", 0.0), "vector_norm": ("ord", 2)}


cdef dict make_reductions():
    cdef dict out = {}
    cdef int i
    cdef const op_table.OpInfo* info
    for i in range(op_table.op_count):
        info = &op_table.op_info(<op_table.Op>i)
        if <int>info.shape_class != <int>op_table.reduce:
            continue
        name, default = parameters.get(text(info.name), (None, 0.0))
        extra = f"{name}={default}, " if name else ""
        out[text(info.call)] = make_function(
            i, call_reduce, f"(x, /, *, axis=None, {extra}keepdims=False, dtype=None, out=None, where=None)",
            "{oracle} over an axis, several, or all of them; a 0-d array where none is left. Asynchronous.\n\n"
            "dtype: of the accumulation and the result. where: a bool array that broadcasts to x; only elements where "
            "it is True count, and over none the result is the identity.",
            1, (*keywords[:5], name), (default,))
    return out


functions = make_reductions()
