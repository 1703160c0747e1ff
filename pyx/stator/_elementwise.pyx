# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
# cython: annotation_typing=False, freethreading_compatible=True
"""Elementwise functions, most of them generated from the op table."""
from collections import namedtuple

import numpy as np

from libc.stdint cimport int64_t
from libcpp cimport bool as cbool

from stator._array cimport Array, as_array, binary_op, elementwise_op, new_array, unary_op, wrap_array
from stator._backend cimport enter
from stator._convert cimport to_choice, to_int
from stator._function cimport TableFunction, make_function, make_functions, named_operands, sort_arguments, text
from stator.cpp cimport elementwise, op_table
from stator.cpp.backend cimport Stream as CppStream
from stator.cpp.dtype cimport bool_
from stator.cpp.python cimport PyObject

from stator.errors import DTypeError, StatorError, renamed

Fractions = namedtuple("Fractions", ("mantissa", "exponent"), module="stator._elementwise")

cdef tuple keywords = ("dtype", "out")
cdef tuple add_keywords = ("dtype", "out", "alpha")


# Parameters are numbers that do not count in promotion.
cdef object as_parameter(object value):
    return value.item() if isinstance(value, np.generic) else value


cdef object call_unary(object self, PyObject* const* args, Py_ssize_t count, PyObject* names):
    cdef TableFunction f = <TableFunction>self
    cdef PyObject* options[2]
    options[0] = options[1] = <PyObject*>None
    sort_arguments(f, args, count, names, 1, keywords, options)
    return unary_op(f.op, as_array(<object>args[0], f.name), <object>options[0], <object>options[1])


cdef object call_binary(object self, PyObject* const* args, Py_ssize_t count, PyObject* names):
    cdef TableFunction f = <TableFunction>self
    cdef PyObject* options[2]
    options[0] = options[1] = <PyObject*>None
    sort_arguments(f, args, count, names, 2, keywords, options)
    return binary_op(f.op, <object>args[0], <object>args[1], <object>options[0], <object>options[1])


cdef object call_add(object self, PyObject* const* args, Py_ssize_t count, PyObject* names):
    cdef TableFunction f = <TableFunction>self
    cdef PyObject* options[3]
    cdef PyObject* operands[3]
    options[0] = options[1] = options[2] = <PyObject*>None
    sort_arguments(f, args, count, names, 2, add_keywords, options)
    if options[2] == <PyObject*>None:
        return binary_op(f.op, <object>args[0], <object>args[1], <object>options[0], <object>options[1])
    alpha = as_parameter(<object>options[2])
    operands[0] = args[0]
    operands[1] = args[1]
    operands[2] = <PyObject*>alpha
    return elementwise_op(op_table.add_scaled, operands, 3, <object>options[0], <object>options[1])


cdef object call_many(object self, PyObject* const* args, Py_ssize_t count, PyObject* names):
    # Operands with defaults may be passed by name.
    cdef TableFunction f = <TableFunction>self
    cdef PyObject* values[6]
    cdef list kept = None  # parameters made here, which the values point to
    cdef Py_ssize_t i, k, required = f.operands - len(f.defaults)
    if count < required or count > f.operands:
        raise TypeError(f"{f.short_name.decode()}() takes {required} to {f.operands} positional arguments but "
                        f"{count} were given")
    for i in range(count):
        values[i] = args[i]
    for i in range(count, f.operands):
        values[i] = <PyObject*>f.defaults[i - required]
    values[f.operands] = values[f.operands + 1] = <PyObject*>None
    for i in range(0 if names == NULL else len(<tuple>names)):
        name = (<tuple>names)[i]
        for k in range(len(f.keywords)):
            if name == f.keywords[k]:
                if required + k < count:
                    raise TypeError(f"{f.short_name.decode()}() got two values for {name!r}")
                values[required + k] = args[count + i]
                break
        else:
            raise TypeError(f"{f.short_name.decode()}() got an unexpected keyword argument {name!r}")
    for i in range(required, f.operands):
        parameter = as_parameter(<object>values[i])
        if <PyObject*>parameter != values[i]:
            kept = [] if kept is None else kept
            kept.append(parameter)
            values[i] = <PyObject*>parameter
    return elementwise_op(f.op, values, f.operands, <object>values[f.operands], <object>values[f.operands + 1])


