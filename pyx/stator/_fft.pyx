# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
# cython: annotation_typing=False, freethreading_compatible=True
"""Discrete Fourier transforms, convolution, and short-time Fourier transforms."""
from collections import namedtuple

from libc.stdint cimport int64_t

from stator._array cimport Array, as_array, as_out, new_array
from stator._backend cimport Backend, enter, resolve, warn_of_libraries
from stator._convert cimport to_axes, to_axis, to_flag, to_float, to_int, to_optional_flag, to_text
from stator._dtype cimport as_dtype
from stator.cpp cimport fft as cpp
from stator.cpp.backend cimport Stream as CppStream
from stator.cpp.dtype cimport DType as CppDType
from stator.cpp.dtype cimport float64
from stator.cpp.std cimport optional, string_view, vector

from stator.errors import InvalidValueError, ShapeError

CacheInfo = namedtuple("CacheInfo", ("hits", "misses", "evictions", "plans", "bytes", "limit"), module="stator._fft")


cdef Array transformed(cpp.Transform op_code, str op, object x, object lengths, object axes, object norm):
    cdef Array source = as_array(x, op), out
    cdef cpp.Options options
    cdef CppStream stream
    cdef bytes mode
    mode = b"backward" if norm is None else to_text(norm, op, "norm")
    options.norm = string_view(<const char*>mode, len(mode))
    to_axes(lengths, options.lengths, op, "n" if isinstance(axes, int) else "s")
    to_axes(axes, options.axes, op, "axes")
    enter(source.backend, stream)
    out = new_array(source.backend)
    with nogil:
        out.c = cpp.transform(op_code, source.c, options, stream)
    warn_of_libraries()
    return out


cdef Array along_axis(cpp.Transform op_code, str op, object x, object n, object axis, object norm):
    if n is not None and to_int(n, op, "n") < 0:
        raise ShapeError(f"n={n}", op=op, remedy="Pass at least 1.")
    return transformed(op_code, op, x, n, to_int(axis, op), norm)


def fft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Array:
    """The discrete Fourier transform along one axis, as numpy.fft.fft. Asynchronous.

    n: x is truncated or padded with zeros to n points. norm: "backward" (no factor), "ortho" (1 / sqrt(n)) or "forward"
    (1 / n). The result is complex64 for float16, bfloat16, float32 and complex64, else complex128.

    >>> stator.real(stator.fft.fft(stator.asarray([1.0, 0.0, 0.0, 0.0]))).tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    return along_axis(cpp.fft_, "fft.fft", x, n, axis, norm)


def ifft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Array:
    """The inverse of fft, with the same arguments and dtypes. Asynchronous.

    norm: "backward" multiplies by 1 / n, "ortho" by 1 / sqrt(n), "forward" has no factor.

    >>> stator.real(stator.fft.ifft(stator.asarray([4.0, 0.0, 0.0, 0.0]))).tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    return along_axis(cpp.ifft_, "fft.ifft", x, n, axis, norm)


def rfft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Array:
    """The first n // 2 + 1 points of fft of real x, which determine the others. Asynchronous.

    n and norm as in fft. The result is complex64 for float16, bfloat16 and float32, else complex128.

    >>> stator.abs(stator.fft.rfft(stator.ones(4))).round(6).tolist()
    [4.0, 0.0, 0.0]
    """
    return along_axis(cpp.rfft_, "fft.rfft", x, n, axis, norm)


def irfft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Array:
    """The inverse of rfft: n real numbers, by default 2 * (m - 1) for m points. Asynchronous.

    Imaginary parts of points that must be real are ignored. norm as in ifft. The result is float32 for float16,
    bfloat16, float32 and complex64, else float64.

    >>> stator.fft.irfft(stator.asarray([4 + 0j, 0, 0])).tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    return along_axis(cpp.irfft_, "fft.irfft", x, n, axis, norm)


def hfft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Array:
    """The real transform of the Hermitian-symmetric signal of which x is the first half. Asynchronous.

    n: the number of points of the result, by default 2 * (m - 1) for m points. norm as in fft. dtypes as in irfft.

    >>> stator.fft.hfft(stator.asarray([1 + 0j, 0, 0])).tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    return along_axis(cpp.hfft_, "fft.hfft", x, n, axis, norm)


