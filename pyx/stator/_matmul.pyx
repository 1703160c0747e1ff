# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
# cython: annotation_typing=False, freethreading_compatible=True
"""Matrix products, products of eight-bit floats, and distances between points."""
from collections import namedtuple

from libc.stdint cimport int64_t

from stator._array cimport Array, as_array, as_out, matmul_op, new_array, wrap_array
from stator._backend cimport enter
from stator._convert cimport to_axis, to_dims, to_dtype, to_flag, to_float, to_int, to_number, to_text, wrong_type
from stator.cpp cimport matmul as cpp
from stator.cpp.array cimport Array as CppArray
from stator.cpp.array cimport Scalar
from stator.cpp.backend cimport Stream as CppStream
from stator.cpp.dtype cimport DType as CppDType
from stator.cpp.ref cimport Dims, Int64Span
from stator.cpp.std cimport optional, string_view, vector

from stator.errors import AxisError, InvalidValueError

MatmulCacheInfo = namedtuple("MatmulCacheInfo", ("hits", "misses", "evictions", "plans", "limit"),
                             module="stator._matmul")
QuantizedResult = namedtuple("QuantizedResult", ("values", "scale"), module="stator._matmul")


def matmul(x1: Array, x2: Array, /, *, dtype: DTypeLike | None = None, compute_dtype: DTypeLike | None = None,
           out: Array | None = None) -> Array:
    """The matrix product x1 @ x2, as numpy.matmul. Asynchronous.

    Vectors, matrices (..., m, k) and (..., k, n), batch axes with broadcasting; transposed views are not copied. The
    result has the promoted dtype, in which integers wrap. dtype: another dtype of the result, an integer one for
    integers: int8 operands with dtype=int32 are summed in int32, as fast. compute_dtype: what floating operands are
    rounded to before multiplying; accumulation is in float32 at least. out: an array of the result's shape.

    >>> stator.matmul(stator.asarray([[1, 2], [3, 4]]), stator.asarray([1, 1])).tolist()
    [3, 7]
    """
    return matmul_op(as_array(x1, "matmul"), as_array(x2, "matmul"), dtype, compute_dtype, out)


cdef enum Kind:
    dot_, outer_, kron_


cdef Array pair(Kind kind, str op, object x1, object x2, object dtype=None):
    cdef Array a = as_array(x1, op), b = as_array(x2, op)
    cdef Array out = new_array(a.backend)
    cdef optional[CppDType] code
    cdef CppStream stream
    to_dtype(dtype, code, op)
    enter(a.backend, stream)
    with nogil:
        if kind == dot_:
            out.c = cpp.dot(a.c, b.c, code, stream)
        elif kind == outer_:
            out.c = cpp.outer(a.c, b.c, stream)
        else:
            out.c = cpp.kron(a.c, b.c, stream)
    return out


def dot(x1: Array, x2: Array, /, *, dtype: DTypeLike | None = None) -> Array:
    """The dot product, as numpy.dot: over the last axis of x1 and the last but one of x2. Asynchronous.

    dtype: of the result, as for matmul.

    >>> stator.dot(stator.asarray([1, 2]), stator.asarray([3, 4])).item()
    11
    """
    return pair(dot_, "dot", x1, x2, dtype)


def outer(x1: Array, x2: Array, /) -> Array:
    """The outer product x1[i] * x2[j] of two vectors of any dtype: (n, m). Asynchronous.

    >>> stator.outer(stator.asarray([1, 2]), stator.asarray([3, 4])).tolist()
    [[3, 4], [6, 8]]
    """
    return pair(outer_, "outer", x1, x2)


def kron(x1: Array, x2: Array, /) -> Array:
    """The Kronecker product, as numpy.kron: each element of x1 times x2, in blocks. Asynchronous.

    >>> stator.kron(stator.asarray([1, 2]), stator.asarray([1, 1])).tolist()
    [1, 1, 2, 2]
    """
    return pair(kron_, "kron", x1, x2)


def vecdot(x1: Array, x2: Array, /, *, axis: int = -1, dtype: DTypeLike | None = None) -> Array:
    """sum(conj(x1) * x2) along an axis counted from the end; the other axes broadcast. Asynchronous.

    dtype: of the result, as for matmul.

    >>> stator.vecdot(stator.asarray([[1, 2], [3, 4]]), stator.asarray([1, 1])).tolist()
    [3, 7]
    """
    cdef Array a = as_array(x1, "vecdot"), b = as_array(x2, "vecdot")
    cdef Array out = new_array(a.backend)
    cdef int64_t along = to_int(axis, "vecdot")
    cdef optional[CppDType] code
    cdef CppStream stream
    to_dtype(dtype, code, "vecdot")
    enter(a.backend, stream)
    with nogil:
        out.c = cpp.vecdot(a.c, b.c, along, code, stream)
    return out


