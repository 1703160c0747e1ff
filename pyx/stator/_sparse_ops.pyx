# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
# cython: annotation_typing=False, freethreading_compatible=True
"""Sparse matrices from dense arrays and SciPy, their parts, sampled products, triangular systems, and 2:4 sparsity."""
from libc.stdint cimport int64_t

from stator._array cimport Array, as_array, astype_op, new_array
from stator._backend cimport after_wait, enter, resolve
from stator._convert cimport matrix_shape, to_dtype, to_flag, to_int, to_number
from stator._sparse cimport COO, CSC, CSR, SparseMatrix, count_of, new_compressed, rows_of
from stator._sparse_scipy cimport scipy_sparse
from stator.cpp cimport sparse as cpp
from stator.cpp.array cimport Scalar
from stator.cpp.backend cimport Stream as CppStream

from stator._creation import arange, asarray, ones, zeros, zeros_like
from stator._elementwise import clip
from stator._elementwise import functions as elementwise
from stator._indexing import index_add
from stator.errors import DTypeError, InvalidValueError, OutOfRangeError, ShapeError, StatorError, UnsupportedError, \
    renamed

cdef object where = elementwise["where"]


def sddmm(pattern: SparseMatrix, x: Array, y: Array, /, *, alpha: complex = 1.0, beta: complex = 0.0) -> CSR:
    """alpha * (x @ y) at the entries of the pattern, plus beta * pattern. Asynchronous.

    x (rows, k) and y (k, columns) are dense; the result has the structure of the pattern, as CSR.

    >>> pattern = stator.sparse.csr_from_dense(stator.asarray([[0.0, 1.0], [1.0, 0.0]]))
    >>> stator.sparse.sddmm(pattern, stator.ones((2, 3)), stator.ones((3, 2))).to_dense().tolist()
    [[0.0, 3.0], [3.0, 0.0]]
    """
    cdef cpp.Csr c = rows_of(pattern, "sparse.sddmm")
    cdef Array left = as_array(x, "sparse.sddmm"), right = as_array(y, "sparse.sddmm")
    cdef Scalar first, second
    cdef CppStream stream
    to_number(alpha, first, "sparse.sddmm", "alpha")
    to_number(beta, second, "sparse.sddmm", "beta")
    enter(left.backend, stream)
    with nogil:
        c = cpp.sddmm(c, left.c, right.c, first, second, stream)
    return new_compressed(CSR, left.backend, c)


def spsolve_triangular(a: SparseMatrix, b: Array, /, *, lower: bool = True, unit_diagonal: bool = False,
                       check: bool = True) -> Array:
    """Solves a @ x = b for the lower (or upper) triangle of a. Synchronises.

    b: (n,) or (n, k). Entries beyond the triangle are not read. LinAlgError for a zero or missing diagonal. check=False
    is asynchronous and returns (x, info): info, int64, is the first such row counted from 1, else 0, and x then has
    infinities and NaN. unit_diagonal: the diagonal counts as ones, and nothing is checked.

    >>> a = stator.sparse.csr_from_dense(stator.asarray([[2.0, 0.0], [1.0, 4.0]]))
    >>> stator.sparse.spsolve_triangular(a, stator.asarray([4.0, 6.0]), lower=True).tolist()
    [2.0, 1.0]
    """
    cdef cpp.Csr c = rows_of(a, "sparse.spsolve_triangular")
    cdef Array dense = as_array(b, "sparse.spsolve_triangular")
    cdef Array out = new_array(dense.backend), info
    cdef cpp.TriangularOptions options
    cdef cpp.TriangularSolution found
    cdef CppStream stream
    options.lower = to_flag(lower, "sparse.spsolve_triangular", "lower")
    options.unit = to_flag(unit_diagonal, "sparse.spsolve_triangular", "unit_diagonal")
    options.check = to_flag(check, "sparse.spsolve_triangular", "check")
    enter(out.backend, stream)
    with nogil:
        found = cpp.solve_triangular(c, dense.c, options, stream)
    out.c = found.x
    if options.check:
        return out
    info = new_array(dense.backend)
    info.c = found.info
    return out, info


cdef object from_dense(Array dense, object index_dtype, object nnz, str op):
    cdef cpp.FromDense options
    cdef cpp.Csr c
    cdef CppStream stream
    to_dtype(index_dtype, options.index_dtype, op, "index_dtype")
    options.nnz = count_of(nnz, op)
    enter(dense.backend, stream)
    try:
        with nogil:
            c = cpp.csr_from_dense(dense.c, options, stream)
    except StatorError as error:
        raise renamed(error, op) from None
    after_wait(dense.backend)
    return new_compressed(CSR, dense.backend, c)


