"""Invalid sparse input: typed errors, no access out of range, and the next call works."""

import contextlib

import numpy as np
import pytest
import scipy.sparse as sp

import stator
from stator import sparse

ERRORS = stator.errors
OPS = {
    "to_dense": lambda be, a: a.to_dense(),
    "to_csc": lambda be, a: a.to_csc().to_dense(),
    "sort_indices": lambda be, a: a.sort_indices().data,
    "coalesce": lambda be, a: a.coalesce().data,
    "vector": lambda be, a: a @ be.asarray(np.ones(4)),
    "matrix": lambda be, a: a @ be.asarray(np.ones((4, 9))),
    "add": lambda be, a: (a + a).data,
    "spgemm": lambda be, a: (a @ a).data,
    "sddmm": lambda be, a: sparse.sddmm(a, be.asarray(np.ones((4, 3))), be.asarray(np.ones((3, 4)))).data,
    "solve": lambda be, a: sparse.spsolve_triangular(a, be.asarray(np.ones(4)), check=False)[0],
}


def csr(be, indices, indptr=(0, 1, 2, 3, 4), dtype="int32", **promises):
    data = be.asarray(np.arange(1.0, 5.0))
    index = [be.asarray(np.array(v, dtype)) for v in (indices, indptr)]
    return sparse.CSR(data, *index, (4, 4), **promises)


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("bad", [4, -1, 2**31 - 1, -(2**31)])
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_an_index_outside_raises_and_the_next_call_works(be, op, bad, dtype):
    with pytest.raises(IndexError, match=str(bad)):
        OPS[op](be, csr(be, [0, bad, 2, 3], dtype=dtype, is_sorted=op in ("add", "coalesce")))
        be.synchronize()
    be.synchronize()
    good = csr(be, [0, 1, 2, 3], dtype=dtype)
    np.testing.assert_array_equal((good @ be.asarray(np.ones(4))).to_numpy(), [1, 2, 3, 4])


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("indptr", [(0, 3, 1, 2, 4), (0, -9, 2**30, 3, 4), (4, 3, 2, 1, 0), (0, 1, 2, 3, 99)])
def test_wild_pointers_read_nothing_outside(be, op, indptr):
    with contextlib.suppress(ERRORS.StatorError, IndexError):
        OPS[op](be, csr(be, [0, 1, 2, 3], indptr)).to_numpy()
        be.synchronize()
    with contextlib.suppress(IndexError):
        be.synchronize()
    with pytest.raises(ValueError, match="pointers"):
        csr(be, [0, 1, 2, 3], indptr).check()
    np.testing.assert_array_equal(csr(be, [0, 1, 2, 3]).to_dense().to_numpy(), np.diag(np.arange(1.0, 5.0)))


def test_unsorted_and_repeated_indices_compute_what_they_mean(be):
    x = sp.coo_array(([1.0, 2, 3, 4, 5], ([1, 0, 1, 1, 0], [3, 2, 0, 3, 2])), shape=(4, 4))
    a = sparse.COO(be.asarray(x.data), be.asarray(x.row), be.asarray(x.col), (4, 4))
    want, v = x.toarray(), np.arange(4.0)
    for made in (a, a.to_csr(), a.to_csc()):
        assert not made.is_coalesced
        np.testing.assert_array_equal(made.to_dense().to_numpy(), want)
        np.testing.assert_array_equal((made @ be.asarray(v)).to_numpy(), want @ v)
        np.testing.assert_array_equal((made @ made).to_dense().to_numpy(), want @ want)
        np.testing.assert_array_equal((made + made).to_dense().to_numpy(), 2 * want)
        np.testing.assert_array_equal(made.T.to_dense().to_numpy(), want.T)


