"""Parts of sparse matrices: slices, diagonals, the identity, dense copies under SciPy's name."""

import numpy as np
import pytest
import scipy.sparse as sp
from sparse_inputs import DTYPES, dense

import stator
from stator import sparse
from stator.errors import DTypeError, HostCopyError, OutOfRangeError, ShapeError, UnsupportedError

KINDS = ["csr", "csc", "coo"]
SLICES = [slice(None), slice(2, 5), slice(-3, None), slice(0, 0), slice(4, 2), slice(60, 99), slice(None, None, 1)]


def made(be, kind, x):
    return getattr(sparse, f"{kind}_from_dense")(be.asarray(x))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rows", SLICES, ids=str)
def test_slices_of_rows_and_columns(be, kind, rows):
    x = dense("random", "float64")
    a = made(be, kind, x)
    got = a[rows]
    assert type(got) is type(a) and got.is_sorted and got.is_coalesced
    np.testing.assert_array_equal(got.toarray().to_numpy(), x[rows])
    for cols in (slice(None), slice(3, 20), slice(-1, None)):
        np.testing.assert_array_equal(a[rows, cols].to_dense().to_numpy(), x[rows, cols])
        np.testing.assert_array_equal(a[cols, rows].to_dense().to_numpy(), x[cols, rows])


@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_a_slice_shares_the_entries_and_reads_two_numbers(be, kind):
    a = made(be, kind, dense("random", "float32"))
    before = be.statistics()["d2h_bytes"]
    part = a[3:9] if kind == "csr" else a[:, 3:9]
    assert be.statistics()["d2h_bytes"] - before == 2 * a.indices.itemsize
    start = int(a.indptr[3])
    assert part.data.data_ptr == a.data.data_ptr + 4 * start
    assert a[:] is a or kind == "csc"
    with be.forbid_host_copies(), pytest.raises(HostCopyError, match="__getitem__"):
        a[3:9, 3:9]


def test_a_part_of_a_checked_matrix_is_valid(be):
    a = made(be, "csr", dense("random", "float32"))
    assert a.check()[2:7].is_valid and a.check()[2:7].check().is_valid


@pytest.mark.parametrize(
    ("key", "error"),
    [
        (0, UnsupportedError),
        (slice(None, None, 2), UnsupportedError),
        (slice(None, None, -1), UnsupportedError),
        ([1, 2], UnsupportedError),
        ((0, 1), UnsupportedError),
        ((slice(None), 1), UnsupportedError),
        ((slice(None), slice(None), slice(None)), UnsupportedError),
        (slice(0.5, 2), DTypeError),
        ("a", UnsupportedError),
    ],
    ids=str,
)
def test_other_indices_are_refused(be, key, error):
    with pytest.raises(error, match=r"sparse\.__getitem__"):
        made(be, "csr", dense("random", "float32"))[key]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [0, 1, -1, 7, -60, 44, -66, 45, 1000, -1000])
def test_diagonals(be, kind, k):
    x = dense("random", "float64")
    want = np.diagonal(x, k) if -x.shape[0] < k < x.shape[1] else np.zeros(0)
    with be.forbid_host_copies():
        got = made_without_reading(be, kind, x).diagonal(k)
    np.testing.assert_array_equal(got.to_numpy(), want)


def made_without_reading(be, kind, x):
    made_ = getattr(sparse, f"{kind}_from_dense")
    return made_(be.asarray(x), nnz=np.count_nonzero(x))


@pytest.mark.parametrize("dtype", DTYPES)
def test_repeated_entries_of_a_diagonal_add_up(be, dtype):
    row, col = np.array([1, 1, 0, 2, 1]), np.array([1, 1, 0, 0, 2])
    data = be.asarray(np.array([1.0, 2.0, 4.0, np.inf, np.nan])).astype(dtype)
    a = sparse.COO(data, be.asarray(row), be.asarray(col), (3, 3))
    got = a.diagonal()
    assert got.dtype == dtype
    assert got.tolist() == [4, 3, 0]


def test_an_entry_outside_of_the_matrix_is_reported(be):
    a = sparse.COO(be.ones(1), be.asarray([5]), be.asarray([5]), (3, 3))
    a.diagonal()
    with pytest.raises(OutOfRangeError):
        be.synchronize()


@pytest.mark.parametrize(("m", "n", "k"), [(3, None, 0), (3, 5, 1), (5, 3, -1), (5, 3, 4), (0, 0, 0), (4, 6, -2)])
@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_the_identity(be, m, n, k, dtype):
    with be.forbid_host_copies():
        a = sparse.eye(m, n, k=k, dtype=dtype)
    assert a.backend is be and a.is_valid and a.is_sorted and a.is_coalesced and a.nnz == np.eye(m, n, k).sum()
    np.testing.assert_array_equal(a.check().toarray().to_numpy(), np.eye(m, n, k, dtype=dtype))


def test_arguments_of_the_identity(be):
    assert sparse.eye(2, device=be).dtype == "float64"
    for bad, error in (((-1,), ValueError), (("a",), DTypeError), ((2, 2.5), DTypeError)):
        with pytest.raises(error, match="eye"):
            sparse.eye(*bad)
    with pytest.raises(DTypeError):
        sparse.eye(2, dtype="int32")


@pytest.mark.parametrize("kind", KINDS)
def test_copies_for_scipy_are_of_the_same_format(be, kind):
    x = dense("random", "float16")
    got = made(be, kind, x).to_scipy()
    assert isinstance(got, getattr(sp, f"{kind}_array")) and got.dtype == np.float32
    np.testing.assert_array_equal(got.toarray(), x)


def test_shapes_of_products_with_a_part(be):
    x = dense("random", "float64")
    a = made(be, "csr", x)
    np.testing.assert_allclose((a[5:20] @ be.asarray(x.T)).to_numpy(), x[5:20] @ x.T, rtol=1e-12)
    with pytest.raises(ShapeError):
        a[5:20] @ be.ones(7)
    assert isinstance(a @ be.ones(45), stator.Array)
