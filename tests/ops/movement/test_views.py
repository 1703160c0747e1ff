"""Views share memory, cost no launch and agree with NumPy."""

import inspect
import operator

import numpy as np
import pytest

import stator


def view_of(be, x):
    return be.asarray(x), be.statistics()["kernel_launches"]


def same(be, on, got, want, before):
    assert be.statistics()["kernel_launches"] == before
    base, size = on.data_ptr, max(on.nbytes, 1)
    assert got.size == 0 or base <= got.data_ptr < base + size
    assert got.shape == want.shape
    np.testing.assert_array_equal(got.to_numpy(), want)


INDEXES = [
    0,
    -1,
    slice(None),
    slice(2, 5),
    slice(None, None, 2),
    slice(None, None, -1),
    slice(-3, None),
    slice(5, 2),
    slice(10, 20),
    slice(4, None, -2),
    ...,
    None,
    (0, 1),
    (..., 0),
    (slice(None), None, 1),
    (None, ..., slice(1, None)),
    (1, 2, 3),
    (slice(None), slice(None, None, -2), -1),
    (..., None),
    (slice(0, 0),),
    slice(-(2**70), 2**70),
    slice(2**70, -(2**70), -(2**70)),
    slice(None, -(2**63), -1),
]


@pytest.mark.parametrize("index", INDEXES, ids=str)
def test_basic_indexing(be, index):
    x = np.arange(7 * 5 * 6).reshape(7, 5, 6)
    on, before = view_of(be, x)
    same(be, on, on[index], x[index], before)


def test_the_error_of_a_slice_bound_passes(be):
    class Bound:
        def __index__(self):
            raise ValueError("no bound")

    x = be.zeros((3,))
    for bad in (slice(Bound(), None), slice(None, Bound()), slice(Bound(), None, 2)):
        with pytest.raises(ValueError, match="no bound"):
            x[bad]


@pytest.mark.parametrize("axes", [(0, 1, 2), (2, 1, 0), (1, 2, 0), (-1, 0, 1)])
def test_permute_dims(be, axes):
    x = np.arange(24).reshape(2, 3, 4)
    on, before = view_of(be, x)
    same(be, on, stator.permute_dims(on, axes), np.transpose(x, axes), before)


AXES = {
    "squeeze": [{}, {"axis": 0}, {"axis": (0, 2)}, {"axis": ()}],
    "expand_dims": [{"axis": 0}, {"axis": -1}, {"axis": (0, 2)}, {"axis": (-1, 1, 0)}, {"axis": ()}],
    "flip": [{}, {"axis": 1}, {"axis": (0, -1)}, {"axis": ()}],
}


@pytest.mark.parametrize("name,options", [(n, o) for n, every in AXES.items() for o in every], ids=str)
@pytest.mark.parametrize("turned", [False, True], ids=["dense", "reversed"])
@pytest.mark.parametrize("shape", [(1, 5, 1, 3), (1, 0, 1, 3)], ids=str)
def test_views_of_axes(be, name, options, shape, turned):
    x = np.arange(np.prod(shape)).reshape(shape)
    on, before = view_of(be, x)
    ours, theirs = (on[:, ::-1, :, ::2], x[:, ::-1, :, ::2]) if turned else (on, x)
    want = getattr(np, name)(theirs, **{"axis": None} | options)
    same(be, on, getattr(stator, name)(ours, **options), want, before)


@pytest.mark.parametrize(
    "source,destination", [(0, 2), (-1, 0), ((0, 1), (1, 2)), ((2, 0), (0, -1)), ((), ())], ids=str
)
def test_moveaxis(be, source, destination):
    x = np.arange(24).reshape(2, 3, 4)
    on, before = view_of(be, x)
    same(be, on, stator.moveaxis(on, source, destination), np.moveaxis(x, source, destination), before)


