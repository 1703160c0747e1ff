# x[key] and x[key] = value where the key has arrays, masks, lists or bools among its entries, or the value is on the
# host; iteration, and what else reads elements. Included by _array.pyx.

cdef object numpy_bool = np.bool_
cdef tuple host_sequences = (list, np.ndarray, range)


cdef bint selects(object entry):
    # bool is a subclass of int, but as an index it is a 0-d mask.
    if isinstance(entry, (Array, bool)):
        return True
    return not isinstance(entry, (slice, int)) and isinstance(entry, (numpy_bool, list, np.ndarray, range))


cdef bint is_advanced(object key):
    if not isinstance(key, tuple):
        return selects(key)
    for entry in <tuple>key:
        if selects(entry):
            return True
    return False


cdef int64_t axes_of(object part, object values) except -1:
    # How many axes of the array an entry of the key takes; `values` is what a list or a NumPy array has become.
    if part is None or isinstance(part, (bool, numpy_bool)):
        return 0
    if values is not None:
        return values.ndim if values.dtype == numpy_bool else 1
    if isinstance(part, Array) and kind_of((<Array>part).c.dtype()) == boolean:
        return (<Array>part).c.ndim()
    return 1


# A list or a NumPy array of the key, as integers or a mask; None for other entries.
cdef object host_index(object part):
    if not isinstance(part, host_sequences):
        return None
    values = part if isinstance(part, np.ndarray) else as_values(part, "Array.__getitem__")
    if values.size == 0 and not isinstance(part, np.ndarray):
        return values.astype(np.int64)
    if values.dtype.kind not in "biu":
        raise IndexTypeError(f"An index of dtype {values.dtype}", op="Array.__getitem__",
                             remedy="Use integers, a mask of bools, or astype('int64').")
    return values


cdef int require_in_range(object values, int64_t extent, int64_t axis) except -1:
    if values.size and values.dtype != numpy_bool:
        for value in (int(values.min()), int(values.max())):
            if not -extent <= value < extent:
                raise OutOfRangeError(f"Index {value} on axis {axis} of length {extent}", op="Array.__getitem__",
                                      remedy=f"Use indices from {-extent} to {extent - 1}.")
    return 0


cdef int to_array_index(Array x, object key, vector[indexing.ArrayIndex]& out) except -1:
    cdef indexing.ArrayIndex entry
    cdef vector[indexing.Index] basic
    cdef tuple parts = key if isinstance(key, tuple) else (key,)
    cdef int64_t axis = 0, taken = 0
    cdef list found = [host_index(part) for part in parts]
    for part, values in zip(parts, found, strict=True):
        taken += 0 if part is ... else axes_of(part, values)
    for part, values in zip(parts, found, strict=True):
        entry.array = cpp.Array()
        entry.is_boolean = isinstance(part, (bool, numpy_bool))
        if values is not None:
            if axis < x.c.ndim():
                require_in_range(values, x.c.shape().data()[axis], axis)
            entry.array = on_device(values, x.backend, None)
        elif isinstance(part, Array):
            if kind_of((<Array>part).c.dtype()) not in (boolean, signed_integer, unsigned_integer):
                raise IndexTypeError(f"An index of dtype {part.dtype}", op="Array.__getitem__",
                                     remedy="Use integers, a mask of bools, or astype('int64').")
            entry.array = plain(<Array>part).c
        elif entry.is_boolean:
            entry.boolean = bool(part)
        else:
            basic.clear()
            to_index(part, basic)
            entry.basic = basic[0]
        axis += max(x.c.ndim() - taken, 0) if part is ... else axes_of(part, values)
        out.push_back(entry)
    return 0


# Lists of numbers as a NumPy array, with stator's errors.
cdef object as_values(object value, str op):
    try:
        return np.asarray(value)
    except ValueError as error:
        raise InvalidValueError(str(error), op=op, remedy="Give lists of equal lengths.") from None
    except (OverflowError, TypeError) as error:
        raise DTypeError(str(error), op=op, remedy="Give numbers.") from None


