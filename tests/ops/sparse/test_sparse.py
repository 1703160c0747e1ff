"""Sparse matrices against scipy.sparse: formats, conversions, structure."""

import numpy as np
import pytest
import scipy.sparse as sp
from reference import assert_matches, numpy_dtype, widen
from sparse_inputs import DTYPES, INDICES, SHAPES, dense, on, on_device

import stator
from stator import sparse


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("index", INDICES)
def test_formats_convert_into_each_other(be, name, index):
    x = dense(name, "float64")
    a = on(be, x, index=index)
    for made in (a, a.to_csc(), a.to_coo(), a.to_csc().to_csr(), a.to_coo().to_csr(), a.to_coo().to_csc()):
        assert made.shape == x.shape and made.nnz == np.count_nonzero(x) and made.data.dtype == "float64"
        np.testing.assert_array_equal(made.to_dense().to_numpy(), x)
        np.testing.assert_array_equal(made.T.to_dense().to_numpy(), x.T)
        np.testing.assert_array_equal(made.to_scipy().toarray(), x)


@pytest.mark.parametrize("name", SHAPES)
def test_compressed_columns_are_scipys(be, name):
    x = dense(name, "float32")
    got, want = on(be, x).to_csc(), sp.csc_array(x)
    np.testing.assert_array_equal(got.indptr.to_numpy(), want.indptr)
    np.testing.assert_array_equal(got.indices.to_numpy(), want.indices)
    np.testing.assert_array_equal(got.data.to_numpy(), want.data)
    assert got.is_sorted and got.is_coalesced


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_passes_through_every_format(be, dtype):
    x = dense("random", dtype)
    a = sparse.csr_from_dense(be.asarray(x))
    assert a.dtype == dtype
    for made in (a, a.to_csc(), a.to_coo(), a.to_csc().to_csr()):
        got = made.to_dense().to_numpy()
        assert got.dtype == x.dtype
        np.testing.assert_array_equal(got, x)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", ["contiguous", "transposed", "sliced", "reversed"])
def test_dense_matrices_of_any_layout(be, dtype, layout):
    x = on_device(be, dense("random", dtype), layout)
    want = sp.csr_array(x.to_numpy().astype(np.complex128))
    got = sparse.csr_from_dense(x)
    np.testing.assert_array_equal(got.indptr.to_numpy(), want.indptr)
    np.testing.assert_array_equal(got.indices.to_numpy(), want.indices)
    np.testing.assert_array_equal(got.data.to_numpy().astype(np.complex128), want.data)
    np.testing.assert_array_equal(sparse.csc_from_dense(x).to_dense().to_numpy(), x.to_numpy())
    np.testing.assert_array_equal(sparse.coo_from_dense(x).to_dense().to_numpy(), x.to_numpy())


@pytest.mark.parametrize("dtype", DTYPES)
def test_nan_is_an_entry_and_negative_zero_is_not(be, dtype):
    x = np.array([[0, np.nan, -0.0], [-0.0, 0, np.inf]]).astype(numpy_dtype(dtype))
    got = sparse.csr_from_dense(be.asarray(x))
    np.testing.assert_array_equal(got.indices.to_numpy(), [1, 2])
    np.testing.assert_array_equal(got.indptr.to_numpy(), [0, 1, 2])


@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_that_take_a_block_each(be, dtype):
    x = np.where(np.random.default_rng(0).random((3, 1100)) < 0.3, 1.5, 0).astype(numpy_dtype(dtype))
    if x.dtype.kind == "c":
        x[1:] *= 1j
    np.testing.assert_array_equal(sparse.csr_from_dense(be.asarray(x)).to_dense().to_numpy(), x)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rows", [1, 2, 3])
