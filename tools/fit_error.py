"""Fits the coefficients of csrc/device/math/special_error.cuh and prints them. Needs mpmath."""

import struct

import mpmath as mp

mp.mp.dps = 50
START = mp.mpf(0.625)  # below it erf is computed from a series, above it erfc as an exponential times erfcx
SPLIT = mp.mpf(0.4375)  # the |p - 1/2| that separates the two forms of ndtri
SLOPE = mp.sqrt(2 * mp.log(2))  # the slope of ndtri's tail as a function of sqrt(-log2(p))


def fit(f, low, high, m, n=0, size=None):
    """Numerator and denominator (degrees m and n, lowest power first) that approximate f on [low, high].

    Errors are relative to `size`, by default f itself. Weighted least squares on Chebyshev nodes; for n > 0 Loeb's
    iteration divides by the denominator of the previous round.
    """
    count = 3 * (m + n + 2)
    xs = [(low + high + (high - low) * mp.cos(mp.pi * (2 * k + 1) / (2 * count))) / 2 for k in range(count)]
    ys = [f(x) for x in xs]
    sizes = [abs(size(x)) for x in xs] if size else [abs(y) for y in ys]
    p, q = [], [mp.mpf(1)]
    for _ in range(4 if n else 1):
        scales = [1 / abs(z * mp.polyval(q[::-1], x)) for x, z in zip(xs, sizes, strict=True)]
        rows = [
            [s * x**k for k in range(m + 1)] + [-s * y * x**k for k in range(1, n + 1)]
            for x, y, s in zip(xs, ys, scales, strict=True)
        ]
        solution = mp.qr_solve(mp.matrix(rows), mp.matrix([s * y for y, s in zip(ys, scales, strict=True)]))[0]
        p, q = list(solution[: m + 1]), [mp.mpf(1), *solution[m + 1 :]]
    return p, q


def error(f, p, q, low, high, size=None, count=300):
    """The largest error at Chebyshev extrema, relative to `size`."""
    xs = [low + (high - low) * (1 - mp.cos(mp.pi * k / count)) / 2 for k in range(count + 1)]
    return max(abs((mp.polyval(p[::-1], x) / mp.polyval(q[::-1], x) - f(x)) / (size or f)(x)) for x in xs)


def literal(value, single):
    return f"{struct.unpack('f', struct.pack('f', float(value)))[0]:.9g}f" if single else f"{float(value):.17g}"


def show(name, f, low, high, degrees, single, size=None):
    low, high = mp.mpf(low), mp.mpf(high)
    (m, n), memo = degrees, {}

    def cached(x):
        if x not in memo:
            memo[x] = f(x)
        return memo[x]

    p, q = fit(cached, low, high, m, n, size)
    print(f"{name}, {'float' if single else 'double'}, [{mp.nstr(low, 4)}, {mp.nstr(high, 4)}]:", end=" ")
    print("relative error", mp.nstr(error(cached, p, q, low, high, size), 3))
    for part in (p, q) if n else (p,):
        print("  " + ", ".join(literal(c, single) for c in part))


def erf_excess(z):
    x = mp.sqrt(z)
    return mp.erf(x) / x - 1 if z > mp.mpf(10) ** -40 else 2 / mp.sqrt(mp.pi) - 1


def erfcx(a):
    if a < 60:
        return mp.exp(a * a) * mp.erfc(a)
    term = total = mp.mpf(1)
    for k in range(1, 40):
        term *= -(2 * k - 1) / (2 * a * a)
        total += term
    return total / (a * mp.sqrt(mp.pi))


def scaled_erfcx(pole):
    """(a + 1/2) * erfcx(a), which is between 0.5 and 0.6, as a function of t = (a - pole) / (a + pole)."""

    def f(t):
        a = pole * (1 + t) / (1 - t)
        return (a + mp.mpf(0.5)) * erfcx(a)

    return f


def normal_tail(r):
    """The x with ndtr(-x) = 2^(-r^2), by Newton's method on the logarithm."""
    x = SLOPE * r * mp.mpf(0.9)
    for _ in range(60):
        tail = mp.erfc(x / mp.sqrt(2)) / 2
        step = (mp.log(tail) + r * r * mp.ln2) * tail * mp.sqrt(2 * mp.pi) * mp.exp(x * x / 2)
        x += step
        if abs(step) < x * mp.mpf(10) ** -40:
            break
    return x


def normal_centre(u):
    """ndtri(1/2 + q) / q as a function of u = split^2 - q^2; in q^2 the signs of the coefficients would alternate."""
    q = mp.sqrt(max(SPLIT * SPLIT - u, mp.mpf(10) ** -60))
    return mp.sqrt(2) * mp.erfinv(2 * q) / q


def main():
    print("slope of ndtri", mp.nstr(SLOPE, 20), "of erfinv", mp.nstr(SLOPE / mp.sqrt(2), 20))
    for single in (True, False):
        pole = mp.mpf(2 if single else 3.5)
        show("erf(x) / x - 1 of x^2", erf_excess, 0, START**2, (5 if single else 9, 0), single, lambda z: 1)
        low = (START - pole) / (START + pole)
        show("(a + 1/2) erfcx(a)", scaled_erfcx(pole), low, 1 - mp.mpf(10) ** -12, (10 if single else 21, 0), single)
        degrees = (4, 3) if single else (8, 7)
        show("ndtri's centre, - 3", lambda u: normal_centre(u) - 3, 0, SPLIT * SPLIT, degrees, single, normal_centre)
        degrees, end = ((4, 3), 12.3) if single else ((10, 10), 32.8)
        show(
            "slope r - ndtri's tail",
            lambda r: SLOPE * r - normal_tail(r),
            2,
            end,
            degrees,
            single,
            normal_tail,
        )


if __name__ == "__main__":
    main()
