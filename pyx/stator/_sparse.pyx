# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
# cython: annotation_typing=False, freethreading_compatible=True
"""Sparse matrices: the classes CSR, CSC and COO, and their sums and products."""
from libc.stdint cimport int64_t

from stator._array cimport Array, as_array, as_out, astype_op, binary_op, new_array, unary_op, wrap_array
from stator._backend cimport Backend, after_wait, enter
from stator._convert cimport matrix_shape, to_axis, to_flag, to_int, to_number, to_scalar
from stator._sparse_scipy cimport scipy_array
from stator.cpp cimport op_table
from stator.cpp cimport sparse as cpp
from stator.cpp.array cimport Array as CppArray
from stator.cpp.array cimport Scalar
from stator.cpp.backend cimport Stream as CppStream
from stator.cpp.std cimport optional

from stator._reduce import functions as reductions
from stator.errors import DTypeError, InvalidValueError, StatorError, UnsupportedError, renamed


cdef optional[int64_t] count_of(object nnz, str op) except *:
    cdef optional[int64_t] out
    to_axis(nnz, out, op, "nnz")
    return out


cdef Array nothing = new_array(None)  # what a matrix has whose __init__ did not run; C++ refuses it


cdef class SparseMatrix:
    """SparseMatrix()\n--\n
    The base class of CSR, CSC and COO, whose values are float16 to complex128.

    Only to_dense makes a dense array.
    """
    __array_ufunc__ = None  # makes NumPy leave mixed operators to this class, as the next does for Array
    __stator_sparse__ = True
    __hash__ = None

    def __cinit__(self):
        self.data = nothing

    def __init__(self) -> None:
        raise TypeError("SparseMatrix has no constructor. Use CSR, CSC, COO, sparse.csr_from_dense, ...")

    @property
    def ndim(self) -> int:
        """Number of axes: 2."""
        return 2

    @property
    def nnz(self) -> int:
        """Number of stored entries, including those that are 0 or share a position."""
        return self.data.c.size()

    @property
    def dtype(self) -> DType:
        """Type of the values."""
        return self.data.dtype

    @property
    def backend(self) -> Backend:
        """The backend of the matrix's arrays."""
        return self.data.backend

    @property
    def device(self) -> Device:
        """The device that the matrix's arrays are on."""
        return self.data.device

    def __array__(self, dtype: object = None, copy: bool | None = None) -> numpy.ndarray:
        """Raises UnsupportedError, since only to_dense() makes a dense array."""
        raise UnsupportedError("A sparse matrix does not become dense by itself", op="sparse.__array__",
                               remedy="Use to_dense().to_numpy(), or to_scipy().")

    def astype(self, dtype: DTypeLike, /) -> SparseMatrix:
        """The same matrix with values of another dtype. Asynchronous."""
        return self.with_data(astype_op(self.data, dtype, False, "sparse.CSR.astype"))

    def __neg__(self) -> SparseMatrix:
        return self.with_data(unary_op(op_table.negative, self.data, None, None))

    def __mul__(self, other: complex) -> SparseMatrix:
        return scaled(self, other, op_table.multiply)

    def __rmul__(self, other: complex) -> SparseMatrix:
        return scaled(self, other, op_table.multiply)

    def __truediv__(self, other: complex) -> SparseMatrix:
        return scaled(self, other, op_table.divide)

    def __add__(self, other: SparseMatrix) -> SparseMatrix:
        return add(self, other) if isinstance(other, SparseMatrix) else NotImplemented

    def __sub__(self, other: SparseMatrix) -> SparseMatrix:
        return add(self, other, beta=-1) if isinstance(other, SparseMatrix) else NotImplemented

    def __matmul__(self, other: Array | SparseMatrix) -> Array | CSR:
        return spgemm(self, other) if isinstance(other, SparseMatrix) else matmul(self, other)

    def __rmatmul__(self, other: Array) -> Array:
        cdef Array x = as_array(other, "sparse.CSR.__matmul__")
        return matmul(self.T, x) if x.c.ndim() == 1 else matmul(self.T, x.mT).mT

    def sum(self, *, axis: int | None = None) -> Array:
        """The sum of all entries, 0-d, or of each column (axis=0) or row (axis=1), with one axis. Asynchronous."""
        if axis is None:
            return reductions["sum"](self.data)
        if not -2 <= to_int(axis, "sparse.sum") <= 1:
            raise InvalidValueError(f"axis={axis!r}", op="sparse.sum", remedy="Use None, 0 or 1.")
        from stator._sparse_ops import row_sums
        return row_sums((self if axis in (-1, 1) else self.T).to_csr())

    def __getitem__(self, key: slice | tuple[slice, slice]) -> Self:
        """The rows of a slice with step 1, or the part of slices of rows and columns. Synchronises."""
        from stator._sparse_ops import part_of
        return part_of(self, key)

    def diagonal(self, k: int = 0) -> Array:
        """The values at (i, i + k), as many as fit into the matrix. Asynchronous."""
        from stator._sparse_ops import diagonal_of
        return diagonal_of(self, k)

    def toarray(self) -> Array:
        """The dense matrix on the device, as to_dense, where SciPy's is on the host. Asynchronous."""
        return self.to_dense()

    def to_scipy(self) -> scipy.sparse.sparray:
        """A copy as SciPy's array of the same format; half types become float32. Synchronises."""
        return scipy_array(self)

    def __repr__(self) -> str:
        return (f"<stator.sparse.{type(self).__name__} of shape {self.shape}, {self.nnz} entries, dtype={self.dtype}, "
                f"device='{self.device}'>")


