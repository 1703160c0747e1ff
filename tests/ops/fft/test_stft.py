"""Short-time Fourier transforms against their definition in NumPy, and against SciPy."""

import numpy as np
import pytest
import scipy.signal

import stator

MODES = {"reflect": "reflect", "constant": "constant", "replicate": "edge", "circular": "wrap"}
EPS = {"float32": 2e-6, "float64": 4e-15, "complex64": 2e-6, "complex128": 4e-15, "float16": 2e-6, "bfloat16": 2e-6}


def full_window(window, n, width):
    w = np.zeros(n)
    w[(n - width) // 2 : (n - width) // 2 + width] = 1 if window is None else window
    return w


def frames_of(x, n, hop, center, mode):
    if center:
        x = np.pad(x, [(0, 0)] * (x.ndim - 1) + [(n // 2, n // 2)], mode=MODES[mode])
    return np.lib.stride_tricks.sliding_window_view(x, n, axis=-1)[..., ::hop, :]


def spectrum(x, n, *, hop=None, width=None, window=None, center=True, mode="reflect", normalized=False, onesided=None):
    x = x.astype(np.complex128 if np.iscomplexobj(x) else np.float64)
    hop, width = hop or max(1, n // 4), width or n
    f = frames_of(x, n, hop, center, mode) * full_window(window, n, width)
    onesided = not np.iscomplexobj(x) if onesided is None else onesided
    out = (np.fft.rfft if onesided else np.fft.fft)(f, norm="ortho" if normalized else "backward")
    return np.swapaxes(out, -1, -2)


def close(got, want, dtype):
    got = got.to_numpy()
    assert got.shape == want.shape
    size = max(np.abs(want).max(initial=0), 1e-30)
    assert np.abs(got - want).max(initial=0) <= EPS[dtype] * 8 * size


def signal(shape, dtype="float64", seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=shape)
    if dtype.startswith("complex"):
        x = x + 1j * rng.normal(size=shape)
    return x.astype("float32" if dtype == "bfloat16" else dtype)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("n", [1, 2, 7, 16, 33, 256])
@pytest.mark.parametrize("center", [True, False])
def test_every_mode_and_length(be, mode, n, center):
    x = signal((3, 400))
    got = stator.fft.stft(be.asarray(x), n, center=center, pad_mode=mode)
    close(got, spectrum(x, n, center=center, mode=mode), "float64")


@pytest.mark.parametrize("dtype", EPS)
def test_every_dtype(be, dtype):
    x = signal((2, 300), dtype)
    on = be.asarray(x)
    if dtype == "bfloat16":
        on = on.astype("bfloat16")
        x = on.astype("float32").to_numpy()
    w = np.hanning(20)
    got = stator.fft.stft(on, 32, hop_length=5, win_length=20, window=be.asarray(w))
    assert got.dtype == ("complex128" if dtype in ("float64", "complex128") else "complex64")
    close(got, spectrum(x, 32, hop=5, width=20, window=w.astype("float32") if EPS[dtype] > 1e-9 else w), dtype)


def test_integers_are_computed_in_float64(be):
    x = np.arange(40) % 7
    close(stator.fft.stft(be.asarray(x), 8), spectrum(x, 8), "float64")


@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("onesided", [None, True, False])
def test_scales_and_sides(be, normalized, onesided):
    x = signal(100)
    got = stator.fft.stft(be.asarray(x), 20, normalized=normalized, onesided=onesided)
    close(got, spectrum(x, 20, normalized=normalized, onesided=onesided), "float64")


@pytest.mark.parametrize("shape", [(50,), (2, 3, 50), (0, 50), (2, 0, 50)])
def test_leading_axes(be, shape):
    x = signal(shape)
    got = stator.fft.stft(be.asarray(x), 16)
    assert got.shape == (*shape[:-1], 9, 13)
    if x.size:
        close(got, spectrum(x, 16), "float64")


@pytest.mark.parametrize("rank", range(2, 7))
def test_views_of_any_rank(be, rank):
    x = signal((3,) * (rank - 1) + (40,), "float32")
    every_other = (slice(None, None, 2),) * (rank - 1)
    close(stator.fft.stft(be.asarray(x)[every_other], 16), spectrum(x[every_other], 16), "float32")


LAYOUTS = {
    "transposed": lambda a: a.T,
    "stepped": lambda a: a[::2, ::3],
    "reversed": lambda a: a[::-1, ::-1],
    "broadcast": lambda a: a[:1],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_layouts_are_read_as_they_lie(be, layout, dtype):
    x = signal((120, 150), dtype)
    w = signal(32, "float32", 1)
    view = LAYOUTS[layout](be.asarray(x))
    if layout == "broadcast":
        view = stator.broadcast_to(view, (4, 150))
    on_w = be.asarray(np.repeat(w, 2))[::2]
    launches = be.statistics()["kernel_launches"]
    got = stator.fft.stft(view, 32, window=be.asarray(w) if dtype == "float32" else on_w)
    if be.device.type == "cpu" and dtype == "float32":
        assert be.statistics()["kernel_launches"] == launches + 2
    close(got, spectrum(np.asarray(view.to_numpy()), 32, window=w), dtype)


def test_signals_longer_than_a_block(be):
    x = signal((2, 70_000), "float32")
    w = np.hanning(512).astype("float32")
    close(stator.fft.stft(be.asarray(x), 512, window=be.asarray(w)), spectrum(x, 512, window=w), "float32")
    close(stator.fft.stft(be.asarray(x), 30_000, window=None), spectrum(x, 30_000), "float32")


def test_scipys_short_time_transform(be):
    x, w = signal(600), scipy.signal.get_window("hann", 64)
    there = scipy.signal.ShortTimeFFT(w, 16, fs=1, mfft=64)
    got = stator.fft.stft(be.asarray(x), 64, hop_length=16, window=be.asarray(w), center=False).to_numpy()
    want = there.stft(x, p0=2, p1=2 + got.shape[1])  # slice 2 starts at the first sample
    np.testing.assert_allclose(np.abs(got), np.abs(want), atol=1e-12)


@pytest.mark.parametrize("n", [1, 2, 9, 16, 64])
@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_there_and_back(be, n, normalized, dtype):
    x = signal((3, 500), dtype)
    w = be.asarray(np.hamming(n).astype(dtype) if n > 1 else np.ones(1, dtype))
    options = {"window": w, "normalized": normalized, "hop_length": max(1, n // 4)}
    got = stator.fft.istft(stator.fft.stft(be.asarray(x), n, **options), n, length=500, **options)
    assert got.dtype == dtype
    close(got, x.astype("float64"), dtype)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_signals_there_and_back(be, dtype):
    x = signal((2, 300), dtype)
    w = be.asarray(np.hanning(32) + 0.1).astype(x.real.dtype)
    spec = stator.fft.stft(be.asarray(x), 32, window=w)
    assert spec.shape == (2, 32, 38)
    close(stator.fft.istft(spec, 32, window=w, length=300, return_complex=True), x, dtype)


def test_every_frequency_of_real_signals_there_and_back(be):
    x, w = signal((2, 300)), be.asarray(np.hanning(32) + 0.1)
    spec = stator.fft.stft(be.asarray(x), 32, window=w, onesided=False)
    close(stator.fft.istft(spec, 32, window=w, length=300), x, "float64")


def inverse(spec, n, hop, width, window, center, length=None):
    """The definition: the sum of windowed frames divided by the sum of the windows' squares."""
    w = full_window(window, n, width)
    frames = np.fft.irfft(np.swapaxes(spec, -1, -2), n)
    count = frames.shape[-2]
    y = np.zeros((*spec.shape[:-2], n + hop * (count - 1)))
    squares = np.zeros(y.shape[-1])
    for t in range(count):
        y[..., t * hop : t * hop + n] += frames[..., t, :] * w
        squares[t * hop : t * hop + n] += w * w
    first, last = (n // 2, y.shape[-1] - n // 2) if center else (0, y.shape[-1])
    last = last if length is None else min(first + length, y.shape[-1])
    out = y[..., first:last] / squares[first:last]
    return out if length is None else np.pad(out, [(0, 0)] * (out.ndim - 1) + [(0, length - out.shape[-1])])


@pytest.mark.parametrize("hop", [1, 3, 8, 16])
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("length", [None, 40, 90])
def test_any_spectrum_and_length(be, hop, center, length):
    spec = signal((2, 9, 6), "complex128")
    w = np.linspace(0.5, 1.5, 16)
    got = stator.fft.istft(be.asarray(spec), 16, hop_length=hop, window=be.asarray(w), center=center, length=length)
    close(got, inverse(spec, 16, hop, 16, w, center, length), "float64")


def test_frames_over_many_tiles_add_up_in_their_order(be):
    spec = signal((2, 129, 150), "complex128")
    w = np.hanning(200)
    options = {"hop_length": 37, "win_length": 200}
    got = stator.fft.istft(be.asarray(spec), 256, window=be.asarray(w), **options)
    close(got, inverse(spec, 256, 37, 200, w, True), "float64")
    again = stator.fft.istft(be.asarray(spec), 256, window=be.asarray(w), **options)
    np.testing.assert_array_equal(got.to_numpy(), again.to_numpy())


def test_ones_need_no_wait(be):
    spec = be.asarray(signal((9, 20), "complex128"))
    before = be.statistics()["d2h_bytes"]
    stator.fft.istft(spec, 16)
    stator.fft.istft(spec, 16, window=be.asarray(np.hanning(16)), check=False)
    assert be.statistics()["d2h_bytes"] == before


def test_a_window_that_vanishes_is_named(be):
    spec = be.asarray(signal((9, 20), "complex128"))
    w = be.asarray(np.hanning(16))  # the window is 0 at both ends
    with pytest.raises(ValueError, match=r"fft\.istft.*squares"):
        stator.fft.istft(spec, 16, window=w, center=False)
    with pytest.raises(ValueError, match="squares"):
        stator.fft.istft(spec, 16, win_length=8, hop_length=8, center=False)  # ones, with a gap at the start
    got = stator.fft.istft(spec, 16, window=w, center=False, check=False).to_numpy()
    assert not np.isfinite(got[0]) and np.isfinite(got[8:-8]).all()
    assert np.isfinite(stator.fft.istft(spec, 16, window=w).to_numpy()).all()


def test_empty_batches_come_back(be):
    assert stator.fft.istft(be.zeros((0, 9, 4), dtype="complex64"), 16).shape == (0, 12)
    assert stator.fft.istft(be.zeros((9, 4), dtype="complex64"), 16, length=0).shape == (0,)


ERRORS = stator.errors


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda f, x, s: f.stft(x, 0), ValueError, "n_fft = 0"),
        (lambda f, x, s: f.stft(x, -4), ValueError, "n_fft = -4"),
        (lambda f, x, s: f.stft(x, 2.5), ERRORS.DTypeError, "2.5"),
        (lambda f, x, s: f.stft(x, 16, hop_length=0), ValueError, "hop_length = 0"),
        (lambda f, x, s: f.stft(x, 16, win_length=17), ValueError, "win_length = 17"),
        (lambda f, x, s: f.stft(x, 16, win_length=0), ValueError, "win_length = 0"),
        (lambda f, x, s: f.stft(x, 16, window=x[:8]), ERRORS.ShapeError, r"\(8,\)"),
        (lambda f, x, s: f.stft(x, 16, window=s[0, :16]), ERRORS.DTypeError, "complex"),
        (lambda f, x, s: f.stft(x, 16, window=np.ones(16)), ERRORS.DTypeError, "ndarray"),
        (lambda f, x, s: f.stft(x, 16, pad_mode="symmetric"), ValueError, "symmetric"),
        (lambda f, x, s: f.stft(x, 16, pad_mode=1), ERRORS.DTypeError, "pad_mode"),
        (lambda f, x, s: f.stft(x[:8], 16), ERRORS.ShapeError, "8 samples"),
        (lambda f, x, s: f.stft(x[:15], 16, center=False), ERRORS.ShapeError, "15 samples"),
        (lambda f, x, s: f.stft(x[:0], 16, pad_mode="replicate"), ERRORS.ShapeError, "0 samples"),
        (lambda f, x, s: f.stft(x[:7], 16, pad_mode="circular"), ERRORS.ShapeError, "7 samples"),
        (lambda f, x, s: f.stft(s, 16, onesided=True), ERRORS.DTypeError, "onesided"),
        (lambda f, x, s: f.stft(x[0], 16), ERRORS.AxisError, "0-d"),
        (lambda f, x, s: f.istft(x, 16), ERRORS.DTypeError, "complex"),
        (lambda f, x, s: f.istft(s[0], 16), ERRORS.ShapeError, "frames"),
        (lambda f, x, s: f.istft(s, 18), ERRORS.ShapeError, "n_fft = 18"),
        (lambda f, x, s: f.istft(s, 16, onesided=False), ERRORS.ShapeError, "16, frames"),
        (lambda f, x, s: f.istft(s[:, :0], 16), ERRORS.ShapeError, "frames"),
        (lambda f, x, s: f.istft(s, 16, hop_length=9, win_length=8), ValueError, "at most win_length"),
        (lambda f, x, s: f.istft(s, 16, length=-1), ValueError, "length = -1"),
        (lambda f, x, s: f.istft(s, 16, return_complex=True), ValueError, "return_complex"),
    ],
)
def test_bad_input_is_named_and_the_next_call_works(be, call, error, text):
    x, s = be.asarray(signal(64)), be.asarray(signal((9, 20), "complex128"))
    with pytest.raises(error, match=text):
        call(stator.fft, x, s)
    assert stator.fft.stft(x, 16).shape == (9, 17)
