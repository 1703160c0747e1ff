"""linalg.expm against SciPy's, on matrices near and far from normal, of any size and scale."""

import mpmath
import numpy as np
import pytest
import scipy.linalg
from factorisations import DTYPES, draw, upload

import stator
from stator import linalg
from stator.errors import DTypeError, ShapeError


def close(got, want, dtype, factor=300):
    """Each matrix is within `factor` eps of its largest element."""
    got = got.to_numpy()
    assert got.shape == want.shape and got.dtype == np.dtype(dtype)
    size = np.abs(want).max(axis=(-2, -1), keepdims=True) if want.size else 1
    worst = np.max(np.abs(got - want) / (np.finfo(dtype).eps * size), initial=0)
    assert worst <= factor, f"{worst:.0f} eps"


def wide(x):
    return x.astype(np.complex128 if np.iscomplexobj(x) else np.float64)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 2, 5, 31, 32, 33, 100])
def test_random_matrices_are_scipys(be, n, dtype):
    for scale in (1e-3, 1.0, 4.0):
        a = (draw((n, n), dtype, n) * (scale / n**0.5)).astype(dtype)
        close(linalg.expm(be.asarray(a)), scipy.linalg.expm(wide(a)), dtype, 300 * max(scale, 1) * (1 + n**0.5))


@pytest.mark.parametrize("layout", ["transposed", "strided", "reversed"])
def test_layouts(be, layout):
    for n in (3, 40):
        a = draw((2, n, n), "complex128") / n
        close(linalg.expm(upload(be, a, layout)), scipy.linalg.expm(a), "complex128", 500)


@pytest.mark.parametrize("n", [3, 40])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
def test_each_matrix_of_a_batch_is_squared_as_often_as_it_needs(be, n, dtype):
    scales = np.array([0, 1e-9, 0.1, 1, 8, 2, 20]).reshape(-1, 1, 1)
    a = (draw((7, n, n), dtype) * scales / n**0.5).astype(dtype)
    got = linalg.expm(be.asarray(a))
    close(got, scipy.linalg.expm(wide(a)), dtype, 4000)
    np.testing.assert_allclose(got.to_numpy()[0], np.eye(n), rtol=2 * np.finfo(dtype).eps)
    for k in (1, 4):  # a single matrix gives the same result
        close(linalg.expm(be.asarray(a[k])), got.to_numpy()[k], dtype, 4000)


def test_hundreds_of_small_matrices(be):
    a = draw((300, 3, 3), "float64")
    close(linalg.expm(be.asarray(a)), scipy.linalg.expm(a), "float64", 4000)  # SciPy's own error is up to 2200 eps


def test_small_matrices_to_many_digits(be):
    a = draw((12, 3, 3), "float64")
    with mpmath.workdps(40):
        want = [np.array(mpmath.expm(mpmath.matrix(x.tolist())).tolist(), dtype=float).reshape(3, 3) for x in a]
    close(linalg.expm(be.asarray(a)), np.stack(want), "float64", 20)


def test_a_rotation_and_a_diagonal(be):
    angle = 2.5
    got = linalg.expm(be.asarray(np.array([[0, -angle], [angle, 0]]))).to_numpy()
    np.testing.assert_allclose(got, [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]], atol=1e-14)
    d = np.array([-700.0, -1, 0, 1, 30])
    np.testing.assert_allclose(linalg.expm(be.asarray(np.diag(d))).to_numpy().diagonal(), np.exp(d), rtol=1e-12)


@pytest.mark.parametrize("size", [1e3, 1e100, 1e300])
def test_large_nilpotent_matrices_are_not_squared_to_death(be, size):
    a = np.array([[0.0, size], [0, 0]])
    np.testing.assert_allclose(linalg.expm(be.asarray(a)).to_numpy(), [[1, size], [0, 1]], rtol=1e-15)
    b = np.array([[1.0, 1e6], [0, -1]])  # far from normal: scaled by its eigenvalues, not by its norm
    want = np.array([[np.e, 1e6 * np.sinh(1)], [0, 1 / np.e]])
    np.testing.assert_allclose(linalg.expm(be.asarray(b)).to_numpy(), want, rtol=1e-12)


@pytest.mark.parametrize("n", [3, 40])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_nan_and_infinity_make_their_matrix_nan_and_no_other(be, n, value):
    a = np.stack([np.zeros((n, n)), np.eye(n)])
    a[1, 0, 1] = value
    got = linalg.expm(be.asarray(a)).to_numpy()
    np.testing.assert_allclose(got[0], np.eye(n), rtol=1e-15)
    assert np.isnan(got[1]).all()


def test_what_overflows_does_not_stop(be):
    assert not np.isfinite(linalg.expm(be.asarray(np.full((2, 2), 1e6))).to_numpy()).all()


def test_edges(be):
    for shape in ((0, 0), (0, 3, 3), (2, 0, 0)):
        got = linalg.expm(be.zeros(shape, dtype="complex64"))
        assert got.shape == shape and got.dtype == stator.complex64
    assert linalg.expm(be.asarray(np.zeros((2, 2), int))).dtype == stator.float64
    for bad in ((2, 3), (3,), ()):
        with pytest.raises(ShapeError) as caught:
            linalg.expm(be.zeros(bad))
        assert caught.value.op == "linalg.expm"
    with pytest.raises(DTypeError):
        linalg.expm(be.zeros((2, 2), dtype="float16"))
    a = be.asarray(np.eye(2))
    np.testing.assert_allclose(linalg.expm(a).to_numpy(), np.e * np.eye(2), rtol=1e-15)
    np.testing.assert_array_equal(a.to_numpy(), np.eye(2))  # unchanged
