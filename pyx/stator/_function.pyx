# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=python
# cython: annotation_typing=False, freethreading_compatible=True
"""Functions made from the op table: a new row needs no code here."""
from ast import literal_eval
from importlib import import_module

from stator.cpp cimport op_table
from stator.cpp.python cimport PyObject


cdef extern from "Python.h":
    object PyCFunction_NewEx(PyMethodDef*, object, object)
    int METH_FASTCALL, METH_KEYWORDS


cdef class Row:
    def __reduce__(self):
        # pickle asks for getattr(self, function name): the module that has the function
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
    cdef Row row = Row.__new__(Row)
    prefix, _, short = text(info.call).rpartition(".")
    row.op = <Op>op
    row.name = text(info.name)
    row.namespace = f"stator.{prefix}" if prefix else "stator"
    row.short_name = short.encode()
    row.doc = f"{short}{signature}\n--\n\n{text(info.summary)}.\n\n{details}".encode()
    row.operands = operands
    row.keywords = keywords
    row.defaults = defaults
    row.method.ml_name = row.short_name
    row.method.ml_meth = <PyCFunction>call
    row.method.ml_flags = METH_FASTCALL | METH_KEYWORDS
    row.method.ml_doc = row.doc
    return PyCFunction_NewEx(&row.method, row, row.namespace)


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


cdef int sort_arguments(Row row, PyObject* const* args, Py_ssize_t count, PyObject* names, int positional,
                        tuple keywords, PyObject** options) except -1:
    cdef Py_ssize_t i, k, given = 0
    if count != positional:
        raise TypeError(f"{row.short_name.decode()}() takes {positional} positional arguments but {count} were given")
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
            raise TypeError(f"{row.short_name.decode()}() got an unexpected keyword argument {name!r}")
    return 0
