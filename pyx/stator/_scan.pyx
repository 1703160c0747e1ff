# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
# cython: annotation_typing=False, freethreading_compatible=True
"""Scans along one axis, and differences of neighbours."""
from collections import namedtuple

from libc.stdint cimport int64_t
from libcpp cimport bool as cbool

from stator._array cimport Array, as_array, as_out, new_array, plain_or_other, reshape_op
from stator._backend cimport enter
from stator._convert cimport to_axis, to_dtype, to_flag, to_int
from stator.cpp cimport scan
from stator.cpp.backend cimport Stream as CppStream
from stator.cpp.std cimport optional

from stator.errors import StatorError, renamed

CumulativeExtremes = namedtuple("CumulativeExtremes", ("values", "indices"), module="stator._scan")


cdef enum Kind:
    sum_, prod, logsumexp


cdef Array accumulate(Kind kind, str op, object x, object axis, object dtype, object initial, object reverse,
                      object out):
    cdef Array source = as_array(x, op), result
    cdef scan.ScanOptions options
    cdef CppStream stream
    to_axis(axis, options.axis, op)
    to_dtype(dtype, options.dtype, op)
    options.include_initial = to_flag(initial, op, "include_initial")
    options.reverse = to_flag(reverse, op, "reverse")
    options.out = as_out(out, op)
    enter(source.backend, stream)
    result = new_array(source.backend)
    with nogil:
        if kind == sum_:
            result.c = scan.cumulative_sum(source.c, options, stream)
        elif kind == prod:
            result.c = scan.cumulative_prod(source.c, options, stream)
        else:
            result.c = scan.logcumsumexp(source.c, options, stream)
    return result if out is None else <Array>out


cdef Array accumulate_flat(Kind kind, str op, str method, object x, object axis, object dtype, object out):
    # As NumPy's methods: along the flattened array without an axis.
    cdef Array source = as_array(x, method)
    try:
        if axis is None and source.c.ndim() != 1:
            source = reshape_op(source, -1, None)
        return accumulate(kind, op, source, axis, dtype, False, False, out)
    except StatorError as error:
        raise renamed(error, method) from None


cdef object extremes(bint smallest, str op, object x, object axis, object reverse):
    cdef Array source = as_array(x, op), values, indices
    cdef optional[int64_t] along
    cdef cbool backwards = to_flag(reverse, op, "reverse")
    cdef scan.Extremes found
    cdef CppStream stream
    to_axis(axis, along, op)
    enter(source.backend, stream)
    values, indices = new_array(source.backend), new_array(source.backend)
    with nogil:
        if smallest:
            found = scan.cumulative_min(source.c, along, backwards, stream)
        else:
            found = scan.cumulative_max(source.c, along, backwards, stream)
        values.c = found.values
        indices.c = found.indices
    return CumulativeExtremes(values, indices)


def cumulative_sum(x: Array, /, axis: int | None = None, *, dtype: DTypeLike | None = None,
                   include_initial: bool = False, reverse: bool = False, out: Array | None = None) -> Array:
    """The sum of the elements up to and including each one, along an axis. Asynchronous.

    axis: may be omitted for arrays of one axis. dtype: of the accumulation and the result; None accumulates integers in
    64 bits. include_initial: the result starts with 0 and has one more element. reverse: from the last element to the
    first. out: an array of the result's shape, which may be x itself.

    >>> stator.cumulative_sum(stator.asarray([1, 2, 3])).tolist()
    [1, 3, 6]
    """
    return accumulate(sum_, "cumulative_sum", x, axis, dtype, include_initial, reverse, out)


def cumsum(x: Array, /, axis: int | None = None, dtype: DTypeLike | None = None, out: Array | None = None) -> Array:
    """The sum of the elements up to and including each one, as stator.cumulative_sum. Asynchronous.

    axis: None flattens the array first.
    """
    return accumulate_flat(sum_, "cumulative_sum", "Array.cumsum", x, axis, dtype, out)


