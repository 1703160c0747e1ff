"""References for ops whose oracle is not a dotted name: documented formulas in wide NumPy."""

from __future__ import annotations

import importlib

import numpy as np
import scipy.special
from oracles_activations import *  # noqa: F403
from oracles_activations import PI, log_normal_cdf, normal_cdf
from oracles_losses import *  # noqa: F403
from oracles_nn import *  # noqa: F403
from oracles_norm import *  # noqa: F403


def rsqrt(x):
    return np.reciprocal(np.sqrt(x))


def signbit(x):
    return np.signbit(x) if x.dtype.kind == "f" else x < 0


def add_scaled(x, y, alpha=1):
    return x + alpha * y


def lerp(start, end, weight):
    return start + weight * (end - start)


def nan_to_num(x, nan=0.0, posinf=None, neginf=None):
    return np.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)


def sinc(x):
    """sinc with pi in the precision of x, and 0 at nonzero whole numbers."""
    if x.dtype.kind == "c":
        nearest = np.round(x.real)
        sine = np.where(nearest % 2 == 0, 1, -1) * np.sin(PI * (x - nearest))
        return np.where(x == 0, 1, sine / (PI * np.where(x == 0, 1, x)))
    y, nearest = np.where(x == 0, np.ones_like(x), x), np.round(x)
    sine = np.where(nearest % 2 == 0, 1, -1) * np.sin(PI * (x - nearest))
    return np.where(x == 0, 1, np.where(np.isinf(x), np.nan, sine / (PI * y)))


def spherical_bessel_j0(x):
    y = np.where(x == 0, np.ones_like(x), x)
    return np.where(np.isinf(x), 0, np.where(x == 0, 1, np.sin(y) / y))


def airy_ai(x):
    from scipy.special import airy

    return airy(x)[0]


def series(kind):
    """The polynomial of degree n of one of NumPy's series: chebyshev, hermite, hermite_e."""
    module = importlib.import_module(f"numpy.polynomial.{kind}")
    short = {"chebyshev": "cheb", "hermite": "herm", "hermite_e": "herme"}[kind]
    value, derivative = getattr(module, f"{short}val"), getattr(module, f"{short}der")

    def polynomial(x, n, second_kind=False):
        x, n = np.broadcast_arrays(x, np.trunc(n))
        out = np.where(np.isnan(n), n, np.zeros(x.shape, np.result_type(x, np.float64)))
        for k in np.unique(n[n >= 0]).astype(int):
            unit = np.eye(1, k + 1 + second_kind, k + second_kind)[0]
            # U(n) is the derivative of T(n + 1) / (n + 1).
            p = value(x, derivative(unit)) / (k + 1) if second_kind else value(x, unit)
            out = np.where(n == k, p, out)
        return out

    return polynomial


chebyshev_t = series("chebyshev")
hermite_h = series("hermite")
hermite_he = series("hermite_e")


def recurrence(first, step):
    """Polynomials by recurrence from p(0) = 1 and p(1); NumPy's series for these two have float64 coefficients."""

    def polynomial(x, n):
        x, n = np.broadcast_arrays(x, np.trunc(n))
        last, p, out = np.ones_like(x), first(x), np.where(np.isnan(n), n, np.where(n == 0, 1, 0 * x))
        for k in range(1, int(np.max(n, initial=0, where=~np.isnan(n))) + 1):
            out = np.where(n == k, p, out)
            last, p = p, step(x, k, p, last) / (k + 1)
        return out

    return polynomial


laguerre_l = recurrence(lambda x: 1 - x, lambda x, k, p, last: (2 * k + 1 - x) * p - k * last)
legendre_p = recurrence(lambda x: x, lambda x, k, p, last: (2 * k + 1) * x * p - k * last)


def chebyshev_u(x, n):
    return chebyshev_t(x, n, second_kind=True)


def chebyshev_v(x, n):
    return chebyshev_u(x, n) - chebyshev_u(x, np.trunc(n) - 1)


def chebyshev_w(x, n):
    return chebyshev_u(x, n) + chebyshev_u(x, np.trunc(n) - 1)


def shifted(polynomial):
    return lambda x, n: polynomial(2 * x - 1, n)


shifted_chebyshev_t = shifted(chebyshev_t)
shifted_chebyshev_u = shifted(chebyshev_u)
shifted_chebyshev_v = shifted(chebyshev_v)
shifted_chebyshev_w = shifted(chebyshev_w)