def tensordot(x1: Array, x2: Array, /, *, axes: int | tuple[Sequence[int], Sequence[int]] = 2,
              dtype: DTypeLike | None = None) -> Array:
    """Sums of products over pairs of axes, as numpy.tensordot. Asynchronous.

    axes: a number of axes, the last ones of x1 and the first ones of x2; or two sequences of axes, of x1 and of x2. The
    result has the other axes of x1, then those of x2. dtype: of the result, as for matmul.

    >>> stator.tensordot(stator.ones((2, 3, 4)), stator.ones((3, 4, 5)), axes=2).shape
    (2, 5)
    """
    cdef Array a = as_array(x1, "tensordot"), b = as_array(x2, "tensordot")
    cdef Array out = new_array(a.backend)
    cdef Dims left, right
    cdef optional[CppDType] code
    cdef CppStream stream
    to_dtype(dtype, code, "tensordot")
    if isinstance(axes, (tuple, list)):
        if len(axes) != 2:
            raise wrong_type(axes, "tensordot", "axes", "an integer or two sequences")
        to_dims(axes[0], left, "tensordot", "axes")
        to_dims(axes[1], right, "tensordot", "axes")
    else:
        count = to_int(axes, "tensordot", "axes")
        if count < 0:
            raise InvalidValueError(f"axes={count}", op="tensordot", remedy="Pass 0 or more.")
        if count > 32:
            raise AxisError(f"axes={count}", op="tensordot", remedy="No array has more than 32 axes.")
        to_dims(tuple(range(-count, 0)), left, "tensordot")
        to_dims(tuple(range(count)), right, "tensordot")
    enter(a.backend, stream)
    with nogil:
        out.c = cpp.tensordot(a.c, b.c, Int64Span(left.data(), left.size()), Int64Span(right.data(), right.size()),
                              code, stream)
    return out


def einsum(subscripts: str, /, *operands: Array, dtype: DTypeLike | None = None) -> Array:
    """A sum of products of operands in Einstein's notation, as numpy.einsum. Asynchronous.

    subscripts: letters and '...' for axes, a repeated letter of one operand for a diagonal, '->' before the axes to
    keep. Products are matmuls; up to eight operands are multiplied in the order of the fewest multiplications. The
    result has the operands' common dtype, in which integers wrap, or dtype, as for matmul; float16 and bfloat16 are
    rounded once, at the end. For a single operand the result may be a view.

    >>> stator.einsum("ij,ij->i", stator.asarray([[1, 2], [3, 4]]), stator.asarray([[1, 1], [1, 1]])).tolist()
    [3, 7]
    """
    cdef vector[CppArray] arrays
    cdef Array first = None, x
    cdef Array out
    cdef bytes text
    cdef string_view view
    cdef optional[CppDType] code
    cdef CppStream stream
    to_dtype(dtype, code, "einsum")
    if not isinstance(subscripts, str):
        raise wrong_type(subscripts, "einsum", "subscripts", "a string such as 'ij,jk->ik'")
    if not subscripts.isascii():
        raise InvalidValueError(f"subscripts={subscripts!a}", op="einsum",
                                remedy="Axes are letters from a to z or A to Z.")
    for operand in operands:
        x = as_array(operand, "einsum")
        first = x if first is None else first
        arrays.push_back(x.c)
    if first is None:
        raise InvalidValueError("There are no operands", op="einsum", remedy="Pass one array a term.")
    text = subscripts.encode()
    view = string_view(<const char*>text, len(text))
    out = new_array(first.backend)
    enter(first.backend, stream)
    with nogil:
        out.c = cpp.einsum(view, cpp.ArraySpan(arrays.data(), arrays.size()), code, stream)
    return out


cdef Array accumulated(bint batched, str op, object x, object x1, object x2, object alpha, object beta):
    cdef Array c = as_array(x, op), a = as_array(x1, op), b = as_array(x2, op)
    cdef Array out = new_array(c.backend)
    cdef Scalar of_product, of_sum
    cdef CppStream stream
    to_number(alpha, of_product, op, "alpha")
    to_number(beta, of_sum, op, "beta")
    enter(c.backend, stream)
    with nogil:
        if batched:
            out.c = cpp.baddbmm(c.c, a.c, b.c, of_product, of_sum, stream)
        else:
            out.c = cpp.addmm(c.c, a.c, b.c, of_product, of_sum, stream)
    return out


