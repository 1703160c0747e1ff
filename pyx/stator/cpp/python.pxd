# Python.h
cdef extern from "Python.h":
    ctypedef struct PyObject
    void Py_INCREF(object)
    void Py_DECREF(object)