cdef tuple array_names = (("x",), ("x1", "x2"), ("x1", "x2", "x3"), ("x1", "x2", "x3", "x4"))
cdef str asynchronous = "Elementwise{broadcasting}. Asynchronous.\n\n" \
    "dtype: the dtype of the result; a floating result is rounded once. out: an array of the result's shape, which " \
    "may be {operand}."


cdef dict make_many():
    # Entries of three and four operands, and those that name their operands.
    cdef dict out = {}
    cdef const op_table.OpInfo* info
    cdef int i
    arity = {<int>op_table.unary: 1, <int>op_table.binary: 2, <int>op_table.ternary: 3, <int>op_table.select: 3,
             <int>op_table.quaternary: 4}
    for i in range(op_table.op_count):
        info = &op_table.op_info(<op_table.Op>i)
        name, path, count = text(info.name), text(info.call), arity.get(<int>info.shape_class)
        if count is None or path.rpartition(".")[2] != name:
            continue
        arrays, given = named_operands(info) if info.operands.size() else ((), {})
        backward = name.endswith("_backward")
        if count < 3 and not arrays and not backward:
            continue
        if not arrays:
            arrays = ("grad", "x", "min", "max")[:count] if backward else array_names[count - 1]
        options = "".join(f", {k}={v}" for k, v in given.items())
        out[path] = make_function(
            i, call_many, f"({', '.join(arrays[:count - len(given)])}, /{options}, *, dtype=None, out=None)",
            asynchronous.format(broadcasting=", with broadcasting; operands are arrays or numbers",
                                operand="an operand"),
            count, (*given, *keywords), tuple(given.values()))
    return out


functions = make_functions(<int>op_table.unary, call_unary, "(x, /, *, dtype=None, out=None)",
                           asynchronous.format(broadcasting="", operand="x itself"))
functions.update(make_functions(
    <int>op_table.binary, call_binary, "(x1, x2, /, *, dtype=None, out=None)",
    asynchronous.format(broadcasting=", with broadcasting; one side may be a number", operand="x1 or x2")))
functions.update(make_many())
functions["add"] = make_function(
    <int>op_table.add, call_add, "(x1, x2, /, *, alpha=None, dtype=None, out=None)",
    "With alpha, x1 + alpha * x2, rounded once. " +
    asynchronous.format(broadcasting=", with broadcasting; one side may be a number", operand="x1 or x2"))
for by_hand in ("nn.gelu", "nn.gelu_backward", "clip", "nan_to_num"):
    del functions[by_hand]


cdef tuple gelu_forms = ("none", "tanh", "sigmoid")


def gelu(x: Array, /, *, approximate: str = "none", dtype: DTypeLike | None = None, out: Array | None = None) -> Array:
    """x * Phi(x), with Phi the normal distribution function. Elementwise, floating dtypes. Asynchronous.

    approximate: "none" computes Phi by erf, "tanh" by its tanh approximation, "sigmoid" as sigmoid(1.702 x). dtype: the
    dtype of the result. out: an array of x's shape, which may be x itself.
    """
    cdef int form = to_choice(approximate, gelu_forms, "nn.gelu", "approximate")
    cdef op_table.Op op = op_table.gelu
    if form > 0:
        op = op_table.gelu_tanh if form == 1 else op_table.gelu_sigmoid
    return unary_op(op, as_array(x, "nn.gelu"), dtype, out)


def gelu_backward(grad: Array, x: Array, /, *, approximate: str = "none", dtype: DTypeLike | None = None,
                  out: Array | None = None) -> Array:
    """The gradient of gelu's x; approximate is that of gelu. Elementwise. Asynchronous.

    grad and x broadcast. dtype: the dtype of the result. out: an array of the result's shape, which may be grad or x.
    """
    cdef int form = to_choice(approximate, gelu_forms, "nn.gelu_backward", "approximate")
    cdef op_table.Op op = op_table.gelu_backward
    if form > 0:
        op = op_table.gelu_tanh_backward if form == 1 else op_table.gelu_sigmoid_backward
    return binary_op(op, grad, x, dtype, out)


cdef Array unchanged(Array x, object out, str op):
    if x.c.dtype() == bool_:
        raise DTypeError("The array has dtype bool", op=op, remedy="Convert it with astype first.")
    try:
        return unary_op(op_table.positive, x, None, out)
    except StatorError as error:
        raise renamed(error, op) from None


