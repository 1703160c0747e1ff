"""Elementwise ops, reductions, scans, sorting and scatters against torch, where torch has them."""

from __future__ import annotations

import itertools
from functools import partial

import inputs
import numpy as np
import pytest
from cases import ELEMENTWISE, TABLE, bound, case, invoke, operands, wide_operands
from torch_rows import Row, as_numpy, assert_close, check, draw, tensor, torch, wide

import stator


def polygamma(n, x):
    """torch.special.polygamma, which takes a single order."""
    return sum(torch.where(n == k, torch.polygamma(k, x), 0) for k in range(int(n.max()) + 1))


def variance(name, correction):
    return lambda x, dim=None: getattr(torch, name)(x, dim=dim, correction=correction)


# Ops that have another name in torch, or need more than a name.
RENAMED = {
    "equal": torch.eq,
    "not_equal": torch.ne,
    "less": torch.lt,
    "less_equal": torch.le,
    "greater": torch.gt,
    "greater_equal": torch.ge,
    "clip": torch.clamp,
    "sign": torch.sgn,
    "polygamma": polygamma,
    "conj": torch.conj_physical,
    "round": lambda x: torch.complex(x.real.round(), x.imag.round()) if x.is_complex() else x.round(),
    "imag": lambda x: x.imag if x.is_complex() else torch.zeros_like(x),
    "add_scaled": lambda x, y, alpha: torch.add(x, y, alpha=alpha),
    "bitwise_invert": torch.bitwise_not,
    **{k: getattr(torch.special, f"modified_bessel_{k}") for k in ("k0", "k1")},
    **{f"{k}e": getattr(torch.special, f"scaled_modified_bessel_{k}") for k in ("k0", "k1")},
    **{k: getattr(torch.special, f"bessel_{k}") for k in ("j0", "j1", "y0", "y1")},
}
NOT_IN_TORCH = {"cbrt", "beta", "betaln"}
# torch's complex logaddexp is not the principal value.
REAL_IN_TORCH = {"nan_to_num", "logaddexp"}
# Gradients and activations are in a module of their own.
NAMES = [n for n in ELEMENTWISE if not n.endswith("_backward") and not TABLE[n]["call"].startswith("nn.")]
NAMES = [n for n in NAMES if n not in NOT_IN_TORCH]
# Elsewhere torch has errors of 9e-7 (Bessel) and 3e-6 (Airy), also in float64; SciPy and mpmath agree with stator.
TORCH_IS_RIGHT = {n: lambda x: np.abs(x) < 3.5 for n in ("j0", "j1", "y0", "y1")} | {"airy_ai": lambda x: x > -2}
# torch's own errors in float64, in eps, rounded up: of its Bessel functions there, of its trigamma and of its
# incomplete gamma functions, where SciPy agrees with stator.
TORCH_ERROR = {**dict.fromkeys(["j0", "j1", "y0", "y1"], 1e7), "polygamma": 1e7, "gammainc": 1e7, "gammaincc": 1e7}


def theirs(name):
    found = [getattr(place, name, None) for place in (torch, torch.special)]
    return RENAMED.get(name) or next(f for f in found if f)


@pytest.mark.parametrize("name", NAMES)
def test_elementwise_rows(be, name):
    """On the inputs of the entry's case, in 32 and 64 bits: floats where the op takes them, else integers."""
    kinds = ["float32", "float64"] if "float32" in TABLE[name]["dtypes"] else ["int32", "int64"]
    for dtype in kinds + ["complex64"] * ("complex64" in TABLE[name]["dtypes"] and name not in REAL_IN_TORCH):
        made = operands(np.random.default_rng(0), name, (31, 33), dtype)
        got = invoke(name, *[be.asarray(x) if isinstance(x, np.ndarray) else x for x in made])
        want = theirs(name)(*map(tensor, made))
        if name in TORCH_IS_RIGHT:
            kept = TORCH_IS_RIGHT[name](made[0])
            assert kept.any()
            got, want = as_numpy(got)[kept], as_numpy(want)[kept]
            made = [made[0][kept]]
        limit = TORCH_ERROR.get(name, 64) if dtype == "float64" else 4
        units = max(limit, *bound(name, dtype))
        scale = case(name).scale
        scale = 0 if scale is None else wide(np.asarray(scale(*wide_operands(name, *made)), np.float64))
        assert_close(got, want, units, scale, f"{name} {dtype}")


def along(name, other, units=8, scale=None, low=-4, high=4, axes=(None, 0, 1, -1), **options):
    """The comparison of a reduction over each of the axes."""

    def ours(x):
        return [getattr(stator, name)(x, axis=a, **options) for a in axes]

    def there(x):
        return [other(x) if a is None else other(x, dim=a) for a in axes]

    return Row(ours, there, lambda dtype: [draw((5, 33, 4), dtype, 0, low, high)], units, scale or 0)


def with_nan(row):
    def make(dtype):
        (x,) = row.make(dtype)
        x[0, ::3, 1] = np.nan
        return [x]

    return Row(row.ours, row.theirs, make, row.units, row.scale)


