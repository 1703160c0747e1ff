"""Distances between rows against SciPy, in every norm and dtype."""

import numpy as np
import pytest
from scipy.spatial import distance

import stator

NORMS = {0: "hamming", 1: "cityblock", 2: "euclidean", 3: "minkowski", np.inf: "chebyshev"}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("p", NORMS)
def test_distances_match_scipy(be, p, dtype):
    x, y = (np.random.default_rng(seed).integers(-3, 4, (rows, 5)).astype(dtype) for seed, rows in ((0, 31), (1, 9)))
    options = {"p": 3} if p == 3 else {}
    want = distance.cdist(x.astype(float), y.astype(float), NORMS[p], **options)
    want = want * 5 if p == 0 else want  # SciPy's is the share of the elements that differ
    got = stator.cdist(be.asarray(x), be.asarray(y), p=p)
    assert got.dtype == dtype
    np.testing.assert_allclose(got.to_numpy(), want, rtol=8 * np.finfo(dtype).eps)