def test_dense_matrices_that_fill_their_memory(be, rows, dtype):
    itemsize = numpy_dtype(dtype).itemsize
    x = (np.arange(rows * 512 // itemsize).reshape(rows, -1) % 3).astype(numpy_dtype(dtype))
    np.testing.assert_array_equal(sparse.csr_from_dense(be.asarray(x)).to_dense().to_numpy(), x)


@pytest.mark.parametrize(("index", "rows"), [("int32", 127), ("int64", 63)])
def test_pointers_that_fill_their_memory(be, index, rows):
    row = np.arange(0, rows, 2, dtype=index)
    a = sparse.COO(be.asarray(np.ones(len(row))), be.asarray(row), be.asarray(row), (rows, rows), is_sorted=True)
    np.testing.assert_array_equal(a.to_csr().indptr.to_numpy(), (np.arange(rows + 1) + 1) // 2)


def test_rows_wider_than_a_block(be):
    x = np.where(np.random.default_rng(0).random((3, 70001)) < 0.3, 1.5, 0)
    got, want = sparse.csr_from_dense(be.asarray(x)), sp.csr_array(x)
    np.testing.assert_array_equal(got.indices.to_numpy(), want.indices)
    np.testing.assert_array_equal(got.to_csc().to_dense().to_numpy(), x)


def test_a_known_number_of_entries_needs_no_wait(be):
    x = dense("random", "float32")
    n = np.count_nonzero(x)
    before = be.statistics()["d2h_bytes"]
    got = sparse.csr_from_dense(be.asarray(x), nnz=n)
    assert be.statistics()["d2h_bytes"] == before
    np.testing.assert_array_equal(got.to_dense().to_numpy(), x)


@pytest.mark.parametrize("more", [-1, 1])
def test_a_wrong_number_of_entries_is_raised_at_the_next_wait(be, more):
    x = dense("random", "float32")
    sparse.csr_from_dense(be.asarray(x), nnz=np.count_nonzero(x) + more)
    with pytest.raises(IndexError, match="csr_from_dense"):
        be.synchronize()
    be.synchronize()


@pytest.mark.parametrize("dtype", ["float16", "float32", "complex128"])
@pytest.mark.parametrize("index", INDICES)
def test_unsorted_entries_and_repeated_ones(be, dtype, index):
    """The values are small whole numbers, whose sums are exact."""
    rng = np.random.default_rng(3)
    m, n, count = 37, 300, 900
    row, col = rng.integers(0, m, count).astype(index), rng.integers(0, n, count).astype(index)
    data = rng.integers(-4, 5, count).astype(dtype)
    if dtype == "complex128":
        data += 1j * rng.integers(-4, 5, count)
    want = np.zeros((m, n), np.complex128)
    np.add.at(want, (row, col), data)
    a = sparse.COO(be.asarray(data), be.asarray(row), be.asarray(col), (m, n))
    np.testing.assert_array_equal(a.to_dense().to_numpy(), want)
    np.testing.assert_array_equal(a.to_csc().to_dense().to_numpy(), want)
    sorted_ = a.to_csr().sort_indices()
    for r in range(m):
        at = slice(*sorted_.indptr.to_numpy()[r : r + 2])
        assert (np.diff(sorted_.indices.to_numpy()[at]) >= 0).all()
    for made in (a.coalesce(), a.to_csr().coalesce(), a.to_csc().coalesce()):
        assert made.is_sorted and made.is_coalesced
        assert made.nnz == len(set(zip(row.tolist(), col.tolist(), strict=True)))
        np.testing.assert_array_equal(made.to_dense().to_numpy(), want)


def test_stable_order_of_equal_positions(be):
    row, col = np.array([2, 0, 2, 0, 2]), np.array([1, 3, 1, 3, 0])
    a = sparse.COO(be.asarray(np.arange(5.0)), be.asarray(row), be.asarray(col), (3, 4)).to_csr()
    np.testing.assert_array_equal(a.data.to_numpy(), [1, 3, 0, 2, 4])
    np.testing.assert_array_equal(a.sort_indices().data.to_numpy(), [1, 3, 4, 0, 2])


def test_more_columns_than_one_pass_sorts(be):
    rng = np.random.default_rng(5)
    n = (1 << 26) + 3
    col, row = rng.integers(0, n, 500), rng.integers(0, 7, 500)
    a = sparse.COO(be.asarray(rng.normal(size=500)), be.asarray(row), be.asarray(col), (7, n))
    got = a.to_csr().sort_indices()
    order = np.lexsort((col, row))
    np.testing.assert_array_equal(got.indices.to_numpy(), col[order])
    np.testing.assert_array_equal(got.data.to_numpy(), a.data.to_numpy()[order])


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "bsr"])
def test_scipy_in_and_out(be, kind):
    x = dense("random", "float64")
    a = sparse.from_scipy(sp.csr_array(x).asformat(kind))
    assert type(a).__name__ == (kind.upper() if kind in ("csr", "csc", "coo") else "CSR")
    np.testing.assert_array_equal(a.to_dense().to_numpy(), x)
    assert (a.to_scipy() != sp.csr_array(x)).nnz == 0
    assert sparse.from_scipy(sp.csr_array(x), dtype="float16").dtype == "float16"


def test_half_types_go_to_scipy_as_float32(be):
    a = sparse.csr_from_dense(be.asarray(dense("random", "bfloat16")))
    assert a.to_scipy().dtype == np.float32


def test_transpose_is_a_view(be):
    a = on(be, dense("random", "float32"))
    before = be.statistics()["kernel_launches"]
    assert a.T.data.data_ptr == a.data.data_ptr and a.T.T.shape == a.shape
    assert be.statistics()["kernel_launches"] == before
    assert isinstance(a.T, sparse.CSC) and isinstance(a.to_coo().T, sparse.COO)


def test_check_finds_out_what_the_arrays_hold(be):
    def csr(indices, indptr=(0, 2, 4), data=(1.0, 2.0, 3.0, 4.0)):
        arrays = [be.asarray(np.array(v)) for v in (data, indices, indptr)]
        return sparse.CSR(*arrays, (2, 3))

    assert not csr([0, 1, 1, 2]).is_sorted
    good = csr([0, 1, 1, 2]).check()
    assert good.is_sorted and good.is_coalesced
    twice = csr([0, 1, 1, 1]).check()
    assert twice.is_sorted and not twice.is_coalesced
    assert not csr([1, 0, 1, 2]).check().is_sorted
    for outside in (3, -1):
        with pytest.raises(IndexError, match="outside"):
            csr([0, 1, 1, outside]).check()
    for pointers in ((0, 3, 2), (1, 2, 4), (0, 2, 3), (0, 2, 9)):
        with pytest.raises(ValueError, match="pointers"):
            csr([0, 1, 1, 2], pointers).check()
    assert csr([0, 1, 1, 2]).check().is_sorted


@pytest.mark.parametrize("promised", [False, True])
@pytest.mark.parametrize("indices", [[1, 0, 1], [0, 1, 1], [1, 1, 0], [2, 0, 1], [0, 1, 2]])
def test_check_believes_no_promise(be, indices, promised):
    parts = [be.asarray(np.array(v)) for v in ([1.0, 2.0, 3.0], indices, [0, 3])]
    got = sparse.CSR(*parts, (1, 3), is_sorted=promised, is_coalesced=promised).check()
    assert got.is_sorted == (indices == sorted(indices))
    assert got.is_coalesced == (len(set(indices)) == 3)


@pytest.mark.parametrize("promised", [False, True])
@pytest.mark.parametrize(
    ("row", "col"), [([0, 1, 1], [2, 0, 1]), ([1, 0, 1], [0, 2, 1]), ([0, 1, 1], [2, 1, 0]), ([0, 1, 1], [2, 1, 1])]
)
def test_check_of_coordinates_believes_no_promise(be, row, col, promised):
    parts = [be.asarray(np.array(v)) for v in ([1.0, 2.0, 3.0], row, col)]
    got = sparse.COO(*parts, (2, 3), is_sorted=promised, is_coalesced=promised).check()
    positions = list(zip(row, col, strict=True))
    assert got.is_sorted == (positions == sorted(positions))
    assert got.is_coalesced == (len(set(positions)) == 3)


def test_check_of_coordinates(be):
    def coo(row, col):
        return sparse.COO(be.asarray(np.ones(3)), be.asarray(np.array(row)), be.asarray(np.array(col)), (2, 3))

    assert coo([1, 0, 1], [0, 2, 2]).check().is_coalesced
    assert not coo([1, 0, 1], [2, 2, 2]).check().is_coalesced
    with pytest.raises(IndexError):
        coo([1, 0, 2], [0, 2, 2]).check()
    with pytest.raises(IndexError):
        coo([1, 0, 1], [0, 3, 2]).check()
    assert coo([1, 0, 1], [0, 2, 2]).check().is_coalesced


@pytest.mark.parametrize("bad", [5, -1, 2**31 - 1])
def test_an_index_outside_is_dropped_and_raised_once(be, bad):
    def a():
        return sparse.CSR(
            be.asarray(np.array([1.0, 2.0, 4.0])),
            be.asarray(np.array([0, bad, 2], np.int32)),
            be.asarray(np.array([0, 2, 3], np.int32)),
            (2, 5),
            is_coalesced=True,
        )

    results = {
        "to_dense": lambda: a().to_dense(),
        "matmul": lambda: a() @ be.asarray(np.eye(5)),
        "vector": lambda: a() @ be.asarray(np.arange(5.0)),
    }
    want = np.array([[1.0, 0, 0, 0, 0], [0, 0, 4, 0, 0]])
    for name, call in results.items():
        got = call()
        with pytest.raises(IndexError, match=str(bad)):
            be.synchronize()
        be.synchronize()
        np.testing.assert_array_equal(got.to_numpy(), want @ np.arange(5.0) if name == "vector" else want, name)


def test_sorting_an_index_outside_raises_there_or_at_the_next_wait(be):
    row, col = be.asarray(np.array([0, 9])), be.asarray(np.array([1, 1]))
    a = sparse.COO(be.asarray(np.ones(2)), row, col, (3, 2))
    with pytest.raises(IndexError, match="9"):
        a.to_csr()
        be.synchronize()
    be.synchronize()


def test_wild_pointers_read_nothing_outside(be):
    a = sparse.CSR(
        be.asarray(np.ones(3)), be.asarray(np.array([0, 1, 2])), be.asarray(np.array([-9, 2**40, -5, 3])), (3, 3)
    )
    (a @ be.asarray(np.ones(3))).to_numpy()
    (a @ be.asarray(np.ones((3, 9)))).to_numpy()
    a.to_coo().row.to_numpy()


def test_bad_parts(be):
    one, two, index = be.asarray(np.ones(1)), be.asarray(np.ones(2)), be.asarray(np.array([0, 1]))
    errors = stator.errors
    with pytest.raises(errors.ShapeError, match="Indptr"):
        sparse.CSR(two, index, index, (2, 2))
    with pytest.raises(errors.ShapeError, match="1 values and 2 indices"):
        sparse.CSR(one, index, be.asarray(np.array([0, 1, 2])), (2, 2))
    with pytest.raises(errors.DTypeError, match="int64"):
        sparse.CSR(index, index, index, (1, 2))
    with pytest.raises(errors.DTypeError, match="float64"):
        sparse.CSR(two, two, index, (1, 2))
    with pytest.raises(errors.DTypeError, match="int16"):
        sparse.CSR(two, index.astype("int16"), index, (1, 2))
    with pytest.raises(errors.ShapeError, match="axes"):
        sparse.CSR(two, index, index, (1, 2, 3))
    with pytest.raises(errors.ShapeError, match="must be at least 0"):
        sparse.COO(two, index, index, (-1, 2))
    with pytest.raises(errors.InvalidValueError, match="int32"):
        sparse.CSR(two, index.astype("int32"), index.astype("int32"), (1, 2**31))
    with pytest.raises(errors.ShapeError, match="one axis"):
        sparse.CSR(two.reshape(1, 2), index, index, (1, 2))
    with pytest.raises(errors.DTypeError, match="asarray"):
        sparse.CSR(np.ones(2), index, index, (1, 2))
    with pytest.raises(errors.DTypeError, match="scipy"):
        sparse.from_scipy(np.ones((2, 2)))
    with pytest.raises(errors.ShapeError, match="matrix"):
        sparse.csr_from_dense(two)
    with pytest.raises(errors.DTypeError, match="int64"):
        sparse.csr_from_dense(be.asarray(np.ones((2, 2), int)))
    with pytest.raises(errors.UnsupportedError, match="dense"):
        np.asarray(on(be, np.ones((2, 2))))
    assert sparse.CSR(two, index, index.astype("int32"), (1, 2)).indptr.dtype == "int64"


def test_two_backends(be):
    a = on(be, np.ones((2, 2)))
    with stator.Backend(be.device) as other, pytest.raises(stator.errors.BackendMismatchError):
        a @ other.asarray(np.ones(2))


def test_repr_says_what_it_is_without_a_wait(be):
    assert repr(on(be, np.eye(3))).startswith("<stator.sparse.CSR of shape (3, 3), 3 entries, dtype=float64")


@pytest.mark.parametrize("convert", ["coalesce", "to_dense"])
def test_many_entries_of_one_position_err_as_few_do(be, convert):
    x = np.random.default_rng(0).random(200_000, dtype=np.float32)
    index = be.asarray(np.zeros(x.size, np.int32))
    a = sparse.COO(be.asarray(x), index, index, (1, 1), is_sorted=True)
    got = getattr(a, convert)()
    got = got if convert == "to_dense" else got.data.reshape(1, 1)
    assert_matches(got.to_numpy(), widen(x).sum(keepdims=True).reshape(1, 1), (1, 1))


def test_negative_zero_entries_stay(be):
    parts = [be.asarray(np.array(v)) for v in ([-0.0, 1.0], [0, 1], [0, 2])]
    a = sparse.CSR(*parts, (1, 2), is_sorted=True)
    for got in (a.coalesce().data, a.to_dense()):
        np.testing.assert_array_equal(np.signbit(got.to_numpy()).ravel(), [True, False])
