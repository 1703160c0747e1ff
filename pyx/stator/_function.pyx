# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
# cython: annotation_typing=False, freethreading_compatible=True
"""Functions generated from the op table: a new entry needs no code here."""
from ast import literal_eval
from importlib import import_module

from stator.cpp cimport op_table
from stator.cpp.python cimport PyObject


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