cdef class Compressed(SparseMatrix):
    """Compressed(data, indices, indptr, shape, *, is_sorted=False, is_coalesced=False)\n--\n
    The base class of CSR and CSC: a CSC matrix is stored as the CSR matrix of its transpose."""

    def __cinit__(self):
        self.indices = self.indptr = nothing

    def __init__(self, data: Array, indices: Array, indptr: Array, shape: tuple[int, int], *, is_sorted: bool = False,
                 is_coalesced: bool = False) -> None:
        cdef str op = "sparse.CSR" if isinstance(self, CSR) else "sparse.CSC"
        cdef Array values = as_array(data, op), index = as_array(indices, op), pointers = as_array(indptr, op)
        cdef CppStream stream
        cdef cpp.Csr made
        cdef int64_t rows, cols
        self.shape = matrix_shape(shape, op)
        rows, cols = self.shape if isinstance(self, CSR) else self.shape[::-1]
        enter(values.backend, stream)
        try:
            with nogil:
                made = cpp.csr(values.c, index.c, pointers.c, rows, cols, stream)
        except StatorError as error:
            raise renamed(error, op) from None
        made.sorted = to_flag(is_sorted, op, "is_sorted")
        made.unique = to_flag(is_coalesced, op, "is_coalesced")
        set_compressed(self, values.backend, made)

    cdef cpp.Csr as_rows(self):
        # The matrix compressed by rows, or the transpose of one compressed by columns.
        cdef cpp.Csr out
        out.indptr = self.indptr.c
        out.indices = self.indices.c
        out.values = self.data.c
        out.rows, out.cols = self.shape if isinstance(self, CSR) else self.shape[::-1]
        out.sorted = self.is_sorted
        out.unique = self.is_coalesced
        out.valid = self.is_valid
        return out

    def to_coo(self) -> COO:
        """The same entries with a row and a column index each. Asynchronous.

        Shares data and one of the index arrays.
        """
        cdef cpp.Csr a = self.as_rows()
        cdef cpp.Coo c
        cdef CppStream stream
        enter(self.data.backend, stream)
        with nogil:
            c = cpp.to_coo(a, stream)
        rows = new_coo(self.data.backend, c)
        return rows if isinstance(self, CSR) else rows.T

    def to_dense(self) -> Array:
        """The dense matrix; entries of one position add up. Asynchronous."""
        cdef cpp.Csr a = self.as_rows()
        cdef Array out = new_array(self.data.backend)
        cdef bint by_rows = isinstance(self, CSR)
        cdef CppStream stream
        enter(out.backend, stream)
        with nogil:
            out.c = cpp.to_dense(a, stream) if by_rows else cpp.to_dense(cpp.transpose(a), stream)
        return out

    def with_data(self, data: Array, /) -> Compressed:
        """The same structure with other values (nnz,), one per entry. Asynchronous."""
        cdef Array values = as_array(data, "sparse.CSR.with_data")
        cdef cpp.Csr c = self.as_rows()
        cdef CppStream stream
        enter(values.backend, stream)
        with nogil:
            c = cpp.with_values(c, values.c, stream)
        return new_compressed(type(self), values.backend, c)

    def sort_indices(self) -> Compressed:
        """The same matrix with the indices of each row (CSC: column) in ascending order. Asynchronous.

        Entries of one position keep their order.
        """
        cdef cpp.Csr c = self.as_rows()
        cdef CppStream stream
        enter(self.data.backend, stream)
        with nogil:
            c = cpp.sort_indices(c, stream)
        return new_compressed(type(self), self.data.backend, c)

    def coalesce(self, *, nnz: int | None = None) -> Compressed:
        """The same matrix sorted, with entries of one position added up. Synchronises.

        nnz: the exact number of entries of the result, with which nothing synchronises.
        """
        cdef cpp.Csr c = self.as_rows()
        cdef optional[int64_t] count = count_of(nnz, "sparse.coalesce")
        cdef CppStream stream
        enter(self.data.backend, stream)
        with nogil:
            c = cpp.coalesce(c, count, stream)
        return new_compressed(type(self), self.data.backend, c)

    def check(self) -> Compressed:
        """The same matrix with is_sorted, is_coalesced and is_valid determined. Synchronises.

        InvalidValueError for pointers that descend or do not end at nnz, OutOfRangeError for indices out of range.
        """
        cdef cpp.Csr c = self.as_rows()
        cdef CppStream stream
        enter(self.data.backend, stream)
        with nogil:
            c = cpp.check(c, stream)
        return new_compressed(type(self), self.data.backend, c)


