# Ops on Array objects, shared by the methods of Array and by the modules of functions. Included by _array.pyx.

cdef extern from *:
    """
    #include <stator/libraries.hpp>

    namespace {
    // Calls f while other threads of Python may run, unless f is over sooner than that would take. No destructor takes
    // the GIL, since a daemon thread that asks for it while the interpreter ends is unwound from there.
    template <class F>
    void unlocked(bool brief, F f) {
      if (brief) return f();
      PyThreadState* const state = PyEval_SaveThread();
      try {
        f();
      } catch (...) {
        PyEval_RestoreThread(state);
        throw;
      }
      PyEval_RestoreThread(state);
    }
    using stator::interop::is_brief;
    bool is_brief_of(const stator::Operand& a, const stator::Operand& b, const stator::Array* out) {
      if (out && !is_brief(*out)) return false;
      if (!a.array || !b.array) return is_brief(a.array ? *a.array : *b.array);
      return is_brief(*a.array) && is_brief(*b.array) && a.array->shape() == b.array->shape();
    }
    // `result` is set where the options have no out.
    void unary_into(stator::Array& result, stator::Op op, const stator::Array& x,
                    const stator::ElementwiseOptions& options, const stator::Stream& stream) {
      unlocked(is_brief(x) && (!options.out || is_brief(*options.out)), [&] {
        if (options.out)
          stator::unary(op, x, options, stream);
        else
          result = stator::unary(op, x, options, stream);
      });
    }
    void binary_into(stator::Array& result, stator::Op op, const stator::Operand& a, const stator::Operand& b,
                     const stator::ElementwiseOptions& options, const stator::Stream& stream) {
      unlocked(is_brief_of(a, b, options.out), [&] {
        if (options.out)
          stator::binary(op, a, b, options, stream);
        else
          result = stator::binary(op, a, b, options, stream);
      });
    }
    // `warned` becomes whether warnings may be waiting.
    stator::Scalar read_item(const stator::Array& x, bool* warned) {
      if (const std::optional<stator::Scalar> value = x.item_if_idle(warned)) {
        *warned = *warned || stator::library_warnings_waiting();
        return *value;
      }
      *warned = true;
      stator::Scalar value;
      unlocked(false, [&] { value = x.item(); });
      return value;
    }
    }
    """
    void unary_into(cpp.Array&, Op, const cpp.Array&, const elementwise.ElementwiseOptions&,
                    const CppStream&) except +translate_exception
    void binary_into(cpp.Array&, Op, const cpp.Operand&, const cpp.Operand&, const elementwise.ElementwiseOptions&,
                     const CppStream&) except +translate_exception
    cpp.Scalar read_item(const cpp.Array&, cbool*) except +translate_exception

# While a thread records the calls of functions, operators become such calls; else null. Returns NotImplemented for
# other threads, and within recorded calls.
cdef Redirection redirection = NULL


cdef void set_redirection(Redirection to) noexcept:
    global redirection
    redirection = to


cdef object redirected(Redirection to, Op op, tuple operands, object dtype, object out):
    options = {name: value for name, value in (("dtype", dtype), ("out", out)) if value is not None}
    return to(name_of(op), operands, options)


cdef str name_of(Op op):
    return op_table.op_info(op).call.data().decode()


cdef Array new_array(Backend backend):
    cdef Array out = Array.__new__(Array)
    out.backend = backend
    return out


cdef Array wrap_array(Backend backend, const cpp.Array& array):
    cdef Array out = new_array(backend)
    out.c = array
    return out


cdef Array as_array(object value, str op):
    return plain(as_given(value, op))


cdef object plain_or_other(object value):
    return plain(<Array>value) if isinstance(value, Array) else value


cdef Array plain(Array x):
    cdef CppStream stream
    cdef Array out
    if x.c.dtype() != bool_ or not bool_bytes.any_bytes(x.c):
        return x
    enter(x.backend, stream)
    out = new_array(x.backend)
    with nogil:
        out.c = bool_bytes.plain_bools(x.c, stream)
    return out


