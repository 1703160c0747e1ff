"""Fits the tables of csrc/device/math/bessel_*.cuh and prints them. Needs mpmath and NumPy.

    python tools/fit_bessel.py modified|first_kind|airy

Each row of a table is a polynomial for one interval of the argument, in powers of (argument - centre). A row with a
zero of the function has this zero as its centre, in two parts, and no constant term. The fit is least squares of the
relative error over Chebyshev nodes, which is within a small factor of minimax; coefficients are rounded one by one,
lowest power first, and the others are fitted again. It takes a minute or two.
"""

import sys

import mpmath as mp
import numpy as np
from mpmath import besseli, besselj, besselk, bessely, cos, exp, inf, log, mpf, pi, sin, sqrt

mp.mp.dps = 40


def rounded(value, real):
    """The nearest float or double; double rounding through float64 is harmless in a fit."""
    return real(float(value))


def solve(gram, right, known):
    """The coefficients above the known ones that minimise the error."""
    k, n = len(known), len(right)
    matrix, vector = mp.matrix(n - k, n - k), mp.matrix(n - k, 1)
    for i in range(k, n):
        vector[i - k] = right[i] - mp.fsum(gram[i][j] * known[j] for j in range(k))
        for j in range(k, n):
            matrix[i - k, j - k] = gram[i][j]
    return mp.lu_solve(matrix, vector)


def fit(function, low, high, centre, degree, known, real):
    """Rounded coefficients, lowest power first, and the largest relative error at the nodes."""
    count = 3 * degree + 8
    nodes = [(low + high) / 2 + (high - low) / 2 * cos(pi * (2 * i + 1) / (2 * count)) for i in range(count)]
    size = max(high - centre, centre - low)
    rows = []
    for x in nodes:
        value = function(x)
        rows.append([((x - centre) / size) ** k / value for k in range(degree + 1)])
    gram = [[mp.fsum(r[i] * r[j] for r in rows) for j in range(degree + 1)] for i in range(degree + 1)]
    right = [mp.fsum(r[i] for r in rows) for i in range(degree + 1)]
    scaled, result = [], []
    for k in range(degree + 1):
        c = mpf(known[k]) if k < len(known) else solve(gram, right, scaled)[0] / size**k
        result.append(rounded(c, real))
        scaled.append(mpf(float(result[-1])) * size**k)
    return result, max(abs(mp.fsum(c * r for c, r in zip(scaled, row, strict=True)) - 1) for row in rows)


class Row:
    """One interval. parity: fitted in squares of the argument around 0, so that every second power is 0."""

    def __init__(self, low, high, degree, zero=None, known=(), centre=None, parity=None):
        self.low, self.high, self.degree, self.parity = mpf(low), mpf(high), degree, parity
        self.zero, self.known, self.centre = zero, known, centre

    def lucky_centre(self, function, real):
        """A short number near the middle where the function is nearly a float, so that the constant term is exact."""
        step = mpf(2) ** mp.floor(mp.log((self.high - self.low) / 512, 2))
        middle = mp.nint((self.low + self.high) / 2 / step)

        def miss(k):
            value = function((middle + k) * step)
            return abs(mpf(float(rounded(value, real))) / value - 1)

        return (middle + min(range(-16, 17), key=miss)) * step

    def table(self, function, real):
        high, low_part = self.high, real(0)
        if self.parity is not None:
            p = self.parity
            even, error = fit(
                lambda y: function(sqrt(y)) / sqrt(y) ** p, self.low**2, high**2, mpf(0), self.degree, self.known, real
            )
            coefficients = [real(0)] * (p + 2 * len(even) - 1)
            coefficients[p::2] = even
            return [high, real(0), low_part, *coefficients], error
        if self.zero is not None:
            centre = rounded(self.zero, real)
            low_part = rounded(self.zero - mpf(float(centre)), real)
            exact = mpf(float(centre)) + mpf(float(low_part))
            coefficients, error = fit(function, self.low, high, exact, self.degree, (0,), real)
        else:
            centre = rounded(self.lucky_centre(function, real) if self.centre is None else self.centre, real)
            coefficients, error = fit(function, self.low, high, mpf(float(centre)), self.degree, self.known, real)
        return [high, centre, low_part, *coefficients], error


def show(value, real):
    """The literal of a number, all of one width, which clang-format aligns in columns."""
    return f"{float(value):.16e}" if real is np.float64 else f"{float(value):.8e}f"


