"""Cases of Fourier transforms: one function per operation, which gets the dtype of the real numbers."""

import numpy as np

import stator

OPERATIONS = """
f32 f64: fft_c2c pad_truncate_complex fft2_c2c rfft_r2c irfft_c2r hfft ihfft fftn3d_c2c fftn2d_c2c fftn_axes_c2c
"""


def _drawn(shape, dtype, complex_values=True):
    rng = np.random.default_rng(7)
    x = rng.normal(size=shape).astype(dtype)
    return x + 1j * rng.normal(size=shape).astype(dtype) if complex_values else x


def _check(got, wanted, dtype):
    eps = np.finfo(dtype).eps
    assert got.dtype == np.result_type(dtype, np.complex64 if np.iscomplexobj(wanted) else dtype)
    assert np.linalg.norm(got.to_numpy() - wanted) <= 16 * eps * np.linalg.norm(wanted)


def _both(be, x, dtype, names, **options):
    """Checks a transform and its inverse against NumPy in float64."""
    for name in names:
        wide = x.astype(np.complex128 if np.iscomplexobj(x) else np.float64)
        _check(getattr(stator.fft, name)(be.asarray(x), **options), getattr(np.fft, name)(wide, **options), dtype)


def fft_c2c(be, dtype):
    for shape in ((3, 64), (5, 101), (1, 360)):
        _both(be, _drawn(shape, dtype), dtype, ("fft", "ifft"))


def pad_truncate_complex(be, dtype):
    for n in (8, 21, 40):
        _both(be, _drawn((4, 21), dtype), dtype, ("fft", "ifft"), n=n)


def fft2_c2c(be, dtype):
    _both(be, _drawn((24, 35), dtype), dtype, ("fft2", "ifft2"))


def rfft_r2c(be, dtype):
    for n in (16, 45):
        _both(be, _drawn((6, n), dtype, complex_values=False), dtype, ("rfft",))


def irfft_c2r(be, dtype):
    for n in (16, 17, 33):
        _both(be, _drawn((6, 9), dtype), dtype, ("irfft",), n=n)


def hfft(be, dtype):
    for norm in ("backward", "ortho", "forward"):
        for n in (None, 12, 15):
            _both(be, _drawn((5, 9), dtype), dtype, ("hfft",), n=n, norm=norm)


def ihfft(be, dtype):
    for norm in ("backward", "ortho", "forward"):
        for n in (None, 12, 15):
            _both(be, _drawn((5, 14), dtype, complex_values=False), dtype, ("ihfft",), n=n, norm=norm)


def fftn3d_c2c(be, dtype):
    _both(be, _drawn((6, 16, 9), dtype), dtype, ("fftn", "ifftn"))


def fftn2d_c2c(be, dtype):
    _both(be, _drawn((18, 32), dtype), dtype, ("fftn", "ifftn"))


def fftn_axes_c2c(be, dtype):
    for axes in ((0, 2), (1,), (-1, 0)):
        _both(be, _drawn((4, 7, 12), dtype), dtype, ("fftn", "ifftn"), axes=axes)
