# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
# cython: annotation_typing=False, freethreading_compatible=True
"""Functions generated from the op table: a new entry needs no code here; and functions as methods of a class."""
from ast import literal_eval
from importlib import import_module

from stator.cpp cimport op_table
from stator.cpp.python cimport Py_INCREF, PyObject


cdef extern from "Python.h":
    object PyCFunction_NewEx(PyMethodDef*, object, object)
    int METH_FASTCALL, METH_KEYWORDS


cdef class TableFunction:
    def __reduce__(self):
        # pickle stores a built-in function as getattr(its self, its name), so self unpickles as the function's module.
        return import_module, (self.namespace,)

    def __repr__(self) -> str:
        return f"<op {self.name}>"


cdef str text(op_table.string_view view):
    return view.data()[:view.size()].decode()


cdef tuple named_operands(const op_table.OpInfo* info):
    cdef dict defaults = {}
    cdef list names = []
    for part in text(info.operands).split(", "):
        name, _, default = part.partition("=")
        names.append(name)
        if default:
            defaults[name] = literal_eval(default)
    return tuple(names), defaults


cdef object make_function(int op, FastCall call, str signature, str details, int operands=1, tuple keywords=(),
                          tuple defaults=()):
    cdef const op_table.OpInfo* info = &op_table.op_info(<Op>op)
    cdef TableFunction f = TableFunction.__new__(TableFunction)
    prefix, _, short = text(info.call).rpartition(".")
    f.op = <Op>op
    f.name = text(info.name)
    f.namespace = f"stator.{prefix}" if prefix else "stator"
    f.short_name = short.encode()
    f.doc = f"{short}{signature}\n--\n\n{text(info.summary)}.\n\n{details}".encode()
    f.operands = operands
    f.keywords = keywords
    f.defaults = defaults
    f.method.ml_name = f.short_name
    f.method.ml_meth = <PyCFunction>call
    f.method.ml_flags = METH_FASTCALL | METH_KEYWORDS
    f.method.ml_doc = f.doc
    return PyCFunction_NewEx(&f.method, f, f.namespace)


cdef dict make_functions(int shape_class, FastCall call, str parameters, str details):
    cdef dict out = {}
    cdef int i
    cdef const op_table.OpInfo* info
    for i in range(op_table.op_count):
        info = &op_table.op_info(<Op>i)
        path = text(info.call)
        if <int>info.shape_class == shape_class and path.rpartition(".")[2] == text(info.name):
            out[path] = make_function(i, call, parameters, details)
    return out


cdef int sort_arguments(TableFunction f, PyObject* const* args, Py_ssize_t count, PyObject* names, int positional,
                        tuple keywords, PyObject** options) except -1:
    cdef Py_ssize_t i, k, given = 0
    if count != positional:
        raise TypeError(f"{f.short_name.decode()}() takes {positional} positional arguments but {count} were given")
    if names == NULL:
        return 0
    given = len(<tuple>names)
    for i in range(given):
        name = (<tuple>names)[i]
        for k in range(len(keywords)):
            if name is keywords[k] or name == keywords[k]:
                options[k] = args[count + i]
                break
        else:
            raise TypeError(f"{f.short_name.decode()}() got an unexpected keyword argument {name!r}")
    return 0


cdef extern from *:
    """
    #include <array>
    #include <utility>
    namespace {
    using Call = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*);
    PyObject* (*forward)(int, PyObject*, PyObject* const*, Py_ssize_t, PyObject*) = nullptr;
    // A method descriptor holds no data, so each method has a C function that knows its number.
    template <int I>
    PyObject* entry(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
      return forward(I, self, args, count, names);
    }
    template <int... I>
    constexpr std::array<Call, sizeof...(I)> entries_of(std::integer_sequence<int, I...>) {
      return {&entry<I>...};
    }
    constexpr auto entries = entries_of(std::make_integer_sequence<int, 64>());
    int set_member(PyObject* type, PyObject* name, PyObject* value) {
    #ifdef Py_LIMITED_API
      return PyObject_SetAttr(type, name, value);
    #else  // the type is a static one, which refuses assignments
      int failed = PyDict_SetItem(reinterpret_cast<PyTypeObject*>(type)->tp_dict, name, value);
      PyType_Modified(reinterpret_cast<PyTypeObject*>(type));
      return failed;
    #endif
    }
    }
    """
    FastCall* entries
    object (*forward)(int, object, PyObject* const*, Py_ssize_t, PyObject*)
    int set_member(object, object, object) except -1
    ctypedef struct PyTypeObject

cdef extern from "Python.h":
    object PyDescr_NewMethod(PyTypeObject*, PyMethodDef*)
    PyCFunction PyCFunction_GetFunction(object) except NULL
    PyObject* PyCFunction_GetSelf(object)
    int PyCFunction_GetFlags(object) except -1
    tuple PyTuple_New(Py_ssize_t)
    int PyTuple_SetItem(object, Py_ssize_t, object) except -1
    ctypedef object (*PyCFunctionWithKeywords)(PyObject*, object, PyObject*)
    int METH_VARARGS


# Of a function that takes its arguments from an array; its self may be null.
ctypedef object (*FastFunction)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*)


cdef enum:
    most_arguments = 40  # of a call of a method, besides the array: transpose may name 32 axes


