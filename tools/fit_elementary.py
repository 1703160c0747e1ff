"""Fits the polynomials of csrc/device/math/elementary_{arc,log,power,tan}.cuh and prints them. Needs mpmath.

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


def quotient(function, power, series):
    """function(t) / t^power as a function of z = t^2, and its series for small z, where the function cancels."""

    def value(z):
        return series(z) if z < mp.mpf("1e-8") else function(mp.sqrt(z)) / mp.sqrt(z) ** power

    return value


def relative(z):
    """The weight of a tail that is multiplied by t^3 and added to t."""
    return z + mp.mpf("1e-4")


def log_tail(f):
    return (mp.log1p(f) - f + f * f / 2) / f**3 if abs(f) > mp.mpf("1e-5") else mp.mpf(1) / 3 - f / 4 + f * f / 5


def log_weight(f):
    return abs(f**3 / mp.log1p(f)) if f else mp.mpf("1e-12")


def root_tail(e, power):
    """((1 - e)^(-power) - 1) / e."""
    return ((1 - e) ** -power - 1) / e if abs(e) > mp.mpf("1e-6") else power + power * (power + 1) / 2 * e


third = mp.mpf(1) / 3
asin = quotient(lambda t: mp.asin(t) - t, 3, lambda z: mp.mpf(1) / 6 + 3 * z / 40)
atan = quotient(lambda t: mp.atan(t) - t, 3, lambda z: -third + z / 5)
sine = quotient(lambda t: mp.sin(t) - t, 3, lambda z: -mp.mpf(1) / 6 + z / 120)
cosine = quotient(lambda t: mp.cos(t) - 1 + t * t / 2, 4, lambda z: mp.mpf(1) / 24 - z / 720)
print("log(1 + f) = f - f^2 / 2 + f^3 tail(f)")
show("float", remez(log_tail, log_weight, 6, mp.sqrt(mp.mpf(1) / 2) - 1, mp.sqrt(2) - 1))
print("asin(t) = t + t^3 tail(t^2)")
show("float", remez(asin, relative, 4, 0, 0.25))
show("double", remez(asin, relative, 11, 0, 0.25))
print("atan(t) = t + t^3 tail(t^2), to 1 for float and to tan(pi / 8) for double")
show("float", remez(atan, lambda z: z * mp.sqrt(z) / mp.atan(mp.sqrt(z)) if z else mp.mpf("1e-3"), 7, 0, 1))
show("double", remez(atan, relative, 9, 0, mp.tan(mp.pi / 8) ** 2))
print("sin(t) = t + t^3 tail(t^2), cos(t) = 1 - t^2 / 2 + t^4 tail(t^2)")
beyond = (mp.pi / 4 * mp.mpf("1.0001")) ** 2
for name, sine_degree, cosine_degree in (("float", 2, 2), ("double", 5, 4)):
    show(f"{name} sine", remez(sine, relative, sine_degree, 0, beyond))
    show(f"{name} cosine", remez(cosine, lambda z: z * z + mp.mpf("1e-4"), cosine_degree, 0, beyond))
print("cbrt: (1 - e)^(-2/3) = 1 + e tail(e) of float, (1 - e)^(-1/3) = 1 + e tail(e) of double")
show("float", remez(lambda e: root_tail(e, 2 * third), lambda e: abs(e) + mp.mpf("1e-4"), 4, -0.1028, 0.1016))
show("double", remez(lambda e: root_tail(e, third), lambda e: abs(e) + mp.mpf("1e-4"), 3, -0.0969, 0.1055))
