"""The contract of every function of stator.linalg: typed errors without leaks, when it waits, what is captured.

Also residuals over batches, layouts and shapes beyond those of test_linalg.
"""

import gc

import numpy as np
import pytest
from cases import TABLE
from factorisations import CHECKS, DTYPES, adjoint, assert_small, draw, norm, positive, source, upload

import stator
from stator import linalg
from stator.errors import DTypeError, HostCopyError, LinAlgError, ShapeError


def of_matrix(name, **options):
    """The function as a function of (a, b) that ignores b."""
    function = getattr(linalg, name)
    return lambda a, b: function(a, **options)


# The call of each function on a square matrix and a right-hand side, with check=False where that exists.
UNCHECKED = ("cholesky", "inv", "lu_factor", "svd", "svdvals", "eigh", "eigvalsh", "eig", "eigvals")
PLAIN = ("det", "slogdet", "lu", "qr", "pinv", "matrix_rank", "matrix_norm", "cond", "trace", "expm")
CALLS = {
    **{name: of_matrix(name, check=False) for name in UNCHECKED},
    **{name: of_matrix(name) for name in PLAIN},
    "solve": lambda a, b: linalg.solve(a, b, check=False),
    "solve_triangular": lambda a, b: linalg.solve_triangular(a, b, check=False),
    "cho_solve": lambda a, b: linalg.cho_solve((a, True), b),
    "lu_solve": lambda a, b: linalg.lu_solve(
        (a, stator.tile(stator.arange(a.shape[-1], dtype="int32"), (*a.shape[:-2], 1))), b
    ),
    "lstsq": linalg.lstsq,
    "matrix_power": lambda a, b: linalg.matrix_power(a, 3),
}
ROWS = {row["call"].removeprefix("linalg."): row for row in TABLE.values() if row["call"].startswith("linalg.")}
# These always wait: they read the rank of the result, or svd's info, or the number of squarings.
WAIT = ("lstsq", "pinv", "matrix_rank", "cond", "expm")
# cuSOLVER's geev, syevd and gesvd do part of their work on the host, so these cannot be captured.
HOST_HALF = (
    *("eig", "eigvals", "eigh", "eigvalsh", "svd", "svdvals"),
    *("pinv", "lstsq", "matrix_rank", "cond", "matrix_norm"),
)
SQUARE = [n for n in CALLS if n not in ("svd", "svdvals", "qr", "lu", "lu_factor", "lstsq", "pinv", "matrix_rank")]
SQUARE = [n for n in SQUARE if n not in ("matrix_norm", "trace", "cond")]


def flat(found):
    for x in found if isinstance(found, tuple) else (found,):
        if isinstance(x, tuple):
            yield from flat(x)
        else:
            yield x


def live(be):
    gc.collect()
    be.synchronize()
    return sum(r["kind"] not in ("stream", "library") for r in be.resources())


def test_every_row_is_called_here():
    assert set(ROWS) - set(CALLS) <= {"cross", "diagonal", "vector_norm"}


@pytest.mark.parametrize("n", [6, 40])
@pytest.mark.parametrize("name", CALLS)
def test_what_is_asynchronous_or_unchecked_reads_nothing_back(be, name, n):
    a, b = be.asarray(positive((n,), "float64")), be.asarray(draw((n, 2), "float64"))
    CALLS[name](a, b)  # opens the libraries
    if name in WAIT:
        assert ROWS[name]["sync"] == "sync"
        with be.forbid_host_copies(), pytest.raises(HostCopyError):
            CALLS[name](a, b)
        return
    before = be.statistics()
    with be.forbid_host_copies():
        CALLS[name](a, b)
    after = be.statistics()
    for counter in before:
        if "sync" in counter or counter == "d2h_bytes":
            assert after[counter] == before[counter], counter


def test_what_keeps_work_on_the_host_is_not_captured():
    assert {ROWS[name]["capture"] for name in HOST_HALF} == {"not_capturable"}
    checked = [name for name in CALLS if ROWS[name]["sync"] == "sync"]
    assert {ROWS[name]["capture"] for name in checked} == {"not_capturable"}


def known(name, result):
    """What two equal calls agree in: singular vectors and eigenvectors may have another sign at every call."""
    return np.abs(result) if name in ("svd", "eigh", "eig") else result


@pytest.mark.parametrize("name", CALLS)
def test_bad_operands_are_refused_and_the_next_call_is_right(be, name):
    a, b = be.asarray(positive((3,), "float64")), be.asarray(draw((3, 2), "float64"))
    want = [x.to_numpy() for x in flat(CALLS[name](a, b))]
    bad = [be.zeros(()), be.zeros((3,))] + [be.zeros(s) for s in ((3, 4), (2, 3, 4)) if name in SQUARE]
    before = live(be)
    for x in bad:
        with pytest.raises(ShapeError) as caught:
            CALLS[name](x, b) if name != "lu_solve" else linalg.lu_solve((x, be.zeros((3,), dtype="int32")), b)
        assert caught.value.op == f"linalg.{name}" and caught.value.remedy
    if name != "trace":
        with pytest.raises(DTypeError, match="float16"):
            CALLS[name](stator.astype(a, "float16"), stator.astype(b, "float16"))
    with pytest.raises(DTypeError):
        CALLS[name](np.eye(3), b) if name != "lu_solve" else linalg.lu_solve((np.eye(3), b), b)
    del caught
    assert live(be) == before
    for got, expected in zip(flat(CALLS[name](a, b)), want, strict=True):
        np.testing.assert_array_equal(known(name, got.to_numpy()), known(name, expected))


