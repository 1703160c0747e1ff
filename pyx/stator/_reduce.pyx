# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
# cython: annotation_typing=False, freethreading_compatible=True
"""Reductions, generated from the op table, and their gradients."""
from stator._array cimport Array, as_array, as_out, new_array, plain_or_other
from stator._backend cimport enter
from stator._convert cimport to_axes, to_dims, to_dtype, to_flag, to_float
from stator._function cimport TableFunction, make_function, named_operands, sort_arguments, text
from stator.cpp cimport op_table, reduce
from stator.cpp.backend cimport Stream as CppStream
from stator.cpp.python cimport PyObject
from stator.cpp.ref cimport Dims


cdef tuple keywords = ("axis", "keepdims", "dtype", "out", "where", None)


cdef object call_reduce(object self, PyObject* const* args, Py_ssize_t count, PyObject* names):
    cdef TableFunction f = <TableFunction>self
    cdef PyObject* options[7]
    cdef reduce.ReduceOptions reduce_options
    cdef CppStream stream
    cdef Array x, result
    cdef int k
    for k in range(5):
        options[k] = <PyObject*>None
    options[5] = <PyObject*>f.defaults[0]
    options[6] = <PyObject*>None
    sort_arguments(f, args, count, names, 2 if count == 2 else 1, f.keywords, options)
    if count == 2:
        if options[0] != <PyObject*>None:
            raise TypeError(f"{f.name}() got two values for 'axis'")
        options[0] = args[1]
    x = as_array(<object>args[0], f.name)
    to_axes(<object>options[0], reduce_options.axes, f.name)
    reduce_options.keepdims = options[1] != <PyObject*>None and to_flag(<object>options[1], f.name, "keepdims")
    to_dtype(<object>options[2], reduce_options.dtype, f.name)
    reduce_options.out = as_out(<object>options[3], f.name)
    mask = plain_or_other(<object>options[4])
    reduce_options.where = as_out(mask, f.name, "where")
    if options[6] != <PyObject*>None:
        reduce_options.parameter = to_float(<object>options[6], f.name, "ddof")
    else:
        reduce_options.parameter = to_float(<object>options[5], f.name, f.keywords[5])
    enter(x.backend, stream)
    result = new_array(x.backend)
    with nogil:
        result.c = reduce.reduce(f.op, x.c, reduce_options, stream)
    return result if reduce_options.out == NULL else <object>options[3]


cdef dict make_reductions():
    cdef dict out = {}
    cdef int i
    cdef const op_table.OpInfo* info
    for i in range(op_table.op_count):
        info = &op_table.op_info(<op_table.Op>i)
        if <int>info.shape_class != <int>op_table.reduce:
            continue
        name, default, extra, ddof = None, 0.0, "", None
        if info.operands.size():  # the op takes a number besides x
            (_, name), given = named_operands(info)
            default = given[name]
            extra = f"{name}={default}, "
            ddof = "ddof" if name == "correction" else None
        out[text(info.call)] = make_function(
            i, call_reduce, f"(x, /, axis=None, *, {extra}keepdims=False, dtype=None, out=None, where=None"
            f"{', ddof=None' if ddof else ''})",
            "Over one axis, several, or all of them (None); a 0-d array where no axis is left. Asynchronous.\n\n"
            "keepdims: reduced axes stay, with length 1. dtype: of the accumulation and the result. out: an array of "
            "the result's shape. where: a bool array that broadcasts to x; only elements where it is True count, and "
            "where none do the result is the identity." + (
                " ddof: NumPy's name of correction." if ddof else ""),
            1, (*keywords[:5], name, ddof), (default,))
    return out


functions = make_reductions()


cdef int to_reduction(object axis, object keepdims, reduce.ReductionGradientOptions& out, str op) except -1:
    to_axes(axis, out.axes, op)
    out.keepdims = to_flag(keepdims, op, "keepdims")
    return 0


def sum_backward(grad: Array, shape: int | Sequence[int], /, axis: int | Sequence[int] | None = None,
                 keepdims: bool = False) -> Array:
    """The gradient of sum's x: grad repeated to x's shape. Asynchronous.

    shape: that of x. axis and keepdims: those of sum. grad has the shape of sum's result.
    """
    cdef Array g = as_array(grad, "nn.sum_backward")
    cdef Array out = new_array(g.backend)
    cdef reduce.ReductionGradientOptions options
    cdef Dims dims
    cdef CppStream stream
    to_reduction(axis, keepdims, options, "nn.sum_backward")
    to_dims(shape, dims, "nn.sum_backward")
    enter(g.backend, stream)
    with nogil:
        out.c = reduce.sum_backward(g.c, dims, options, stream)
    return out


def mean_backward(grad: Array, shape: int | Sequence[int], /, axis: int | Sequence[int] | None = None,
                  keepdims: bool = False) -> Array:
    """The gradient of mean's x: grad over the number of elements, repeated to x's shape. Asynchronous.

    shape: that of x. axis and keepdims: those of mean. grad has the shape of mean's result.
    """
    cdef Array g = as_array(grad, "nn.mean_backward")
    cdef Array out = new_array(g.backend)
    cdef reduce.ReductionGradientOptions options
    cdef Dims dims
    cdef CppStream stream
    to_reduction(axis, keepdims, options, "nn.mean_backward")
    to_dims(shape, dims, "nn.mean_backward")
    enter(g.backend, stream)
    with nogil:
        out.c = reduce.mean_backward(g.c, dims, options, stream)
    return out


def prod_backward(grad: Array, x: Array, /, axis: int | Sequence[int] | None = None,
                  keepdims: bool = False) -> Array:
    """The gradient of prod's x: grad times the product of the other elements. Asynchronous.

    It is correct for any number of zeros. grad and x have the same floating dtype. axis and keepdims: those of prod.
    grad has the shape of prod's result.
    """
    cdef Array g = as_array(grad, "nn.prod_backward"), source = as_array(x, "nn.prod_backward")
    cdef Array out = new_array(g.backend)
    cdef reduce.ReductionGradientOptions options
    cdef CppStream stream
    to_reduction(axis, keepdims, options, "nn.prod_backward")
    enter(g.backend, stream)
    with nogil:
        out.c = reduce.prod_backward(g.c, source.c, options, stream)
    return out