cdef int set_compressed(Compressed out, Backend backend, const cpp.Csr& c) except -1:
    out.data = wrap_array(backend, c.values)
    out.indices = wrap_array(backend, c.indices)
    out.indptr = wrap_array(backend, c.indptr)
    out.shape = (c.rows, c.cols) if isinstance(out, CSR) else (c.cols, c.rows)
    out.is_sorted = c.sorted
    out.is_coalesced = c.unique
    out.is_valid = c.valid
    return 0


cdef Compressed new_compressed(type kind, Backend backend, const cpp.Csr& c):
    cdef Compressed out = kind.__new__(kind)
    set_compressed(out, backend, c)
    return out


cdef class CSR(Compressed):
    """A matrix compressed by rows: row r has entries indptr[r] to indptr[r + 1].

    indptr (rows + 1,), indices and data (nnz,). is_sorted and is_coalesced are promises of the caller; check()
    determines them. The constructor does not read the index arrays: for an index out of range an op reads nothing, and
    the next synchronising call raises OutOfRangeError.
    """

    @property
    def T(self) -> CSC:
        """The transpose, which shares the arrays."""
        return new_compressed(CSC, self.data.backend, self.as_rows())

    def to_csr(self) -> CSR:
        """The matrix itself."""
        return self

    def to_csc(self) -> CSC:
        """The same matrix compressed by columns, sorted. Asynchronous."""
        cdef cpp.Csr a = self.as_rows()
        cdef cpp.Csc c
        cdef CppStream stream
        enter(self.data.backend, stream)
        with nogil:
            c = cpp.to_csc(a, stream)
            a = cpp.transpose(c)
        return new_compressed(CSC, self.data.backend, a)


