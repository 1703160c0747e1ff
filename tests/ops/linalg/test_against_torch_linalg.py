"""Linear algebra against torch in float64 and complex128: sizes, batches, tall and wide, in units of eps."""

from __future__ import annotations

import itertools
from functools import partial

import numpy as np
import pytest
from factorisations import DTYPES, adjoint, hermitian, positive
from torch_rows import as_numpy, assert_close, draw, tensor, torch, wide

from stator import linalg


def general(shape, dtype, seed=0):
    """A random matrix with a dominant diagonal, far from singular."""
    x = draw(shape, dtype, seed, -1, 1)
    return x + np.array(2 * max(shape[-2:]) ** 0.5, dtype) * np.eye(*shape[-2:], dtype=dtype)


def even(shape, dtype, seed=0):
    """As general, with singular values around 1, so that powers stay in range."""
    return general(shape, dtype, seed) / np.array(2 * max(shape[-2:]) ** 0.5, dtype)


def singular(shape, dtype, seed=0):
    """A matrix whose rank is half of its smaller side."""
    r = max(min(shape[-2:]) // 2, 1)
    return draw((*shape[:-1], r), dtype, seed, -1, 1) @ draw((*shape[:-2], r, shape[-1]), dtype, seed + 1, -1, 1)


def small(shape, dtype, seed=0):
    return draw(shape, dtype, seed) / np.array(shape[-1], dtype)


def real(shape, dtype, seed=0):
    return draw(shape, {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype), seed)


def alone(make):
    """One matrix of a shape; positive and hermitian get the length of a row."""
    return lambda shape, dtype: [make(shape[:-1] if make in (positive, hermitian) else shape, dtype)]


def with_right(make, columns=(3,)):
    """A matrix and right-hand sides."""
    return lambda shape, dtype: [*alone(make)(shape, dtype), draw((*shape[:-1], *columns), dtype, 7)]


def row(name, make, *form, torch_name=None, theirs=None, **options):
    """stator's and torch's function of one name with the same options, the operands, and how results are compared."""
    there = partial(getattr(torch.linalg, torch_name or name), **(options if theirs is None else theirs))
    return partial(getattr(linalg, name), **options), there, make, *form


def then(name, number, make):
    """As row, with a number as the second argument."""
    return lambda a: getattr(linalg, name)(a, number), lambda a: getattr(torch.linalg, name)(a, number), alone(make)


def oriented(q, r):
    """Q and R with a positive diagonal of R, without the columns of Q that are not unique."""
    k = min(r.shape[-2:])
    diagonal = np.diagonal(r[..., :k, :k], axis1=-2, axis2=-1)
    phase = (diagonal / np.abs(diagonal))[..., None]
    return q[..., :k] * np.swapaxes(phase, -1, -2), r[..., :k, :] * np.conj(phase)


def recomposed(u, s, vh):
    k = s.shape[-1]
    unit = adjoint(u) @ u, vh @ adjoint(vh)
    return s, (u[..., :k] * s[..., None, :]) @ vh[..., :k, :], *unit


def spectral(w, v):
    return w, (v * w[..., None, :]) @ adjoint(v), adjoint(v) @ v


def solved(x, residuals, rank, values):
    """The results of least squares; empty residuals are flattened, since their shapes differ."""
    return x, residuals if residuals.size else residuals.reshape(-1), rank, values


def triangular(lower, unit, trans):
    def theirs(a, b):
        return torch.linalg.solve_triangular([a, a.mT, a.mH][trans], b, upper=lower == (trans > 0), unitriangular=unit)

    ours = partial(linalg.solve_triangular, lower=lower, unit_diagonal=unit, trans=trans)
    return ours, theirs, with_right(small if unit else general)


def factored(adjoint):
    return (
        lambda a, b: linalg.lu_solve(linalg.lu_factor(a), b, trans="C" if adjoint else 0),
        lambda a, b: torch.linalg.lu_solve(*torch.linalg.lu_factor(a), b, adjoint=adjoint),
        with_right(general),
    )


def lu_factor(a):
    """torch.linalg.lu_factor, with pivots that count from 0."""
    lu, pivots = torch.linalg.lu_factor(a)
    return lu, pivots - 1


def lu_product(lu, pivots):
    """P L U and the largest entry of L: which complex numbers count as the largest differs between libraries."""
    unit = np.tril(lu, -1) + np.eye(lu.shape[-1], dtype=lu.dtype)
    product = unit @ np.triu(lu)
    rows = product.reshape(-1, *lu.shape[-2:])
    for matrix, order in zip(rows, pivots.reshape(-1, lu.shape[-1]), strict=True):
        for k, other in reversed(list(enumerate(order))):
            matrix[[k, other]] = matrix[[other, k]]
    return product, np.abs(unit).max(axis=(-2, -1), initial=0) <= 1.5


def trace(a):
    return torch.linalg.diagonal(a).sum(-1)


def cho_solve(upper):
    return (
        lambda a, b: linalg.cho_solve((linalg.cholesky(a, upper=upper), not upper), b),
        lambda a, b: torch.cholesky_solve(b, torch.linalg.cholesky(a, upper=upper), upper=upper),
        with_right(positive),
    )


SQUARE = {
    "cholesky": row("cholesky", alone(positive)),
    "cholesky upper": row("cholesky", alone(positive), upper=True),
    **{f"cho_solve upper={upper}": cho_solve(upper) for upper in (False, True)},
    "solve": row("solve", with_right(general)),
    "inv": row("inv", alone(general)),
    "det": row("det", alone(even)),
    "slogdet": row("slogdet", alone(general)),
    "lu_factor": (linalg.lu_factor, lu_factor, alone(draw), lu_product),
    **{f"lu_solve adjoint={adjoint}": factored(adjoint) for adjoint in (False, True)},
    "eigh": row("eigh", alone(hermitian), spectral),
    "eigh of the upper triangle": row("eigh", alone(hermitian), spectral, UPLO="U"),
    "eigvalsh": row("eigvalsh", alone(hermitian)),
    "expm": row("expm", alone(small), torch_name="matrix_exp"),
    **{f"matrix_power {n}": then("matrix_power", n, even) for n in (-2, 0, 1, 5)},
    **{f"cond {p}": then("cond", p, general) for p in ("fro", "nuc", 1, -1, np.inf, -np.inf)},
    **{
        f"solve_triangular lower={lower} unit={unit} trans={trans}": triangular(lower, unit, trans)
        for lower, unit, trans in itertools.product([False, True], [False, True], [0, 1, 2])
    },
}
ORDERS = ["fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf]
ANY_SHAPE = {
    "lu": row("lu", alone(draw)),
    "qr": row("qr", alone(general), oriented),
    "qr complete": row("qr", alone(general), oriented, mode="complete"),
    "svd": row("svd", alone(draw), recomposed),
    "svd reduced": row("svd", alone(draw), recomposed, full_matrices=False),
    "svdvals": row("svdvals", alone(draw)),
    "lstsq": row("lstsq", with_right(general), solved, theirs={"driver": "gelsd"}),
    "lstsq of rank half": row(
        "lstsq", with_right(singular), solved, rtol=1e-3, theirs={"rcond": 1e-3, "driver": "gelsd"}
    ),
    "pinv": row("pinv", alone(general)),
    "pinv of rank half": row("pinv", alone(singular), rtol=1e-3),
    "matrix_rank": row("matrix_rank", alone(general)),
    "matrix_rank of rank half": row("matrix_rank", alone(singular), rtol=1e-3),
    **{f"cond {p}": then("cond", p, general) for p in (None, 2, -2)},
    "trace": (linalg.trace, trace, alone(draw)),
    "diagonal": row("diagonal", alone(draw), offset=1),
    **{
        f"matrix_norm {order}": row(
            "matrix_norm", alone(draw), ord=order, keepdims=k % 2 > 0, theirs={"ord": order, "keepdim": k % 2 > 0}
        )
        for k, order in enumerate(ORDERS)
    },
    **{
        f"vector_norm {order}": row(
            "vector_norm", alone(draw if order else real), ord=order, axis=-1, theirs={"ord": order, "dim": -1}
        )
        for order in (0, 1, 2, 3.5, np.inf, -np.inf)
    },
}
SIZES = [(n, n) for n in (1, 2, 31, 32, 33, 100)]
BATCHES = [(0, 5, 5), (1, 5, 5), (7, 5, 5), (2, 40, 40)]
OBLONG = [(100, 9), (9, 100), (33, 31), (1, 5), (5, 1), (0, 9, 4), (7, 4, 9), (1, 40, 33)]


def assert_alike(be, row, given, what):
    """Converts both results to one form in NumPy; compares in units of (n + 4) eps of the largest element."""
    ours, theirs, _, *form = row
    results = [ours(*map(be.asarray, given)), theirs(*map(tensor, given))]
    results = [tuple(map(as_numpy, r)) if isinstance(r, tuple) else (as_numpy(r),) for r in results]
    if form:
        results = [form[0](*r) for r in results]
    units = 16 * (max(given[0].shape[-2:]) + 4)
    for got, want in zip(*results, strict=True):
        assert_close(got, want, units, float(np.abs(want).max(initial=0, where=np.isfinite(want))), what)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", SQUARE)
def test_square_matrices(be, name, dtype):
    for shape in SIZES + BATCHES:
        assert_alike(be, SQUARE[name], SQUARE[name][2](shape, dtype), f"{shape} {dtype}")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ANY_SHAPE)
def test_matrices_of_any_shape(be, name, dtype):
    for shape in SIZES[2:5] + OBLONG + BATCHES[:1]:
        assert_alike(be, ANY_SHAPE[name], ANY_SHAPE[name][2](shape, dtype), f"{shape} {dtype}")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [*SIZES[:5], (7, 5, 5)])
