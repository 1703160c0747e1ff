"""Joining, splitting, shifting, padding, repeating and assigning, bit for bit against NumPy."""

import inputs
import numpy as np
import pytest
from reference import numpy_dtype

import stator

LAYOUTS = inputs.layouts()
RNG = np.random.default_rng(3)


def sample(shape, dtype="float32"):
    return inputs.random(np.random.default_rng(1), shape, dtype)


def same(got, want):
    got = got.to_numpy()
    assert got.dtype == want.dtype and got.shape == want.shape
    np.testing.assert_array_equal(got.view(np.uint8), np.ascontiguousarray(want).view(np.uint8)) if want.ndim else None
    np.testing.assert_array_equal(got, want)


def launches(be, call):
    before = be.statistics()["kernel_launches"]
    call()
    return be.statistics()["kernel_launches"] - before


OPS = {
    "roll": (lambda m, x: m.roll(x, (3, -70), axis=(0, 1)), lambda m, x: m.roll(x, (3, -70), axis=(0, 1))),
    "pad": (
        lambda m, x: m.pad(x, ((2, 3), (70, 1)), "reflect"),
        lambda m, x: m.pad(x, ((2, 3), (70, 1)), mode="reflect"),
    ),
    "pad constant": (
        lambda m, x: m.pad(x, (1, 4), constant_values=1),
        lambda m, x: m.pad(x, (1, 4), constant_values=1),
    ),
    "tile": (lambda m, x: m.tile(x, (2, 3)), lambda m, x: m.tile(x, (2, 3))),
    "repeat": (lambda m, x: m.repeat(x, 3, axis=1), lambda m, x: m.repeat(x, 3, axis=1)),
    "triu": (lambda m, x: m.triu(x, k=2), lambda m, x: m.triu(x, k=2)),
    "tril": (lambda m, x: m.tril(x, k=-1), lambda m, x: m.tril(x, k=-1)),
    "diag": (lambda m, x: m.diag(x, 1), lambda m, x: m.diag(x, 1)),
    "stack": (lambda m, x: m.stack([x, x, x], axis=1), lambda m, x: m.stack([x, x, x], axis=1)),
    "concat": (lambda m, x: m.concat([x, x[:3]], axis=0), lambda m, x: np.concatenate([x, x[:3]], axis=0)),
    "concat columns": (
        lambda m, x: m.concat([x, x[:, 1:4], x], axis=-1),
        lambda m, x: np.concatenate([x, x[:, 1:4], x], axis=-1),
    ),
}


@pytest.mark.parametrize("dtype", inputs.DTYPES)
@pytest.mark.parametrize("op", OPS)
def test_every_dtype(be, op, dtype):
    x = sample((9, 37), dtype)
    ours, want = OPS[op]
    same(ours(stator, be.asarray(x)), want(np, x))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("op", OPS)
def test_every_layout(be, op, layout):
    x = LAYOUTS[layout](sample((35, 66)))
    ours, want = OPS[op]
    same(ours(stator, inputs.on_device(be, x)), want(np, x))


@pytest.mark.parametrize("op", OPS)
def test_sizes_around_blocks_and_nothing(be, op):
    ours, want = OPS[op]
    for shape in ((1, 1), (1, 33), (257, 31), (3, 4099)):
        same(ours(stator, be.asarray(sample(shape))), want(np, sample(shape)))
    if not op.startswith("pad"):
        same(ours(stator, be.asarray(sample((4, 0)))), want(np, sample((4, 0))))


@pytest.mark.parametrize("op", OPS)
def test_one_launch_of_contiguous_input(be, op):
    x = be.asarray(sample((9, 37)))
    assert launches(be, lambda: OPS[op][0](stator, x)) == 1


def test_roll_without_axis_flattens(be):
    x = sample((5, 7))
    same(stator.roll(be.asarray(x), 9), np.roll(x, 9))
    same(stator.roll(be.asarray(x.T.copy()).T, (1, 3)), np.roll(x, (1, 3)))
    same(stator.roll(be.asarray(np.float32(3)), 4), np.roll(np.float32(3), 4))
    same(stator.roll(be.asarray(x), (2, 3), axis=(1, 1)), np.roll(x, (2, 3), axis=(1, 1)))
    same(stator.roll(be.asarray(x), 2, axis=(0, 1)), np.roll(x, 2, axis=(0, 1)))
    y = sample((4, 5, 6))
    same(stator.roll(be.asarray(y), -2, axis=1), np.roll(y, -2, axis=1))


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "symmetric", "wrap"])
def test_pad_modes_beyond_one_period(be, mode):
    for shape, widths in [((3,), 11), ((1,), 3), ((4, 5), ((9, 0), (2, 17))), ((2, 3, 4), (1, 2)), ((6,), 0)]:
        x = sample(shape)
        same(stator.pad(be.asarray(x), widths, mode), np.pad(x, widths, mode))
    same(stator.pad(be.asarray(np.float32(2)), 0, mode), np.float32(2).reshape(()))


