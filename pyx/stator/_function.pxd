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

# What a function made from the op table is bound to.
cdef class Row:
    cdef Op op
    cdef readonly str name       # of the op
    cdef readonly str namespace  # "stator", "stator.nn"
    cdef bytes short_name, doc
    cdef int operands            # arrays or numbers; those beyond len(keywords) - 2 are positional only
    cdef tuple keywords          # names of operands with defaults, then "dtype", "out"
    cdef tuple defaults
    cdef PyMethodDef method

cdef str text(string_view view)
# Built-in functions, one for each entry of a shape class: {"exp": ..., "nn.relu": ...}. They cost no Python frame. An
# entry that is a variant of another (its call ends in another name than its own) is left to the function of that one.
cdef dict make_functions(int shape_class, FastCall call, str parameters, str details)
# A function of one entry; `signature` begins with "(". Its documentation is the entry's summary, then the details.
cdef object make_function(int op, FastCall call, str signature, str details, int operands=*, tuple keywords=*,
                          tuple defaults=*)
# The operands that an entry names, and the defaults of those that have one: (("x", "alpha"), {"alpha": 1.0}).
cdef tuple named_operands(const OpInfo* info)
# Sorts fast-call arguments: `positional` of them by position, the rest by keyword; absent ones stay as they are.
cdef int sort_arguments(Row row, PyObject* const* args, Py_ssize_t count, PyObject* names, int positional,
                        tuple keywords, PyObject** options) except -1
