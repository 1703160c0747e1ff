"""Creation and conversion: empty, zeros, full, arange, asarray, copy, astype, assignment."""

import inputs
import numpy as np
import pytest
from reference import numpy_dtype, widen

import stator
from stator.errors import DTypeError, InvalidValueError, ShapeError

LAYOUTS = inputs.layouts()


@pytest.mark.parametrize("dtype", inputs.DTYPES)
def test_round_trip_of_every_dtype_and_layout(be, dtype):
    x = inputs.random(np.random.default_rng(0), (4, 5, 3), dtype)
    for layout in LAYOUTS.values():
        view = layout(x)
        got = be.asarray(view)
        assert got.dtype.name == dtype
        assert got.shape == x.shape
        np.testing.assert_array_equal(got.to_numpy(), x)


def test_asarray_copies_so_that_later_writes_race_nothing(be):
    x = np.zeros(1000)
    on = be.asarray(x)
    x[:] = 1
    assert not on.to_numpy().any()


@pytest.mark.parametrize("value", [3, 2.5, True, 1 + 2j, [1, 2, 3], [[1.5, 2], [3, 4]], [], [[], []], (1, 2)])
def test_asarray_of_python_values(be, value):
    got = be.asarray(value)
    np.testing.assert_array_equal(got.to_numpy(), np.asarray(value))
    assert got.dtype.name in ("bool", "int64", "float64", "complex128")


def test_asarray_pinned_stages_through_page_locked_memory(be):
    x = np.arange(5000.0)
    np.testing.assert_array_equal(be.asarray(x, pinned=True).to_numpy(), x)
    held = stator.memory.pinned_empty((16,), "float32", device=be)
    held[:] = 7
    assert stator.memory.pinned_empty(np.int64(5), device=be).shape == (5,)
    np.testing.assert_array_equal(be.asarray(held).to_numpy(), np.full(16, 7, np.float32))


def test_asarray_of_a_stator_array_shares_unless_told(be):
    x = be.asarray([1.0, 2.0])
    assert be.asarray(x).data_ptr == x.data_ptr
    assert be.asarray(x, copy=True).data_ptr != x.data_ptr
    assert be.asarray(x, dtype="float32").dtype == stator.float32


@pytest.mark.parametrize("dtype", inputs.DTYPES)
def test_zeros_and_full(be, dtype):
    for shape in ((), (0,), (3, 0), (7,), (33, 65)):
        assert be.empty(shape, dtype=dtype).shape == shape
        np.testing.assert_array_equal(be.zeros(shape, dtype=dtype).to_numpy(), np.zeros(shape, numpy_dtype(dtype)))
        np.testing.assert_array_equal(be.full(shape, 1, dtype=dtype).to_numpy(), np.ones(shape, numpy_dtype(dtype)))


def test_full_takes_its_dtype_from_the_value(be):
    assert [be.full((2,), v).dtype.name for v in (True, 3, 2.5, 1j)] == ["bool", "int64", "float64", "complex128"]


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [
        ((5,), {}),
        ((2, 9), {}),
        ((2, 9, 3), {}),
        ((9, 2, -2), {}),
        ((0, 1, 0.1), {}),
        ((5, 5), {}),
        ((5.0,), {}),
        ((3,), {"dtype": "float32"}),
        ((300,), {"dtype": "int16"}),
        ((5, 2), {}),
        ((4,), {"dtype": "bfloat16"}),
        ((100000,), {"dtype": "float64"}),
    ],
)
def test_arange(be, args, kwargs):
    got = be.arange(*args, **kwargs)
    dtype = kwargs.get("dtype")
    want = np.arange(*args) if dtype is None else np.arange(*args).astype(numpy_dtype(dtype))
    assert got.dtype.name == want.dtype.name
    np.testing.assert_allclose(got.to_numpy().astype(float), want.astype(float), rtol=1e-15)


@pytest.mark.parametrize(
    "bounds",
    [
        (0, 2**63 + 2**62, 2**62),
        (2**63 - 2, 2**63 + 2),
        (2**63, 2**63 + 5),
        (2**64 - 1, 2**64 - 10, -3),
        (2**63 + 1, 0, -(2**62)),
        (2**64 - 1, 0, -(2**63)),
        (1, 2**64 - 1, 2**63),
    ],
)
def test_arange_reaches_all_of_uint64(be, bounds):
    got = be.arange(*bounds, dtype="uint64").to_numpy()
    assert got.tolist() == list(range(*bounds))


