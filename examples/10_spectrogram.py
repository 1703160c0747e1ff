"""A spectrogram
=============

A tone that rises is hidden in noise. Overlapping windows, their Fourier transforms and the loudest frequency of each
find it, and a straight line through those frequencies tells how fast it rises.
"""

from types import ModuleType
from typing import Any

import numpy

SMALL = {"seconds": 0.5}


def make(np: ModuleType, seconds: float = 10, rate: int = 16_000) -> tuple[Any, int]:
    t = np.arange(int(seconds * rate)) / rate
    noise = np.asarray(numpy.random.default_rng(10).normal(scale=0.3, size=t.shape[0]))
    return np.sin(2 * np.pi * (300 * t + 150 * t**2)) + noise, rate


def run(np: ModuleType, signal: Any, rate: int, size: int = 1024, hop: int = 256) -> dict[str, Any]:
    starts = np.arange(0, len(signal) - size + 1, hop)
    frames = signal[starts[:, None] + np.arange(size)] * np.hanning(size)
    power = np.abs(np.fft.rfft(frames, axis=-1)) ** 2
    level = 10 * np.log10(np.maximum(power, 1e-12))
    frequencies = np.fft.rfftfreq(size, 1 / rate)
    loudest = frequencies[power.argmax(axis=1)]
    smooth = np.convolve(loudest, np.ones(5) / 5, mode="valid")
    slope, start = np.polyfit(starts[2:-2] / rate, smooth, 1)
    return {"level": level, "loudest": loudest, "at": starts / rate, "slope": slope, "start": start, "top": rate / 2}


def draw(plt: Any, results: dict[str, Any]) -> None:
    at, loudest = results["at"], results["loudest"]
    plt.figure(figsize=(8, 4), layout="constrained")
    level = results["level"].T
    top = float(results["top"])
    plt.imshow(level, origin="lower", aspect="auto", extent=(at[0], at[-1], 0, top), vmin=level.max() - 60)
    plt.colorbar(label="dB")
    plt.plot(at, float(results["start"]) + float(results["slope"]) * at, "r--", label="line through the loudest")
    plt.ylim(0, 1.5 * loudest.max())
    plt.xlabel("seconds")
    plt.ylabel("Hz")
    plt.legend()


if __name__ == "__main__":
    from command import main

    main(__doc__, make, run, draw, SMALL)
