# An Array or a number as an operand of C++. Included where it is used; `value` must outlive the operand.

cdef int to_operand(object value, str op, vector[Operand]& out) except -1:
    cdef Scalar scalar
    if isinstance(value, Array):
        out.push_back(Operand((<Array>value).c))
    elif to_scalar(value, scalar):
        out.push_back(Operand(scalar))
    else:
        raise not_an_array(value, op)
    return 0
