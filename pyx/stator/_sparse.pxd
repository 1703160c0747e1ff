from libc.stdint cimport int64_t

from stator._array cimport Array
from stator._backend cimport Backend
from stator.cpp cimport sparse as cpp
from stator.cpp.std cimport optional


cdef class SparseMatrix:
    cdef readonly Array data          # the values
    cdef readonly tuple shape
    cdef readonly bint is_sorted      # known to be in the order of rows, then columns (CSC: columns, then rows)
    cdef readonly bint is_coalesced   # known to have no position twice
    cdef readonly bint is_valid       # known to have no index out of range, as vendor libraries require

cdef class Compressed(SparseMatrix):
    cdef readonly Array indices
    cdef readonly Array indptr
    cdef cpp.Csr as_rows(self)

cdef class CSR(Compressed):
    pass

cdef class CSC(Compressed):
    pass

cdef class COO(SparseMatrix):
    cdef readonly Array row
    cdef readonly Array col
    cdef cpp.Coo as_coo(self)

# A matrix of the class CSR from its C++ matrix, or of the class CSC from that of its transpose.
cdef Compressed new_compressed(type kind, Backend backend, const cpp.Csr& c)
# Any sparse matrix compressed by rows; DTypeError for other values.
cdef cpp.Csr rows_of(object a, str op) except *
cdef optional[int64_t] count_of(object nnz, str op) except *
