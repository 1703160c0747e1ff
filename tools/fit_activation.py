"""Fits Mills' ratio for csrc/device/functors/activation.cuh and prints the coefficients. Needs mpmath.

The ratio is M(a) = Phi(-a) / exp(-a^2 / 2) for the normal distribution function Phi and a >= 0. Its reciprocal is
2 + a (sqrt(2 pi) + h(a)), where h rises from -0.91 to 0. The fit is of h, and minimises the error that it causes in M.
"""

import struct

import mpmath as mp

mp.mp.dps = 60
START = mp.mpf(0.05)  # below it h has little effect
MIDDLE = 2  # half of the nodes are below this


def mills(a):
    if a < 30:
        return mp.erfc(a / mp.sqrt(2)) * mp.exp(a * a / 2) / 2
    fraction = mp.mpf(0)
    for k in range(400, 0, -1):
        fraction = k / (a + fraction)
    return 1 / (a + fraction) / mp.sqrt(2 * mp.pi)


def parts(a):
    """h(a), and the magnitude that its error is relative to."""
    whole = 1 / mills(a)
    return (whole - 2) / a - mp.sqrt(2 * mp.pi), whole / a


def solve(nodes, m, n):
    """P and Q (degrees m and n, lowest power first) whose quotient has equal, alternating errors at the nodes."""
    values, level = [parts(a) for a in nodes], mp.mpf(0)
    for _ in range(8):
        rows, right = [], []
        for i, (a, (y, whole)) in enumerate(zip(nodes, values, strict=True)):
            s = (-1) ** i * whole
            powers = [a**k for k in range(max(m, n) + 1)]
            rows.append(powers[: m + 1] + [-(y + s * level) * t for t in powers[1 : n + 1]] + [-s])
            right.append(y)
        *x, level = mp.lu_solve(mp.matrix(rows), mp.matrix(right))
    return x[: m + 1], [mp.mpf(1), *x[m + 1 :]]


def fit(end, m, n, rounds=10):
    """Remez's algorithm on [0, end]. Returns the largest error on a fine grid, P and Q."""
    count = m + n + 2
    first, last = ((a - MIDDLE) / (a + MIDDLE) for a in (START, end))

    def point(u):  # of u in [0, 1]
        s = first + (last - first) * u
        return MIDDLE * (1 + s) / (1 - s)

    grid = [point((1 - mp.cos(mp.pi * i / 1200)) / 2) for i in range(1201)]
    values = [parts(a) for a in grid]
    nodes = [point((1 - mp.cos(mp.pi * i / (count - 1))) / 2) for i in range(count)]
    best = None
    for _ in range(rounds):
        p, q = solve(nodes, m, n)
        pairs = zip(grid, values, strict=True)
        errors = [(mp.polyval(p[::-1], a) / mp.polyval(q[::-1], a) - y) / whole for a, (y, whole) in pairs]
        peaks = [0]  # the largest error of each run of one sign
        for i, e in enumerate(errors):
            if e * errors[peaks[-1]] < 0:
                peaks.append(i)
            elif abs(e) > abs(errors[peaks[-1]]):
                peaks[-1] = i
        worst = max(map(abs, errors))
        if best is None or worst < best[0]:
            best = worst, p, q
        while len(peaks) > count:
            peaks.pop(0 if abs(errors[peaks[0]]) < abs(errors[peaks[-1]]) else -1)
        if len(peaks) < count or worst < 1.01 * min(abs(errors[i]) for i in peaks):
            break
        nodes = [grid[i] for i in peaks]
    return best


def literal(value, single):
    return f"{struct.unpack('f', struct.pack('f', float(value)))[0]:.9g}f" if single else f"{float(value):.17g}"


def main():
    for single, end, m, n in ((True, 15, 4, 5), (False, 39, 9, 10)):
        error, p, q = fit(mp.mpf(end), m, n)
        print(f"{'float' if single else 'double'}, [0, {end}]: relative error {mp.nstr(error, 3)}")
        for part in (p, q):
            print("  " + ", ".join(literal(c, single) for c in part))


if __name__ == "__main__":
    main()