@pytest.mark.parametrize("offset", [0, 1, -1, 3, -2, 9, -9, 2**63 - 1, -(2**63)])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("shape", [(2, 3, 4), (4, 3), (0, 3), (2, 0, 3)], ids=str)
def test_diagonal(be, shape, transposed, offset):
    x = np.arange(np.prod(shape)).reshape(shape)
    on, before = view_of(be, x)
    ours, theirs = (on.mT, x.mT) if transposed else (on, x)
    want = np.linalg.diagonal(theirs, offset=max(min(offset, 100), -100))
    same(be, on, stator.linalg.diagonal(ours, offset=offset), want, before)


def test_matrix_transpose(be):
    x = np.arange(24).reshape(2, 3, 4)
    on, before = view_of(be, x)
    same(be, on, stator.matrix_transpose(on), x.mT, before)
    assert stator.linalg.matrix_transpose is stator.matrix_transpose


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_unstack(be, axis):
    x = np.arange(24).reshape(2, 3, 4)
    on, before = view_of(be, x)
    pieces = stator.unstack(on, axis=axis)
    assert be.statistics()["kernel_launches"] == before
    assert type(pieces) is tuple
    assert len(pieces) == x.shape[axis]
    for got, want in zip(pieces, np.moveaxis(x, axis, 0), strict=True):
        np.testing.assert_array_equal(got.to_numpy(), want)


@pytest.mark.parametrize("shapes", [((2, 1), (3,), ()), ((0, 1), (1, 4)), ((),), ()], ids=str)
def test_broadcast_arrays(be, shapes):
    drawn = [np.arange(np.prod(s)).reshape(s) for s in shapes]
    on = [be.asarray(x) for x in drawn]
    before = be.statistics()["kernel_launches"]
    views = stator.broadcast_arrays(*on)
    assert be.statistics()["kernel_launches"] == before
    for got, want in zip(views, np.broadcast_arrays(*drawn), strict=True):
        np.testing.assert_array_equal(got.to_numpy(), want)


@pytest.mark.parametrize("indexing", ["xy", "ij"])
@pytest.mark.parametrize("sizes", [(), (3,), (3, 4), (2, 3, 4), (3, 0), (2, 1, 3, 2)], ids=str)
def test_meshgrid(be, sizes, indexing):
    drawn = [np.arange(n) * 2 for n in sizes]
    on = [be.asarray(np.repeat(x, 2))[::2] for x in drawn]
    before = be.statistics()["kernel_launches"]
    views = stator.meshgrid(*on, indexing=indexing)
    assert be.statistics()["kernel_launches"] == before
    for got, want in zip(views, np.meshgrid(*drawn, indexing=indexing), strict=True):
        np.testing.assert_array_equal(got.to_numpy(), want)


def test_meshgrid_of_a_number(be):
    got = stator.meshgrid(be.full((), 3), be.arange(2))
    for a, b in zip(got, np.meshgrid(np.array(3), np.arange(2)), strict=True):
        np.testing.assert_array_equal(a.to_numpy(), b)


def test_unstack_of_nothing(be):
    assert stator.unstack(be.zeros((0, 3))) == ()


@pytest.mark.parametrize("shape", [(24,), (4, 6), (2, -1), (-1, 3, 2), (1, 24, 1), (2, 3, 4)])
def test_reshape_of_dense_arrays_is_a_view(be, shape):
    x = np.arange(24).reshape(2, 3, 4)
    on, before = view_of(be, x)
    same(be, on, stator.reshape(on, shape), x.reshape(shape), before)


def test_reshape_copies_only_when_it_must(be):
    x = np.arange(24).reshape(4, 6)
    on = be.asarray(x)
    np.testing.assert_array_equal(stator.reshape(on.T, (24,)).to_numpy(), x.T.reshape(24))
    same(be, on, stator.reshape(on.T, (2, 3, 4)), x.T.reshape(2, 3, 4), be.statistics()["kernel_launches"])
    with pytest.raises(stator.errors.ShapeError, match="reshape"):
        stator.reshape(on.T, (24,), copy=False)
    assert stator.reshape(on, (24,), copy=True).data_ptr != on.data_ptr


def test_matrix_transposes(be):
    x = np.arange(24).reshape(2, 3, 4)
    on = be.asarray(x)
    np.testing.assert_array_equal(on.mT.to_numpy(), np.swapaxes(x, 1, 2))
    np.testing.assert_array_equal(on[0].T.to_numpy(), x[0].T)


