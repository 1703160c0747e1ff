# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
# cython: annotation_typing=False, freethreading_compatible=True
"""What the conversions to and from SciPy's sparse matrices share."""
from stator._array cimport Array, astype_op

from stator.errors import LibraryNotFoundError


cdef object scipy_sparse():
    try:
        import scipy.sparse
    except ImportError:
        raise LibraryNotFoundError("SciPy is not installed", op="sparse", remedy="Run pip install scipy.") from None
    return scipy.sparse


cdef object host_values(Array values):
    # SciPy has no half types.
    data = values if values.itemsize > 2 else astype_op(values, "float32", True)
    return data.to_numpy()


cdef object scipy_array(object a):
    module, values = scipy_sparse(), host_values(a.data)
    if hasattr(a, "row"):
        return module.coo_array((values, (a.row.to_numpy(), a.col.to_numpy())), shape=a.shape)
    make = module.csr_array if type(a).__name__ == "CSR" else module.csc_array
    return make((values, a.indices.to_numpy(), a.indptr.to_numpy()), shape=a.shape)