def has_inf_nan(x, axis=None, keepdims=False, where=True):
    return np.any(~np.isfinite(x), axis=axis, keepdims=keepdims, where=where)


def softmax_backward(grad, y, axis=-1):
    return y * (grad - np.sum(grad * y, axis=axis, keepdims=True))


def softmin(x, axis=-1):
    return scipy.special.softmax(-x, axis=axis)


def softmin_backward(grad, y, axis=-1):
    return -softmax_backward(grad, y, axis)


def gumbel_softmax(x, noise, tau=1.0, hard=False, axis=-1):
    """With the noise of gumbel_noise."""
    y = scipy.special.softmax((x + noise) / tau, axis=axis)
    if not hard:
        return y
    places = np.arange(x.shape[axis]).reshape((-1,) + (1,) * (-1 - axis % -x.ndim))
    return (places == np.expand_dims(np.argmax(y, axis=axis), axis)).astype(x.dtype)


def gumbel_noise(seed, counter, shape, dtype):
    """-log(-log(u)) of the words of Philox blocks, four elements to a block, or of float64 two."""
    size, double = int(np.prod(shape)), dtype == "float64"
    blocks = np.arange(-(-size // (2 if double else 4)), dtype=np.uint64) + np.uint64(counter)
    words = philox4x32_10(seed, blocks)
    if double:
        u = ((words[:, ::2] << np.uint64(32) | words[:, 1::2]) >> np.uint64(12)) + 0.5
    else:
        u = (words >> np.uint64(9)) + 0.5
    u = u.ravel()[:size].reshape(shape).astype(np.longdouble) / 2 ** (52 if double else 23)
    return -np.log(-np.log(u))


def gumbel_softmax_backward(grad, y, tau=1.0, axis=-1):
    return softmax_backward(grad, y, axis) / tau


def log_softmax_backward(grad, y, axis=-1):
    return grad - np.exp(y) * np.sum(grad, axis=axis, keepdims=True)


def _log_softmax(x):
    shifted = x - np.max(x, axis=1, keepdims=True)
    return shifted - np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))


def _loss_weights(logits, target, weight, ignore_index, label_smoothing):
    """(n, classes) weights W with loss_i = sum_c W[i, c] * -log p[i, c], and w[t_i] with ignored rows 0."""
    classes = logits.shape[1]
    w = np.ones(classes, logits.dtype) if weight is None else weight
    counts = target != ignore_index
    onehot = (np.arange(classes) == np.where(counts, target, 0)[:, None]) * counts[:, None]
    row = np.where(counts, w[np.where(counts, target, 0)], 0)
    spread = label_smoothing / classes * w[None, :] * counts[:, None]
    return (1 - label_smoothing) * onehot * row[:, None] + spread, row


def cross_entropy(logits, target, weight=None, ignore_index=-100, label_smoothing=0.0, reduction="mean"):
    weights, row = _loss_weights(logits, target, weight, ignore_index, label_smoothing)
    loss = np.sum(-_log_softmax(logits) * weights, axis=1)
    if reduction == "none":
        return loss
    return np.sum(loss) / np.sum(row) if reduction == "mean" else np.sum(loss)


def cross_entropy_backward(grad, logits, target, weight=None, ignore_index=-100, label_smoothing=0.0, reduction="mean"):
    weights, row = _loss_weights(logits, target, weight, ignore_index, label_smoothing)
    p = np.exp(_log_softmax(logits))
    d = p * np.sum(weights, axis=1, keepdims=True) - weights
    if reduction == "none":
        return d * grad[:, None]
    return d * grad / (np.sum(row) if reduction == "mean" else 1)


def philox4x32_10(key: int, counter: np.ndarray, upper: int = 0) -> np.ndarray:
    """Philox4x32-10 (Salmon et al., SC 2011) of 64-bit counters and a common upper half: (n, 4) words."""
    mask = np.uint64(0xFFFFFFFF)
    high = np.full_like(counter, upper)
    c = [counter & mask, counter >> np.uint64(32), high & mask, high >> np.uint64(32)]
    k0, k1 = key & 0xFFFFFFFF, key >> 32
    for _ in range(10):
        p0, p1 = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        c = [
            (p1 >> np.uint64(32)) ^ c[1] ^ np.uint64(k0),
            p1 & mask,
            (p0 >> np.uint64(32)) ^ c[3] ^ np.uint64(k1),
            p0 & mask,
        ]
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return np.stack(c, axis=1)