cdef bint has_copied_bytes(Array x, Array out) noexcept:
    return x.c.dtype() == bool_ and bool_bytes.any_bytes(x.c) and not bool_bytes.any_bytes(out.c)


cdef Array as_given(object value, str op):
    if isinstance(value, Array):
        if (<Array>value).backend is None:  # made only by __new__
            raise InvalidValueError("an array without memory", op=op, remedy="Use stator.asarray, stator.zeros, ...")
        return <Array>value
    raise not_an_array(value, op)


cdef const cpp.Array* as_out(object out, str op, str name="out") except? NULL:
    if out is None:
        return NULL
    if not isinstance(out, Array):
        raise wrong_type(out, op, name, "an Array")
    return &(<Array>out).c


# The options of an elementwise op; its name is made only where it is needed.
cdef int fill_options(elementwise.ElementwiseOptions& options, Op op, object dtype, object out) except -1:
    if out is not None:
        options.out = as_out(out, name_of(op))
    if dtype is not None:
        to_dtype(dtype, options.dtype, name_of(op))
    return 0


cdef type numpy_scalar = np.generic


# A number beside an Array. NumPy's scalars count by their dtypes in promotion, so that x becomes an array of the common
# dtype, beside which the number is weak. Python integers beyond 64 bits become floats where x has floats, and in
# comparisons infinities, which are beyond x's integers too. None for what is not a number.
cdef Array beside_number(Op op, Array x, object value, cpp.Scalar& scalar):
    cdef vector[CppDType] dtypes
    cdef CppDType common
    if PyFloat_CheckExact(value):
        (&scalar)[0] = cpp.Scalar(<double>value)
        return x
    if not PyLong_CheckExact(value) and isinstance(value, numpy_scalar):
        if not to_scalar(value, scalar):
            return None
        dtypes.push_back(x.c.dtype())
        dtypes.push_back(<CppDType>as_dtype(value.dtype, name_of(op)))
        common = promote(dtypes)
        return x if common == x.c.dtype() else astype_op(x, wrap_dtype(common), True, name_of(op))
    if to_scalar(value, scalar):
        return x
    if not isinstance(value, int):
        return None
    if kind_of(x.c.dtype()) in (floating, complex_floating):
        try:
            (&scalar)[0] = cpp.Scalar(<double>float(value))
        except OverflowError:
            raise too_large(value, name_of(op)) from None
    elif op_table.equal <= op <= op_table.greater_equal:
        (&scalar)[0] = cpp.Scalar(<double>(float("inf") if value > 0 else float("-inf")))
    else:
        raise too_large(value, name_of(op))
    return x


cdef Array unary_op(Op op, Array x, object dtype, object out):
    cdef Redirection to = redirection
    cdef elementwise.ElementwiseOptions options
    cdef CppStream stream
    cdef Array result
    if to != NULL and (recorded := redirected(to, op, (x,), dtype, out)) is not NotImplemented:
        return recorded
    if x.c.dtype() == bool_:
        x = plain(x)
    fill_options(options, op, dtype, out)
    enter(x.backend, stream)
    result = new_array(x.backend) if out is None else <Array>out
    unary_into(result.c, op, x.c, options, stream)
    return result