def everywhere(function):
    """A torch function that must be given all axes."""
    return lambda x, dim=None: function(x, dim=tuple(range(x.ndim)) if dim is None else dim)


REDUCTIONS = {
    "sum": along("sum", torch.sum, 8, 100),
    "prod": along("prod", torch.prod, 32, 0, 0.9, 1.1),
    "mean": along("mean", torch.mean, 8, 4),
    **{
        f"{name} {c}": along(name, variance(name, c), 32, correction=c)
        for name, c in itertools.product(("var", "std"), (0, 1))
    },
    **{n: along(n, everywhere(getattr(torch, f"a{n}")), 0) for n in ("max", "min")},
    **{f"{n} with nan": with_nan(along(n, everywhere(getattr(torch, f"a{n}")), 0)) for n in ("max", "min")},
    **{n: along(n, getattr(torch, n), 0) for n in ("argmax", "argmin")},
    **{n: with_nan(along(n, getattr(torch, n), 8, 100)) for n in ("nansum", "nanmean")},
    "logsumexp": along("logsumexp", everywhere(torch.logsumexp), 8, 1),
    "count_nonzero": along("count_nonzero", torch.count_nonzero, 0),
}


@pytest.mark.parametrize("dtype", inputs.FLOATS)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(be, name, dtype):
    check(be, REDUCTIONS[name], dtype)


def scan(name, other, units, scale=None, low=-4.0, high=4.0, make=None):
    """A scan in both directions along every axis; torch's reverse scan flips, and adapts the indices."""

    def ours(x):
        return [
            part
            for axis, reverse in itertools.product(range(3), (False, True))
            for part in several(getattr(stator, name)(x, axis=axis, reverse=reverse))
        ]

    def there(x):
        out = []
        for axis, reverse in itertools.product(range(3), (False, True)):
            found = several(other(x.flip(axis) if reverse else x, dim=axis))
            found = [part.flip(axis) if reverse else part for part in found]
            out += [found[0], *(x.shape[axis] - 1 - i if reverse else i for i in found[1:])]
        return out

    return Row(ours, there, make or (lambda dtype: [draw((3, 70, 4), dtype, 0, low, high)]), units, scale or 0)


def several(x):
    return list(x) if isinstance(x, tuple) else [x]


def ties(dtype):
    """An array with few different values, and NaN."""
    x = np.round(draw((3, 70, 4), dtype).astype(np.float32))
    x[1, 20, :2] = x[1, 50, 1] = np.nan
    return [x.astype(draw((), dtype).dtype)]


SCANS = {
    "cumulative_sum": scan("cumulative_sum", torch.cumsum, 8, lambda x: 4.0 * x.shape[1]),
    "cumulative_prod": scan("cumulative_prod", torch.cumprod, 16, 0, 0.9, 1.1),
    "logcumsumexp": scan("logcumsumexp", torch.logcumsumexp, 8, 1),
    "cumulative_max": scan("cumulative_max", torch.cummax, 0, make=ties),
    "cumulative_min": scan("cumulative_min", torch.cummin, 0, make=ties),
    "diff": Row(
        lambda x: [stator.diff(x, n=n, axis=a) for n, a in itertools.product((1, 2, 3), (0, 1, 2))],
        lambda x: [torch.diff(x, n=n, dim=a) for n, a in itertools.product((1, 2, 3), (0, 1, 2))],
        lambda dtype: [draw((4, 9, 5), dtype)],
        8,
        16,
    ),
}


@pytest.mark.parametrize("dtype", inputs.FLOATS)
@pytest.mark.parametrize("name", SCANS)
def test_scans(be, name, dtype):
    check(be, SCANS[name], dtype)


def distinct(dtype):
    """Numbers in random order that all differ in every dtype."""
    return [
        np.random.default_rng(1).permuted(np.tile(np.arange(-100.0, 100), (3, 1)), axis=1).astype(draw((), dtype).dtype)
    ]