def addmm(x: Array, x1: Array, x2: Array, /, *, alpha: complex = 1, beta: complex = 1) -> Array:
    """beta x + alpha (x1 @ x2) of matrices (m, k) and (k, n), in one product. Asynchronous.

    x broadcasts to (m, n); with beta=0 it is not read. Numeric dtypes; integers wrap around. alpha and beta may be
    complex where the result is, and are integers where it is.

    >>> stator.addmm(stator.asarray([1.0, 2.0]), stator.ones((2, 3)), stator.ones((3, 2))).tolist()
    [[4.0, 5.0], [4.0, 5.0]]
    """
    return accumulated(False, "addmm", x, x1, x2, alpha, beta)


def baddbmm(x: Array, x1: Array, x2: Array, /, *, alpha: complex = 1, beta: complex = 1) -> Array:
    """beta x + alpha (x1 @ x2) of batches (b, m, k) and (b, k, n), as addmm. Asynchronous.

    >>> stator.baddbmm(stator.zeros((2, 1, 1)), stator.ones((2, 1, 3)), stator.ones((2, 3, 1))).tolist()
    [[[3.0]], [[3.0]]]
    """
    return accumulated(True, "baddbmm", x, x1, x2, alpha, beta)


def linear(x: Array, weight: Array, bias: Array | None = None, /, *, activation: str | None = None) -> Array:
    """activation(x @ weight.T + bias): x (..., in), weight (out, in), bias (out,). Asynchronous.

    Floating dtypes. activation: None, 'relu', 'gelu', 'gelu_tanh', 'silu', 'sigmoid' or 'tanh'. Bias and activation are
    applied to the float32 sums in one launch after the product, rounded once; on cuda only a bias, 'relu', and
    'gelu_tanh' of halves are part of the library's call.

    >>> stator.nn.linear(be.ones((1, 2)), be.ones((3, 2)), be.ones(3), activation="relu").tolist()
    [[3.0, 3.0, 3.0]]
    """
    cdef Array a = as_array(x, "nn.linear"), w = as_array(weight, "nn.linear")
    cdef const CppArray* add = as_out(bias, "nn.linear", "bias")
    cdef Array out = new_array(a.backend)
    cdef bytes text = b"" if activation is None else to_text(activation, "nn.linear", "activation")
    cdef string_view name = string_view(<const char*>text, len(text))
    cdef CppStream stream
    enter(a.backend, stream)
    with nogil:
        out.c = cpp.linear(a.c, w.c, add, name, stream)
    return out


def linear_backward(grad: Array, x: Array, weight: Array, saved: Array | None = None, /, *,
                    activation: str | None = None, bias: bool = True) -> tuple[Array, Array, Array | None]:
    """The gradients of linear's x, weight and bias; without a bias the last is None. Asynchronous.

    grad (..., out) is that of the result, x (..., in), weight (out, in). saved, with an activation: for 'relu',
    'sigmoid' and 'tanh' the result of linear, for 'gelu', 'gelu_tanh' and 'silu' x @ weight.T + bias. All have one
    floating dtype. ShapeError, DTypeError; InvalidValueError for an activation without saved. One launch for the
    activation, a product each for x and weight, a sum for the bias.

    >>> import stator
    >>> be = stator.Backend("cpu")
    >>> one = be.asarray([[1.0]])
    >>> dx, dw, db = stator.nn.linear_backward(one, be.asarray([[3.0]]), be.asarray([[5.0]]))
    >>> float(dx[0, 0]), float(dw[0, 0]), float(db[0])
    (5.0, 3.0, 1.0)
    """
    cdef Array g = as_array(grad, "nn.linear_backward"), a = as_array(x, "nn.linear_backward")
    cdef Array w = as_array(weight, "nn.linear_backward")
    cdef cpp.LinearGradientOptions options
    cdef cpp.LinearGradients found
    cdef bytes text = b"" if activation is None else to_text(activation, "nn.linear_backward", "activation")
    cdef CppStream stream
    options.activation = string_view(<const char*>text, len(text))
    options.saved = as_out(saved, "nn.linear_backward", "saved")
    options.bias = to_flag(bias, "nn.linear_backward", "bias")
    enter(g.backend, stream)
    with nogil:
        found = cpp.linear_backward(g.c, a.c, w.c, options, stream)
    of_bias = wrap_array(g.backend, found.bias.value()) if options.bias else None
    return wrap_array(g.backend, found.x), wrap_array(g.backend, found.weight), of_bias