def clip(x: Array, /, min: Array | complex | None = None, max: Array | complex | None = None, *,
         out: Array | None = None) -> Array:
    """x limited to the range from min to max, with broadcasting. Asynchronous.

    min, max: arrays or numbers; None means no bound. Real dtypes; NaN stays NaN. out: an array of the result's shape.

    >>> stator.clip(stator.asarray([-1, 5, 12]), 0, 10).tolist()
    [0, 5, 10]
    """
    return between(as_array(x, "clip"), min, max, out)


cdef Array between(Array x, object low, object high, object out):
    cdef PyObject* operands[3]
    if low is None and high is None:
        return unchanged(x, out, "clip")
    if low is None or high is None:
        try:
            return binary_op(op_table.minimum if low is None else op_table.maximum, x, high if low is None else low,
                             None, out)
        except StatorError as error:
            raise renamed(error, "clip") from None
    operands[0], operands[1], operands[2] = <PyObject*>x, <PyObject*>low, <PyObject*>high
    return elementwise_op(op_table.clip, operands, 3, None, out)


cdef dict largest = {"float16": 65504.0, "bfloat16": 3.3895313892515355e38, "float32": 3.4028234663852886e38,
                     "complex64": 3.4028234663852886e38, "float64": 1.7976931348623157e308,
                     "complex128": 1.7976931348623157e308}


def nan_to_num(x: Array, /, *, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None,
               out: Array | None = None) -> Array:
    """x with NaN and infinities replaced by numbers. Elementwise. Asynchronous.

    nan: in place of NaN. posinf, neginf: in place of the infinities; None is the largest finite number of x's dtype and
    its negative. Dtypes without NaN are copied. out: an array of x's shape, which may be x itself.

    >>> stator.nan_to_num(stator.asarray([float("nan"), 1.0])).tolist()
    [0.0, 1.0]
    """
    cdef PyObject* operands[4]
    cdef Array source = as_array(x, "nan_to_num")
    kind = source.dtype.name
    if kind not in largest:
        return unchanged(source, out, "nan_to_num")
    nan = as_parameter(nan)
    high = largest[kind] if posinf is None else as_parameter(posinf)
    low = -largest[kind] if neginf is None else as_parameter(neginf)
    operands[0], operands[1] = <PyObject*>source, <PyObject*>nan
    operands[2], operands[3] = <PyObject*>high, <PyObject*>low
    return elementwise_op(op_table.nan_to_num, operands, 4, None, out)


def frexp(x: Array, /) -> Fractions:
    """The parts of x = mantissa * 2**exponent; the mantissa is in [0.5, 1), or its negative.

    Elementwise, floating dtypes, exact. The mantissa has x's dtype, the exponent int32; zeros, infinities and NaN are
    their own mantissas, with exponent 0. Asynchronous.

    >>> mantissa, exponent = stator.frexp(stator.asarray([6.0]))
    >>> mantissa.tolist(), exponent.tolist()
    ([0.75], [3])
    """
    cdef Array source = as_array(x, "frexp")
    cdef Array mantissa = new_array(source.backend), exponent = new_array(source.backend)
    cdef elementwise.Fractions found
    cdef CppStream stream
    enter(source.backend, stream)
    with nogil:
        found = elementwise.frexp(source.c, stream)
        mantissa.c = found.mantissa
        exponent.c = found.exponent
    return Fractions(mantissa, exponent)


cdef tuple geglu_forms = gelu_forms[:2]


def glu(x: Array, /, axis: int = -1) -> Array:
    """a * sigmoid(b), where a and b are the first and the second half of x along an axis. Asynchronous.

    x is floating, of an even extent along the axis: ShapeError. Dauphin et al., Language Modeling with Gated
    Convolutional Networks (2017).

    >>> import stator
    >>> stator.nn.glu(stator.Backend("cpu").asarray([3.0, 0.0])).to_numpy().tolist()
    [1.5]
    """
    cdef Array source = as_array(x, "nn.glu"), out = new_array(source.backend)
    cdef int64_t along = to_int(axis, "nn.glu")
    cdef CppStream stream
    enter(source.backend, stream)
    with nogil:
        out.c = elementwise.glu(source.c, along, stream)
    return out


def glu_backward(grad: Array, x: Array, /, axis: int = -1) -> Array:
    """The gradient of glu's x; grad has the shape of the result and x's dtype. Asynchronous."""
    cdef Array g = as_array(grad, "nn.glu_backward"), source = as_array(x, "nn.glu_backward")
    cdef Array out = new_array(g.backend)
    cdef int64_t along = to_int(axis, "nn.glu_backward")
    cdef CppStream stream
    enter(g.backend, stream)
    with nogil:
        out.c = elementwise.glu_backward(g.c, source.c, along, stream)
    return out


