"""Cases of operations that sort, search and make sets, for test_operation_cases.py."""

import numpy as np

import stator

OPERATIONS = """
any: searchsorted_1d topk_1d histc_1d unique_consecutive_1d unique_1d
"""
REALS = ("float32", "float64", "float16", "int32", "int64", "uint8")


def _drawn(shape, dtype, seed):
    return np.round(np.random.default_rng(seed).uniform(0, 40, shape)).astype(dtype)


def searchsorted_1d(be, dtype):
    for kind in REALS:
        boundaries, values = np.sort(_drawn(33, kind, 0)), _drawn(1025, kind, 1)
        for side in ("left", "right"):
            got = stator.searchsorted(be.asarray(boundaries), be.asarray(values), side=side)
            np.testing.assert_array_equal(got.to_numpy(), np.searchsorted(boundaries, values, side))


def topk_1d(be, dtype):
    """Ties have the lowest indices, as in the stable order."""
    for kind in REALS:
        x = _drawn((9, 65, 5), kind, 2)
        for axis in (0, 1, 2):
            for largest in (True, False):
                values, indices = stator.topk(be.asarray(x), 4, axis=axis, largest=largest)
                order = np.argsort(-x.astype(float) if largest else x, axis=axis, kind="stable")
                order = np.take(order, np.arange(4), axis)
                np.testing.assert_array_equal(indices.to_numpy(), order)
                np.testing.assert_array_equal(values.to_numpy(), np.take_along_axis(x, order, axis))


def histc_1d(be, dtype):
    """torch.histc's formula: (x - min) / (max - min) * bins, truncated; NaN and outliers are not counted."""
    for kind in REALS:
        x = _drawn(1025, kind, 3)
        if np.dtype(kind).kind == "f":
            x[:2] = np.nan, np.inf
        inside = x[(x >= 5) & (x <= 30)].astype(np.float64)
        want = np.bincount(np.minimum((inside - 5) / 25 * 10, 9).astype(int), minlength=10)
        got = stator.histc(be.asarray(x), 10, min=5, max=30)
        assert got.dtype == kind
        np.testing.assert_array_equal(got.to_numpy(), want.astype(kind))


def unique_consecutive_1d(be, dtype):
    for kind in REALS:
        x = np.repeat(_drawn(200, kind, 4), np.arange(200) % 4)
        heads = np.flatnonzero(np.r_[True, x[1:] != x[:-1]])
        lengths = np.diff(np.r_[heads, x.size])
        got = stator.unique_consecutive(be.asarray(x))
        for mine, want in zip(got, (x[heads], np.repeat(np.arange(heads.size), lengths), lengths), strict=True):
            np.testing.assert_array_equal(mine.to_numpy(), want)


def unique_1d(be, dtype):
    for kind in REALS:
        x = _drawn(1025, kind, 5)
        want = np.unique(x, return_index=True, return_inverse=True, return_counts=True)
        for mine, theirs in zip(stator.unique_all(be.asarray(x)), want, strict=True):
            np.testing.assert_array_equal(mine.to_numpy(), theirs)
