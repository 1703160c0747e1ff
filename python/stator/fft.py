"""Discrete Fourier transforms, as numpy.fft; stft and istft, as in torch.

float16 and bfloat16 are computed in float32 on every device: cuFFT's own half transforms support only powers of two and
have errors of 1e-3.
"""

from typing import TYPE_CHECKING

from stator._fft import (
    CacheInfo,
    cache_info,
    clear_cache,
    fft,
    fft2,
    fftconvolve,
    fftfreq,
    fftn,
    fftshift,
    hfft,
    ifft,
    ifft2,
    ifftn,
    ifftshift,
    ihfft,
    irfft,
    irfft2,
    irfftn,
    istft,
    rfft,
    rfft2,
    rfftfreq,
    rfftn,
    set_cache_limit,
    stft,
)
from stator._namespace import missing

__all__ = [
    "CacheInfo",
    "cache_info",
    "clear_cache",
    "fft",
    "fft2",
    "fftconvolve",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfft2",
    "irfftn",
    "istft",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
    "set_cache_limit",
    "stft",
]


def __dir__() -> list[str]:
    return [*__all__]


if not TYPE_CHECKING:
    __getattr__ = missing(__name__, __all__)
