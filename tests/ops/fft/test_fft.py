"""Fourier transforms against SciPy in the next wider precision (relative L2 error in eps), and bad input."""

import numpy as np
import pytest
import scipy.fft
import scipy.signal

import stator
from stator.errors import DTypeError, StatorError

SIZES = [1, 2, 3, 4, 5, 7, 8, 16, 17, 31, 32, 33, 64, 97, 100, 101, 128, 257, 360, 1000, 1009, 1024]
REAL = {"float32": ("float32", "complex64"), "float64": ("float64", "complex128")}
NORMS = ["backward", "ortho", "forward"]


def draw(shape, complex_values=True, seed=0):
    """Random numbers that are exact in float32, as long doubles."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=shape).astype(np.float32).astype(np.longdouble)
    return x + 1j * rng.normal(size=shape).astype(np.float32) if complex_values else x


def assert_accurate(got, reference, dtype, points):
    """The relative L2 error is below (2 + log2 n) eps, the bound of radix-2 passes with exact roots."""
    got = got.to_numpy()
    assert got.shape == reference.shape
    assert got.dtype == REAL[dtype][int(np.iscomplexobj(reference))]
    size = np.linalg.norm(reference.ravel())
    error = float(np.linalg.norm((got - reference).ravel()) / size) if size else 0.0
    assert error <= (2 + np.log2(max(points, 1))) * np.finfo(dtype).eps


@pytest.fixture(params=["float32", "float64"])
def dtype(request):
    return request.param


@pytest.mark.parametrize("n", [12, 134, 1200])
@pytest.mark.parametrize("shape", [(3, 2), (7, 3)])
def test_real_signals_whose_neighbours_are_odd(be, dtype, n, shape):
    """cuFFT takes no real signals that start at odd numbers: the signals of the second row do."""
    real, complex_ = REAL[dtype]
    x = draw((shape[0], n, shape[1]), False)
    half = scipy.fft.rfft(x, axis=1)
    assert_accurate(stator.fft.rfft(be.asarray(x.astype(real)), axis=1), half, dtype, n)
    spectrum = half.astype(complex_)
    want = scipy.fft.irfft(spectrum.astype(np.clongdouble), n, axis=1)
    assert_accurate(stator.fft.irfft(be.asarray(spectrum), n=n, axis=1), want, dtype, n)


@pytest.mark.parametrize("n", [12, 134])
@pytest.mark.parametrize("rank", range(2, 7))
def test_real_signals_whose_neighbours_are_odd_of_any_rank(be, dtype, rank, n):
    every_other = (slice(None, None, 2),) * (rank - 2)
    x = draw((3,) * (rank - 2) + (n, 3), False)
    got = stator.fft.rfft(be.asarray(x.astype(REAL[dtype][0]))[every_other], axis=-2)
    half = scipy.fft.rfft(x, axis=-2)
    assert_accurate(got, half[every_other], dtype, n)
    got = stator.fft.irfft(be.asarray(half.astype(REAL[dtype][1]))[every_other], n=n, axis=-2)
    want = scipy.fft.irfft(half.astype(REAL[dtype][1]).astype(np.clongdouble), n, axis=-2)
    assert_accurate(got, want[every_other], dtype, n)


@pytest.mark.parametrize("n", SIZES)
def test_every_length(be, dtype, n):
    real, complex_ = REAL[dtype]
    for batch in (0, 1, 7, 33):
        c, r = draw((batch, n)), draw((batch, n), complex_values=False)
        half = c[:, : n // 2 + 1]
        x, y, z = be.asarray(c.astype(complex_)), be.asarray(r.astype(real)), be.asarray(half.astype(complex_))
        assert_accurate(stator.fft.fft(x), scipy.fft.fft(c) if batch else c, dtype, n)
        assert_accurate(stator.fft.ifft(x), scipy.fft.ifft(c) if batch else c, dtype, n)
        assert_accurate(stator.fft.rfft(y), scipy.fft.rfft(r) if batch else half, dtype, n)
        assert_accurate(stator.fft.irfft(z, n=n), scipy.fft.irfft(half, n) if batch else r, dtype, n)


@pytest.mark.parametrize("n", [1, 6, 13, 64, 134, 509])
@pytest.mark.parametrize("norm", NORMS)
def test_every_function_and_norm(be, dtype, n, norm):
    real, complex_ = REAL[dtype]
    c, r = draw((3, n)), draw((3, n), complex_values=False)
    x, y = be.asarray(c.astype(complex_)), be.asarray(r.astype(real))
    for name in ("fft", "ifft"):
        for m in (None, n, n + 5, max(1, n // 2)):
            assert_accurate(
                getattr(stator.fft, name)(x, n=m, norm=norm), getattr(scipy.fft, name)(c, m, norm=norm), dtype, 2 * n
            )
    for name in ("rfft", "ihfft"):
        for m in (None, n, n + 5, max(1, n // 2)):
            assert_accurate(
                getattr(stator.fft, name)(y, n=m, norm=norm), getattr(scipy.fft, name)(r, m, norm=norm), dtype, 2 * n
            )
    for name in ("irfft", "hfft"):
        for m in (n, n + 5, max(1, n // 2), 2 * n + 6):
            assert_accurate(
                getattr(stator.fft, name)(x, n=m, norm=norm), getattr(scipy.fft, name)(c, m, norm=norm), dtype, 4 * n
            )


@pytest.mark.parametrize("n", [4096, 1 << 15, 3 * 5 * 7 * 11 * 13, 20011])
def test_long_lines(be, dtype, n):
    real, complex_ = REAL[dtype]
    c, r = draw(n), draw(n, complex_values=False)
    x, y = be.asarray(c.astype(complex_)), be.asarray(r.astype(real))
    assert_accurate(stator.fft.fft(x), scipy.fft.fft(c), dtype, n)
    assert_accurate(stator.fft.rfft(y), scipy.fft.rfft(r), dtype, n)
    assert_accurate(stator.fft.irfft(x[: n // 2 + 1], n=n), scipy.fft.irfft(c[: n // 2 + 1], n), dtype, n)


@pytest.mark.parametrize("axes", [None, (0,), (-1,), (0, 1), (1, 0), (-1, 0), (2, 0, 1)])
@pytest.mark.parametrize("shape", [(4, 5, 6), (16, 18, 17), (33, 2, 3)])
def test_many_axes(be, dtype, shape, axes):
    real, complex_ = REAL[dtype]
    c, r = draw(shape), draw(shape, complex_values=False)
    x, y = be.asarray(c.astype(complex_)), be.asarray(r.astype(real))
    count = 3 if axes is None else len(axes)
    for s in (None, (5, 7, 9)[:count], (2, 20, 4)[:count], (-1, 3, -1)[:count]):
        if s is not None and axes is None:
            continue
        whole = s and tuple(shape[a] if n == -1 else n for n, a in zip(s, axes, strict=True))
        for name in ("fftn", "ifftn", "irfftn"):
            if name == "irfftn" and s and s[-1] == -1:
                continue
            assert_accurate(
                getattr(stator.fft, name)(x, s=s, axes=axes), getattr(scipy.fft, name)(c, whole, axes), dtype, 1e5
            )
        assert_accurate(stator.fft.rfftn(y, s=s, axes=axes), scipy.fft.rfftn(r, whole, axes), dtype, 1e5)


def test_two_axes(be, dtype):
    real, complex_ = REAL[dtype]
    c, r = draw((2, 12, 10)), draw((2, 12, 10), complex_values=False)
    x, y = be.asarray(c.astype(complex_)), be.asarray(r.astype(real))
    for name in ("fft2", "ifft2", "irfft2"):
        assert_accurate(
            getattr(stator.fft, name)(x, norm="ortho"), getattr(scipy.fft, name)(c, norm="ortho"), dtype, 120
        )
    assert_accurate(stator.fft.rfft2(y, s=(6, 16)), scipy.fft.rfft2(r, (6, 16)), dtype, 120)


LAYOUTS = {
    "transposed": lambda a: a.T,
    "sliced": lambda a: a[::2, 3:],
    "reversed": lambda a: a[::-1, ::-1],
    "stepped": lambda a: a[:, ::3],
    "one row": lambda a: a[5],
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_without_a_copy(be, dtype, layout):
    real, complex_ = REAL[dtype]
    c, r = draw((40, 60)), draw((40, 60), complex_values=False)
    x, y = LAYOUTS[layout](be.asarray(c.astype(complex_))), LAYOUTS[layout](be.asarray(r.astype(real)))
    c, r = LAYOUTS[layout](c), LAYOUTS[layout](r)
    for axis in range(c.ndim):
        launches = be.statistics()["kernel_launches"]
        got = stator.fft.fft(x, axis=axis)
        if be.device.type == "cpu":
            assert be.statistics()["kernel_launches"] == launches + 1
        assert_accurate(got, scipy.fft.fft(c, axis=axis), dtype, 60)
        assert_accurate(stator.fft.rfft(y, axis=axis), scipy.fft.rfft(r, axis=axis), dtype, 60)
        assert_accurate(stator.fft.irfft(x, axis=axis), scipy.fft.irfft(c, axis=axis), dtype, 120)


def test_broadcast_input(be, dtype):
    x = np.arange(12.0)
    got = stator.fft.fft(stator.broadcast_to(be.asarray(x.astype(dtype)), (5, 12)))
    assert_accurate(got, np.broadcast_to(scipy.fft.fft(x.astype(np.longdouble)), (5, 12)), dtype, 12)


def test_the_input_is_left_alone(be, dtype):
    c = draw((6, 10)).astype(REAL[dtype][1])
    x = be.asarray(c)
    for f in (stator.fft.fftn, stator.fft.irfftn, stator.fft.irfft, stator.fft.ifft):
        f(x)
    np.testing.assert_array_equal(x.to_numpy(), c)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int32", "int64", "uint64"])
def test_integers_are_transformed_in_float64(be, dtype):
    values = np.array([[3, 1, 0, 2, 1], [1, 1, 0, 0, 9]]).astype(dtype)
    x = be.asarray(values)
    assert_accurate(stator.fft.fft(x), scipy.fft.fft(values.astype(np.longdouble)), "float64", 5)
    assert_accurate(stator.fft.rfft(x), scipy.fft.rfft(values.astype(np.longdouble)), "float64", 5)
    assert_accurate(stator.fft.irfft(x), scipy.fft.irfft(values.astype(np.longdouble)), "float64", 8)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_halves_are_transformed_in_float32(be, dtype):
    x = stator.astype(be.asarray(np.arange(8.0)), dtype)
    assert_accurate(stator.fft.fft(x), scipy.fft.fft(np.arange(8).astype(np.longdouble)), "float32", 8)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("n", [8, 15, 67, 1024])
def test_not_a_number_stays_in_its_line(be, dtype, value, n):
    c = draw((20, n)).astype(REAL[dtype][1])
    c[3, n // 2] = value
    got = stator.fft.fft(be.asarray(c)).to_numpy()
    assert not np.isfinite(got[3]).any()
    assert np.isfinite(np.delete(got, 3, 0)).all()


def test_imaginary_parts_without_meaning_are_ignored(be, dtype):
    c = np.array([1 + 5j, 2 + 1j, 3 + np.nan * 1j]).astype(REAL[dtype][1])
    c[2] = complex(3, np.nan)
    np.testing.assert_allclose(stator.fft.irfft(be.asarray(c)).to_numpy(), [2, -1, 0, 0.0], atol=1e-6)
    np.testing.assert_allclose(stator.fft.irfft(be.asarray(c[:1]), n=1).to_numpy(), [1])


@pytest.mark.parametrize("shape", [(0, 8), (3, 0, 8), (0, 0, 4)])
def test_nothing_to_transform(be, shape):
    x = be.zeros(shape)
    assert stator.fft.fft(x).shape == shape
    assert stator.fft.rfft(x).shape == (*shape[:-1], shape[-1] // 2 + 1)
    assert stator.fft.irfft(x, n=5).shape == (*shape[:-1], 5)


def test_an_empty_axis_is_padded(be):
    np.testing.assert_array_equal(stator.fft.fft(be.zeros((2, 0)), n=3).to_numpy(), np.zeros((2, 3)))


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda f, x: f.fft(x, n=0), stator.errors.ShapeError, "n = 0"),
        (lambda f, x: f.fft(x, n=-3), stator.errors.ShapeError, "n=-3"),
        (lambda f, x: f.fft(x[:, :0]), stator.errors.ShapeError, "n = 0"),
        (lambda f, x: f.irfft(x[:, :1]), stator.errors.ShapeError, "n = 0"),
        (lambda f, x: f.hfft(x, n=0), stator.errors.ShapeError, "n = 0"),
        (lambda f, x: f.fftn(x, s=(4, 0)), stator.errors.ShapeError, "axis 1"),
        (lambda f, x: f.fftn(x, s=(4, 4), axes=(0,)), stator.errors.ShapeError, "2 lengths for 1 axes"),
        (lambda f, x: f.fftn(x, s=(4, 4, 4)), stator.errors.ShapeError, "3 lengths"),
        (lambda f, x: f.fft(x, axis=2), stator.errors.AxisError, "2"),
        (lambda f, x: f.fft2(x[0]), stator.errors.AxisError, "-2"),
        (lambda f, x: f.fftn(x, axes=(0, -2)), stator.errors.AxisError, "twice"),
        (lambda f, x: f.fft(x, norm="other"), ValueError, "other"),
        (lambda f, x: f.fft(x, norm=3), stator.errors.DTypeError, "norm"),
        (lambda f, x: f.rfft(x), stator.errors.DTypeError, "complex64"),
        (lambda f, x: f.ihfft(x), stator.errors.DTypeError, "complex64"),
        (lambda f, x: f.fft(x, n=2.5), stator.errors.DTypeError, "2.5"),
        (lambda f, x: f.fft(np.ones(3)), stator.errors.DTypeError, "ndarray"),
        (lambda f, x: f.fftshift(x, axes=5), stator.errors.AxisError, "5"),
        (lambda f, x: f.fftfreq(0), stator.errors.ShapeError, "n = 0"),
        (lambda f, x: f.rfftfreq(4, d=0), ValueError, "d = 0"),
        (lambda f, x: f.fftfreq(4, dtype="int32"), stator.errors.DTypeError, "int32"),
        (lambda f, x: f.fftconvolve(x, x[0]), stator.errors.ShapeError, "number of axes"),
        (lambda f, x: f.fftconvolve(x, x[:2], axes=1), stator.errors.ShapeError, "broadcast"),
        (lambda f, x: f.fftconvolve(x[:2], x[:, :2], "valid"), stator.errors.ShapeError, "at least as long"),
        (lambda f, x: f.fftconvolve(x, x, "whole"), ValueError, "whole"),
        (lambda f, x: f.set_cache_limit(-1), ValueError, "-1"),
    ],
)
def test_bad_input_is_named_and_the_next_call_works(be, call, error, text):
    x = be.asarray(np.ones((4, 4), np.complex64))
    with pytest.raises(error, match=text):
        call(stator.fft, x)
    np.testing.assert_array_equal(stator.fft.fft(x).to_numpy()[:, 0], np.full(4, 4))


@pytest.mark.parametrize("dtype", ["bool", "int8", "int16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("shape", [(7,), (8,), (3, 5), (4, 1, 6), (0, 3), ()])
def test_shifts(be, dtype, shape):
    x = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    for axes in (None, *range(len(shape)), tuple(range(len(shape)))):
        for name in ("fftshift", "ifftshift"):
            got = getattr(stator.fft, name)(be.asarray(x), axes=axes)
            wanted = getattr(np.fft, name)(x, axes) if shape else x
            np.testing.assert_array_equal(got.to_numpy(), wanted)


def test_shifts_of_views_in_one_launch(be):
    x = np.arange(60 * 34).reshape(60, 34)
    on = be.asarray(x)
    for view in (lambda a: a.T, lambda a: a[::-1, ::2], lambda a: a[3:4]):
        launches = be.statistics()["kernel_launches"]
        got = stator.fft.fftshift(view(on))
        assert be.statistics()["kernel_launches"] == launches + 1
        np.testing.assert_array_equal(got.to_numpy(), np.fft.fftshift(view(x)))


@pytest.mark.parametrize("n", [1, 2, 7, 8, 1001])
def test_frequencies(be, n):
    for d in (1.0, 0.3, -2):
        np.testing.assert_array_equal(stator.fft.fftfreq(n, d=d).to_numpy(), np.fft.fftfreq(n, d))
        np.testing.assert_array_equal(stator.fft.rfftfreq(n, d=d).to_numpy(), np.fft.rfftfreq(n, d))
    assert stator.fft.fftfreq(n, dtype="float32").dtype == "float32"


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("shapes", [((30,), (7,)), ((7,), (30,)), ((9, 14), (3, 5)), ((4, 33), (1, 6)), ((5,), (5,))])
def test_convolution(be, mode, shapes):
    for complex_values in (False, True):
        a, b = (
            draw(s, complex_values, k).astype("complex128" if complex_values else "float64")
            for k, s in enumerate(shapes)
        )
        axes = 1 if len(shapes[0]) > 1 and shapes[1][0] == 1 else None
        got = stator.fft.fftconvolve(be.asarray(a), be.asarray(b), mode, axes=axes)
        wanted = scipy.signal.fftconvolve(a, b, mode, axes)
        np.testing.assert_allclose(got.to_numpy(), wanted, rtol=1e-13, atol=1e-13)


def test_convolution_with_nothing(be):
    assert stator.fft.fftconvolve(be.zeros((0,)), be.zeros((3,))).shape == (0,)


def test_convolution_of_integers_and_halves(be):
    a, b = np.array([1, 2, 3]), np.array([0, 1, 5])
    got = stator.fft.fftconvolve(be.asarray(a), be.asarray(b))
    np.testing.assert_allclose(got.to_numpy(), np.convolve(a, b), atol=1e-12)
    half = stator.fft.fftconvolve(be.asarray(a.astype("float16")), be.asarray(b.astype("float16")))
    assert half.dtype == "float16"


@pytest.fixture
def fresh_cache():
    limit = stator.fft.cache_info().limit
    stator.fft.clear_cache()
    yield
    stator.fft.set_cache_limit(limit)


def test_plans_are_kept_up_to_a_limit(be, fresh_cache):
    x = be.asarray(np.ones(96, np.complex64))
    before = stator.fft.cache_info()
    stator.fft.fft(x)
    made = stator.fft.cache_info()
    assert before.plans == 0 and made.plans > 0 and made.bytes > 0 and made.misses > before.misses
    stator.fft.fft(x)
    again = stator.fft.cache_info()
    assert again.hits > made.hits and again.misses == made.misses
    stator.fft.set_cache_limit(0)
    assert stator.fft.cache_info()[3:] == (0, 0, 0)
    assert stator.fft.cache_info().evictions > again.evictions
    np.testing.assert_allclose(stator.fft.fft(x).to_numpy()[:2], [96, 0], atol=1e-5)
    assert stator.fft.cache_info().plans == 0


def test_the_least_recently_used_plans_go_first(be, fresh_cache):
    lines = {n: be.asarray(np.ones(n)) for n in (64, 81, 125)}
    sizes = {}
    for n, x in lines.items():
        before = stator.fft.cache_info().bytes
        stator.fft.fft(x)
        sizes[n] = stator.fft.cache_info().bytes - before
    stator.fft.fft(lines[64])  # 81 is now the least recently used
    full = stator.fft.cache_info()
    stator.fft.set_cache_limit(full.bytes - 1)
    kept = stator.fft.cache_info()
    assert kept.limit == full.bytes - 1 and kept.evictions > full.evictions and kept.bytes <= kept.limit
    stator.fft.fft(lines[64])
    assert stator.fft.cache_info().misses == kept.misses
    stator.fft.fft(lines[81])
    assert stator.fft.cache_info().misses > kept.misses
    assert stator.fft.cache_info().bytes <= kept.limit


@pytest.mark.parametrize("n", [1, 2])
def test_the_shortest_lines_of_every_function(be, n):
    x = np.arange(1.0, n + 1)
    for name in ("fft", "ifft", "rfft", "ihfft", "fftn", "fftshift", "ifftshift"):
        got, want = getattr(stator.fft, name)(be.asarray(x)), getattr(np.fft, name)(x)
        np.testing.assert_allclose(got.to_numpy(), want, atol=1e-15)
    for name in ("irfft", "hfft"):
        got, want = getattr(stator.fft, name)(be.asarray(x), n=1), getattr(np.fft, name)(x, 1)
        np.testing.assert_allclose(got.to_numpy(), want, atol=1e-15)
    with pytest.raises(stator.errors.ShapeError, match="n = 0"):
        stator.fft.fft(be.asarray(x), n=0)


def test_clearing_while_work_is_queued(be, fresh_cache):
    c = draw((600, 512)).astype("complex128")
    x = be.asarray(c)
    results = []
    for _ in range(5):
        results.append(stator.fft.fft(x))
        stator.fft.clear_cache()
    for got in results:
        np.testing.assert_allclose(got.to_numpy(), np.fft.fft(c), atol=1e-10)


def test_the_cache_of_a_closed_backend_is_gone(fresh_cache):
    with stator.Backend("cpu") as backend:
        stator.fft.fft(backend.asarray(np.ones(30)))
        assert stator.fft.cache_info().plans > 0
    assert stator.fft.cache_info().plans == 0


@pytest.mark.parametrize("n", [16, 15])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_real_transforms_along_a_broadcast_axis(be, n, dtype):
    lines = draw((40,), False).astype(dtype)
    x = stator.broadcast_to(be.asarray(lines), (n, 40))
    wide = np.broadcast_to(lines, (n, 40)).astype("longdouble")
    assert_accurate(stator.fft.rfft(x, axis=0), scipy.fft.rfft(wide, axis=0), dtype, n)
    assert_accurate(stator.fft.ihfft(x, axis=0), scipy.fft.ihfft(wide, axis=0), dtype, n)


@pytest.mark.parametrize("arguments", [{"axis": None}, {"axis": (0, 1)}, {"n": -1}, {"norm": "ortho\0x"}])
@pytest.mark.parametrize("name", ["fft", "irfft", "ihfft"])
def test_arguments_that_one_axis_cannot_have(be, name, arguments):
    with pytest.raises(StatorError) as caught:
        getattr(stator.fft, name)(be.ones((2, 2)), **arguments)
    assert caught.value.op == "fft." + name
    with pytest.raises(DTypeError):
        stator.fft.fftconvolve(be.ones(2), be.ones(2), mode=None)