def csr_from_dense(x: Array, /, *, index_dtype: DTypeLike | None = None, nnz: int | None = None) -> CSR:
    """The nonzero entries of a dense matrix (m, n) as CSR, sorted. Synchronises: reads their number.

    NaN counts as an entry, -0 does not. index_dtype: int32 or int64; None is int32 where the sizes fit. nnz: the exact
    number of entries, with which nothing synchronises; for another number the next synchronising call raises
    OutOfRangeError.

    >>> x = stator.sparse.csr_from_dense(stator.asarray([[0.0, 2.0], [3.0, 0.0]]))
    >>> x.indptr.tolist(), x.indices.tolist(), x.data.tolist()
    ([0, 1, 2], [1, 0], [2.0, 3.0])
    """
    return from_dense(as_array(x, "sparse.csr_from_dense"), index_dtype, nnz, "sparse.csr_from_dense")


def csc_from_dense(x: Array, /, *, index_dtype: DTypeLike | None = None, nnz: int | None = None) -> CSC:
    """The nonzero entries of a dense matrix as CSC, as csr_from_dense. Synchronises unless nnz is given.

    >>> x = stator.sparse.csc_from_dense(stator.asarray([[0.0, 2.0], [3.0, 0.0]]))
    >>> x.indptr.tolist(), x.indices.tolist(), x.data.tolist()
    ([0, 1, 2], [1, 0], [3.0, 2.0])
    """
    cdef Array dense = as_array(x, "sparse.csc_from_dense")
    turned = dense.T if dense.c.ndim() == 2 else dense  # others are refused
    return from_dense(turned, index_dtype, nnz, "sparse.csc_from_dense").T


def coo_from_dense(x: Array, /, *, index_dtype: DTypeLike | None = None, nnz: int | None = None) -> COO:
    """The nonzero entries of a dense matrix as COO, as csr_from_dense. Synchronises unless nnz is given.

    >>> x = stator.sparse.coo_from_dense(stator.asarray([[0.0, 2.0], [3.0, 0.0]]))
    >>> x.row.tolist(), x.col.tolist(), x.data.tolist()
    ([0, 1], [1, 0], [2.0, 3.0])
    """
    return from_dense(as_array(x, "sparse.coo_from_dense"), index_dtype, nnz, "sparse.coo_from_dense").to_coo()


def from_scipy(matrix: object, /, *, dtype: DTypeLike | None = None, device: DeviceLike = None) -> SparseMatrix:
    """A copy of a scipy.sparse matrix or array on the device. Asynchronous.

    The host arrays have been read when the call returns. CSR, CSC and COO keep their format, others become CSR.
    OutOfRangeError for an index outside the shape.
    """
    if not scipy_sparse().issparse(matrix):
        raise DTypeError(f"Expected a scipy.sparse matrix, got {type(matrix).__name__}", op="sparse.from_scipy",
                         remedy="Use sparse.csr_from_dense(stator.asarray(x)) for dense arrays.")
    if matrix.ndim != 2:
        raise ShapeError(f"shape {matrix.shape}", op="sparse.from_scipy", remedy="A sparse matrix has two axes.")
    if matrix.format not in ("csr", "csc", "coo"):
        matrix = matrix.tocsr()
    data = asarray(matrix.data, device=resolve(device, "sparse.from_scipy"))
    if dtype is not None:
        data = astype_op(data, dtype, False, "sparse.from_scipy")
    if matrix.format == "coo":
        inside(matrix.row, matrix.shape[0])
        inside(matrix.col, matrix.shape[1])
        return valid(COO(data, asarray(matrix.row, device=data.backend), asarray(matrix.col, device=data.backend),
                         matrix.shape, is_coalesced=matrix.has_canonical_format))
    inside(matrix.indices, matrix.shape[matrix.format == "csr"])
    ends = (matrix.indptr[0], matrix.indptr[-1])
    if ends != (0, len(matrix.data)) or (matrix.indptr[1:] < matrix.indptr[:-1]).any():
        raise InvalidValueError(f"indptr from {ends[0]} to {ends[1]} for {len(matrix.data)} entries",
                                op="sparse.from_scipy", remedy="It must begin with 0, not descend, and end with nnz.")
    kind = CSR if matrix.format == "csr" else CSC
    return valid(kind(data, asarray(matrix.indices, device=data.backend), asarray(matrix.indptr, device=data.backend),
                      matrix.shape, is_sorted=matrix.has_sorted_indices, is_coalesced=matrix.has_canonical_format))


cdef SparseMatrix valid(SparseMatrix a):
    a.is_valid = True
    return a


cdef int inside(object indices, object bound) except -1:
    if not indices.size:
        return 0
    for worst in (indices.min(), indices.max()):
        if not 0 <= worst < bound:
            raise OutOfRangeError(f"Index {worst} for the extent {bound}", op="sparse.from_scipy",
                                  remedy="Indices must be at least 0 and less than the extent.")
    return 0


