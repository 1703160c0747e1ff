from stator._array cimport Array


# The module scipy.sparse, imported at first use. LibraryNotFoundError where SciPy is not installed.
cdef object scipy_sparse()
# A copy of the values that SciPy takes.
cdef object host_values(Array values)
# A copy of a sparse matrix as SciPy's array of the same format.
cdef object scipy_array(object a)
