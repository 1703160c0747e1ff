"""Fits the polynomials of csrc/device/math/elementary_power.cuh and prints them. Needs mpmath.

They are minimax, by Remez's exchange algorithm in 40 digits.
"""

import mpmath as mp

mp.mp.dps = 40


def remez(function, weight, degree, low, high):
    """The coefficients, lowest power first, of the p with the least max |weight (p - function)|; that maximum."""
    low, high = mp.mpf(low), mp.mpf(high)
    count = degree + 2
    nodes = [(low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * k / (count - 1)) for k in range(count)]
    grid = [low + (high - low) * (1 - mp.cos(mp.pi * k / 400)) / 2 for k in range(401)]
    for _ in range(12):
        rows = [[x**power for power in range(degree + 1)] + [(-1) ** k / weight(x)] for k, x in enumerate(nodes)]
        solution = mp.lu_solve(mp.matrix(rows), mp.matrix([function(x) for x in nodes]))
        coefficients = [solution[k] for k in range(degree + 1)]

        def error(x, coefficients=coefficients):
            return weight(x) * (mp.polyval(coefficients[::-1], x) - function(x))

        # The extremum between each two changes of sign.
        values = [(x, error(x)) for x in grid]
        peaks = []
        for x, e in values:
            if peaks and (peaks[-1][1] > 0) == (e > 0):
                if abs(e) > abs(peaks[-1][1]):
                    peaks[-1] = (x, e)
            else:
                peaks.append((x, e))
        while len(peaks) > count:
            peaks.pop(0 if abs(peaks[0][1]) < abs(peaks[-1][1]) else -1)
        if len(peaks) < count:
            break
        nodes = [x for x, _ in peaks]
        if max(abs(e) for _, e in peaks) < mp.mpf("1.0001") * min(abs(e) for _, e in peaks):
            break
    return coefficients, max(abs(error(x)) for x in grid)


def show(name, fit, low=None):
    coefficients, worst = fit
    print(f"{name}: error 2^{float(mp.log(worst, 2)):.1f}")
    for c in coefficients:
        high = float(c)
        print(f"  {high.hex()}  {mp.nstr(c, 20)}" + (f"  low {float(c - mp.mpf(high)).hex()}" if low else ""))


def log2_series(skip):
    """(log2((1 + s) / (1 - s)) - the first `skip` terms of its series) / s^(2 skip + 1), as a function of z = s^2."""

    def value(z):
        if z < mp.mpf("1e-4"):
            return sum(2 * z**k / (2 * (k + skip) + 1) for k in range(12)) / mp.log(2)
        s = mp.sqrt(z)
        known = sum(2 * s ** (2 * k + 1) / (2 * k + 1) for k in range(skip))
        return (mp.log((1 + s) / (1 - s)) - known) / s ** (2 * skip + 1) / mp.log(2)

    return value


largest = ((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)) ** 2
leading = 2 / mp.log(2)
print("log2(1 + f) = s (2 log2(e) + z tail(z)), s = f / (2 + f), z = s^2")
show("float pow, tail", remez(log2_series(1), lambda z: z + mp.mpf("1e-3"), 3, 0, largest))
show("double pow, 2/3 log2(e)", ([leading, leading / 3], mp.mpf(1)), low=True)
show("double pow, tail after 2/3 log2(e) z", remez(log2_series(2), lambda z: 1, 6, 0, largest))
