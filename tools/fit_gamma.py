"""Fits the coefficients of special_gamma.cuh and special_incomplete.cuh in csrc/device/math. Needs mpmath."""

import mpmath as mp
from fit_error import show

ROOT = mp.findroot(mp.digamma, 1.4616)


def gammaln_middle(y):
    """gammaln(x) / ((x - 1) (x - 2)) as a function of y = x - 1."""
    y += mp.mpf(10) ** -25 if abs(y * (y - 1)) < mp.mpf(10) ** -25 else 0
    with mp.workdps(90):
        return mp.loggamma(1 + y) / (y * (y - 1))


def digamma_middle(y):
    """digamma(x) / (x - root) as a function of y = x - 1."""
    return mp.digamma(1 + y) / (1 + y - ROOT)


def gammaln_tail(s):
    """x times the difference of gammaln(x) and Stirling's formula, as a function of s = 1 / x^2; DLMF 5.11.1."""
    if s < mp.mpf(10) ** -12:
        return mp.mpf(1) / 12 - s / 360 + s * s / 1260
    with mp.workdps(90):
        x = 1 / mp.sqrt(s)
        return x * (mp.loggamma(x) - (x - 0.5) * mp.log(x) + x - mp.log(2 * mp.pi) / 2)


def digamma_tail(s):
    """x^2 (log(x) - 1 / (2 x) - digamma(x)) as a function of s = 1 / x^2; DLMF 5.11.2."""
    if s < mp.mpf(10) ** -12:
        return mp.mpf(1) / 12 - s / 120 + s * s / 252
    with mp.workdps(90):
        x = 1 / mp.sqrt(s)
        return x * x * (mp.log(x) - 1 / (2 * x) - mp.digamma(x))


def sine(z):
    s = mp.sqrt(max(z, mp.mpf(10) ** -60))
    return mp.sin(mp.pi * s) / s


def cotangent(z):
    """(1 / r - pi cot(pi r)) / r as a function of z = r^2."""
    r = mp.sqrt(max(z, mp.mpf(10) ** -20))
    with mp.workdps(90):
        return (1 / r - mp.pi * mp.cot(mp.pi * r)) / r


def uniform_expansion(count):
    """The coefficients of eta / mu in eta, where mu - log(1 + mu) = eta^2 / 2; DLMF 8.12.1.

    Those of mu follow from mu mu' = eta (1 + mu), those of the quotient from its product with mu / eta.
    """
    mu = [mp.mpf(0), mp.mpf(1)]
    for n in range(2, count + 1):
        mu.append((mu[n - 1] - sum(mu[i] * (n + 1 - i) * mu[n + 1 - i] for i in range(2, n))) / (n + 1))
    quotient = [mp.mpf(1)]
    for n in range(1, count):
        quotient.append(-sum(mu[k + 1] * quotient[n - k] for k in range(1, n + 1)))
    return quotient


def main():
    print("gammaln_stirling", mp.nstr(mp.log(2 * mp.pi) / 2 - 0.5, 20), "digamma's root - 1", mp.nstr(ROOT - 1, 40))
    end = mp.mpf(1) / 64
    for single in (True, False):
        degrees = (4, 4) if single else (8, 7)
        show("gammaln's middle, - 1/2", lambda y: gammaln_middle(y) - 0.5, -0.25, 2, degrees, single, gammaln_middle)
        degrees = (4, 3) if single else (7, 6)
        show("digamma's middle, - 1", lambda y: digamma_middle(y) - 1, 0, 2, degrees, single, digamma_middle)
        show("gammaln's tail", gammaln_tail, 0, end, (1 if single else 5, 0), single)
        show("digamma's tail", digamma_tail, 0, end, (1 if single else 5, 0), single)
    show("sin(pi r) / r of r^2", sine, 0, 0.25, (8, 0), False)
    show("(1 / r - pi cot(pi r)) / r of r^2", cotangent, 0, 0.25, (4, 4), False)
    with mp.workdps(100):
        print("eta / mu", [float(c) for c in uniform_expansion(29)])


if __name__ == "__main__":
    main()