cdef Array binary_op(Op op, object a, object b, object dtype, object out):
    cdef Redirection to = redirection
    cdef elementwise.ElementwiseOptions options
    cdef CppStream stream
    cdef cpp.Scalar scalar
    cdef Array x, y = None, result
    cdef bint reflected = not isinstance(a, Array)
    if to != NULL and (recorded := redirected(to, op, (a, b), dtype, out)) is not NotImplemented:
        return recorded
    if reflected:
        x = beside_number(op, plain(<Array>b), a, scalar) if isinstance(b, Array) else None
        if x is None:
            raise not_an_operand(a, name_of(op))
    else:
        x = <Array>a if (<Array>a).c.dtype() != bool_ else plain(<Array>a)
        if isinstance(b, Array):
            y = <Array>b if (<Array>b).c.dtype() != bool_ else plain(<Array>b)
        else:
            x = beside_number(op, x, b, scalar)
            if x is None:
                raise not_an_operand(b, name_of(op))
    fill_options(options, op, dtype, out)
    enter(x.backend, stream)
    result = new_array(x.backend) if out is None else <Array>out
    if y is not None:
        binary_into(result.c, op, cpp.Operand(x.c), cpp.Operand(y.c), options, stream)
    elif reflected:
        binary_into(result.c, op, cpp.Operand(scalar), cpp.Operand(x.c), options, stream)
    else:
        binary_into(result.c, op, cpp.Operand(x.c), cpp.Operand(scalar), options, stream)
    return result


cdef Array elementwise_op(Op op, PyObject* const* values, int count, object dtype, object out):
    cdef elementwise.ElementwiseOptions options
    cdef vector[cpp.Operand] operands
    cdef cpp.Scalar scalar
    cdef CppStream stream
    cdef Backend backend = None
    cdef Array each, result
    cdef list kept = None  # arrays made here, which the operands point to
    cdef int k
    for k in range(count):
        value = <object>values[k]
        if isinstance(value, Array):
            backend = (<Array>value).backend
            break
    else:
        raise DTypeError("Every operand is a number", op=name_of(op), remedy="Make one of them an array.")
    operands.reserve(count)
    for k in range(count):
        value = <object>values[k]
        if isinstance(value, Array):
            each = <Array>value if (<Array>value).c.dtype() != bool_ else plain(<Array>value)
        elif PyFloat_CheckExact(value) or PyLong_CheckExact(value) or not isinstance(value, numpy_scalar):
            if not to_scalar(value, scalar):
                raise not_an_operand(value, name_of(op))
            operands.push_back(cpp.Operand(scalar))
            continue
        elif to_scalar(value, scalar):  # a scalar of NumPy, which counts by its dtype
            each = wrap_array(backend, on_device(value, backend, None))
        else:
            raise not_an_operand(value, name_of(op))
        operands.push_back(cpp.Operand(each.c))
        if each is not value:
            kept = [] if kept is None else kept
            kept.append(each)
    fill_options(options, op, dtype, out)
    enter(backend, stream)
    result = new_array(backend)
    with nogil:
        result.c = elementwise.elementwise(op, elementwise.OperandSpan(operands.data(), operands.size()), options,
                                           stream)
    return result if out is None else <Array>out


cdef object operator(Op op, object a, object b):
    # Other classes may implement the reflected operator; NumPy arrays would loop over the elements, lists mean nothing,
    # and integers are too large here.
    cdef cpp.Scalar scalar
    cdef object other = b if isinstance(a, Array) else a
    if is_on_int8(op) and is_bool(a) and is_bool(b):
        a, b = [x.astype("int8") if isinstance(x, Array) else x for x in (a, b)]
    if isinstance(other, Array) or to_scalar(other, scalar) or isinstance(other, (np.ndarray, list, int)):
        return binary_op(op, a, b, None, None)
    return NotImplemented


# What operators compute in int8 for two operands of bool, as NumPy's do.
cdef bint is_on_int8(Op op) noexcept:
    return (op == op_table.floor_divide or op == op_table.remainder or op == op_table.pow
            or op == op_table.bitwise_left_shift or op == op_table.bitwise_right_shift)


cdef bint is_bool(object value):
    if isinstance(value, Array):
        return (<Array>value).c.dtype() == bool_
    return isinstance(value, (bool, np.bool_))


cdef int read_number(Array x, str op, cpp.Scalar& value) except -1:
    cdef cbool warned = False
    if x.c.size() != 1:
        raise DTypeError(f"An array of shape {x.shape} is not a number", op=op,
                         remedy="Reduce it, or take one element.")
    value = read_item(x.c, &warned)
    if warned:
        after_wait(x.backend)
    return 0