cdef class CSC(Compressed):
    """A matrix compressed by columns: column c has entries indptr[c] to indptr[c + 1].

    indptr (columns + 1,), indices and data (nnz,). The promises are those of CSR.
    """

    @property
    def T(self) -> CSR:
        """The transpose, which shares the arrays."""
        return new_compressed(CSR, self.data.backend, self.as_rows())

    def to_csr(self) -> CSR:
        """The same matrix compressed by rows, sorted. Asynchronous."""
        return self.T.to_csc().T

    def to_csc(self) -> CSC:
        """The matrix itself."""
        return self


cdef class COO(SparseMatrix):
    """COO(data, row, col, shape, *, is_sorted=False, is_coalesced=False)\n--\n
    Entries with a row and a column index each, in any order; entries of one position add up.

    row, col and data (nnz,). The promises are those of CSR.
    """

    def __cinit__(self):
        self.row = self.col = nothing

    def __init__(self, data: Array, row: Array, col: Array, shape: tuple[int, int], *, is_sorted: bool = False,
                 is_coalesced: bool = False) -> None:
        cdef Array values = as_array(data, "sparse.COO"), rows = as_array(row, "sparse.COO")
        cdef Array cols = as_array(col, "sparse.COO")
        cdef CppStream stream
        cdef cpp.Coo made
        cdef int64_t m, n
        m, n = matrix_shape(shape, "sparse.COO")
        enter(values.backend, stream)
        with nogil:
            made = cpp.coo(values.c, rows.c, cols.c, m, n, stream)
        made.sorted = to_flag(is_sorted, "sparse.COO", "is_sorted")
        made.unique = to_flag(is_coalesced, "sparse.COO", "is_coalesced")
        set_coo(self, values.backend, made)

    cdef cpp.Coo as_coo(self):
        cdef cpp.Coo out
        out.row = self.row.c
        out.col = self.col.c
        out.values = self.data.c
        out.rows, out.cols = self.shape
        out.sorted = self.is_sorted
        out.unique = self.is_coalesced
        out.valid = self.is_valid
        return out

    @property
    def T(self) -> COO:
        """The transpose, which shares the arrays."""
        cdef cpp.Coo c = self.as_coo()
        c.row, c.col = self.col.c, self.row.c
        c.rows, c.cols = c.cols, c.rows
        c.sorted = False
        return new_coo(self.data.backend, c)

    def with_data(self, data: Array, /) -> COO:
        """The same structure with other values (nnz,), one per entry. Asynchronous."""
        cdef Array values = as_array(data, "sparse.COO.with_data")
        cdef cpp.Coo c = self.as_coo()
        cdef CppStream stream
        enter(values.backend, stream)
        with nogil:
            c = cpp.with_values(c, values.c, stream)
        return new_coo(values.backend, c)

    def to_csr(self) -> CSR:
        """The same entries compressed by rows; those of a row keep their order. Asynchronous."""
        cdef cpp.Coo a = self.as_coo()
        cdef cpp.Csr c
        cdef CppStream stream
        enter(self.data.backend, stream)
        with nogil:
            c = cpp.to_csr(a, stream)
        return new_compressed(CSR, self.data.backend, c)

    def to_csc(self) -> CSC:
        """The same entries compressed by columns; those of a column keep their order. Asynchronous."""
        return self.T.to_csr().T

    def to_coo(self) -> COO:
        """The matrix itself."""
        return self

    def to_dense(self) -> Array:
        """The dense matrix; entries of one position add up. Asynchronous."""
        return self.to_csr().to_dense()

    def sort_indices(self) -> COO:
        """The same matrix in the order of rows, and of columns within a row. Asynchronous.

        Entries of one position keep their order.
        """
        return self if self.is_sorted else self.to_csr().sort_indices().to_coo()

    def coalesce(self, *, nnz: int | None = None) -> COO:
        """The same matrix sorted, with entries of one position added up. Synchronises.

        nnz: the exact number of entries of the result, with which nothing synchronises.
        """
        return self if self.is_sorted and self.is_coalesced else self.to_csr().coalesce(nnz=nnz).to_coo()

    def check(self) -> COO:
        """The same matrix with is_sorted, is_coalesced and is_valid determined. Synchronises.

        OutOfRangeError for indices out of range.
        """
        cdef cpp.Coo c = self.as_coo()
        cdef CppStream stream
        enter(self.data.backend, stream)
        with nogil:
            c = cpp.check(c, stream)
        return new_coo(self.data.backend, c)


