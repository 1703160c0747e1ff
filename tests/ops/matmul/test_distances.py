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