def emit_rows(name, function, rows, real):
    tables = [row.table(function, real) for row in rows]
    width = max(len(t) for t, _ in tables)
    type_name = "float" if real is np.float32 else "double"
    worst = max(e for _, e in tables)
    print(f"{name} {type_name}: relative error of the fit 2^{float(mp.log(worst, 2)):.1f}", file=sys.stderr)
    print(f"    static constexpr {type_name} rows[{len(rows)}][{width}] = {{")
    for values, _ in tables:
        padded = [rounded(v, real) for v in values] + [real(0)] * (width - len(values))
        print("      {" + ", ".join(show(v, real) for v in padded) + "},")
    print("    };\n    return piecewise(rows, x);")


def emit(name, comment, function, floats, doubles):
    print(f"// {comment}\ntemplate <class T>\nSTATOR_FN T {name}(T x) {{\n  if constexpr (sizeof(T) == 4) {{")
    emit_rows(name, function, floats, np.float32)
    print("  } else {")
    emit_rows(name, function, doubles, np.float64)
    print("  }\n}\n")


def emit_one(name, comment, function, rows, real):
    type_name = "float" if real is np.float32 else "double"
    print(f"// {comment}\nSTATOR_FN {type_name} {name}({type_name} x) {{")
    emit_rows(name, function, rows, real)
    print("}\n")


def emit_wave(name, argument, p, q, high):
    """P and Q of an oscillation for double, its modulus and its phase for float; functions of y = 1/argument^2."""
    emit_one(f"{name}_p", f"P - 1, x = 1/{argument}^2.", lambda y: p(y) - 1, series(11, high, (0,)), np.float64)
    emit_one(f"{name}_q", f"{argument} Q.", q, series(12, high, ()), np.float64)

    def modulus(y):
        return sqrt(p(y) ** 2 + y * q(y) ** 2) - 1

    def phase(y):
        return mp.atan(sqrt(y) * q(y) / p(y)) / sqrt(y)

    emit_one(f"{name}_modulus", "sqrt(P^2 + Q^2) - 1 for float.", modulus, series(3, high, (0,)), np.float32)
    emit_one(f"{name}_phase", f"{argument} atan(Q / P) for float.", phase, series(9, high, ()), np.float64)


def series(degree, high, known=(1,)):
    return [Row(0, high, degree, known=known, centre=mpf(0))]


def inverse(*spans):
    """Rows in 1/x for spans (from, to, degree) of x, in ascending order of 1/x."""
    return [Row(0 if b == inf else 1 / mpf(b), 1 / mpf(a), d) for a, b, d in spans]


def modified():
    def far(bessel, order, sign):
        return lambda w: exp(sign / w) * sqrt(1 / w) * bessel(order, 1 / w)

    def root(t):
        return 2 * sqrt(t)

    small, near = mpf(1) / 4, mpf(1)
    emit(
        "i0_near",
        "I0(2 sqrt(x)) for 0 <= x <= 1.",
        lambda t: besseli(0, root(t)),
        series(5, near),
        series(9, near),
    )
    emit(
        "i1_near",
        "I1(2 sqrt(x)) / sqrt(x) for 0 <= x <= 1.",
        lambda t: besseli(1, root(t)) / sqrt(t),
        series(5, near),
        series(9, near),
    )
    emit(
        "k0_near",
        "K0(z) + log(z) I0(z) for z = 2 sqrt(x) <= 1.",
        lambda t: besselk(0, root(t)) + log(root(t)) * besseli(0, root(t)),
        series(4, small, ()),
        series(8, small, ()),
    )
    emit(
        "k1_near",
        "z (K1(z) - log(z) I1(z)) for z = 2 sqrt(x) <= 1.",
        lambda t: root(t) * (besselk(1, root(t)) - log(root(t)) * besseli(1, root(t))),
        series(4, small),
        series(8, small),
    )
    for n in (0, 1):
        emit(
            f"i{n}_far",
            f"exp(-z) sqrt(z) I{n}(z) for z = 1/x >= 2.",
            far(besseli, n, -1),
            inverse((6, inf, 6), (3, 6, 6), (2, 3, 6)),
            inverse((16, inf, 15), (8, 16, 15), ("4.5", 8, 15), (3, "4.5", 15), (2, 3, 15)),
        )
    for n in (0, 1):
        emit(
            f"k{n}_far",
            f"exp(z) sqrt(z) K{n}(z) for z = 1/x >= 1.",
            far(besselk, n, 1),
            inverse((4, inf, 6), (2, 4, 6), (1, 2, 6)),
            inverse((8, inf, 14), (4, 8, 14), (2, 4, 14), (1, 2, 14)),
        )