def ihfft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Array:
    """The inverse of hfft for real x: the first n // 2 + 1 points. Asynchronous.

    n as in rfft, norm as in ifft. dtypes as in rfft.

    >>> stator.abs(stator.fft.ihfft(stator.ones(4))).round(6).tolist()
    [1.0, 0.0, 0.0]
    """
    return along_axis(cpp.ihfft_, "fft.ihfft", x, n, axis, norm)


def fft2(x: Array, /, *, s: Sequence[int] | None = None, axes: Sequence[int] = (-2, -1),
         norm: str = "backward") -> Array:
    """fft along two axes. Asynchronous.

    s: the lengths to which x is truncated or padded with zeros; None or -1 keeps those of x. norm and dtypes as in fft.

    >>> stator.abs(stator.fft.fft2(stator.ones((2, 2)))).round(6).tolist()
    [[4.0, 0.0], [0.0, 0.0]]
    """
    return transformed(cpp.fft2_, "fft.fft2", x, s, axes, norm)


def ifft2(x: Array, /, *, s: Sequence[int] | None = None, axes: Sequence[int] = (-2, -1),
          norm: str = "backward") -> Array:
    """The inverse of fft2. Asynchronous.

    >>> stator.real(stator.fft.ifft2(stator.asarray([[4.0, 0.0], [0.0, 0.0]]))).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    return transformed(cpp.ifft2_, "fft.ifft2", x, s, axes, norm)


def rfft2(x: Array, /, *, s: Sequence[int] | None = None, axes: Sequence[int] = (-2, -1),
          norm: str = "backward") -> Array:
    """rfft along two axes of real x: the last axis has n // 2 + 1 points. Asynchronous.

    s as in fft2. norm as in fft, dtypes as in rfft.

    >>> stator.fft.rfft2(stator.ones((2, 4))).shape
    (2, 3)
    """
    return transformed(cpp.rfft2_, "fft.rfft2", x, s, axes, norm)


def irfft2(x: Array, /, *, s: Sequence[int] | None = None, axes: Sequence[int] = (-2, -1),
           norm: str = "backward") -> Array:
    """The inverse of rfft2. Asynchronous.

    s: the lengths of the result; its last one is by default 2 * (m - 1) for m points.

    >>> stator.fft.irfft2(stator.fft.rfft2(stator.ones((2, 4)))).tolist()
    [[1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0]]
    """
    return transformed(cpp.irfft2_, "fft.irfft2", x, s, axes, norm)


def fftn(x: Array, /, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None,
         norm: str = "backward") -> Array:
    """fft along several axes, by default the last len(s) ones, or all. Asynchronous.

    s: the lengths to which x is truncated or padded with zeros; None or -1 keeps those of x. No axis may be named
    twice. norm and dtypes as in fft.

    >>> stator.fft.fftn(stator.ones((2, 2, 2)), axes=(0, 1)).shape
    (2, 2, 2)
    """
    return transformed(cpp.fftn_, "fft.fftn", x, s, axes, norm)


def ifftn(x: Array, /, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None,
          norm: str = "backward") -> Array:
    """The inverse of fftn. Asynchronous.

    >>> stator.real(stator.fft.ifftn(stator.fft.fftn(stator.ones((2, 2))))).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    return transformed(cpp.ifftn_, "fft.ifftn", x, s, axes, norm)


def rfftn(x: Array, /, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None,
          norm: str = "backward") -> Array:
    """rfft along several axes of real x: the last axis has n // 2 + 1 points. Asynchronous.

    s and axes as in fftn. norm as in fft, dtypes as in rfft.

    >>> stator.fft.rfftn(stator.ones((2, 2, 6))).shape
    (2, 2, 4)
    """
    return transformed(cpp.rfftn_, "fft.rfftn", x, s, axes, norm)


def irfftn(x: Array, /, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None,
           norm: str = "backward") -> Array:
    """The inverse of rfftn. Asynchronous.

    s: the lengths of the result; its last one is by default 2 * (m - 1) for m points.

    >>> stator.fft.irfftn(stator.fft.rfftn(stator.ones((2, 4)))).tolist()
    [[1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0]]
    """
    return transformed(cpp.irfftn_, "fft.irfftn", x, s, axes, norm)