cdef object number(Array x, str op):
    cdef cpp.Scalar value
    read_number(x, op, value)
    return from_scalar(value)


cdef Array matmul_op(Array a, Array b, object dtype, object compute_dtype, object out):
    cdef Redirection to = redirection
    cdef matmul.MatmulOptions options
    cdef CppStream stream
    cdef Array result
    if to != NULL and (recorded := to("matmul", (a, b), {})) is not NotImplemented:
        return recorded
    if a.c.dtype() == bool_ or b.c.dtype() == bool_:
        a, b = plain(a), plain(b)
    options.out = as_out(out, "matmul")
    to_dtype(dtype, options.dtype, "matmul")
    to_dtype(compute_dtype, options.compute_dtype, "matmul", "compute_dtype")
    enter(a.backend, stream)
    result = new_array(a.backend)
    with nogil:
        result.c = matmul.matmul(a.c, b.c, options, stream)
    return result if out is None else <Array>out


cdef Array take_op(Array x, Array indices, object axis, object out):
    cdef optional[int64_t] along
    cdef CppStream stream
    cdef const cpp.Array* target = as_out(out, "take")
    cdef Array result
    to_axis(axis, along, "take")
    if kind_of(indices.c.dtype()) == boolean:
        raise DTypeError("indices of dtype bool", op="take", remedy="Use x[mask], or compress(mask, x, axis=...).")
    enter(x.backend, stream)
    result = new_array(x.backend)
    with nogil:
        result.c = indexing.take(x.c, indices.c, along, target, stream)
    return result if out is None else <Array>out


cdef Array reshape_op(Array x, object shape, object copy):
    cdef Dims dims
    cdef optional[cbool] when
    cdef CppStream stream
    cdef Array out
    to_dims(shape, dims, "reshape")
    to_optional_flag(copy, when, "reshape", "copy")
    enter(x.backend, stream)
    out = new_array(x.backend)
    with nogil:
        out.c = movement.reshape(x.c, Int64Span(dims.data(), dims.size()), when, stream)
    return reshape_op(plain(x), shape, copy) if has_copied_bytes(x, out) else out


cdef Array astype_op(Array x, object dtype, bint copy, str op="astype"):
    cdef CppDType code = <CppDType>as_dtype(dtype, op)
    cdef CppStream stream
    cdef Array out
    if not copy and code == x.c.dtype():
        return x
    x = plain(x)
    enter(x.backend, stream)
    out = new_array(x.backend)
    with nogil:
        out.c = creation.astype(x.c, code, True, stream)
    return out


cdef Array moved_to(Array x, Backend target):
    cdef CppStream current, unused
    cdef Array out
    if target is x.backend:
        return x
    x = plain(x)
    enter(x.backend, current)
    enter(target, unused)
    out = new_array(target)
    with nogil:
        out.c = creation.copy_to(x.c, target.c, current)
    return out


cdef Array swap_last(Array x):
    cdef Redirection to = redirection
    if to != NULL and (recorded := to("matrix_transpose", (x,), {})) is not NotImplemented:
        return recorded
    cdef Array out = new_array(x.backend)
    out.c = movement.matrix_transpose(x.c)
    return out


cdef Array copy_into(Array target, Array source):
    cdef Redirection to = redirection
    cdef CppStream stream
    if target.shape != source.shape:
        raise ShapeError(f"the result of shape {source.shape} does not fit the array of shape {target.shape}",
                         op="matmul", remedy="Write x = x @ y.")
    if not can_cast_same_kind(source.c.dtype(), target.c.dtype()):
        raise DTypeError(f"the result of dtype {source.dtype} does not fit the array of {target.dtype}", op="matmul",
                         remedy="Write x = x @ y.")
    if to != NULL and to("Array.__setitem__", (target, ..., source), {}) is not NotImplemented:
        return target
    enter(target.backend, stream)
    with nogil:
        creation.assign(target.c, cpp.Operand(source.c), stream)
    return target