def eye(m: int, n: int | None = None, *, k: int = 0, dtype: DTypeLike = "float64", device: DeviceLike = None) -> CSR:
    """The matrix (m, n) with ones at (i, i + k), n = m unless it is given. Asynchronous.

    >>> stator.sparse.eye(2).to_dense().tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    cdef int64_t rows, cols, first = to_int(k, "sparse.eye", "k")
    cdef cpp.Csr c
    rows, cols = matrix_shape((m, m if n is None else n), "sparse.eye")
    if min(rows, cols) < 0:
        raise ShapeError(f"The shape is ({rows}, {cols})", op="sparse.eye", remedy="Give numbers of at least 0.")
    index = "int32" if max(rows, cols) < 2**31 else "int64"
    above = min(max(-first, 0), rows)  # the rows before the first entry
    count = max(min(rows - above, cols - max(first, 0)), 0)
    try:
        data = ones((count,), dtype=dtype, device=device)
    except StatorError as error:
        raise renamed(error, "sparse.eye") from None
    indices = arange(max(first, 0), max(first, 0) + count, dtype=index, device=data.device)
    indptr = clip(arange(-above, rows + 1 - above, dtype=index, device=data.device), 0, count)
    c = (<CSR>CSR(data, indices, indptr, (rows, cols), is_sorted=True, is_coalesced=True)).as_rows()
    c.valid = True
    return new_compressed(CSR, data.backend, c)


def row_sums(a: CSR, /) -> Array:
    """The sum of each row, (rows,). Asynchronous."""
    cdef cpp.Csr c = rows_of(a, "sparse.sum")
    cdef Array out = new_array(a.data.backend)
    cdef CppStream stream
    enter(out.backend, stream)
    with nogil:
        out.c = cpp.row_sums(c, stream)
    return out


def diagonal_of(a: SparseMatrix, k: int, /) -> Array:
    """The values at (i, i + k); entries of one position add up. Asynchronous."""
    cdef int64_t place = to_int(k, "sparse.diagonal", "k")
    rows, cols = a.shape
    count = max(min(rows + min(place, 0), cols - max(place, 0)), 0)
    out = zeros((count,), dtype=a.dtype, device=a.data.device)
    if count == 0:
        return out
    entries = a.to_coo()
    along = entries.row if place >= 0 else entries.col
    here = (entries.col - entries.row) == place
    # Entries elsewhere add 0, each to an element of its own rather than all to the same.
    return index_add(out, 0, where(here, along, along % count), where(here, entries.data, 0))


def part_of(a: SparseMatrix, key: object, /) -> SparseMatrix:
    """a[key] for a slice of rows, or a pair of slices of rows and columns, with step 1. Synchronises."""
    rows, cols = key if isinstance(key, tuple) and len(key) == 2 else (key, slice(None))
    first = bounds_of(rows, a.shape[0])
    second = bounds_of(cols, a.shape[1])
    if isinstance(a, CSC):
        return part_of(a.T, (cols, rows)).T
    out = rows_between(a.to_csr(), first[0], first[1])
    if second != (0, a.shape[1]):
        out = rows_between(out.to_csc().T, second[0], second[1]).T.to_csr()
    return out if isinstance(a, CSR) else out.to_coo()


cdef tuple bounds_of(object key, int64_t size):
    if not isinstance(key, slice) or key.step not in (None, 1):
        shown = "a slice with a step" if isinstance(key, slice) else f"{type(key).__name__}"
        raise UnsupportedError(f"An index of a sparse matrix is {shown}", op="sparse.__getitem__",
                               remedy="Use slices with step 1, as a[i:i + 1] for one row, or to_dense().")
    try:
        start, stop, _ = key.indices(size)
    except TypeError:
        raise DTypeError(f"The bounds of {key} are not integers", op="sparse.__getitem__",
                         remedy="Use integers or None.") from None
    return start, max(start, stop)


cdef CSR rows_between(CSR a, int64_t start, int64_t stop):
    # Reads two numbers, where the entries of the rows begin and end, in one copy.
    cdef cpp.Csr c = a.as_rows()
    if (start, stop) == (0, a.shape[0]):
        return a
    pointers = a.indptr[start:stop + 1]
    first = last = 0
    if stop > start:
        try:
            first, last = pointers[::stop - start].tolist()
        except StatorError as error:
            raise renamed(error, "sparse.__getitem__") from None
        pointers = pointers - first
    else:
        pointers = zeros_like(pointers)
    c.indptr = as_array(pointers, "sparse.__getitem__").c
    c.indices = as_array(a.indices[first:last], "sparse.__getitem__").c
    c.values = as_array(a.data[first:last], "sparse.__getitem__").c
    c.rows = stop - start
    return new_compressed(CSR, a.data.backend, c)


def prune_2to4(x: Array, /, *, axis: int = -1) -> Array:
    """A copy of x with 0 but for the two largest of each four neighbours along an axis. Asynchronous.

    The two of largest magnitude stay. Of equal magnitudes the first stay; NaN counts as the largest. float16 to
    float64.
    """
    cdef Array dense = as_array(x, "sparse.prune_2to4")
    cdef Array out = new_array(dense.backend)
    cdef int64_t along = to_int(axis, "sparse.prune_2to4")
    cdef CppStream stream
    enter(out.backend, stream)
    with nogil:
        out.c = cpp.prune_2to4(dense.c, along, stream)
    return out


cdef class TwoToFour:
    """TwoToFour()\n--\n
    The result of compress: two values of each four neighbours along an axis, and their positions.

    positions: one uint8 for each four neighbours, with the index of the first value in bits 0-1 and of the second in
    bits 2-3. length: that of the axis in the pruned array.
    """
    cdef readonly Array values
    cdef readonly Array positions
    cdef readonly int64_t length
    cdef readonly int axis
    __array_ufunc__ = None
    __stator_sparse__ = True

    def __cinit__(self):
        self.values = self.positions = new_array(None)

    def __init__(self) -> None:
        raise TypeError("TwoToFour has no constructor. Use sparse.compress.")

    cdef cpp.TwoToFour packed(self):
        cdef cpp.TwoToFour c
        c.values = self.values.c
        c.positions = self.positions.c
        c.length = self.length
        c.axis = self.axis
        return c

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the pruned array."""
        shape = list(as_array(self.values, "TwoToFour.shape").shape)
        shape[self.axis] = self.length
        return tuple(shape)

    @property
    def dtype(self) -> DType:
        """Type of the values."""
        return self.values.dtype

    @property
    def nbytes(self) -> int:
        """Bytes of values and positions: 9 / 16 of the dense array's in float32, 5 / 8 in float16."""
        return self.values.nbytes + self.positions.nbytes

    def to_dense(self) -> Array:
        """The pruned array. Asynchronous."""
        cdef cpp.TwoToFour c = self.packed()
        cdef Array out = new_array(self.values.backend)
        cdef CppStream stream
        enter(out.backend, stream)
        with nogil:
            out.c = cpp.to_dense(c, stream)
        return out

    def __matmul__(self, other: Array) -> Array:
        return matmul_2to4(self, other)

    def __rmatmul__(self, other: Array) -> Array:
        return matmul_2to4(other, self)


