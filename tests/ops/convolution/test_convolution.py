"""Convolutions and their gradients against loops in wide NumPy, in all dtypes, layouts and orders of axes."""

import inputs
import numpy as np
import oracles_nn
import pytest
from cases import tolerance
from reference import widen

import stator

nn = stator.nn
EPS = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52}
LAYOUTS = {1: ("NCL", "NLC"), 2: ("NCHW", "NHWC"), 3: ("NCDHW", "NDHWC")}

# (function, x, weight, options): one path or one rule of shapes each.
CASES = [
    ("conv2d", (2, 3, 8, 9), (5, 3, 3, 3), {}),
    ("conv2d", (2, 16, 9, 10), (20, 16, 3, 3), {"padding": 1}),
    ("conv2d", (2, 16, 10, 11), (9, 16, 3, 2), {"padding": (1, 0), "stride": (2, 3), "dilation": (1, 2)}),
    ("conv2d", (1, 40, 3, 7), (70, 40, 1, 1), {}),
    ("conv2d", (2, 12, 9, 8), (18, 4, 3, 3), {"padding": 1, "groups": 3}),
    ("conv2d", (2, 8, 9, 10), (8, 1, 3, 3), {"padding": 1, "groups": 8}),
    ("conv2d", (2, 4, 9, 10), (8, 1, 3, 3), {"padding": 1, "groups": 4, "stride": 2}),
    ("conv2d", (1, 16, 7, 6), (12, 16, 4, 3), {"padding": "same", "dilation": (2, 1)}),
    ("conv2d", (1, 3, 6, 7), (5, 3, 3, 3), {"padding": "valid"}),
    ("conv2d", (1, 9, 2, 300), (5, 9, 2, 3), {"padding": (1, 50)}),
    ("conv1d", (2, 10, 50), (11, 10, 5), {"padding": 2}),
    ("conv1d", (1, 3, 2500), (2, 3, 7), {"padding": 30, "dilation": 10}),
    ("conv1d", (1, 2, 700), (1, 2, 300), {"padding": 3}),
    ("conv3d", (2, 9, 4, 5, 6), (5, 9, 3, 3, 3), {"padding": 1}),
    ("conv3d", (1, 8, 5, 4, 6), (10, 4, 2, 3, 3), {"padding": 1, "stride": (1, 2, 1), "groups": 2}),
    ("conv_transpose2d", (2, 16, 5, 6), (16, 9, 3, 3), {"padding": 1, "stride": 2, "output_padding": 1}),
    ("conv_transpose2d", (1, 12, 5, 4), (12, 5, 3, 4), {"stride": (3, 2), "dilation": 2, "groups": 2}),
    ("conv_transpose2d", (2, 6, 5, 4), (6, 1, 3, 3), {"stride": 2, "groups": 6}),
    ("conv_transpose1d", (2, 12, 20), (12, 5, 3), {"stride": 5}),
    ("conv_transpose1d", (1, 12, 4), (12, 5, 9), {"padding": 2}),
    ("conv_transpose3d", (1, 12, 3, 4, 3), (12, 10, 3, 2, 3), {"stride": 2, "padding": 1}),
    ("conv2d", (1, 100, 5, 6), (3, 100, 3, 3), {"padding": 1}),
    ("conv2d", (2, 5, 9, 10), (7, 5, 3, 3), {"stride": (1, 2)}),
    # Many samples of small planes, whose weights' gradients add up several planes at a time.
    ("conv2d", (33, 5, 4, 4), (70, 5, 3, 3), {"padding": 1}),
    ("conv2d", (9, 70, 5, 4), (34, 70, 2, 3), {"stride": (2, 1), "dilation": (1, 2), "padding": (0, 1)}),
    ("conv2d", (6, 8, 6, 6), (36, 4, 3, 3), {"groups": 2}),
    ("conv1d", (17, 40, 9), (19, 40, 4), {"padding": 3}),
    ("conv3d", (4, 6, 3, 4, 5), (17, 6, 2, 3, 3), {"padding": (0, 1, 1), "stride": (1, 2, 1)}),
    ("conv_transpose2d", (7, 20, 4, 4), (20, 9, 3, 3), {"stride": 2, "padding": 1, "output_padding": 1}),
    # Rows that fill one to four vectors, and blocks of several samples, or of some planes of a sample.
    ("conv2d", (3, 40, 7, 7), (64, 40, 3, 3), {"padding": 1}),
    ("conv2d", (5, 3, 3, 5), (48, 3, 3, 2), {"stride": 2, "dilation": (1, 2), "padding": (2, 1)}),
    ("conv2d", (1, 1, 4, 4), (130, 1, 3, 3), {"padding": 1}),
    ("conv3d", (2, 3, 9, 9, 8), (16, 3, 3, 2, 3), {"padding": 1, "stride": (2, 1, 1)}),
    ("conv_transpose2d", (2, 32, 3, 4), (32, 16, 1, 2), {"stride": 3, "output_padding": 2}),
    # Lines whose taps partly or all read padding.
    ("conv2d", (9, 16, 8, 8), (32, 16, 5, 5), {}),
    ("conv2d", (9, 3, 4, 4), (16, 3, 3, 3), {"padding": 5}),
    ("conv2d", (8, 2, 5, 6), (16, 2, 4, 3), {"padding": (3, 2), "dilation": (2, 1), "stride": (2, 1)}),
    ("conv3d", (7, 4, 3, 4, 4), (16, 4, 3, 3, 3), {"padding": (2, 2, 1)}),
]


