from stator.cpp.op_table cimport Op, OpInfo, string_view
from stator.cpp.python cimport PyObject

ctypedef object (*FastCall)(object, PyObject* const*, Py_ssize_t, PyObject*)

cdef extern from "Python.h":
    ctypedef void* PyCFunction
    ctypedef struct PyMethodDef:
        const char* ml_name
        PyCFunction ml_meth
        int ml_flags
        const char* ml_doc

# What a function generated from the op table is bound to: its entry, and how its arguments are read.
cdef class TableFunction:
    cdef Op op
    cdef readonly str name       # of the op
    cdef readonly str namespace  # "stator", "stator.nn", ...
    cdef bytes short_name, doc
    cdef int operands            # the number of operands, arrays or numbers; the first are positional only
    cdef tuple keywords          # names of the operands that have defaults, then "dtype", "out"
    cdef tuple defaults
    cdef PyMethodDef method

cdef str text(string_view view)
# Built-in functions, one per entry of a shape class: {"exp": ..., "nn.relu": ...}. They need no Python frame. Variants
# of another entry (whose call does not end in their own name) get no function.
cdef dict make_functions(int shape_class, FastCall call, str parameters, str details)
# The function of one entry; `signature` begins with "(". Its documentation is the entry's summary, then the details.
cdef object make_function(int op, FastCall call, str signature, str details, int operands=*, tuple keywords=*,
                          tuple defaults=*)
# The names of an entry's operands, and the defaults of those that have one: (("x", "alpha"), {"alpha": 1.0}).
cdef tuple named_operands(const OpInfo* info)
# Reads fast-call arguments: `positional` of them by position, the rest by keyword; options[k] is set to the argument of
# keywords[k], and stays as it is where there is none.
cdef int sort_arguments(TableFunction f, PyObject* const* args, Py_ssize_t count, PyObject* names, int positional,
                        tuple keywords, PyObject** options) except -1
