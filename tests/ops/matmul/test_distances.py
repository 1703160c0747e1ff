"""Distances between rows against SciPy, in every norm and dtype."""

import numpy as np
import pytest
from scipy.spatial import distance

import stator

NORMS = {0: "hamming", 1: "cityblock", 2: "euclidean", 3: "minkowski", np.inf: "chebyshev"}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("p", NORMS)
@pytest.mark.parametrize("features", [5, 67])  # more than a block has at once
def test_distances_match_scipy(be, features, p, dtype):
    shapes = (31, features), (9, features)
    x, y = (np.random.default_rng(seed).integers(-3, 4, shape).astype(dtype) for seed, shape in enumerate(shapes))
    options = {"p": 3} if p == 3 else {}
    want = distance.cdist(x.astype(float), y.astype(float), NORMS[p], **options)
    want = want * features if p == 0 else want  # SciPy's is the share of the elements that differ
    got = stator.cdist(be.asarray(x), be.asarray(y), p=p)
    assert got.dtype == dtype
    np.testing.assert_allclose(got.to_numpy(), want, rtol=8 * np.finfo(dtype).eps)


def test_distances_of_any_number_of_rows_stay_in_their_memory(be):
    x, y = np.eye(32, dtype="float32"), np.eye(384, 32, dtype="float32")
    for rows in range(4, 33, 4):  # a tile has 32, and a thread every fourth of them
        got = stator.cdist(be.asarray(x[:rows]), be.asarray(y))
        np.testing.assert_allclose(got.to_numpy(), distance.cdist(x[:rows], y), rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("p", [0.5, 1.5, 2, 3, 7])
def test_distances_whose_powers_are_beyond_the_dtype(be, p, dtype):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(33, 40)).astype(dtype), rng.normal(size=(70, 40)).astype(dtype)
    y[:2] = x[:2]
    want = stator.cdist(be.asarray(x), be.asarray(y), p=p).to_numpy()
    assert (want[[0, 1], [0, 1]] == 0).all()
    for power in (-110, 110) if dtype == "float32" else (-900, 900):
        scale = np.ldexp(np.ones((), dtype), power)
        got = stator.cdist(be.asarray(x * scale), be.asarray(y * scale), p=p).to_numpy()
        np.testing.assert_allclose(got / scale, want, rtol=1e-4 if dtype == "float32" else 1e-12)


def test_points_farther_apart_than_the_largest_number(be):
    x = be.asarray(np.array([[3e38, 0.0], [np.inf, 0.0], [np.nan, 0.0]], "float32"))
    for p in (2, 3):
        got = stator.cdist(x, be.asarray(np.array([[-3e38, 0.0]], "float32")), p=p).to_numpy()[:, 0]
        assert np.isinf(got[:2]).all()
        assert np.isnan(got[2])