def axes_of(name):
    return int(name.removesuffix("_backward")[-2])


def drawn(shape, dtype, seed=0):
    return inputs.random(np.random.default_rng([seed, *shape]), shape, dtype, -2, 2)


def placed(x, layout):
    return np.moveaxis(x, 1, -1) if layout[-1] == "C" else x


def oracle(name, *operands, **options):
    return getattr(oracles_nn, name)(*operands, **options)


def close(got, want, magnitude, op, terms):
    """Within the op's bound and half a unit for each term, in last places of the sum of the terms' magnitudes.

    Halves are summed up in float32, and so the bound is that of float32, and one rounding to the half.
    """
    dtype = got.dtype.name
    found, wanted = widen(got.to_numpy()).astype(float), np.asarray(want, float)
    assert found.shape == wanted.shape
    sums = EPS["float32" if dtype in ("float16", "bfloat16") else dtype]
    bound = (max(tolerance(op)) + terms / 2) * sums * np.asarray(magnitude, float) + EPS[dtype] * np.abs(wanted)
    assert np.all(np.abs(found - wanted) <= bound), float(np.max(np.abs(found - wanted) / np.maximum(bound, 1e-300)))


def check(be, name, x, weight, options, dtype, layout, seed=0, place=lambda a: a):
    """The function with a bias, and its gradients. The magnitudes are the results for absolute values."""
    options = options | {"layout": layout}
    given = [placed(drawn(x, dtype, seed), layout), drawn(weight, dtype, seed + 1)]
    given.append(drawn((oracle(name, *map(widen, given), **options).shape[-1 if layout[-1] == "C" else 1],), dtype))
    wide = [widen(a) for a in given]
    want, most = (oracle(name, *a, **options) for a in (wide, [np.abs(a) for a in wide]))
    got = getattr(nn, name)(*(place(be.asarray(a)) for a in given), **options)
    close(got, want, most, name, weight[0] * weight[1] * np.prod(weight[2:]))
    backward = f"{name}_backward"
    given = [drawn(want.shape, dtype, seed + 2), *given[:2]]
    wide = [widen(a) for a in given]
    want, most = (oracle(backward, *a, **options) for a in (wide, [np.abs(a) for a in wide]))
    got = getattr(nn, backward)(*(place(be.asarray(a)) for a in given), **options)
    counts = (np.prod(weight), given[0].size, given[0].size)
    for one in zip(got, want, most, strict=True):
        close(*one, backward, max(counts))
    return got


# Each case in all dtypes, and the layouts in turn along both, because a layout is strides to every kernel.
TURNS = [(*c, d, (i + j) % 2) for i, c in enumerate(CASES) for j, d in enumerate(inputs.FLOATS)]


@pytest.mark.parametrize("name, x, weight, options, dtype, channels_last", TURNS)
def test_against_loops(be, name, x, weight, options, dtype, channels_last):
    check(be, name, x, weight, options, dtype, LAYOUTS[axes_of(name)][channels_last])


def strided(a):
    """The same values, every other element of a larger array."""
    wide = stator.full([2 * n for n in a.shape], float("nan"), dtype=a.dtype, device=a.backend)
    view = wide[tuple(slice(None, None, 2) for _ in a.shape)]
    view[...] = a
    return view


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_operands_of_any_strides(be, dtype):
    for name, x, weight, options in (CASES[1], CASES[5], CASES[15]):
        check(be, name, x, weight, options, dtype, "NCHW", place=strided)
        check(be, name, x, weight, options, dtype, "NHWC", place=lambda a: stator.flip(stator.copy(stator.flip(a))))


def test_channels_at_an_address_that_vectors_do_not_have(be):
    """Where channels are side by side, but their first one is not at a multiple of 16 bytes."""

    def shifted(a):
        memory = be.zeros((a.size + 1,), dtype=a.dtype)
        memory[1:] = stator.reshape(a, (-1,))
        return stator.reshape(memory[1:], a.shape)

    check(be, *CASES[1], "float16", "NHWC", place=shifted)