def compress(x: Array, /, *, axis: int = -1) -> TwoToFour:
    """x pruned as by prune_2to4, as values and positions. Asynchronous.

    It takes half the memory of x and one byte for each four neighbours.
    """
    cdef Array dense = as_array(x, "sparse.compress")
    cdef int64_t along = to_int(axis, "sparse.compress")
    cdef TwoToFour out = TwoToFour.__new__(TwoToFour)
    cdef cpp.TwoToFour c
    cdef CppStream stream
    enter(dense.backend, stream)
    with nogil:
        c = cpp.compress_2to4(dense.c, along, stream)
    out.values = new_array(dense.backend)
    out.values.c = c.values
    out.positions = new_array(dense.backend)
    out.positions.c = c.positions
    out.length = c.length
    out.axis = c.axis
    return out


def matmul_2to4(a: Array | TwoToFour, b: Array | TwoToFour, /) -> Array:
    """a @ b where one operand is compressed along the inner axis. Asynchronous.

    It takes half the multiplications. A right operand comes from compress(b, axis=-2), a left one from
    compress(a, axis=-1); batch axes broadcast. For two arrays the result is matmul(a, prune_2to4(b, axis=-2)), which is
    a @ b where b is already 2:4; compress what is used more than once.
    """
    cdef Array left, right, out
    cdef cpp.TwoToFour packed
    cdef CppStream stream
    if isinstance(a, TwoToFour):
        packed = (<TwoToFour>a).packed()
        right = as_array(b, "sparse.matmul_2to4")
        out = new_array(right.backend)
        enter(out.backend, stream)
        with nogil:
            out.c = cpp.matmul_2to4(packed, right.c, stream)
        return out
    left = as_array(a, "sparse.matmul_2to4")
    out = new_array(left.backend)
    enter(out.backend, stream)
    if isinstance(b, TwoToFour):
        packed = (<TwoToFour>b).packed()
        with nogil:
            out.c = cpp.matmul_2to4(left.c, packed, stream)
        return out
    right = as_array(b, "sparse.matmul_2to4")
    with nogil:
        out.c = cpp.matmul_2to4(left.c, right.c, stream)
    return out