@pytest.mark.parametrize(
    ("bounds", "dtype", "error"),
    [
        ((2**63,), None, ShapeError),
        ((2**63,), "uint8", InvalidValueError),
        ((2**63, 2**63 + 5), None, InvalidValueError),
        ((-1, 3), "uint64", InvalidValueError),
    ],
)
def test_arange_refuses_what_the_dtype_cannot_hold(be, bounds, dtype, error):
    with pytest.raises(error):
        be.arange(*bounds, dtype=dtype)


@pytest.mark.parametrize(
    ("values", "dtype", "error"),
    [
        ([300, -1], "uint8", InvalidValueError),
        ([2**40], "int32", InvalidValueError),
        (-1, "uint64", InvalidValueError),
        ([2**63], "int64", InvalidValueError),
        ([1 + 2j], "float64", DTypeError),
        ((1, 2j), "int8", DTypeError),
    ],
)
def test_asarray_refuses_numbers_that_the_dtype_cannot_hold(be, values, dtype, error):
    with pytest.raises(error):
        be.asarray(values, dtype=dtype)


def test_asarray_casts_numpy_arrays_as_astype(be):
    x = np.array([300, -1])
    np.testing.assert_array_equal(be.asarray(x, dtype="uint8").to_numpy(), x.astype("uint8"))


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "float64", "complex128"])
def test_copy_of_transposes(be, dtype):
    """Several axis orders of a 4-D array, and matrices with partial tiles at their edges."""
    x = inputs.random(np.random.default_rng(1), (3, 34, 5, 70), dtype)
    on = be.asarray(x)
    for axes in ((0, 2, 1, 3), (3, 2, 1, 0), (1, 0, 3, 2), (0, 1, 3, 2), (2, 3, 0, 1), (0, 3, 1, 2)):
        before = be.statistics()["kernel_launches"]
        got = stator.copy(stator.permute_dims(on, axes))
        assert be.statistics()["kernel_launches"] == before + 1
        np.testing.assert_array_equal(got.to_numpy(), np.transpose(x, axes))
    for m, n in ((1, 1), (1, 300), (300, 1), (31, 33), (257, 129), (600, 500)):
        a = inputs.random(np.random.default_rng(2), (m, n), dtype)
        np.testing.assert_array_equal(stator.copy(be.asarray(a).T).to_numpy(), a.T)


def test_copy_of_strided_views(be):
    x = np.arange(4000).reshape(20, 20, 10)
    on = be.asarray(x)
    for index in ((slice(None, None, 2),), (slice(None), slice(None, None, -3)), (..., slice(1, 9, 4)), (3,), (..., 0)):
        np.testing.assert_array_equal(stator.copy(on[index]).to_numpy(), x[index])
    spread = stator.broadcast_to(be.asarray(np.arange(5)), (40, 5))
    np.testing.assert_array_equal(stator.copy(spread).to_numpy(), np.broadcast_to(np.arange(5), (40, 5)))


def cast_reference(x: np.ndarray, to: str) -> np.ndarray:
    """The rules of conversion: float to int saturates, NaN gives 0, complex to real drops the imaginary part."""
    if x.dtype.kind == "c" and not to.startswith("complex") and to != "bool":
        x = x.real
    if to.startswith(("int", "uint")) and x.dtype.kind not in "biu":
        info = np.iinfo(to)
        wide = x.astype(np.longdouble)
        wide = np.where(np.isnan(wide), 0, np.trunc(wide))
        return np.array(
            [
                min(max(int(v) if np.isfinite(v) else (info.max if v > 0 else info.min), info.min), info.max)
                for v in wide.ravel()
            ],
            dtype=to,
        ).reshape(x.shape)
    with np.errstate(all="ignore"):
        return x.astype(numpy_dtype(to))