def test_a_broadcast_operand(be):
    x, w = be.asarray(drawn((1, 4, 1, 6), "float32")), be.asarray(drawn((5, 4, 3, 3), "float32"))
    wide = stator.broadcast_to(x, (3, 4, 5, 6))
    got, want = (nn.conv2d(a, w, padding=1).to_numpy() for a in (wide, stator.copy(wide)))
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("name, x, weight", [(c[0], c[1], c[2]) for c in (CASES[0], CASES[10], CASES[13], CASES[18])])
def test_one_sample_without_its_axis(be, name, x, weight):
    a, w = be.asarray(drawn(x, "float32")), be.asarray(drawn(weight, "float32"))
    y = getattr(nn, name)(a[:1], w)
    np.testing.assert_array_equal(getattr(nn, name)(a[0], w).to_numpy(), y[0].to_numpy())
    alone = getattr(nn, f"{name}_backward")(y[0], a[0], w)
    for got, want in zip(alone, getattr(nn, f"{name}_backward")(y, a[:1], w), strict=True):
        np.testing.assert_array_equal(got.to_numpy(), want.to_numpy().reshape(got.shape))


@pytest.mark.parametrize("name", ["conv2d", "conv_transpose2d"])
@pytest.mark.parametrize("channels", [2, 24])
def test_no_samples(be, name, channels):
    x, w = be.zeros((0, channels, 5, 6), dtype="float32"), be.ones((channels, channels, 3, 3), dtype="float32")
    y = getattr(nn, name)(x, w, be.ones((channels,), dtype="float32"))
    assert y.shape == ((0, channels, 3, 4) if name == "conv2d" else (0, channels, 7, 8))
    dx, dw, db = getattr(nn, f"{name}_backward")(y, x, w)
    assert dx.shape == x.shape
    assert not np.any(dw.to_numpy()) and dw.shape == w.shape
    assert not np.any(db.to_numpy()) and db.shape == (channels,)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("axes", [1, 2, 3])
def test_transposed_results_without_elements(be, axes, dtype):
    x, weight = be.ones((2, 3, 1, 4, 2)[: 2 + axes], dtype=dtype), be.ones((3, 4, 2, 3, 1)[: 2 + axes], dtype=dtype)
    options = {"padding": (1, 0, 0)[:axes]}
    y = getattr(nn, f"conv_transpose{axes}d")(x, weight, be.ones((4,), dtype=dtype), **options)
    assert y.shape == (2, 4, 0, 6, 2)[: 2 + axes]
    found = getattr(nn, f"conv_transpose{axes}d_backward")(y, x, weight, **options)
    assert [g.shape for g in found] == [x.shape, weight.shape, (4,)]
    assert not any(g.to_numpy().any() for g in found)


def test_results_that_no_tap_reaches_are_the_bias(be):
    """With a stride beyond the kernel, some results of a transposed convolution have no terms."""
    x, w = be.ones((1, 6, 3), dtype="float32"), be.ones((6, 7, 2), dtype="float32")
    got = nn.conv_transpose1d(x, w, be.full((7,), 0.5, dtype="float32"), stride=4).to_numpy()
    np.testing.assert_array_equal(got[0], np.tile([6.5, 6.5, 0.5, 0.5, 6.5, 6.5, 0.5, 0.5, 6.5, 6.5], (7, 1)))


def test_infinities_stay_in_their_windows(be):
    x = np.ones((1, 9, 6, 7), np.float32)
    x[0, 4, 2, 0] = np.inf
    w, grad = np.ones((10, 9, 3, 3), np.float32), np.ones((1, 10, 6, 7), np.float32)
    got = nn.conv2d(be.asarray(x), be.asarray(w), padding=1).to_numpy()
    assert np.array_equal(np.isfinite(got), np.isfinite(oracle("conv2d", x, w, padding=1)))
    _, dw, _ = nn.conv2d_backward(be.asarray(grad), be.asarray(x), be.asarray(w), padding=1)
    wanted = np.ones(w.shape, bool)
    wanted[:, 4, :, :2] = False  # the last column of the kernel never meets the first column of x
    assert np.array_equal(np.isfinite(dw.to_numpy()), wanted)


