from libc.stdint cimport int64_t

from stator._array cimport Array
from stator._backend cimport Backend
from stator.cpp cimport sparse as cpp
from stator.cpp.std cimport optional


cdef class SparseMatrix:
    cdef readonly Array data          # the values
    cdef readonly tuple shape
    cdef readonly bint is_sorted      # known to be in order of rows and columns (CSC: of columns and rows)
    cdef readonly bint is_coalesced   # known to have no position twice
    cdef readonly bint is_valid       # known to have no index outside: what libraries are given

cdef class Compressed(SparseMatrix):
    cdef readonly Array indices
    cdef readonly Array indptr
    cdef cpp.Csr as_rows(self)
    cdef int fill(self, object data, object indices, object indptr, object shape, bint is_sorted,
                  bint is_coalesced) except -1

cdef class CSR(Compressed):
    pass

cdef class CSC(Compressed):
    pass

cdef class COO(SparseMatrix):
    cdef readonly Array row
    cdef readonly Array col
    cdef cpp.Coo as_coo(self)

# A matrix of the class from one compressed by rows (of a CSC: its transpose).
cdef Compressed new_compressed(type kind, Backend backend, const cpp.Csr& c)
# Any sparse matrix by rows, DTypeError otherwise.
cdef cpp.Csr rows_of(object a, str op) except *
cdef optional[int64_t] count_of(object nnz, str op) except *
# The module, LibraryNotFoundError otherwise.
cdef object scipy_sparse()
