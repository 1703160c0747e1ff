"""A spectrogram of a rising tone in noise: windows, Fourier transforms, decibels, and the loudest frequency."""

import numpy


def make(np, seconds=10, rate=16_000):
    t = np.arange(int(seconds * rate)) / rate
    noise = np.asarray(numpy.random.default_rng(10).normal(scale=0.3, size=t.shape[0]))
    return np.sin(2 * np.pi * (300 * t + 150 * t**2)) + noise, rate


def run(np, signal, rate, size=1024, hop=256):
    starts = np.arange(0, len(signal) - size + 1, hop)
    frames = signal[starts[:, None] + np.arange(size)] * np.hanning(size)
    power = np.abs(np.fft.rfft(frames, axis=-1)) ** 2
    level = 10 * np.log10(np.maximum(power, 1e-12))
    frequencies = np.fft.rfftfreq(size, 1 / rate)
    loudest = frequencies[power.argmax(axis=1)]
    smooth = np.convolve(loudest, np.ones(5) / 5, mode="valid")
    slope, start = np.polyfit(starts[2:-2] / rate, smooth, 1)
    return {"level": level, "loudest": loudest, "slope": slope, "start": start}


if __name__ == "__main__":
    from command import main

    main(__doc__, make, run)