def test_pad_of_an_empty_axis_takes_a_constant_only(be):
    same(stator.pad(be.zeros((0, 2)), 1, constant_values=3), np.pad(np.zeros((0, 2)), 1, constant_values=3))
    with pytest.raises(stator.errors.ShapeError, match="empty"):
        stator.pad(be.zeros((0, 2)), 1, "edge")


@pytest.mark.parametrize("k", [-40, -3, 0, 2, 40])
def test_triangles_of_stacks(be, k):
    x = LAYOUTS["sliced"](sample((2, 3, 17, 23)))
    on = inputs.on_device(be, x)
    same(stator.triu(on, k=k), np.triu(x, k))
    same(stator.tril(on, k=k), np.tril(x, k))


def test_triangles_drop_nan_and_infinity(be):
    x = np.full((3, 3), np.nan)
    np.testing.assert_array_equal(stator.tril(be.asarray(x), k=-3).to_numpy(), np.zeros((3, 3)))


@pytest.mark.parametrize("k", [-5, -1, 0, 1, 5])
def test_diag_embeds_and_extracts(be, k):
    v, m = sample((7,)), sample((6, 9))
    same(stator.diag(be.asarray(v), k), np.diag(v, k))
    same(stator.diag(be.asarray(v)[::-1], k), np.diag(v[::-1], k))
    same(stator.diag(be.asarray(m), k), np.diag(m, k))
    same(stator.diag(be.zeros((0,)), k), np.diag(np.zeros(0), k))


@pytest.mark.parametrize("dtype", inputs.DTYPES)
def test_tri_and_eye(be, dtype):
    kind = numpy_dtype(dtype)
    for n, m, k in ((5, None, 0), (4, 9, 2), (9, 4, -3), (0, 3, 0), (3, 3, 99)):
        same(stator.tri(n, m, k, dtype=dtype), np.tri(n, m, k, dtype=kind))
        same(stator.eye(n, m, k=k, dtype=dtype), np.eye(n, m, k, dtype=kind))


@pytest.mark.parametrize("endpoint", [True, False])
@pytest.mark.parametrize("end", [1.7e308, 1.7e308j, 1.7e308 - 1e308j])
def test_linspace_between_the_ends_of_the_range(be, end, endpoint):
    got = stator.linspace(-end, end, 8, endpoint=endpoint).to_numpy()
    np.testing.assert_allclose(got / 2.0**8, np.linspace(-end / 2.0**8, end / 2.0**8, 8, endpoint=endpoint), rtol=1e-15)


@pytest.mark.parametrize("dtype", [d for d in inputs.DTYPES if d != "bool"])
def test_linspace_of_several_numbers_per_thread(be, dtype):
    got = stator.linspace(0, 699 / 8, 700, dtype=dtype)
    want = np.arange(700) // 8 if "int" in dtype else np.arange(700) / 8
    same(got, want.astype(numpy_dtype(dtype)))


@pytest.mark.parametrize("endpoint", [True, False])
def test_linspace(be, endpoint):
    for start, stop, num in (
        (0, 1, 50),
        (-3.5, 7, 333),
        (5, 5, 4),
        (1, -1, 3),
        (2, 3, 1),
        (0, 1, 0),
        (1e308, -1e308, 5),
        (-1.7e308, 1.7e308, 5),
    ):
        with np.errstate(all="ignore"):
            want = np.linspace(start, stop, num, endpoint=endpoint)
        got = stator.linspace(start, stop, num, endpoint=endpoint).to_numpy()
        assert got.dtype == np.float64
        if abs(start) < 1e300:
            np.testing.assert_allclose(got, want, rtol=1e-15, atol=1e-15)
        assert np.isfinite(got).all()
        if num > 1 and endpoint:
            assert got[-1] == stop and got[0] == start
    same(
        stator.linspace(0, 10, 7, dtype="int32", endpoint=endpoint),
        np.linspace(0, 10, 7, endpoint=endpoint, dtype="i4"),
    )
    same(
        stator.linspace(-7, 0, 9, dtype="int8", endpoint=endpoint), np.linspace(-7, 0, 9, endpoint=endpoint, dtype="i1")
    )
    got = stator.linspace(1j, 4, 7, endpoint=endpoint).to_numpy()
    np.testing.assert_allclose(got, np.linspace(1j, 4, 7, endpoint=endpoint), rtol=1e-15)
    third = stator.linspace(0, 1, 4, dtype="float32").to_numpy()
    np.testing.assert_array_equal(third, np.linspace(0, 1, 4).astype("f4"))