ORDER = {
    "sort": Row(
        lambda x: [stator.sort(x, axis=a, descending=d) for a, d in ((0, False), (1, True))],
        lambda x: [torch.sort(x, dim=a, descending=d).values for a, d in ((0, False), (1, True))],
        distinct,
    ),
    "sort of ties, stable": Row(
        lambda x: [stator.argsort(x, axis=1), stator.sort(x, axis=1)],
        lambda x: [torch.argsort(x, dim=1, stable=True), torch.sort(x, dim=1).values],
        ties,
    ),
    **{
        f"topk {k} {largest}": Row(
            lambda x, k=k, largest=largest: tuple(stator.topk(x, k, largest=largest)),
            lambda x, k=k, largest=largest: tuple(torch.topk(x, k, largest=largest)),
            distinct,
        )
        for k, largest in itertools.product((0, 1, 7, 200), (True, False))
    },
    **{
        f"kthvalue {k}": Row(
            lambda x, k=k: tuple(stator.kthvalue(x, k, keepdims=k == 7)),
            lambda x, k=k: tuple(torch.kthvalue(x, k, keepdim=k == 7)),
            distinct,
        )
        for k in (1, 7, 200)
    },
    "quantile": Row(
        lambda x: stator.quantile(x, [0.0, 0.3, 1.0], axis=1),
        lambda x: torch.quantile(x, torch.tensor([0.0, 0.3, 1.0], dtype=torch.float64), dim=1),
        distinct,
    ),
    "mode": Row(
        lambda x: stator.mode(stator.nan_to_num(x)).values, lambda x: torch.mode(torch.nan_to_num(x)).values, ties
    ),
    "unique": Row(
        lambda x: [part for k, part in enumerate(stator.unique_all(stator.nan_to_num(x))) if k != 1],
        lambda x: list(torch.unique(torch.nan_to_num(x), return_inverse=True, return_counts=True)),
        ties,
    ),
    "unique_consecutive": Row(
        lambda x: list(stator.unique_consecutive(x)),
        lambda x: list(torch.unique_consecutive(x, return_inverse=True, return_counts=True)),
        ties,
    ),
    "searchsorted": Row(
        lambda x: [stator.searchsorted(stator.sort(x[0]), x[1:], side=s) for s in ("left", "right")],
        lambda x: [torch.searchsorted(x[0].sort().values, x[1:].contiguous(), side=s) for s in ("left", "right")],
        distinct,
    ),
    **{
        f"histc {bins} {low} {high}": Row(
            partial(lambda b, low, high, x: stator.histc(x, b, min=low, max=high), bins, low, high),
            partial(lambda b, low, high, x: torch.histc(x, b, min=low, max=high), bins, low, high),
            lambda dtype: [wide(draw((1000,), dtype)).astype("float32" if dtype == "float32" else "float64")],
        )
        for bins, low, high in [(10, 0, 0), (7, -2, 2), (1, -1, 5)]
    },
}


@pytest.mark.parametrize("dtype", inputs.FLOATS)
@pytest.mark.parametrize("name", ORDER)
def test_order(be, name, dtype):
    check(be, ORDER[name], dtype)


def placed(dtype):
    """An array, indices without repeats along the axis, a source of their shape, and indices with repeats."""
    rng = np.random.default_rng(2)
    where = rng.permuted(np.tile(np.arange(9), (4, 1)), axis=1)[:, :6]
    return draw((4, 9), dtype), where, draw((4, 6), dtype, 1), rng.integers(0, 9, (4, 6))


SCATTERS = {
    "set": Row(lambda x, i, s, j: stator.scatter(x, 1, i, s), lambda x, i, s, j: x.scatter(1, i, s), placed, 0),
    "set a number": Row(
        lambda x, i, s, j: stator.scatter(x, 1, i, 2), lambda x, i, s, j: x.scatter(1, i, 2), placed, 0
    ),
    "scatter_add": Row(
        lambda x, i, s, j: stator.scatter_add(x, 1, j, s), lambda x, i, s, j: x.scatter_add(1, j, s), placed, 8, 24
    ),
    **{
        ours: Row(
            lambda x, i, s, j, ours=ours: stator.scatter(x, 1, j, s, reduce=ours),
            lambda x, i, s, j, there=there: x.scatter_reduce(1, j, s, there),
            placed,
            8,
            24,
        )
        for ours, there in [("add", "sum"), ("mul", "prod"), ("min", "amin"), ("max", "amax")]
    },
    "index_add": Row(
        lambda x, i, s, j: stator.index_add(x, 0, j[:, 0] % 4, x),
        lambda x, i, s, j: x.index_add(0, j[:, 0] % 4, x),
        placed,
        8,
        24,
    ),
    "take_along_axis": Row(
        lambda x, i, s, j: stator.take_along_axis(x, j, axis=1),
        lambda x, i, s, j: torch.take_along_dim(x, j, 1),
        placed,
        0,
    ),
    "take": Row(
        lambda x, i, s, j: [stator.take(x, j[0], axis=1), stator.take(x, j)],
        lambda x, i, s, j: [x.index_select(1, j[0]), torch.take(x, j)],
        placed,
        0,
    ),
}


@pytest.mark.parametrize("dtype", inputs.FLOATS)
@pytest.mark.parametrize("name", SCATTERS)
def test_scatters(be, name, dtype):
    check(be, SCATTERS[name], dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("p", [0, 0.5, 1, 2, 3, np.inf])
def test_distances(be, p, dtype):
    for left, right in [((31, 5), (33, 5)), ((7, 4, 3), (7, 6, 3)), ((2, 1, 4, 3), (5, 6, 3)), ((3, 0), (2, 0))]:
        x, y = draw(left, dtype), draw(right, dtype, 1)
        want = torch.cdist(tensor(x), tensor(y), p=p, compute_mode="donot_use_mm_for_euclid_dist")
        assert_close(stator.cdist(be.asarray(x), be.asarray(y), p=p), want, 16, as_numpy(want), f"{left} {right}")