@pytest.mark.parametrize("name", CALLS)
def test_no_matrices_give_no_results(be, name):
    empty = [be.zeros((0, 3, 3)), be.zeros((2, 0, 0))]
    for a in empty:
        if name == "cond" and a.size == 0 and a.shape[0]:  # a batch of empty matrices
            with pytest.raises(ShapeError):
                linalg.cond(a)
            continue
        found = list(flat(CALLS[name](a, be.zeros((*a.shape[:-1], 2)))))
        assert all(x.shape[:1] in (a.shape[:1], (0,)) for x in found)
        for x in found:
            x.to_numpy()


@pytest.mark.parametrize("n", [5, 40])
@pytest.mark.parametrize("name", CALLS)
def test_nan_ends_and_stays_in_its_matrix(be, name, n):
    a = np.stack([positive((n,), "float64"), np.full((n, n), np.nan)])
    b = draw((2, n, 2), "float64")
    try:
        found = list(flat(CALLS[name](be.asarray(a), be.asarray(b))))
    except LinAlgError as error:
        assert name in WAIT and error.index == 1
        return
    # In a batch with an equal matrix: a single one may take another routine.
    good = flat(CALLS[name](be.asarray(a[[0, 0]]), be.asarray(b[[0, 0]])))
    for x, y in zip(found, good, strict=True):
        np.testing.assert_allclose(known(name, x.to_numpy()[:1]), known(name, y.to_numpy()[:1]), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", CHECKS)
def test_a_thousand_matrices(be, name, dtype):
    CHECKS[name][0](be, source(name, (1000, 2), dtype), dtype, "contiguous")


@pytest.mark.parametrize("name", ["cholesky", "solve", "inv", "lu", "lu_solve", "qr"])
def test_a_large_matrix_of_every_dtype(be, name):
    for dtype in ("float32", "complex64", "complex128"):
        CHECKS[name][0](be, source(name, (257,), dtype), dtype, "contiguous")


@pytest.mark.parametrize("dtype", ["float64", "complex64"])
@pytest.mark.parametrize("name", CHECKS)
def test_layouts_at_the_border_of_the_kernels(be, name, dtype):
    for n in (32, 33):
        for layout in ("transposed", "strided", "reversed"):
            CHECKS[name][0](be, source(name, (n,), dtype), dtype, layout)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(2, 2), (31, 4), (33, 32), (100, 7), (257, 5), (4, 31), (7, 100), (7, 40, 3)])
def test_lstsq_is_stationary_and_pinv_inverts(be, shape, dtype):
    m, n = shape[-2:]
    a, b = draw(shape, dtype), draw((*shape[:-1], 3), dtype, 1)
    x = linalg.lstsq(be.asarray(a), be.asarray(b)).x.to_numpy()
    slope = adjoint(a) @ (a @ x - b)
    assert_small(slope, norm(a) * (norm(a) * norm(x) * n + norm(b)) * m, dtype, max(m, n))
    p = linalg.pinv(upload(be, a, "strided")).to_numpy()
    assert_small(a @ p @ a - a, norm(a) ** 2 * norm(p) * min(m, n), dtype, max(m, n))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", ["contiguous", "transposed", "strided", "reversed"])
def test_triangular_solutions_have_small_residuals(be, layout, dtype):
    for shape in ((1, 1), (7, 33, 33), (257, 257)):
        n = shape[-1]
        a, b = draw(shape, dtype) / n + np.eye(n, dtype=dtype), draw((*shape[:-1], 2), dtype, 1)
        for lower in (False, True):
            t = np.tril(a) if lower else np.triu(a)
            for trans, op in ((0, t), ("C", adjoint(t))):
                got = linalg.solve_triangular(upload(be, a, layout), upload(be, b, layout), lower=lower, trans=trans)
                x = got.to_numpy()
                assert_small(op @ x - b, norm(t) * norm(x), dtype, n)


@pytest.mark.parametrize("dtype", ["int8", "uint64", "float16", "float32", "complex128"])
def test_cross_in_one_launch_over_any_axis(be, dtype):
    rng = np.random.default_rng(0)
    x, y = (rng.integers(-9 if dtype != "uint64" else 0, 9, s).astype(dtype) for s in ((4, 3, 5), (3, 1)))
    for axis in (-2, 1):
        before = be.statistics()["kernel_launches"]
        got = linalg.cross(be.asarray(x), be.asarray(y), axis=axis)
        assert be.statistics()["kernel_launches"] == before + 1
        np.testing.assert_array_equal(got.to_numpy(), np.cross(x, np.broadcast_to(y, x.shape), axis=1))
    turned = linalg.cross(be.asarray(x).mT[::-1], be.asarray(y[:, 0]))
    np.testing.assert_array_equal(turned.to_numpy(), np.cross(np.swapaxes(x, 1, 2)[::-1], y[:, 0]))
    assert linalg.cross(be.zeros((0, 3), dtype=dtype), be.zeros((3,), dtype=dtype)).shape == (0, 3)


def test_cross_promotes_and_refuses(be):
    a, b = be.asarray(np.arange(3)), be.asarray(np.array([1.5, 2, 3], np.float32))
    got = linalg.cross(a, b)
    assert got.dtype == stator.float64
    np.testing.assert_array_equal(got.to_numpy(), np.cross(np.arange(3), [1.5, 2, 3]))
    with pytest.raises(DTypeError):
        linalg.cross(be.zeros((3,), dtype="bool"), be.zeros((3,), dtype="bool"))
    for bad in ((2,), (), (3, 1)):
        with pytest.raises(ShapeError):
            linalg.cross(a, be.zeros(bad))