def test_more_entries_than_int32_counts(be):
    """The entries are broadcast views, which take no memory."""
    n = 2**31
    data = stator.broadcast_to(be.asarray(np.ones(1, np.float16)), (n,))
    index = stator.broadcast_to(be.asarray(np.zeros(1, np.int32)), (n,))
    with pytest.raises(ERRORS.InvalidValueError, match=r"of dtype int32.*2147483648 entries"):
        sparse.CSR(data, index, be.asarray(np.array([0, 2**31 - 1], np.int32)), (1, 1))
    with pytest.raises(ERRORS.InvalidValueError, match="int64"):
        sparse.COO(data, index, index, (1, 1))


def test_extents_beyond_the_index_dtype(be):
    zero = be.asarray(np.zeros(1, np.int32))
    with pytest.raises(ERRORS.InvalidValueError, match="int64"):
        sparse.COO(be.asarray(np.ones(1)), zero, zero, (2**31, 1))
    wide = stator.broadcast_to(be.asarray(np.zeros((1, 1), np.float16)), (1, 2**31))
    with pytest.raises(ERRORS.InvalidValueError, match="int64"):
        sparse.csr_from_dense(wide, index_dtype="int32")
    with pytest.raises(ERRORS.ShapeError):
        sparse.COO(be.asarray(np.ones(1)), zero, zero, (2**63, 1))
    a = sparse.COO(be.asarray(np.ones(1)), zero.astype("int64"), zero.astype("int64"), (2**40, 2**40))
    assert a.T.shape == (2**40, 2**40)
    with pytest.raises(ERRORS.StatorError):
        a.to_dense()


def test_scipy_matrices_that_break_the_rules(be):
    good = sp.csr_array(np.eye(3))
    for part, value in (("indices", 7), ("indices", -1)):
        bad = good.copy()
        getattr(bad, part)[1] = value
        with pytest.raises(ERRORS.OutOfRangeError, match=str(value)):
            sparse.from_scipy(bad, device=be)
    bad = good.copy()
    bad.indptr[1] = 3
    with pytest.raises(ERRORS.InvalidValueError, match="Indptr"):
        sparse.from_scipy(bad, device=be)
    assert sparse.from_scipy(good, device=be).is_valid


def test_what_is_known_to_be_valid(be):
    a = csr(be, [0, 1, 2, 3])
    assert not a.is_valid and a.check().is_valid and not a.to_csc().is_valid
    made = sparse.csr_from_dense(be.asarray(np.eye(4)))
    for b in (made, made.to_csc(), made.to_coo(), made.T, made + made, made @ made, 2 * made):
        assert b.is_valid


@pytest.mark.parametrize("form", ["to_csr", "to_csc", "to_coo"])
def test_values_of_another_kind_of_dtype_are_refused(be, form):
    a = getattr(sparse.csr_from_dense(be.asarray(np.eye(4))), form)()
    with pytest.raises(ERRORS.DTypeError, match="int8"):
        a.astype("int8")
    with pytest.raises(ERRORS.DTypeError, match="bool"):
        a.with_data(be.asarray(np.ones(4, bool)))


@pytest.mark.parametrize("form", ["to_csr", "to_csc", "to_coo"])
def test_values_are_one_for_each_entry(be, form):
    a = getattr(sparse.csr_from_dense(be.asarray(np.eye(4))), form)()
    for shape in ((3,), (4, 1)):
        with pytest.raises(ERRORS.ShapeError, match="4 entries"):
            a.with_data(be.asarray(np.ones(shape)))


@pytest.mark.parametrize("form", ["to_csr", "to_csc", "to_coo"])
def test_values_of_any_layout_replace_others(be, form):
    a = getattr(sparse.csr_from_dense(be.asarray(np.eye(4))), form)()
    x = be.asarray(np.arange(8.0))
    for values in (x[::2], x[6::-2], stator.broadcast_to(x[3:4], (4,))):
        np.testing.assert_array_equal(a.with_data(values).to_dense().to_numpy(), np.diag(values.to_numpy()))


@pytest.mark.parametrize("form", ["to_csr", "to_csc", "to_coo"])
def test_values_of_another_backend_are_refused(be, form):
    a = getattr(sparse.csr_from_dense(be.asarray(np.eye(4))), form)()
    with stator.Backend(be.device) as other, pytest.raises(ERRORS.BackendMismatchError):
        a.with_data(other.asarray(np.ones(4)))