SQRT2 = np.sqrt(np.longdouble(2))


def logaddexp(x1, x2):
    """NumPy's, and of complex numbers the principal value, relative to the larger real part."""
    if np.result_type(x1, x2).kind != "c":
        return np.logaddexp(x1, x2)
    largest = np.maximum(np.real(x1), np.real(x2))
    return largest + np.log(np.exp(x1 - largest) + np.exp(x2 - largest))


def expit(x):
    return 1 / (1 + np.exp(-x)) if x.dtype.kind == "c" else scipy.special.expit(x)


# Used in place of the table's oracles that are less precise than the op, or refuse inputs that stator defines.
OWN = {
    "numpy.sinc": sinc,
    "numpy.logaddexp": logaddexp,
    "scipy.special.expit": expit,
    "scipy.special.erfc": lambda x: 2 * normal_cdf(-SQRT2 * x),
    "scipy.special.ndtr": normal_cdf,
    "scipy.special.log_ndtr": log_normal_cdf,
}


def _scan(x, axis, reverse, step, initial=None):
    """Applies step along the axis from either end, after an initial value if there is one."""
    along = np.moveaxis(x, axis, 0)
    along = along[::-1] if reverse else along
    out = step(along)
    if initial is not None:
        out = np.concatenate([np.full((1, *out.shape[1:]), initial, out.dtype), out])
    return np.moveaxis(out[::-1] if reverse else out, 0, axis)


def cumulative_sum(x, axis=0, reverse=False, include_initial=False):
    return _scan(x, axis, reverse, lambda a: np.cumsum(a, axis=0, dtype=x.dtype), 0 if include_initial else None)


def cumulative_prod(x, axis=0, reverse=False, include_initial=False):
    return _scan(x, axis, reverse, lambda a: np.cumprod(a, axis=0, dtype=x.dtype), 1 if include_initial else None)


def logcumsumexp(x, axis=0, reverse=False, include_initial=False):
    return _scan(x, axis, reverse, lambda a: np.logaddexp.accumulate(a, axis=0), -np.inf if include_initial else None)


def _extremes(x, axis, reverse, accumulate):
    """The last index of the extreme so far, as in torch.cummax: NaN beyond all, of equal ones the last."""
    n = x.shape[axis]
    order = np.arange(n).reshape(n, *[1] * (x.ndim - 1))

    def places(a):
        if n == 0:
            return np.zeros(a.shape, np.int64)
        extreme = accumulate(a, axis=0)
        hit = (a == extreme) | ((a != a) & (extreme != extreme))
        return np.maximum.accumulate(np.where(hit, order, 0), axis=0)

    index = _scan(x, axis, reverse, places)
    index = n - 1 - index if reverse else index
    return np.take_along_axis(x, index, axis), index


def cumulative_max(x, axis=0, reverse=False):
    return _extremes(x, axis, reverse, np.maximum.accumulate)


def cumulative_min(x, axis=0, reverse=False):
    return _extremes(x, axis, reverse, np.minimum.accumulate)


def _spread(grad, shape, axis, keepdims):
    """grad with the reduced axes of length 1, and the number of elements per result."""
    axes = range(len(shape)) if axis is None else [a % len(shape) for a in np.atleast_1d(axis).astype(int)]
    full = tuple(1 if d in axes else n for d, n in enumerate(shape))
    return np.reshape(grad, full), int(np.prod([shape[d] for d in axes]))


def sum_backward(grad, shape, axis=None, keepdims=False):
    return np.broadcast_to(_spread(grad, shape, axis, keepdims)[0], shape)


def mean_backward(grad, shape, axis=None, keepdims=False):
    wide, count = _spread(grad, shape, axis, keepdims)
    return np.broadcast_to(wide / max(count, 1), shape)


def prod_backward(grad, x, axis=None, keepdims=False):
    """The gradient of prod for x without zeros."""
    wide, _ = _spread(grad, x.shape, axis, keepdims)
    return wide * np.prod(x, axis=axis, keepdims=True) / x


def resolve(name: str):
    """The function of a dotted name or of a key of this module."""
    if "." in name:
        module, _, attribute = name.rpartition(".")
        return getattr(importlib.import_module(module), attribute)
    return globals()[name]


def precise(name: str):
    """As resolve, except for the oracles that OWN replaces."""
    return OWN.get(name) or resolve(name)