def test_broadcast_to(be):
    x = np.arange(3).reshape(3, 1)
    on, before = view_of(be, x)
    same(be, on, stator.broadcast_to(on, (2, 3, 4)), np.broadcast_to(x, (2, 3, 4)), before)


def test_as_strided_counts_elements_and_stays_inside(be):
    x = np.arange(12)
    on, before = view_of(be, x)
    want = np.lib.stride_tricks.as_strided(x[2:], (3, 4), (8 * 3, 8))
    same(be, on, stator.as_strided(on, (3, 4), (3, 1), 2), want, before)
    np.testing.assert_array_equal(stator.as_strided(on, (4,), (-1,), 11).to_numpy(), x[:-5:-1])
    for shape, strides, offset in (
        ((13,), (1,), 0),
        ((4,), (-1,), 2),
        ((2,), (12,), 0),
        ((1,), (1,), 12),
        ((1,), (1,), -1),
    ):
        with pytest.raises(stator.errors.ShapeError, match="as_strided"):
            stator.as_strided(on, shape, strides, offset)


def test_view_reinterprets_bytes(be):
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    on = be.asarray(x)
    for dtype in ("int32", "uint8", "float64", "int16", "complex64"):
        np.testing.assert_array_equal(on.view(dtype).to_numpy(), x.view(dtype))
    with pytest.raises(stator.errors.ShapeError, match="view"):
        on[:, :3].view("float64")


def test_a_view_needs_memory_aligned_to_its_dtype(cpu):
    raw = np.zeros(9)
    start = raw.ctypes.data // 8 % 2 ^ 1
    x = cpu.asarray(raw[start : start + 8], copy=False)
    with pytest.raises(ValueError, match="not aligned"):
        x.view("complex128")


@pytest.mark.parametrize("index", [3, -4, 2**63, -(2**70)])
def test_an_integer_beyond_the_axis_is_an_index_error(be, index):
    with pytest.raises(IndexError):
        be.ones(3)[index]


def test_scalars_come_out(be):
    assert float(be.asarray(2.5)) == 2.5
    assert int(be.asarray([[7]])) == 7
    assert bool(be.asarray(True)) is True
    assert complex(be.asarray(1 + 2j)) == 1 + 2j
    with pytest.raises(stator.errors.DTypeError):
        float(be.asarray([1.0, 2.0]))


@pytest.mark.parametrize("shape", [(2,), (0,), (3, 4)])
def test_several_elements_are_no_number_and_have_no_truth(be, shape):
    x = be.ones(shape, dtype="int64")
    with pytest.raises(ValueError, match="truth") as caught:
        bool(x)
    assert isinstance(caught.value, stator.errors.StatorError) and caught.value.op == "Array.__bool__"
    with pytest.raises(ValueError, match="truth"):
        if x == x:
            pass
    for convert in (int, float, complex, operator.index):
        with pytest.raises(TypeError) as caught:
            convert(x)
        assert isinstance(caught.value, stator.errors.DTypeError) and convert.__name__ in caught.value.op


def test_a_comparison_of_single_elements_has_a_truth(be):
    x, y = be.asarray(3), be.asarray([[3]])
    assert x == y and not x < y


def test_the_transpose_of_a_vector_is_the_vector(be):
    for x in (be.arange(5)[::2], be.asarray(2.5)):
        view = x.T
        assert view.shape == x.shape and view.data_ptr == x.data_ptr
        np.testing.assert_array_equal(view.to_numpy(), x.to_numpy())


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 3, 4)])
def test_attributes_can_be_asked_for_with_hasattr(be, shape):
    x = be.ones(shape)
    found = dict(inspect.getmembers(x))
    assert ("T" in found, "mT" in found) == (True, x.ndim >= 2) == (hasattr(x, "T"), hasattr(x, "mT"))
    assert getattr(x, "mT", None) is None or x.ndim >= 2
    if x.ndim < 2:
        with pytest.raises(stator.errors.ShapeError) as caught:
            x.mT  # noqa: B018
        assert isinstance(caught.value, AttributeError) and caught.value.op == "Array.mT"