@pytest.mark.parametrize("to", inputs.DTYPES)
@pytest.mark.parametrize("dtype", inputs.DTYPES)
def test_astype_between_all_pairs(be, dtype, to):
    x = inputs.random(np.random.default_rng(3), (700,), dtype, -300, 300)
    if dtype in inputs.FLOATS:
        x = np.concatenate([x, inputs.special(dtype)])
    got = stator.astype(be.asarray(x), to)
    np.testing.assert_array_equal(widen(got.to_numpy()), widen(cast_reference(x, to)))
    part = stator.astype(be.asarray(x[:600].reshape(20, 30)).T, to)
    np.testing.assert_array_equal(widen(part.to_numpy()), widen(cast_reference(x[:600].reshape(20, 30).T, to)))


@pytest.mark.parametrize(("to", "digits"), [("bfloat16", 8), ("float32", 24), ("float64", 53)])
@pytest.mark.parametrize(("dtype", "sign", "top"), [("int64", 1, 62), ("int64", -1, 62), ("uint64", 1, 63)])
def test_the_lowest_bit_of_an_integer_rounds_it_away_from_a_tie(be, dtype, sign, top, to, digits):
    half = top - digits  # of the unit in the last place of 2**top, an even number: ties go to that
    # Each bit at every index of a vector, and in each of the vectors that a thread has.
    bits = np.resize(np.repeat(np.arange(min(half, 12)), 8), 5000)
    x = np.array([sign * (2**top + 2**half + 2 ** int(b)) for b in bits], dtype)
    got = widen(stator.astype(be.asarray(x), to).to_numpy()).astype(np.float64)
    np.testing.assert_array_equal(got, sign * float(2**top + 2 ** (half + 1)))


def test_astype_without_copy_returns_the_array(be):
    x = be.asarray([1.0])
    assert (
        stator.astype(x, "float64", copy=False) is x or stator.astype(x, "float64", copy=False).data_ptr == x.data_ptr
    )
    assert stator.astype(x, "float64").data_ptr != x.data_ptr


def test_assignment_broadcasts_converts_and_survives_overlap(be):
    x = np.arange(60.0).reshape(6, 10)
    on = be.asarray(x)
    on[1] = 5
    x[1] = 5
    on[:, ::3] = be.asarray(np.arange(6, dtype=np.float32)[:, None])
    x[:, ::3] = np.arange(6)[:, None]
    on[2:] = on[:-2]
    x[2:] = x[:-2].copy()
    on[:, ::-1][0, 0] = -1
    x[:, ::-1][0, 0] = -1
    on[...] = on.T[:6, :6].T[:, :1] + on
    x[...] = x.T[:6, :6].T[:, :1] + x
    np.testing.assert_array_equal(on.to_numpy(), x)


def test_the_poisoned_free_list_never_shows(be):
    for _ in range(20):
        a = be.full((1000,), 3.0)
        b = a + 1
        del a
        np.testing.assert_array_equal(b.to_numpy(), np.full(1000, 4.0))


FAR = [2**31, 2**62, 2**63 - 1, 2**63, 2**64, 2**70]


@pytest.mark.parametrize("k", [*FAR, *(-k for k in FAR), -(2**63)])
def test_diagonals_beyond_the_matrix_are_empty_however_far(be, k):
    ones, nothing, empty = np.ones((3, 4)), np.zeros((3, 4)), be.zeros((0, 0))
    x, above = be.asarray(ones), k > 0
    for got, want in (
        (stator.eye(0, k=k), np.zeros((0, 0))),
        (stator.eye(3, 4, k=k), nothing),
        (stator.tri(3, 4, k), ones if above else nothing),
        (stator.tril(x, k=k), ones if above else nothing),
        (stator.triu(x, k=k), nothing if above else ones),
        (stator.triu(empty, k=k), np.zeros((0, 0))),
        (stator.diag(x, k), np.zeros(0)),
        (stator.linalg.diagonal(x, offset=k), np.zeros(0)),
        (stator.linalg.trace(x, offset=k), np.zeros(())),
    ):
        np.testing.assert_array_equal(got.to_numpy(), want, strict=True)
    with pytest.raises(ShapeError, match="diag"):  # a vector there makes a matrix that large
        stator.diag(x[0], 8 * k)