@pytest.mark.parametrize("name, x, weight, options", [CASES[1], CASES[5], CASES[15]])
def test_results_have_equal_bits_each_time(be, name, x, weight, options):
    a, w = be.asarray(drawn((5, *x[1:]), "float32")), be.asarray(drawn(weight, "float32"))
    y = getattr(nn, name)(a, w, **options)
    first, again = (getattr(nn, f"{name}_backward")(y, a, w, **options) for _ in range(2))
    np.testing.assert_array_equal(getattr(nn, name)(a, w, **options).to_numpy(), y.to_numpy())
    for one, other in zip(first, again, strict=True):
        np.testing.assert_array_equal(one.to_numpy(), other.to_numpy())


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize(
    "name, x, weight, options",
    [
        ("conv2d", (2, 64, 7, 10), (70, 64, 3, 3), {"padding": 1}),
        ("conv2d", (1, 64, 9, 8), (36, 32, 3, 2), {"padding": (2, 0), "stride": 2, "dilation": (1, 2), "groups": 2}),
        ("conv_transpose2d", (1, 32, 5, 6), (32, 9, 3, 3), {"stride": 2}),
        ("conv1d", (1, 32, 3), (33, 32, 1), {}),
    ],
)
def test_halves_whose_channels_fill_steps(be, name, x, weight, options, dtype):
    """As many channels as multiples of a step of the tensor cores: copied without registers on cuda, where they are
    neighbours, and before that to where they are."""
    for layout in LAYOUTS[axes_of(name)]:
        check(be, name, x, weight, options, dtype, layout)


@pytest.mark.parametrize(
    "name, x, weight, options",
    [
        ("conv2d", (3, 8, 5, 7), (72, 8, 3, 2), {"padding": (1, 0), "stride": (2, 1)}),
        ("conv2d", (1, 160, 6, 7), (16, 80, 2, 2), {"padding": 1, "dilation": (1, 2), "groups": 2}),
        ("conv2d", (2, 16, 6, 5), (24, 16, 1, 1), {}),
        ("conv_transpose2d", (2, 8, 3, 4), (8, 16, 3, 3), {"stride": 2, "output_padding": 1, "padding": 1}),
        ("conv3d", (1, 8, 3, 4, 5), (16, 8, 2, 3, 3), {"padding": (0, 1, 2)}),
    ],
)
def test_halves_whose_channels_fill_vectors(be, name, x, weight, options):
    """Gradients of such weights are products of tensor cores on cuda, of operands that are copied where they have to
    be: with zeros around them, or with their channels side by side."""
    for layout, place in zip(LAYOUTS[axes_of(name)] * 2, (stator.copy,) * 2 + (strided,) * 2, strict=True):
        check(be, name, x, weight, options, "float16" if place is strided else "bfloat16", layout, place=place)


def test_gradients_take_their_scratch_memory_in_turn(be):
    """That of the gradient of x, a rearranged weight, is free when that of the weight's, a part of it, is taken."""
    with stator.Backend(be.device_name) as own:
        x, w, grad = (own.ones(shape, dtype="float32") for shape in ((1, 128, 8, 8), (128, 128, 8, 8), (1, 128, 1, 1)))
        before = own.memory.stats()["live_bytes"]
        gradients = nn.conv2d_backward(grad, x, w)
        own.synchronize()
        assert own.memory.stats()["peak_bytes"] - before < 2.5 * w.nbytes
        del gradients


def test_a_long_reduction_is_divided(be):
    """More results than one part of the weight's gradient adds up, and more channels than are copied at a time."""
    check(be, "conv1d", (3, 600, 40), (9, 600, 1), {}, "float32", "NCL")
    check(be, "conv2d", (2, 9, 70, 67), (10, 9, 3, 3), {"padding": 1}, "float32", "NCHW")


def test_kernels_of_many_elements(be):
    """More than the fast host copies at a time."""
    check(be, "conv1d", (1, 2, 4110), (5, 2, 4100), {}, "float32", "NCL")


@pytest.mark.parametrize("name, x, weight, options", [CASES[2], CASES[6], CASES[12], CASES[14], CASES[16], CASES[20]])
def test_gradients_by_differences(be, name, x, weight, options):
    """Along a random direction of each operand; convolutions are linear in each, so a difference is exact but for
    rounding."""
    rng = np.random.default_rng(3)
    a, w = rng.normal(size=x), rng.normal(size=weight)
    f = getattr(nn, name)

    def value(x, w, grad):
        return float(np.sum(f(be.asarray(x), be.asarray(w), **options).to_numpy() * grad))

    grad = rng.normal(size=f(be.asarray(a), be.asarray(w), **options).shape)
    dx, dw, _ = getattr(nn, f"{name}_backward")(be.asarray(grad), be.asarray(a), be.asarray(w), **options)
    for which, slope in ((0, dx), (1, dw)):
        step = rng.normal(size=slope.shape)
        ends = [value(*((a + s * step, w) if which == 0 else (a, w + s * step)), grad) for s in (1, -1)]
        got = float(np.sum(slope.to_numpy() * step))
        assert abs((ends[0] - ends[1]) / 2 - got) <= 1e-9 * max(1, abs(got))