cdef int set_coo(COO out, Backend backend, const cpp.Coo& c) except -1:
    out.data = wrap_array(backend, c.values)
    out.row = wrap_array(backend, c.row)
    out.col = wrap_array(backend, c.col)
    out.shape = (c.rows, c.cols)
    out.is_sorted, out.is_coalesced, out.is_valid = c.sorted, c.unique, c.valid
    return 0


cdef COO new_coo(Backend backend, const cpp.Coo& c):
    cdef COO out = COO.__new__(COO)
    set_coo(out, backend, c)
    return out


cdef object scaled(SparseMatrix a, object factor, op_table.Op op):
    cdef Scalar scalar
    if not to_scalar(factor, scalar):
        return NotImplemented
    return a.with_data(binary_op(op, a.data, factor, None, None))


cdef cpp.Csr rows_of(object a, str op) except *:
    if not isinstance(a, (CSR, CSC, COO)):
        raise DTypeError(f"Expected a sparse matrix, got {type(a).__name__}", op=op,
                         remedy="Make one with sparse.csr_from_dense or sparse.from_scipy.")
    return (<CSR>a.to_csr()).as_rows()


def matmul(a: SparseMatrix, x: Array, /, *, out: Array | None = None) -> Array:
    """The product a @ x with a dense vector (n,) or matrix (n, k) x in any layout. Asynchronous.

    The result has the promoted dtype. A CSC or COO matrix is first converted to CSR. out: an array of the result's
    shape.
    """
    cdef cpp.Csr c = rows_of(a, "sparse.CSR.__matmul__")
    cdef Array dense = as_array(x, "sparse.CSR.__matmul__")
    cdef const CppArray* target = as_out(out, "sparse.CSR.__matmul__")
    cdef Array result = new_array(dense.backend)
    cdef CppStream stream
    enter(dense.backend, stream)
    with nogil:
        result.c = cpp.matmul(c, dense.c, target, stream)
    return result if out is None else <Array>out


def spgemm(a: SparseMatrix, b: SparseMatrix, /) -> CSR:
    """The product a @ b of two sparse matrices, sorted and coalesced. Synchronises: reads its nnz.

    Synchronises a second time where b is not known to be coalesced.
    """
    cdef cpp.Csr left = rows_of(a, "sparse.spgemm"), right = rows_of(b, "sparse.spgemm"), out
    cdef Backend backend = (<SparseMatrix>a).data.backend
    cdef CppStream stream
    enter(backend, stream)
    with nogil:
        out = cpp.matmul(left, right, stream)
    after_wait(backend)
    return new_compressed(CSR, backend, out)


def add(a: SparseMatrix, b: SparseMatrix, /, *, alpha: complex = 1.0, beta: complex = 1.0,
        nnz: int | None = None) -> Compressed:
    """alpha * a + beta * b of two sparse matrices, sorted and coalesced. Synchronises: reads its nnz.

    The result is CSC for two CSC matrices, else CSR. nnz: the exact number of entries of the result, with which nothing
    synchronises; for another number the next synchronising call raises OutOfRangeError.
    """
    cdef bint columns = isinstance(a, CSC) and isinstance(b, CSC)
    cdef cpp.Csr left = rows_of(a.T if columns else a, "sparse.add"), out
    cdef cpp.Csr right = rows_of(b.T if columns else b, "sparse.add")
    cdef optional[int64_t] count = count_of(nnz, "sparse.add")
    cdef Scalar first, second
    cdef Backend backend = (<SparseMatrix>a).data.backend
    cdef CppStream stream
    to_number(alpha, first, "sparse.add", "alpha")
    to_number(beta, second, "sparse.add", "beta")
    enter(backend, stream)
    with nogil:
        out = cpp.add(left, right, first, second, count, stream)
    after_wait(backend)
    return new_compressed(CSC if columns else CSR, backend, out)