def test_eigenvalues_of_any_matrix(be, shape, dtype):
    """Both libraries have the same eigenvalues, in any order, and A V = V W."""
    a = draw(shape, dtype, low=-1, high=1)
    w, v = (x.to_numpy() for x in linalg.eig(be.asarray(a)))
    values, want = linalg.eigvals(be.asarray(a)).to_numpy(), torch.linalg.eigvals(tensor(a)).numpy()
    bound = 8 * shape[-1] * float(np.finfo(dtype).eps) * np.linalg.norm(wide(a), axis=(-2, -1)).max()
    np.testing.assert_allclose(wide(a) @ v, v * w[..., None, :], rtol=0, atol=bound)
    np.testing.assert_allclose(np.linalg.norm(v, axis=-2), 1, atol=bound)
    for got in (w, values):
        gaps = np.abs(got[..., :, None] - want[..., None, :])
        assert gaps.min(axis=-1).max() < bound and gaps.min(axis=-2).max() < bound


SHAPES = {
    "solve": [((9, 9), (9,)), ((3, 1, 9, 9), (5, 9, 2)), ((9, 9), (4, 9, 2)), ((40, 40), (40,))],
    "cross": [((7, 3), (7, 3)), ((2, 1, 3), (1, 5, 3))],
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("name", "shapes"), [(n, s) for n, found in SHAPES.items() for s in found])
def test_operands_of_two_shapes(be, name, shapes, dtype):
    left, right = shapes
    given = (general if name == "solve" else draw)(left, dtype), draw(right, dtype, 1)
    assert_alike(be, row(name, None), given, f"{shapes} {dtype}")
