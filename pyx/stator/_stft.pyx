# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=python
# cython: annotation_typing=False, freethreading_compatible=True
"""Short-time Fourier transforms."""
from libc.stdint cimport int64_t
from libcpp cimport bool as cbool
from libcpp.optional cimport optional
from libcpp.string_view cimport string_view

from stator._array cimport Array, as_array, new_array
from stator._backend cimport enter
from stator._convert cimport to_int
from stator.cpp cimport fft as cpp
from stator.cpp.backend cimport Stream as CppStream

from stator.errors import DTypeError


cdef int fill_frames(cpp.FrameOptions& options, str op, object hop_length, object win_length, object window,
                     object center, object normalized, object onesided) except -1:
    if hop_length is not None:
        options.hop_length = optional[int64_t](to_int(hop_length, op))
    if win_length is not None:
        options.win_length = optional[int64_t](to_int(win_length, op))
    if window is not None:
        options.window = &as_array(window, op).c
    if onesided is not None:
        options.onesided = optional[cbool](<cbool>bool(onesided))
    options.center = bool(center)
    options.normalized = bool(normalized)
    return 0


def stft(x: Array, n_fft: int, /, *, hop_length: int | None = None, win_length: int | None = None,
         window: Array | None = None, center: bool = True, pad_mode: str = "reflect", normalized: bool = False,
         onesided: bool | None = None) -> Array:
    """The transforms of overlapping frames of the last axis, (..., frequencies, frames), as torch.stft.

    Frame t begins at sample t * hop_length (None: n_fft // 4), or is centred there: then the signal is continued beyond
    its ends by pad_mode, "reflect", "constant", "replicate" or "circular". window: (win_length,), real; None is ones;
    shorter than n_fft it stands in the middle of zeros. normalized: times 1 / sqrt(n_fft). onesided: the first
    n_fft // 2 + 1 frequencies; None where x is real. float16 and bfloat16 are computed in float32, integers in float64.
    """
    cdef Array source = as_array(x, "fft.stft"), out = new_array(source.backend)
    cdef cpp.StftOptions options
    cdef CppStream stream
    cdef int64_t n = to_int(n_fft, "fft.stft")
    cdef bytes mode
    if not isinstance(pad_mode, str):
        raise DTypeError(f"pad_mode is a {type(pad_mode).__name__}", op="fft.stft", remedy="Use 'reflect', ...")
    mode = pad_mode.encode()
    options.pad_mode = string_view(<const char*>mode, len(mode))
    fill_frames(options, "fft.stft", hop_length, win_length, window, center, normalized, onesided)
    enter(source.backend, stream)
    with nogil:
        out.c = cpp.stft(source.c, n, options, stream)
    return out


def istft(x: Array, n_fft: int, /, *, hop_length: int | None = None, win_length: int | None = None,
          window: Array | None = None, center: bool = True, normalized: bool = False, onesided: bool | None = None,
          length: int | None = None, return_complex: bool = False, check: bool = True) -> Array:
    """The signal of a spectrum (..., frequencies, frames), as torch.istft; options as stft had them.

    Frames are windowed again, added up and divided by the sum of the windows' squares. InvalidValueError where that
    vanishes within the signal; the look at it synchronises, unless there is no window or check=False: such samples
    are NaN or infinite then. onesided: None is what the number of frequencies says. length: samples of the result.
    return_complex: the signal was complex, and the spectrum has all frequencies.
    """
    cdef Array source = as_array(x, "fft.istft"), out = new_array(source.backend)
    cdef cpp.IstftOptions options
    cdef CppStream stream
    cdef int64_t n = to_int(n_fft, "fft.istft")
    fill_frames(options, "fft.istft", hop_length, win_length, window, center, normalized, onesided)
    if length is not None:
        options.length = optional[int64_t](to_int(length, "fft.istft"))
    options.return_complex = bool(return_complex)
    options.check = bool(check)
    enter(source.backend, stream)
    with nogil:
        out.c = cpp.istft(source.c, n, options, stream)
    return out