def cumprod(x: Array, /, axis: int | None = None, dtype: DTypeLike | None = None, out: Array | None = None) -> Array:
    """The product of the elements up to and including each one, as stator.cumulative_prod. Asynchronous.

    axis: None flattens the array first.
    """
    return accumulate_flat(prod, "cumulative_prod", "Array.cumprod", x, axis, dtype, out)


def cumulative_prod(x: Array, /, axis: int | None = None, *, dtype: DTypeLike | None = None,
                    include_initial: bool = False, reverse: bool = False, out: Array | None = None) -> Array:
    """The product of the elements up to and including each one, along an axis. Asynchronous.

    A result is infinite or zero only where the exact product is out of range. axis: may be omitted for arrays of one
    axis. dtype: of the accumulation and the result; None accumulates integers in 64 bits. include_initial: the result
    starts with 1 and has one more element. reverse: from the last element to the first. out: an array of the result's
    shape, which may be x itself.

    >>> stator.cumulative_prod(stator.asarray([1, 2, 3])).tolist()
    [1, 2, 6]
    """
    return accumulate(prod, "cumulative_prod", x, axis, dtype, include_initial, reverse, out)


def logcumsumexp(x: Array, /, axis: int | None = None, *, dtype: DTypeLike | None = None,
                 include_initial: bool = False, reverse: bool = False, out: Array | None = None) -> Array:
    """log(cumulative_sum(exp(x))) along an axis, computed without overflow. Asynchronous.

    axis: may be omitted for arrays of one axis. dtype: of the accumulation and the result. include_initial: the result
    starts with -inf and has one more element. reverse: from the last element to the first. out: an array of the
    result's shape, which may be x itself.

    >>> stator.logcumsumexp(stator.zeros(2)).round(4).tolist()
    [0.0, 0.6931]
    """
    return accumulate(logsumexp, "logcumsumexp", x, axis, dtype, include_initial, reverse, out)


def cumulative_max(x: Array, /, axis: int | None = None, *, reverse: bool = False) -> CumulativeExtremes:
    """(values, indices) of the maximum of the elements up to and including each one. Asynchronous.

    indices: int64, along the axis; of ties the last in the direction of the scan. NaN is greater than every number and
    ties with NaN. axis: may be omitted for arrays of one axis. reverse: from the last element to the first.

    >>> values, indices = stator.cumulative_max(stator.asarray([1, 3, 2]))
    >>> values.tolist(), indices.tolist()
    ([1, 3, 3], [0, 1, 1])
    """
    return extremes(False, "cumulative_max", x, axis, reverse)


def cumulative_min(x: Array, /, axis: int | None = None, *, reverse: bool = False) -> CumulativeExtremes:
    """(values, indices) of the minimum of the elements up to and including each one. Asynchronous.

    indices: int64, along the axis; of ties the last in the direction of the scan. NaN is less than every number and
    ties with NaN. axis: may be omitted for arrays of one axis. reverse: from the last element to the first.

    >>> values, indices = stator.cumulative_min(stator.asarray([3, 1, 2]))
    >>> values.tolist(), indices.tolist()
    ([3, 1, 1], [0, 1, 1])
    """
    return extremes(True, "cumulative_min", x, axis, reverse)


def diff(x: Array, /, n: int = 1, axis: int = -1, *, prepend: Array | None = None,
         append: Array | None = None) -> Array:
    """The differences x[1:] - x[:-1] along an axis, applied n times. Asynchronous.

    For bool, whether neighbours differ. prepend, append: arrays that are joined to x first, of its shape except along
    the axis.

    >>> stator.diff(stator.asarray([1, 4, 9])).tolist()
    [3, 5]
    """
    cdef Array source = as_array(x, "diff"), result
    cdef scan.DiffOptions options
    cdef CppStream stream
    options.axis = to_int(axis, "diff")
    options.n = to_int(n, "diff", "n")
    prepend, append = plain_or_other(prepend), plain_or_other(append)
    options.prepend = as_out(prepend, "diff", "prepend")
    options.append = as_out(append, "diff", "append")
    enter(source.backend, stream)
    result = new_array(source.backend)
    with nogil:
        result.c = scan.diff(source.c, options, stream)
    return result
