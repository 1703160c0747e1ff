"""Denoising by the Fourier transform
==================================

A signal of a few tones is buried in noise, which spreads over all frequencies while the tones do not. Frequencies that
stand out of the noise are kept, all others are set to zero, and the inverse transform gives the signal back. The level
of the noise is the median of the spectrum, so nothing has to be known about it.
"""

from types import ModuleType
from typing import Any

import numpy

SMALL = {"seconds": 0.25}


def make(np: ModuleType, seconds: float = 8, rate: int = 4096) -> tuple[Any, Any, int]:
    rng = numpy.random.default_rng(20)
    t = np.arange(int(seconds * rate)) / rate
    clean = np.zeros(len(t))
    for _ in range(6):
        frequency, phase, height = rng.uniform(20, 600), rng.uniform(0, 2 * numpy.pi), rng.uniform(0.3, 1)
        clean += height * np.sin(2 * np.pi * frequency * t + phase) * (1 + 0.3 * np.cos(2 * np.pi * 2 * t))
    return clean, clean + np.asarray(rng.normal(scale=2, size=len(t))), rate


def decibels(np: ModuleType, clean: Any, found: Any) -> Any:
    """How much stronger the signal is than what differs from it."""
    return 10 * np.log10((clean**2).sum() / ((found - clean) ** 2).sum())


def run(np: ModuleType, clean: Any, noisy: Any, rate: int, factor: float = 4) -> dict[str, Any]:
    spectrum = np.fft.rfft(noisy)
    height = np.abs(spectrum)
    keep = height > factor * np.median(height)
    found = np.fft.irfft(np.where(keep, spectrum, 0), n=len(noisy))
    return {
        "clean": clean,
        "noisy": noisy,
        "found": found,
        "height": height,
        "kept": keep.sum(),
        "level": factor * np.median(height),
        "frequencies": np.fft.rfftfreq(len(noisy), 1 / rate),
        "decibels of noisy": decibels(np, clean, noisy),
        "decibels of found": decibels(np, clean, found),
    }


def draw(plt: Any, results: dict[str, Any]) -> None:
    _, (upper, lower) = plt.subplots(2, 1, figsize=(9, 6), layout="constrained")
    for name, style in (("noisy", "0.8"), ("clean", "k--"), ("found", "C0")):
        upper.plot(results[name][:400], style, label=name)
    before, after = (float(results[f"decibels of {name}"]) for name in ("noisy", "found"))
    upper.set(xlabel="sample", title=f"Signal to noise: {before:.1f} dB, and {after:.1f} dB after the transform")
    upper.legend()
    lower.semilogy(results["frequencies"], results["height"], linewidth=0.5)
    lower.axhline(float(results["level"]), color="black", linestyle="--", label="what is above is kept")
    lower.set(xlabel="Hz", title="The spectrum", xlim=(0, 1000), ylim=(1, None))
    lower.legend()


if __name__ == "__main__":
    from command import main

    main(__doc__, make, run, draw, SMALL)