def test_linspace_refuses(be):
    with pytest.raises(ValueError, match="num"):
        stator.linspace(0, 1, -1)
    with pytest.raises(stator.errors.DTypeError, match="complex"):
        stator.linspace(0, 1j, 3, dtype="float32")
    with pytest.raises(stator.errors.DTypeError):
        stator.linspace("a", 1, 3)


def test_concat_promotes(be):
    pieces = [sample((3,), d) for d in ("int8", "float32", "bool", "uint16")]
    same(stator.concat([be.asarray(p) for p in pieces]), np.concatenate(pieces))
    same(stator.concat([be.asarray(p.reshape(3, 1)) for p in pieces], axis=None), np.concatenate(pieces))


@pytest.mark.parametrize("count", [1, 2, 65, 700])
def test_concat_of_many_pieces(be, count):
    pieces = [sample((RNG.integers(0, 5), 3)) for _ in range(count)]
    on = [be.asarray(p) for p in pieces]
    same(stator.concat(on), np.concatenate(pieces))
    flipped = [np.ascontiguousarray(p.T) for p in pieces]
    same(stator.concat([be.asarray(p) for p in flipped], axis=1), np.concatenate(flipped, axis=1))
    if count == 65:
        assert launches(be, lambda: stator.concat(on)) == 1


@pytest.mark.parametrize("dtype", ["uint8", "float16", "float64", "complex128"])
def test_concat_of_many_pieces_of_every_size_of_element(be, dtype):
    pieces = [sample((2, 3), dtype) for _ in range(70)]
    same(stator.concat([be.asarray(p) for p in pieces], axis=1), np.concatenate(pieces, axis=1))


def test_concat_of_uneven_axes(be):
    x = np.asarray(sample((4, 5, 6)).transpose(2, 0, 1))[:, ::2]
    on = inputs.on_device(be, x)
    for axis in (0, 1, 2, -1, None):
        same(stator.concat([on, on], axis=axis), np.concatenate([x, x], axis=axis))


@pytest.mark.parametrize("axis", [0, 1])
def test_large_transposed_arrays_are_joined_without_a_copy_between(be, axis):
    x, y = sample((300, 400), "float64").T, sample((300, 400), "int16").T
    on = [inputs.on_device(be, x), inputs.on_device(be, y), inputs.on_device(be, x)]
    same(stator.concat(on, axis=axis), np.concatenate([x, y, x], axis=axis))
    same(stator.stack([on[0], on[2]], axis=axis), np.stack([x, x], axis=axis))
    wide = be.zeros((800, 300) if axis == 0 else (400, 600), dtype="float64")
    stator.concat([on[0], on[2]], axis=axis, out=wide)
    same(wide, np.concatenate([x, x], axis=axis))
    for join in (stator.concat, stator.stack):
        assert launches(be, lambda join=join: join([on[0], on[2]], axis=axis)) == 2


def test_concat_and_stack_into_out(be):
    x, y = sample((3, 4)), sample((2, 4))
    wide = be.zeros((5, 8), dtype="float64")
    got = stator.concat([be.asarray(x), be.asarray(y)], out=wide[:, ::2])
    assert got.shape == (5, 4)
    np.testing.assert_array_equal(wide.to_numpy()[:, ::2], np.concatenate([x, y]))
    np.testing.assert_array_equal(wide.to_numpy()[:, 1::2], 0)
    out = be.zeros((2, 3, 4), dtype="float32")
    assert stator.stack([be.asarray(x), be.asarray(x)], out=out) is out
    same(out, np.stack([x, x]))
    with pytest.raises(stator.errors.ShapeError, match="Out has shape"):
        stator.concat([be.asarray(x)], out=be.zeros((9,)))
    base = be.zeros((6, 4))
    with pytest.raises(ValueError, match="memory"):
        stator.concat([base[:2], base[2:4]], out=base[1:5])