def quantize_fp8(x: Array, /, *, format: str = "e4m3", axis: int | None = None) -> QuantizedResult:
    """(values, scale): x as eight-bit floats, with x ~= decoded values * scale. Asynchronous.

    values: uint8, of x's shape; the format 'e4m3' is that of ml_dtypes.float8_e4m3fn, 'e5m2' of float8_e5m2. scale: the
    largest finite |x| over the largest number of the format, float32: 0-d for all of x, or along one axis, which then
    has length 1; 1 where that is 0. x is floating; x / scale is computed in float32 and rounded to nearest even.
    Infinities saturate, NaN stays NaN; float64 is read as float32, so that numbers beyond its range count as infinite.
    In NumPy: values.to_numpy().view(float8_e4m3fn).
    """
    cdef Array source = as_array(x, "nn.quantize_fp8")
    cdef Array values = new_array(source.backend), scale = new_array(source.backend)
    cdef bytes name = to_text(format, "nn.quantize_fp8", "format")
    cdef string_view text = string_view(<const char*>name, len(name))
    cdef optional[int64_t] along
    cdef cpp.Quantized out
    cdef CppStream stream
    to_axis(axis, along, "nn.quantize_fp8")
    enter(source.backend, stream)
    with nogil:
        out = cpp.quantize_fp8(source.c, text, along, stream)
    values.c = out.values
    scale.c = out.scale
    return QuantizedResult(values, scale)


def scaled_matmul(a: Array, b: Array, scale_a: Array, scale_b: Array, /, *, a_format: str = "e4m3",
                  b_format: str = "e4m3", bias: Array | None = None, dtype: DTypeLike = "float32") -> Array:
    """(a * scale_a) @ (b * scale_b) + bias of eight-bit floats, (m, k) and (k, n). Asynchronous.

    a and b are uint8, as quantize_fp8 gives them; arrays of ml_dtypes are passed as asarray(x.view(np.uint8)). Scales
    are float32: single numbers, or (m, 1) and (1, n). bias: (n,), floating. dtype: float32, float16 or bfloat16; sums
    are in float32 and rounded once. One library call on GPUs that have such products, where the scales are single
    numbers, b is a transposed view and m, n, k are multiples of 16.
    """
    cdef Array left = as_array(a, "nn.scaled_matmul"), right = as_array(b, "nn.scaled_matmul")
    cdef Array of_a = as_array(scale_a, "nn.scaled_matmul"), of_b = as_array(scale_b, "nn.scaled_matmul")
    cdef Array out = new_array(left.backend)
    cdef cpp.ScaledMatmulOptions options
    cdef bytes name_a = to_text(a_format, "nn.scaled_matmul", "a_format")
    cdef bytes name_b = to_text(b_format, "nn.scaled_matmul", "b_format")
    cdef optional[CppDType] code
    cdef CppStream stream
    options.a_format = string_view(<const char*>name_a, len(name_a))
    options.b_format = string_view(<const char*>name_b, len(name_b))
    options.bias = as_out(bias, "nn.scaled_matmul", "bias")
    to_dtype("float32" if dtype is None else dtype, code, "nn.scaled_matmul")
    options.dtype = code.value()
    enter(left.backend, stream)
    with nogil:
        out.c = cpp.scaled_matmul(left.c, right.c, of_a.c, of_b.c, options, stream)
    return out


def matmul_cache_info() -> MatmulCacheInfo:
    """Figures of the caches of cuBLASLt plans: hits, misses, evictions, plans and limit.

    plans is that of all caches together, limit that of each stream's cache; the others count since the start of the
    process. The host has no such plans: all figures but the limit stay 0 there.
    """
    cdef cpp.MatmulCacheInfo info = cpp.matmul_cache_info()
    return MatmulCacheInfo(info.hits, info.misses, info.evictions, info.plans, info.limit)


def clear_matmul_cache() -> None:
    """Drops every cached plan. Does not wait: work in flight is not disturbed."""
    with nogil:
        cpp.clear_matmul_cache()


def set_matmul_cache_limit(limit: int, /) -> None:
    """Sets how many plans the cache of one stream may keep.

    Beyond it the least recently used plans are dropped; 0 keeps none.
    """
    cdef int64_t size = to_int(limit, "linalg.set_matmul_cache_limit", "limit")
    if size < 0:
        raise InvalidValueError(f"a limit of {size} plans", op="linalg.set_matmul_cache_limit",
                                remedy="Give at least 0.")
    with nogil:
        cpp.set_matmul_cache_limit(<size_t>size)


def cdist(x1: Array, x2: Array, /, *, p: float = 2.0) -> Array:
    """The p-norms of the differences x1[.., i, :] - x2[.., j, :], (..., n, m). Asynchronous.

    x1 (..., n, k), x2 (..., m, k), float32 or float64; leading axes broadcast. p = 0 counts the coordinates that
    differ, p = inf is the largest difference.

    >>> stator.cdist(stator.asarray([[0.0, 0.0]]), stator.asarray([[3.0, 4.0]])).tolist()
    [[5.0]]
    """
    cdef Array a = as_array(x1, "cdist"), b = as_array(x2, "cdist"), out = new_array(a.backend)
    cdef double norm = to_float(p, "cdist", "p")
    cdef CppStream stream
    enter(a.backend, stream)
    with nogil:
        out.c = cpp.cdist(a.c, b.c, norm, stream)
    return out
