# x[key] and x[key] = value where the key has arrays, masks or bools among its entries. Included by _array.pyx.

cdef object numpy_bool = np.bool_


cdef bint selects(object entry):
    # bool is a subclass of int, but as an index it is a 0-d mask.
    if isinstance(entry, (Array, bool)):
        return True
    return not isinstance(entry, (slice, int)) and isinstance(entry, numpy_bool)


cdef bint is_advanced(object key):
    if not isinstance(key, tuple):
        return selects(key)
    for entry in <tuple>key:
        if selects(entry):
            return True
    return False


cdef int to_array_index(object key, vector[indexing.ArrayIndex]& out) except -1:
    cdef indexing.ArrayIndex entry
    cdef vector[indexing.Index] basic
    for part in key if isinstance(key, tuple) else (key,):
        entry.array = cpp.Array()
        entry.is_boolean = isinstance(part, (bool, numpy_bool))
        if isinstance(part, Array):
            entry.array = (<Array>part).c
        elif entry.is_boolean:
            entry.boolean = bool(part)
        else:
            basic.clear()
            to_index(part, basic)
            entry.basic = basic[0]
        out.push_back(entry)
    return 0


cdef Array index_get_op(Array x, object key):
    cdef vector[indexing.ArrayIndex] index
    cdef CppStream stream
    cdef Array out
    to_array_index(key, index)
    enter(x.backend, stream)
    out = new_array(x.backend)
    with nogil:
        out.c = indexing.index_get(x.c, indexing.ArrayIndexSpan(index.data(), index.size()), stream)
    return out


cdef int index_put_op(Array x, object key, object value) except -1:
    cdef vector[indexing.ArrayIndex] index
    cdef cpp.Scalar scalar
    cdef CppStream stream
    cdef Array source
    to_array_index(key, index)
    enter(x.backend, stream)
    if isinstance(value, Array):
        source = <Array>value
        with nogil:
            indexing.index_put(x.c, indexing.ArrayIndexSpan(index.data(), index.size()), cpp.Operand(source.c), stream)
    elif to_scalar(value, scalar):
        with nogil:
            indexing.index_put(x.c, indexing.ArrayIndexSpan(index.data(), index.size()), cpp.Operand(scalar), stream)
    else:
        raise not_an_operand(value, "Array.__setitem__")
    return 0