cdef class Method:
    cdef object function
    cdef FastFunction call  # of a function that takes its arguments from an array, else null
    cdef PyCFunctionWithKeywords call_tuple  # of a function that takes them as a tuple, else null
    cdef PyObject* module  # its self, which may be null
    cdef tuple keywords  # names of the parameters that may be given by position
    cdef Py_ssize_t positional
    cdef Py_ssize_t direct  # how many of them the function takes by position, in the same order
    cdef bytes name, doc
    cdef object keyword, other  # a keyword, and the function for calls with it; None
    cdef PyMethodDef method


cdef PyObject* methods[64]
cdef int method_count = 0


cdef tuple other_names(Method m, Py_ssize_t placed, Py_ssize_t count, PyObject* names):
    # The names of the function's keywords: those of the arguments that are not passed by position, then those given by
    # name.
    cdef tuple out = m.keywords[placed:count]
    if names == NULL:
        return out
    for name in <tuple>names:
        if name in out:
            raise TypeError(f"{m.name.decode()}() got two values for {name!r}")
    return out + <tuple>names


cdef object call_method(int index, object self, PyObject* const* args, Py_ssize_t count, PyObject* names):
    cdef Method m = <Method>methods[index]
    cdef PyObject* values[most_arguments + 1]
    cdef Py_ssize_t k, placed, given = 0 if names == NULL else len(<tuple>names)
    cdef PyObject* passed = names
    cdef tuple keywords
    if names != NULL and m.other is not None and m.keyword in <tuple>names:
        options = {name: <object>args[count + k] for k, name in enumerate(<tuple>names)}
        return m.other(self, *[<object>args[k] for k in range(count)], **options)
    if count > m.positional or count + given > most_arguments:
        raise TypeError(f"{m.name.decode()}() takes at most {m.positional} positional arguments but {count} were "
                        "given")
    placed = min(count, m.direct)
    if count > placed:
        keywords = other_names(m, placed, count, names)
        passed = <PyObject*>keywords
    values[0] = <PyObject*>self
    for k in range(count + given):
        values[k + 1] = args[k]
    count = placed + 1
    if m.call != NULL:
        return m.call(m.module, values, count, passed)
    if count == 1:
        positional = (self,)
    elif count == 2:
        positional = (self, <object>values[1])
    else:
        positional = PyTuple_New(count)
        for k in range(count):
            Py_INCREF(<object>values[k])  # PyTuple_SetItem takes a reference
            PyTuple_SetItem(positional, k, <object>values[k])
    if passed == NULL:
        return m.function(*positional) if m.call_tuple == NULL else m.call_tuple(m.module, positional, NULL)
    return m.function(*positional, **{key: <object>values[count + k] for k, key in enumerate(<tuple>passed)})


forward = call_method


cdef list names_of(str parameters):
    names = [part.partition("=")[0].strip() for part in parameters.split(",")]
    return [name for name in names if name and name != "/"]


def install_method(cls: type, name: str, function: object, parameters: str | None = None, doc: str | None = None,
                   given: tuple[str, object] | None = None) -> None:
    """Makes a function a method of a class: cls.name(...) is function(self, ...), without a Python frame.

    parameters: of the method, as text; those before a * may be given by position, and all but the first of them are
    passed on by name. Without parameters the function is set as it is. given: a keyword, and the function for calls
    with it.
    """
    cdef Method m
    cdef int fast = METH_FASTCALL | METH_KEYWORDS
    global method_count
    if parameters is None:
        set_member(cls, name, function)
        return
    if method_count == 64:
        raise TypeError("There are more methods than numbers for them")
    m = Method.__new__(Method)
    names = names_of(parameters.partition("*")[0])
    m.keywords = tuple(names)
    m.positional = len(m.keywords)
    m.direct = 1
    m.function = function
    m.keyword, m.other = (None, None) if given is None else given
    if PyCFunction_GetFlags(function) == fast:
        m.call = <FastFunction>PyCFunction_GetFunction(function)
        m.module = PyCFunction_GetSelf(function)
    elif PyCFunction_GetFlags(function) == (METH_VARARGS | METH_KEYWORDS):
        m.call_tuple = <PyCFunctionWithKeywords>PyCFunction_GetFunction(function)
        m.module = PyCFunction_GetSelf(function)
    if parameters[:1] == "*" and parameters[1:2] != ",":  # any number of arguments by position
        m.positional = m.direct = most_arguments
    elif m.call != NULL or m.call_tuple != NULL:
        theirs = names_of((function.__text_signature__ or "").strip("()").partition("*")[0])[1:]
        while m.direct < min(m.positional, len(theirs)) and theirs[m.direct] == m.keywords[m.direct]:
            m.direct += 1
    m.name = name.encode()
    m.doc = f"{name}($self{', ' if parameters else ''}{parameters})\n--\n\n{doc}".encode()
    m.method.ml_name = m.name
    m.method.ml_doc = m.doc
    m.method.ml_meth = <PyCFunction>entries[method_count]
    m.method.ml_flags = fast
    Py_INCREF(m)  # for as long as the process lives, as the class has its methods
    methods[method_count] = <PyObject*>m
    set_member(cls, name, PyDescr_NewMethod(<PyTypeObject*>cls, &m.method))
    method_count += 1
