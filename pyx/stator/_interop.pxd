from stator._array cimport Array
from stator._backend cimport Backend

cdef Array copied(Array x)
cdef Array from_cuda_array_interface(object source, Backend backend)
# The module scipy.sparse, LibraryNotFoundError without SciPy; values as SciPy takes them.
cdef object scipy_sparse()
cdef object host_values(Array values)