def first_kind():
    step = pi / 2

    def grid(zeros, first, float_degree, double_degree):
        """Rows on multiples of pi/2 up to 3 pi, centred at the zero where there is one."""
        tables = []
        for degree in (float_degree, double_degree):
            rows = []
            for k in range(first, 6):
                inside = [z for z in zeros if k * step < z < (k + 1) * step]
                rows.append(Row(k * step, (k + 1) * step, degree, zero=inside[0] if inside else None))
            tables.append(rows)
        return tables

    for n in (0, 1):
        floats, doubles = grid([mp.besseljzero(n, k) for k in (1, 2, 3)], 1, 8, 15)
        floats.insert(0, Row(0, step, 5 - n, parity=n, known=(mpf(1) / 2**n,)))
        doubles.insert(0, Row(0, step, 8 - n, parity=n, known=(mpf(1) / 2**n,)))
        emit(f"j{n}_near", f"J{n}(x) for 0 <= x <= 3 pi.", lambda x, n=n: besselj(n, x), floats, doubles)
    for n in (0, 1):
        low = step / 4 if n == 0 else step
        sign = "+" if n == 0 else "-"
        emit(
            f"y{n}_log",
            f"Y{n}(u) = 2/pi log(u) J{n}(u) {sign} y{n}_log(u^2){' / u' if n else ''}"
            f" for u <= pi/{8 if n == 0 else 2}.",
            lambda y, n=n: (bessely(n, sqrt(y)) - 2 / pi * log(sqrt(y)) * besselj(n, sqrt(y))) * (-sqrt(y)) ** n,
            series(4 + n, low**2, ()),
            series(8 + n, low**2, ()),
        )
        floats, doubles = grid([mp.besselyzero(n, k) for k in (1, 2, 3)], 1, 10, 21)
        if n == 0:
            for rows, degree in ((floats, 10), (doubles, 21)):
                rows[:0] = [Row(low, 2 * low, degree), Row(2 * low, step, degree, zero=mp.besselyzero(0, 1))]
        emit(f"y{n}_near", f"Y{n}(x) from there to 3 pi.", lambda x, n=n: bessely(n, x), floats, doubles)

    def hankel(n, part):
        def f(y):
            x = 1 / sqrt(y)
            c, s = cos(x - (2 * n + 1) * pi / 4), sin(x - (2 * n + 1) * pi / 4)
            j, y = besselj(n, x), bessely(n, x)
            return sqrt(pi * x / 2) * (j * c + y * s if part == "p" else x * (y * c - j * s))

        return f

    for n in (0, 1):
        print(f"// Of DLMF 10.17(i) for order {n} and u >= 3 pi.")
        emit_wave(f"wave{n}", "u", hankel(n, "p"), hankel(n, "q"), 1 / (3 * pi) ** 2)


def airy():
    ai, bi = mp.airyai, mp.airybi

    def of_zeta(z):
        return mp.cbrt((z * 3 / 2) ** 2)

    def zeta(x):
        return 2 * mpf(x) ** mpf("1.5") / 3

    def near(d):
        zeros = [mp.airyaizero(k) for k in (1, 2, 3)]
        low, high = mpf("-6.2"), mpf(2)
        return [
            Row(low, "-4.85", d, zero=zeros[2]),
            Row("-4.85", "-3.3", d, zero=zeros[1]),
            Row("-3.3", "-1.5", d, zero=zeros[0]),
            Row("-1.5", 0, d),
            Row(0, 1, d),
            Row(1, high, d),
        ]

    def far(degree, count):
        return [Row(2 * 2**k, 4 * 2**k, degree) for k in range(count)]

    def wave(part):
        def f(y):
            z = 1 / sqrt(y)
            x = of_zeta(z)
            c, s = cos(z - pi / 4), sin(z - pi / 4)
            a, b = ai(-x), bi(-x)
            return sqrt(pi) * sqrt(sqrt(x)) * (a * c - b * s if part == "p" else z * (a * s + b * c))

        return f

    emit("ai_near", "Ai(x) for -6.2 <= x <= 2.", ai, near(10), near(19))
    emit("ai_decay", "exp(zeta) Ai(x) for x >= 2.", lambda x: exp(zeta(x)) * ai(x), far(9, 4), far(20, 6))
    print("// Of DLMF 9.7(ii) for zeta >= 10.29.")
    emit_wave("ai_wave", "zeta", wave("p"), wave("q"), 1 / zeta(mpf("6.2")) ** 2)


if __name__ == "__main__":
    {"modified": modified, "first_kind": first_kind, "airy": airy}[sys.argv[1]]()