def fftshift(x: Array, /, *, axes: int | Sequence[int] | None = None) -> Array:
    """x rolled along the axes (None: all), so that frequency 0 is in the middle. Asynchronous.

    Any dtype. One launch.

    >>> stator.fft.fftshift(stator.asarray([0, 1, 2, -2, -1])).tolist()
    [-2, -1, 0, 1, 2]
    """
    return shifted(x, axes, False)


def ifftshift(x: Array, /, *, axes: int | Sequence[int] | None = None) -> Array:
    """The inverse of fftshift. Asynchronous.

    >>> stator.fft.ifftshift(stator.asarray([-2, -1, 0, 1, 2])).tolist()
    [0, 1, 2, -2, -1]
    """
    return shifted(x, axes, True)


cdef Array shifted(object x, object axes, bint back):
    cdef str op = "fft.ifftshift" if back else "fft.fftshift"
    cdef Array source = as_array(x, op), out
    cdef optional[vector[int64_t]] along
    cdef CppStream stream
    to_axes(axes, along, op, "axes")
    enter(source.backend, stream)
    out = new_array(source.backend)
    with nogil:
        if back:
            out.c = cpp.ifftshift(source.c, along, stream)
        else:
            out.c = cpp.fftshift(source.c, along, stream)
    return out


cdef Array frequencies(str op, bint half, object n, object d, object dtype, object device):
    cdef Backend backend = resolve(device, op)
    cdef int64_t count = to_int(n, op, "n")
    cdef double distance = to_float(d, op, "d")
    cdef CppDType code = float64 if dtype is None else <CppDType>as_dtype(dtype, op)
    cdef CppStream stream
    cdef Array out = new_array(backend)
    enter(backend, stream)
    with nogil:
        if half:
            out.c = cpp.rfftfreq(backend.c, count, distance, code, stream)
        else:
            out.c = cpp.fftfreq(backend.c, count, distance, code, stream)
    return out


def fftfreq(n: int, /, *, d: float = 1.0, dtype: DTypeLike | None = None, device: DeviceLike = None) -> Array:
    """The n frequencies of the points of fft, for n samples with spacing d. Asynchronous.

    dtype: None is float64.

    >>> stator.fft.fftfreq(4).tolist()
    [0.0, 0.25, -0.5, -0.25]
    """
    return frequencies("fft.fftfreq", False, n, d, dtype, device)


def rfftfreq(n: int, /, *, d: float = 1.0, dtype: DTypeLike | None = None, device: DeviceLike = None) -> Array:
    """The n // 2 + 1 frequencies of the points of rfft, for n samples with spacing d. Asynchronous.

    dtype: None is float64.

    >>> stator.fft.rfftfreq(4, d=0.5).tolist()
    [0.0, 0.5, 1.0]
    """
    return frequencies("fft.rfftfreq", True, n, d, dtype, device)


def fftconvolve(a: Array, b: Array, /, mode: str = "full", *, axes: int | Sequence[int] | None = None) -> Array:
    """The convolution along axes (None: all), as scipy.signal.fftconvolve. Asynchronous.

    mode: "full", "same" (a's lengths, centred) or "valid" (where one input covers the other). The other axes broadcast.
    The result may be a view.

    >>> stator.fft.fftconvolve(stator.asarray([1.0, 2.0]), stator.asarray([1.0, 1.0])).round(6).tolist()
    [1.0, 3.0, 2.0]
    """
    cdef Array first = as_array(a, "fft.fftconvolve"), second = as_array(b, "fft.fftconvolve")
    cdef Array out = new_array(first.backend)
    cdef optional[vector[int64_t]] along
    cdef CppStream stream
    cdef bytes how
    cdef string_view text
    how = to_text(mode, "fft.fftconvolve", "mode")
    text = string_view(<const char*>how, len(how))
    to_axes(axes, along, "fft.fftconvolve", "axes")
    enter(first.backend, stream)
    with nogil:
        out.c = cpp.fftconvolve(first.c, second.c, text, along, stream)
    return out


cdef int fill_frames(cpp.FrameOptions& options, str op, object hop_length, object win_length, object window,
                     object center, object normalized, object onesided) except -1:
    to_axis(hop_length, options.hop_length, op, "hop_length")
    to_axis(win_length, options.win_length, op, "win_length")
    options.window = as_out(window, op, "window")
    to_optional_flag(onesided, options.onesided, op, "onesided")
    options.center = to_flag(center, op, "center")
    options.normalized = to_flag(normalized, op, "normalized")
    return 0