def swiglu(gate: Array, up: Array | None = None, /, axis: int = -1) -> Array:
    """silu(gate) * up, with silu(x) = x * sigmoid(x). Asynchronous.

    gate and up have one shape and one floating dtype: ShapeError, DTypeError. Without up, gate and up are
    the first and the second half of the one array along an axis of even extent. Shazeer, GLU Variants Improve
    Transformer (2020).

    >>> import stator
    >>> be = stator.Backend("cpu")
    >>> stator.nn.swiglu(be.asarray([0.0, 2.0]), be.asarray([5.0, 0.0])).to_numpy().tolist()
    [0.0, 0.0]
    """
    cdef Array a = as_array(gate, "nn.swiglu"), out = new_array(a.backend)
    cdef Array b = None if up is None else as_array(up, "nn.swiglu")
    cdef int64_t along = to_int(axis, "nn.swiglu")
    cdef CppStream stream
    enter(a.backend, stream)
    if b is None:
        with nogil:
            out.c = elementwise.swiglu(a.c, along, stream)
    else:
        with nogil:
            out.c = elementwise.swiglu(a.c, b.c, stream)
    return out


def swiglu_backward(grad: Array, gate: Array, up: Array | None = None, /,
                    axis: int = -1) -> Array | tuple[Array, Array]:
    """The gradients of swiglu's gate and up, or of its one array. Asynchronous.

    grad has the shape of the result; all arrays have one dtype.
    """
    cdef Array g = as_array(grad, "nn.swiglu_backward"), a = as_array(gate, "nn.swiglu_backward")
    cdef Array b = None if up is None else as_array(up, "nn.swiglu_backward")
    cdef Array out = new_array(g.backend)
    cdef int64_t along = to_int(axis, "nn.swiglu_backward")
    cdef elementwise.GatedGradients found
    cdef CppStream stream
    enter(g.backend, stream)
    if b is None:
        with nogil:
            out.c = elementwise.swiglu_backward(g.c, a.c, along, stream)
        return out
    with nogil:
        found = elementwise.swiglu_backward(g.c, a.c, b.c, stream)
    return wrap_array(g.backend, found.gate), wrap_array(g.backend, found.up)


def geglu(gate: Array, up: Array | None = None, /, axis: int = -1, *, approximate: str = "none") -> Array:
    """gelu(gate) * up. Asynchronous.

    The arguments are those of swiglu; approximate, "none" or "tanh", is that of gelu.

    >>> import stator
    >>> stator.nn.geglu(stator.Backend("cpu").asarray([0.0, 7.0])).to_numpy().tolist()
    [0.0]
    """
    cdef Array a = as_array(gate, "nn.geglu"), out = new_array(a.backend)
    cdef Array b = None if up is None else as_array(up, "nn.geglu")
    cdef int64_t along = to_int(axis, "nn.geglu")
    cdef cbool tanh = to_choice(approximate, geglu_forms, "nn.geglu", "approximate") == 1
    cdef CppStream stream
    enter(a.backend, stream)
    if b is None:
        with nogil:
            out.c = elementwise.geglu(a.c, along, tanh, stream)
    else:
        with nogil:
            out.c = elementwise.geglu(a.c, b.c, tanh, stream)
    return out


def geglu_backward(grad: Array, gate: Array, up: Array | None = None, /, axis: int = -1, *,
                   approximate: str = "none") -> Array | tuple[Array, Array]:
    """The gradients of geglu's gate and up, or of its one array. Asynchronous.

    grad has the shape of the result; all arrays have one dtype.
    """
    cdef Array g = as_array(grad, "nn.geglu_backward"), a = as_array(gate, "nn.geglu_backward")
    cdef Array b = None if up is None else as_array(up, "nn.geglu_backward")
    cdef Array out = new_array(g.backend)
    cdef int64_t along = to_int(axis, "nn.geglu_backward")
    cdef cbool tanh = to_choice(approximate, geglu_forms, "nn.geglu_backward", "approximate") == 1
    cdef elementwise.GatedGradients found
    cdef CppStream stream
    enter(g.backend, stream)
    if b is None:
        with nogil:
            out.c = elementwise.geglu_backward(g.c, a.c, along, tanh, stream)
        return out
    with nogil:
        found = elementwise.geglu_backward(g.c, a.c, b.c, tanh, stream)
    return wrap_array(g.backend, found.gate), wrap_array(g.backend, found.up)