def test_concat_refuses(be):
    x = be.zeros((2, 3))
    with pytest.raises(stator.errors.ShapeError, match="axis 0"):
        stator.concat([x, be.zeros((2, 4))])
    with pytest.raises(stator.errors.ShapeError, match="0-dimensional"):
        stator.concat([be.zeros(())])
    with pytest.raises(stator.errors.AxisError):
        stator.concat([x], axis=2)
    with pytest.raises(ValueError, match="no arrays"):
        stator.concat([])
    with pytest.raises(TypeError, match="a list or a tuple of Arrays"):
        stator.concat(x)
    with pytest.raises(TypeError, match="asarray"):
        stator.concat([x, np.zeros((2, 3))])
    with pytest.raises(stator.errors.ShapeError, match="equal"):
        stator.stack([x, be.zeros((3, 2))])
    with stator.Backend(be.device) as other, pytest.raises(stator.errors.BackendMismatchError):
        stator.concat([x, other.zeros((2, 3))])
    same(stator.concat([x, x]), np.zeros((4, 3)))


def test_split_gives_views(be):
    x = sample((10, 7))
    on = be.asarray(x)
    for got, want in zip(stator.split(on, 3), np.array_split(x, 3), strict=True):
        same(got, want)
    for cuts in ([2, 5], [], [-3, 20], [8, 2]):
        for got, want in zip(stator.split(on, cuts, axis=1), np.split(x, cuts, axis=1), strict=True):
            same(got, want)
    stator.split(on, 2)[1][...] = 5
    np.testing.assert_array_equal(on.to_numpy()[5:], 5)
    with pytest.raises(ValueError, match="sections"):
        stator.split(on, 0)
    with pytest.raises(stator.errors.AxisError):
        stator.split(on, 2, axis=3)


def test_rot90_and_ravel_are_views(be):
    x = sample((3, 4, 5))
    on = be.asarray(x)
    for k in (-1, 0, 1, 2, 3, 9):
        for axes in ((0, 1), (2, 0), (-1, 1)):
            same(stator.rot90(on, k, axes), np.rot90(x, k, axes))
    assert launches(be, lambda: (stator.rot90(on), stator.ravel(on))) == 0
    same(stator.ravel(on), x.ravel())
    same(stator.ravel(on.mT), x.swapaxes(1, 2).ravel())
    same(stator.ravel(be.asarray(np.float32(4))), np.float32(4).reshape(1))
    with pytest.raises(stator.errors.AxisError, match="twice"):
        stator.rot90(on, 1, (0, -3))
    with pytest.raises(stator.errors.ShapeError):
        stator.rot90(be.zeros((3,)))


def test_tile_and_repeat_in_other_dimensions(be):
    x = sample((2, 3))
    for reps in (2, (3,), (2, 1, 2), (0, 1), (1, 1, 1, 5), ()):
        same(stator.tile(be.asarray(x), reps), np.tile(x, reps))
    for count in (0, 1, 4):
        for axis in (None, 0, -1):
            same(stator.repeat(be.asarray(x), count, axis=axis), np.repeat(x, count, axis=axis))


@pytest.mark.parametrize("dtype", ["int8", "uint64", "int64"])
def test_repeat_with_counts(be, dtype):
    x, counts = sample((6, 3)), np.array([3, 0, 1, 40, 0, 2], dtype)
    same(stator.repeat(be.asarray(x), be.asarray(counts), axis=0), np.repeat(x, counts.astype(int), axis=0))
    same(stator.repeat(be.asarray(x), be.asarray(counts[:1]), axis=1), np.repeat(x, 3, axis=1))
    same(stator.repeat(be.asarray(x), be.asarray(counts * 0), axis=0), x[:0])
    many = RNG.integers(0, 9, 5000)
    same(stator.repeat(stator.arange(5000), be.asarray(many)), np.repeat(np.arange(5000), many))