cdef cpp.Array on_device(object value, Backend backend, object dtype) except *:
    from stator._creation import asarray
    return (<Array>asarray(value, dtype=dtype, device=backend)).c


# Whether a Python number becomes an element of the dtype without what NumPy says of values that it casts.
cdef bint is_of_kind(object value, CppDType dtype):
    cdef Kind kind = kind_of(dtype)
    if PyLong_CheckExact(value):
        return kind != boolean
    if PyFloat_CheckExact(value):
        return kind in (floating, complex_floating)
    return value is True or value is False or type(value) is complex and kind == complex_floating


# What is assigned, as NumPy casts it: an Array, or None for a number, which `number` becomes. Lists and NumPy's arrays
# are copied to the device.
cdef Array assigned(Array x, object value, cpp.Scalar& number):
    cdef Kind kind = kind_of(x.c.dtype())
    if isinstance(value, Array):
        if kind != complex_floating and kind != boolean and kind_of((<Array>value).c.dtype()) == complex_floating:
            warn_of_discarded()
        return plain(<Array>value)
    if is_of_kind(value, x.c.dtype()) and to_scalar(value, number):
        return None
    if isinstance(value, (list, tuple, range)):
        if any_arrays(value):  # which NumPy reads by their __array__
            value = as_values(value, "Array.__setitem__")
        else:
            return wrap_array(x.backend, on_device(cast_by_numpy(x, value, None), x.backend, x.dtype))
    if isinstance(value, np.ndarray):
        if kind != complex_floating and kind != boolean and value.dtype.kind == "c":
            warn_of_discarded()
        return wrap_array(x.backend, on_device(value, x.backend, None))
    if not isinstance(value, (int, float, complex, np.generic)):
        raise not_an_operand(value, "Array.__setitem__")
    if not to_scalar(cast_by_numpy(x, value, ()).item(), number):
        raise not_an_operand(value, "Array.__setitem__")
    return None


cdef bint any_arrays(object values):
    for value in values:
        if isinstance(value, Array) or isinstance(value, (list, tuple)) and any_arrays(value):
            return True
    return False


cdef int warn_of_discarded() except -1:
    warn("Casting complex values to real discards the imaginary part", np.exceptions.ComplexWarning, stacklevel=2)
    return 0


# A number (of shape ()) or lists as a NumPy array of x's dtype, with NumPy's rules: a float is truncated to an integer,
# which the dtype has to hold; NumPy's errors become stator's.
cdef object cast_by_numpy(Array x, object value, object shape):
    dtype = np.dtype(np.float32) if x.c.dtype() == bfloat16 else wrap_dtype(x.c.dtype()).numpy()
    try:
        if shape is None:
            return np.asarray(value, dtype)
        out = np.empty(shape, dtype)
        out[...] = value
        return out
    except OverflowError as error:
        raise NumberRangeError(f"The value {shown(value)} for {x.dtype}: {error}", op="Array.__setitem__",
                               remedy="Assign numbers that the dtype holds.") from None
    except TypeError as error:
        raise DTypeError(f"The value {shown(value)} for {x.dtype}: {error}", op="Array.__setitem__",
                         remedy="Assign numbers that become the dtype.") from None
    except ValueError as error:
        kind = DTypeError if "convert string" in str(error) else InvalidValueError
        raise kind(f"The value {shown(value)} for {x.dtype}: {error}", op="Array.__setitem__",
                   remedy="Assign numbers, or lists of equal lengths.") from None


cdef Array index_get_op(Array x, object key):
    cdef vector[indexing.ArrayIndex] index
    cdef CppStream stream
    cdef Array out
    to_array_index(x, key, index)
    x = plain(x)
    enter(x.backend, stream)
    out = new_array(x.backend)
    with nogil:
        out.c = indexing.index_get(x.c, indexing.ArrayIndexSpan(index.data(), index.size()), stream)
    warn_of_libraries()  # that the call waited, where a mask is among the indices
    return out