def stft(x: Array, n_fft: int, /, *, hop_length: int | None = None, win_length: int | None = None,
         window: Array | None = None, center: bool = True, pad_mode: str = "reflect", normalized: bool = False,
         onesided: bool | None = None) -> Array:
    """The transforms of overlapping frames of x (..., samples), as torch.stft. Asynchronous.

    The result is (..., frequencies, frames), complex64 or complex128 as of fft. Frame t begins at sample t * hop_length
    (None: n_fft // 4); with center it is centred there, and the signal is continued beyond its ends by pad_mode:
    "reflect", "constant", "replicate" or "circular". window: (win_length,), real; None is ones; a window shorter than
    n_fft is centred between zeros. normalized: multiplies by 1 / sqrt(n_fft). onesided: only the first n_fft // 2 + 1
    frequencies; None does so for real x.

    >>> stator.fft.stft(stator.ones(64), 16, hop_length=4).shape
    (9, 17)
    """
    cdef Array source = as_array(x, "fft.stft"), out = new_array(source.backend)
    cdef cpp.StftOptions options
    cdef CppStream stream
    cdef int64_t n = to_int(n_fft, "fft.stft", "n_fft")
    cdef bytes mode
    mode = to_text(pad_mode, "fft.stft", "pad_mode")
    options.pad_mode = string_view(<const char*>mode, len(mode))
    fill_frames(options, "fft.stft", hop_length, win_length, window, center, normalized, onesided)
    enter(source.backend, stream)
    with nogil:
        out.c = cpp.stft(source.c, n, options, stream)
    return out


def istft(x: Array, n_fft: int, /, *, hop_length: int | None = None, win_length: int | None = None,
          window: Array | None = None, center: bool = True, normalized: bool = False, onesided: bool | None = None,
          length: int | None = None, return_complex: bool = False, check: bool = True) -> Array:
    """The signal (..., samples) of a spectrum (..., frequencies, frames), as torch.istft.

    The options are those of stft. Frames are windowed again, added, and divided by the sum of the windows' squares.
    InvalidValueError where that sum vanishes within the signal: the check synchronises, and is omitted for a window of
    ones without gaps and with check=False, when such samples are NaN or infinite. onesided: None follows from the
    number of frequencies. length: the number of samples of the result. return_complex: the signal was complex, and the
    spectrum has all frequencies.

    >>> window = stator.ones(16)
    >>> spectrum = stator.fft.stft(stator.ones(64), 16, hop_length=4, window=window)
    >>> stator.fft.istft(spectrum, 16, hop_length=4, window=window).shape
    (64,)
    """
    cdef Array source = as_array(x, "fft.istft"), out = new_array(source.backend)
    cdef cpp.IstftOptions options
    cdef CppStream stream
    cdef int64_t n = to_int(n_fft, "fft.istft", "n_fft")
    fill_frames(options, "fft.istft", hop_length, win_length, window, center, normalized, onesided)
    to_axis(length, options.length, "fft.istft", "length")
    options.return_complex = to_flag(return_complex, "fft.istft", "return_complex")
    options.check = to_flag(check, "fft.istft", "check")
    enter(source.backend, stream)
    with nogil:
        out.c = cpp.istft(source.c, n, options, stream)
    return out


def cache_info() -> CacheInfo:
    """Figures of the plan caches: hits, misses, evictions, plans, bytes and limit. Does not wait.

    Plans and bytes are those of all caches together, the limit that of each stream's cache; hits, misses and evictions
    count since the start of the process.
    """
    cdef cpp.CacheInfo info = cpp.cache_info()
    return CacheInfo(info.hits, info.misses, info.evictions, info.plans, info.bytes, info.limit)


def clear_cache() -> None:
    """Drops every cached plan. Does not wait: work in flight is not disturbed."""
    with nogil:
        cpp.clear_cache()


def set_cache_limit(limit: int, /) -> None:
    """Sets how many bytes the cached plans of one stream may take.

    Beyond it the least recently used plans are dropped; 0 keeps none.
    """
    cdef int64_t size = to_int(limit, "fft.set_cache_limit", "limit")
    if size < 0:
        raise InvalidValueError(f"a limit of {size} bytes", op="fft.set_cache_limit", remedy="Give at least 0.")
    with nogil:
        cpp.set_cache_limit(<size_t>size)
