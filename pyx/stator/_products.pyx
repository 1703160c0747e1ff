# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=python
# cython: annotation_typing=False, freethreading_compatible=True
"""Products besides matmul."""
from libc.stdint cimport int64_t
from libcpp.string_view cimport string_view
from libcpp.vector cimport vector

from stator._array cimport Array, as_array, as_out, new_array
from stator._backend cimport enter
from stator._convert cimport to_dims, to_int
from stator.cpp cimport products as cpp
from stator.cpp.array cimport Array as CppArray
from stator.cpp.backend cimport Stream as CppStream
from stator.cpp.ref cimport Dims, Int64Span

from stator.errors import DTypeError, InvalidValueError

cdef enum Kind:
    dot_, outer_, kron_


cdef Array pair(Kind kind, str op, object x1, object x2):
    cdef Array a = as_array(x1, op), b = as_array(x2, op)
    cdef Array out = new_array(a.backend)
    cdef CppStream stream
    enter(a.backend, stream)
    with nogil:
        if kind == dot_:
            out.c = cpp.dot(a.c, b.c, stream)
        elif kind == outer_:
            out.c = cpp.outer(a.c, b.c, stream)
        else:
            out.c = cpp.kron(a.c, b.c, stream)
    return out


def dot(x1: Array, x2: Array, /) -> Array:
    """numpy.dot: of vectors, matrices, or over the last axis of x1 and the last but one of x2. Asynchronous."""
    return pair(dot_, "dot", x1, x2)


def outer(x1: Array, x2: Array, /) -> Array:
    """x1[i] * x2[j] of two vectors. Asynchronous."""
    return pair(outer_, "outer", x1, x2)


def kron(x1: Array, x2: Array, /) -> Array:
    """numpy.kron: every element of x1 times x2, in blocks. Asynchronous."""
    return pair(kron_, "kron", x1, x2)


def vecdot(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """sum(conj(x1) * x2) along an axis counted from the end; the other axes broadcast. Asynchronous."""
    cdef Array a = as_array(x1, "vecdot"), b = as_array(x2, "vecdot")
    cdef Array out = new_array(a.backend)
    cdef int64_t along = to_int(axis, "vecdot")
    cdef CppStream stream
    enter(a.backend, stream)
    with nogil:
        out.c = cpp.vecdot(a.c, b.c, along, stream)
    return out


def tensordot(x1: Array, x2: Array, /, *, axes: int | tuple[Sequence[int], Sequence[int]] = 2) -> Array:
    """Sums products over axes: the last `axes` of x1 with the first of x2, or pairs of two sequences. Asynchronous."""
    cdef Array a = as_array(x1, "tensordot"), b = as_array(x2, "tensordot")
    cdef Array out = new_array(a.backend)
    cdef Dims left, right
    cdef CppStream stream
    if isinstance(axes, (tuple, list)):
        if len(axes) != 2:
            raise DTypeError(f"axes={axes!r}", op="tensordot", remedy="Pass an integer or two sequences.")
        to_dims(axes[0], left, "tensordot")
        to_dims(axes[1], right, "tensordot")
    else:
        count = to_int(axes, "tensordot")
        if count < 0:
            raise InvalidValueError(f"axes={count}", op="tensordot", remedy="Pass 0 or more.")
        to_dims(tuple(range(-count, 0)), left, "tensordot")
        to_dims(tuple(range(count)), right, "tensordot")
    enter(a.backend, stream)
    with nogil:
        out.c = cpp.tensordot(a.c, b.c, Int64Span(left.data(), left.size()), Int64Span(right.data(), right.size()),
                              stream)
    return out


def einsum(subscripts: str, /, *operands: Array) -> Array:
    """numpy.einsum: letters and '...' for axes, a repeated letter for a diagonal, '->' before those to keep.

    Products are matmuls, of up to eight operands in the order of the fewest multiplications. Of one operand the result
    may be a view. Asynchronous.
    """
    cdef vector[CppArray] arrays
    cdef Array first = None, x
    cdef Array out
    cdef bytes text
    cdef string_view view
    cdef CppStream stream
    if not isinstance(subscripts, str):
        raise DTypeError(f"expected subscripts, got {type(subscripts).__name__}", op="einsum",
                         remedy="Pass a string such as 'ij,jk->ik' first.")
    for operand in operands:
        x = as_array(operand, "einsum")
        first = x if first is None else first
        arrays.push_back(x.c)
    if first is None:
        raise InvalidValueError("no operands", op="einsum", remedy="Pass one array a term.")
    text = subscripts.encode()
    view = string_view(<const char*>text)
    out = new_array(first.backend)
    enter(first.backend, stream)
    with nogil:
        out.c = cpp.einsum(view, cpp.ArraySpan(arrays.data(), arrays.size()), stream)
    return out


cdef Array accumulated(bint batched, str op, object x, object x1, object x2, double alpha, double beta):
    cdef Array c = as_array(x, op), a = as_array(x1, op), b = as_array(x2, op)
    cdef Array out = new_array(c.backend)
    cdef CppStream stream
    enter(c.backend, stream)
    with nogil:
        if batched:
            out.c = cpp.baddbmm(c.c, a.c, b.c, alpha, beta, stream)
        else:
            out.c = cpp.addmm(c.c, a.c, b.c, alpha, beta, stream)
    return out


def addmm(x: Array, x1: Array, x2: Array, /, *, alpha: float = 1, beta: float = 1) -> Array:
    """beta x + alpha (x1 @ x2) of matrices, in one product; x broadcasts, beta=0 does not read it. Asynchronous."""
    return accumulated(False, "addmm", x, x1, x2, alpha, beta)


def baddbmm(x: Array, x1: Array, x2: Array, /, *, alpha: float = 1, beta: float = 1) -> Array:
    """addmm of batches (b, m, k) and (b, k, n). Asynchronous."""
    return accumulated(True, "baddbmm", x, x1, x2, alpha, beta)


def linear(x: Array, weight: Array, bias: Array | None = None, /, *, activation: str | None = None) -> Array:
    """activation(x @ weight.T + bias): x (..., in), weight (out, in), bias (out,). Asynchronous.

    activation: None, 'relu', 'gelu', 'gelu_tanh', 'silu', 'sigmoid' or 'tanh'.
    """
    cdef Array a = as_array(x, "nn.linear"), w = as_array(weight, "nn.linear")
    cdef const CppArray* add = as_out(bias, "nn.linear")
    cdef Array out = new_array(a.backend)
    cdef bytes text = b"" if activation is None else str(activation).encode()
    cdef string_view name = string_view(<const char*>text)
    cdef CppStream stream
    enter(a.backend, stream)
    with nogil:
        out.c = cpp.linear(a.c, w.c, add, name, stream)
    return out