cdef int index_put_op(Array x, object key, object value) except -1:
    cdef vector[indexing.ArrayIndex] index
    cdef cpp.Scalar scalar
    cdef CppStream stream
    cdef Array source
    if isinstance(value, np.generic):  # which NumPy casts as an array here, and as a number elsewhere
        value = cast_by_numpy(x, np.asarray(value), ()).item()
    source = assigned(x, value, scalar)
    to_array_index(x, key, index)
    enter(x.backend, stream)
    if source is not None:
        with nogil:
            indexing.index_put(x.c, indexing.ArrayIndexSpan(index.data(), index.size()), cpp.Operand(source.c), stream)
    else:
        with nogil:
            indexing.index_put(x.c, indexing.ArrayIndexSpan(index.data(), index.size()), cpp.Operand(scalar), stream)
    return 0


cdef int set_view(Array x, object key, object value) except -1:
    cdef cpp.Scalar scalar
    cdef CppStream stream
    cdef vector[indexing.Index] index
    cdef Array source
    to_index(key, index)
    source = assigned(x, value, scalar)
    enter(x.backend, stream)
    if source is not None:  # x[i] += y assigns x[i] to itself here, which launches nothing
        with nogil:
            indexing.setitem(x.c, indexing.IndexSpan(index.data(), index.size()), cpp.Operand(source.c), stream)
    else:
        with nogil:
            indexing.setitem(x.c, indexing.IndexSpan(index.data(), index.size()), cpp.Operand(scalar), stream)
    return 0


cdef Array view_at(Array x, object key):
    # None for a key of index arrays, which makes no view.
    cdef vector[indexing.Index] index
    cdef indexing.Index at
    cdef int beyond = 0
    cdef Array out
    if PyLong_CheckExact(key):
        at.type = indexing.integer
        at.start = PyLong_AsLongLongAndOverflow(key, &beyond)
        if not beyond:
            out = new_array(x.backend)
            out.c = indexing.getitem(x.c, indexing.IndexSpan(&at, 1))
            return out
    elif is_advanced(key):
        return None
    to_index(key, index)
    out = new_array(x.backend)
    out.c = indexing.getitem(x.c, indexing.IndexSpan(index.data(), index.size()))
    return out


def _rows(x: Array) -> Iterator[Array]:
    """The rows of an array, as views."""
    cdef Array source = <Array?>x
    cdef int64_t i
    for i in range(source.c.shape().data()[0]):
        if i % 4096 == 0:
            PyErr_CheckSignals()  # so that list(x) of a very long view can be interrupted
        yield source[i]


def _elements(x: Array) -> Iterator[Any]:
    """The elements of an array of one axis, as NumPy scalars, copied to the host in parts."""
    cdef Array source = <Array?>x
    cdef int64_t i
    for i in range(0, source.c.size(), 4096):
        PyErr_CheckSignals()
        yield from source[i:i + 4096].to_numpy()


cdef object flat_index(Array x, tuple args):
    # The index of one element, given as NumPy's item() takes it.
    cdef list out = []
    cdef int64_t place
    if len(args) == 1 and isinstance(args[0], tuple):
        args = args[0]
    if len(args) == 1 and x.c.ndim() != 1:
        place = to_int(args[0], "Array.item", "index")
        if not -x.c.size() <= place < x.c.size():
            raise OutOfRangeError(f"Index {place} of {x.c.size()} elements", op="Array.item",
                                  remedy="Use an index of the flattened array.")
        place += x.c.size() if place < 0 else 0
        for extent in reversed(x.shape):
            out.append(place % extent)
            place //= extent
        return tuple(reversed(out))
    if len(args) != x.c.ndim():
        raise InvalidValueError(f"{len(args)} indices for shape {x.shape}", op="Array.item",
                                remedy="Give one per axis, or one into the flattened array.")
    return tuple([to_int(at, "Array.item", "index") for at in args])


cdef object item_of(Array x):
    if x.c.size() != 1:
        raise InvalidValueError(f"An array of shape {x.shape} is not a number", op="Array.item",
                                remedy="Give an index, or use tolist().")
    return number(x, "Array.item")


cdef object both(object quotient, object rest):
    return NotImplemented if quotient is NotImplemented else (quotient, rest)