@pytest.mark.parametrize("n", [1, 2, 3, 4, 9])
def test_rows_beyond_their_neighbours_pointers_read_nothing_outside(be, n):
    far = 10**10
    a = sparse.CSR(*(be.asarray(np.array(v)) for v in ([1.0, 1.0, 1.0], [0, far, far], [0, 3, 1])), (2, 3))
    with pytest.raises(IndexError, match=str(far)):
        (a @ be.asarray(np.ones((3, n)))).to_numpy()
    be.synchronize()


def test_products_at_entries_of_no_row_are_zero(be):
    entries = be.asarray(np.ones(3)), be.asarray(np.array([0, 1, 2])), be.asarray(np.array([3]))
    x, y = be.asarray(np.ones((7, 2)))[:0], be.asarray(np.ones((2, 3)))
    got = sparse.sddmm(sparse.CSR(*entries, (0, 3)), x, y)
    np.testing.assert_array_equal(got.data.to_numpy(), np.zeros(3))


def outside(be, bad, indptr=(0, 2)):
    """One row of three columns with an entry in column 0 and one in column `bad`."""
    return sparse.CSR(*(be.asarray(np.array(v)) for v in ([1.0, 2.0], [0, bad], indptr)), (1, 3))


@pytest.mark.parametrize("bad", [3, 9, -1])
def test_sums_of_rows_leave_out_an_index_outside_and_raise(be, bad):
    got = outside(be, bad).sum(axis=1)
    with pytest.raises(IndexError, match=str(bad)):
        be.synchronize()
    np.testing.assert_array_equal(got.to_numpy(), [1])


def test_sums_of_rows_raise_at_once_where_indices_are_looked_at_eagerly(be):
    with stator.Backend(be.device, check_indices="eager") as eager, pytest.raises(IndexError, match="9"):
        outside(eager, 9).sum(axis=1)


@pytest.mark.parametrize("row", [[0, 7], [-3, 1]])
def test_sorted_coordinates_with_a_row_outside_raise(be, row):
    parts = (be.asarray(np.array(v)) for v in ([1.0, 2.0], row, [0, 1]))
    a = sparse.COO(*parts, (2, 2), is_sorted=True)
    with pytest.raises(IndexError, match=str(row[0] if row[0] < 0 else row[1])):
        a.to_csr()
        be.synchronize()


@pytest.mark.parametrize("indptr", [(1, 2, 4), (0, 2, 3)])
def test_entries_of_no_row_have_the_row_beyond_the_last(be, indptr):
    parts = (be.asarray(np.array(v)) for v in ([1.0, 2.0, 3.0, 4.0], [0, 1, 0, 1], indptr))
    want = [np.searchsorted(indptr, k, "right") - 1 if indptr[0] <= k < indptr[2] else 2 for k in range(4)]
    np.testing.assert_array_equal(sparse.CSR(*parts, (2, 2)).to_coo().row.to_numpy(), want)


def test_conversions_raise_for_entries_before_the_first_pointer(be):
    a = outside(be, 1, (1, 2))
    for convert in (a.to_dense, lambda: be.asarray(np.ones((1, 1))) @ a):
        with pytest.raises(IndexError):
            convert().to_numpy()


@pytest.mark.parametrize("op", ["csr_from_dense", "add", "coalesce"])
def test_a_wrong_number_of_entries_of_no_rows_is_raised(be, op):
    x, none = be.zeros((0, 3)), be.asarray(np.zeros(0, np.int32))
    a = sparse.CSR(be.zeros(0), none, be.asarray(np.zeros(1, np.int32)), (0, 3))
    {
        "csr_from_dense": lambda: sparse.csr_from_dense(x, nnz=5),
        "add": lambda: sparse.add(a, a, nnz=5),
        "coalesce": lambda: a.coalesce(nnz=5),
    }[op]()
    with pytest.raises(IndexError, match="5"):
        be.synchronize()