def test_movement_refuses(be):
    x = be.zeros((2, 3))
    for call, error, text in (
        (lambda: stator.roll(x, (1, 2, 3), axis=(0, 1)), stator.errors.ShapeError, "3 shifts"),
        (lambda: stator.roll(x, 1, axis=2), stator.errors.AxisError, "roll"),
        (lambda: stator.roll(x, 1.5), stator.errors.DTypeError, "roll"),
        (lambda: stator.pad(x, -1), ValueError, "must be at least 0"),
        (lambda: stator.pad(x, 1, "mirror"), ValueError, "mirror"),
        (lambda: stator.pad(x, ((1, 2),) * 3), stator.errors.ShapeError, "pad_width"),
        (lambda: stator.pad(x, 1.5), stator.errors.DTypeError, "pad_width"),
        (lambda: stator.pad(x, 2**62), stator.errors.ShapeError, "pad"),
        (lambda: stator.tile(x, -1), ValueError, "must be at least 0"),
        (lambda: stator.tile(x, 2**62), stator.errors.ShapeError, "tile"),
        (lambda: stator.repeat(x, -1), ValueError, "must be at least 0"),
        (lambda: stator.repeat(x, be.asarray(np.array([1, -1])), axis=0), ValueError, "must be at least 0"),
        (lambda: stator.repeat(x, be.asarray(np.array([1.0])), axis=0), stator.errors.DTypeError, "float64"),
        (
            lambda: stator.repeat(x, be.asarray(np.array([1, 1, 1])), axis=0),
            stator.errors.ShapeError,
            "repeats of shape",
        ),
        (lambda: stator.triu(be.zeros((3,))), stator.errors.ShapeError, "two axes"),
        (lambda: stator.diag(be.zeros((1, 2, 3))), stator.errors.ShapeError, "diag"),
        (lambda: stator.eye(-1), stator.errors.ShapeError, "eye"),
    ):
        with pytest.raises(error, match=text):
            call()
    same(stator.roll(x, 1), np.zeros((2, 3)))


KEYS = {
    "all": ...,
    "row": 1,
    "slices": (slice(1, None), slice(None, None, 2)),
    "backwards": (slice(None, None, -1), slice(5, 1, -2)),
    "nothing": (slice(2, 2),),
    "one": (2, 3),
    "newaxis": (None, slice(None), 4),
    "last": (..., slice(2, 4)),
}


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("dtype", inputs.DTYPES)
def test_setitem_of_numbers_and_arrays(be, key, dtype):
    x = sample((4, 6), dtype)
    on = be.asarray(x)
    value = sample(x[KEYS[key]].shape, dtype)
    x[KEYS[key]] = value
    on[KEYS[key]] = be.asarray(np.asarray(value))
    same(on, x)
    x[KEYS[key]] = np.asarray(1, x.dtype)
    on[KEYS[key]] = True if dtype == "bool" else 1
    same(on, x)


def test_setitem_broadcasts_and_casts(be):
    x = np.zeros((4, 6), np.float32)
    on = be.asarray(x)
    for key, value in (
        (..., np.arange(6.0)),
        (1, np.arange(6)),
        ((slice(None), 2), np.arange(4, dtype="i1")),
        (2, np.arange(6.0).reshape(1, 1, 6)),
        (slice(1, 3), np.array([[1.0], [2.0]])),
    ):
        x[key] = value
        on[key] = be.asarray(value)
        same(on, x)
    assert launches(be, lambda: on.__setitem__(1, 3.0)) == 1


@pytest.mark.parametrize(
    ("to", "start"),
    [(slice(1, None), slice(None, -1)), (slice(None, -1), slice(1, None)), (slice(None), slice(None, None, -1))],
)
def test_setitem_of_overlapping_views_reads_first(be, to, start):
    x = sample((300, 3))
    on = be.asarray(x)
    x[to] = x[start].copy()
    on[to] = on[start]
    same(on, x)
    square, on = sample((40, 40)), be.asarray(sample((40, 40)))
    on[...] = on.T
    same(on, square.T.copy())


def test_setitem_into_every_layout(be):
    value = sample((35, 66), "float16")
    for layout in LAYOUTS.values():
        x = layout(sample((35, 66)))
        on = inputs.on_device(be, x)
        on[...] = be.asarray(value)
        same(on, value.astype(np.float32))
        on[3:30:2, ::-1] = 7
        x[...] = value
        x[3:30:2, ::-1] = 7
        same(on, np.array(x))


def test_setitem_refuses(be):
    x = be.zeros((2, 3), dtype="int32")
    for call, error, text in (
        (lambda: x.__setitem__(0, 1j), stator.errors.DTypeError, "__setitem__"),
        (lambda: x.__setitem__(0, be.zeros((2,), dtype="int32")), stator.errors.ShapeError, "broadcast"),
        (lambda: x.__setitem__(0, be.zeros((2, 1, 3), dtype="int32")), stator.errors.ShapeError, "broadcast"),
        (lambda: x.__setitem__(5, 1), IndexError, "5"),
        (lambda: x.__setitem__(0, np.array(["a"] * 3)), TypeError, "element type"),
        (lambda: x.__setitem__(0, 2**40), OverflowError, "int32"),
    ):
        with pytest.raises(error, match=text):
            call()
    x[0] = 4
    np.testing.assert_array_equal(x.to_numpy(), [[4] * 3, [0] * 3])
