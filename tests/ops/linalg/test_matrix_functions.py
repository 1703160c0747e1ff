"""Functions that stator.linalg computes from decompositions, and products besides matmul, against NumPy."""

import numpy as np
import pytest

import stator
from stator import linalg
from stator.errors import AxisError, DTypeError, InvalidValueError, LinAlgError, ShapeError

DTYPES = ["float32", "float64", "complex64", "complex128"]


def draw(shape, dtype="float64", seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=shape)
    return (x + 1j * rng.normal(size=shape) if dtype.startswith("complex") else x).astype(dtype)


def close(got, want, dtype="float64", factor=400):
    got = got.to_numpy()
    assert got.shape == np.shape(want)
    size = np.abs(want).max() if np.size(want) else 0
    np.testing.assert_allclose(got, want, rtol=0, atol=factor * np.finfo(dtype).eps * max(size, 1))


def test_tolerances_of_each_matrix(be):
    a = np.stack([np.diag([1.0, 0.3, 0.01])] * 2)
    each = np.array([0.1, 0.5])
    assert linalg.matrix_rank(be.asarray(a), rtol=be.asarray(each)).to_numpy().tolist() == [2, 1]
    close(linalg.pinv(be.asarray(a), rtol=be.asarray(each)), np.linalg.pinv(a, rtol=each))
    found = linalg.lstsq(be.asarray(a), be.ones((2, 3, 1)), rtol=be.asarray(each, dtype="float32"))
    assert found.rank.to_numpy().tolist() == [2, 1]
    with pytest.raises(ShapeError):
        linalg.pinv(be.asarray(a), rtol=be.ones(3))
    with pytest.raises(DTypeError):
        linalg.matrix_rank(be.asarray(a), rtol=be.ones(2, dtype="complex64"))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(6, 4), (4, 6), (40, 33), (3, 5, 5)])
def test_pinv_and_rank(be, shape, dtype):
    a = draw(shape, dtype)
    close(linalg.pinv(be.asarray(a)), np.linalg.pinv(a), dtype, 4000)
    np.testing.assert_array_equal(linalg.matrix_rank(be.asarray(a)).to_numpy(), np.linalg.matrix_rank(a))


def test_rank_and_pinv_of_deficient_matrices(be):
    a = draw((5, 2)) @ draw((2, 4), seed=1)
    assert int(linalg.matrix_rank(be.asarray(a))) == 2
    assert int(linalg.matrix_rank(be.asarray(np.zeros((3, 3))))) == 0
    close(linalg.pinv(be.asarray(a), rtol=1e-10), np.linalg.pinv(a, rcond=1e-10))
    diagonal = np.diag([1.0, 1e-3, 1e-6])
    assert int(linalg.matrix_rank(be.asarray(diagonal), rtol=1e-4)) == 2


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(8, 3), (3, 8), (50, 40)])
def test_lstsq(be, shape, dtype):
    a = draw(shape, dtype)
    for b in (draw((shape[0],), dtype, 1), draw((shape[0], 4), dtype, 2)):
        got = linalg.lstsq(be.asarray(a), be.asarray(b))
        x, residuals, rank, s = np.linalg.lstsq(a, b, rcond=None)
        close(got.x, x, dtype, 4000)
        close(got.residuals, residuals, dtype, 4000)
        assert int(got.rank) == rank
        close(got.singular_values, s, dtype)


def test_lstsq_of_a_deficient_matrix_is_the_shortest(be):
    a, b = draw((6, 2)) @ draw((2, 4), seed=1), draw((6,), seed=2)
    got = linalg.lstsq(be.asarray(a), be.asarray(b), rtol=1e-12)
    close(got.x, np.linalg.lstsq(a, b, rcond=1e-12)[0])
    assert int(got.rank) == 2 and got.residuals.shape == (0,)
    batch = linalg.lstsq(be.asarray(draw((3, 6, 2))), be.asarray(draw((3, 6, 5), seed=4)))
    assert batch.x.shape == (3, 2, 5) and batch.residuals.shape == (3, 5) and batch.rank.shape == (3,)


@pytest.mark.parametrize("order", ["fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_matrix_norm_and_cond(be, order, dtype):
    a = draw((3, 5, 4), dtype)
    for keepdims in (False, True):
        want = np.linalg.norm(a, order, axis=(-2, -1), keepdims=keepdims)
        close(linalg.matrix_norm(be.asarray(a), ord=order, keepdims=keepdims), want, dtype)
    square = draw((3, 5, 5), dtype) + 4 * np.eye(5, dtype=dtype)
    close(linalg.cond(be.asarray(square), order), np.linalg.cond(square, order), dtype)


def test_cond_of_singular_matrices(be):
    a = be.asarray(np.zeros((3, 3)))
    for p in (None, 1, "fro"):
        assert float(linalg.cond(a, p)) == np.inf
        assert linalg.cond(be.zeros((0, 3, 3)), p).shape == (0,)
    with pytest.raises(ShapeError):
        linalg.cond(be.zeros((0, 0)))
    with pytest.raises(InvalidValueError):
        linalg.matrix_norm(a, ord=3)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 7, -1, -2])
def test_matrix_power(be, n):
    a = draw((2, 5, 5)) / 3 + np.eye(5)
    close(linalg.matrix_power(be.asarray(a), n), np.linalg.matrix_power(a, n))
    if n < 0:
        with pytest.raises(LinAlgError):
            linalg.matrix_power(be.zeros((2, 2)), n)


@pytest.mark.parametrize("dtype", ["int8", "int64", "float32", "complex64"])
def test_trace(be, dtype):
    a = np.arange(24).reshape(2, 3, 4).astype(dtype)
    for offset in (-3, -1, 0, 2, 9):
        got = linalg.trace(be.asarray(a), offset=offset)
        np.testing.assert_array_equal(got.to_numpy(), np.trace(a, offset, axis1=-2, axis2=-1))
    assert linalg.trace(be.asarray(a), dtype="complex128").dtype == stator.complex128


@pytest.mark.parametrize("dtype", ["int32", "float64", "complex64"])
def test_cross(be, dtype):
    a, b = (np.random.default_rng(k).integers(-9, 9, (4, 3, 5)).astype(dtype) for k in (0, 1))
    np.testing.assert_array_equal(linalg.cross(be.asarray(a), be.asarray(b), axis=1).to_numpy(), np.cross(a, b, axis=1))
    one = b[0, :, 0]
    got = linalg.cross(be.asarray(a).mT, be.asarray(one))
    np.testing.assert_array_equal(got.to_numpy(), np.cross(np.swapaxes(a, 1, 2), one))
    with pytest.raises(ShapeError):
        linalg.cross(be.asarray(a), be.asarray(b))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", *DTYPES])
def test_vecdot(be, dtype):
    narrow = dtype in ("float16", "bfloat16")
    a, b = (stator.astype(be.asarray(draw((4, 6), "float32" if narrow else dtype, k)), dtype) for k in (0, 1))
    x, y = (stator.astype(v, "float64").to_numpy() if narrow else v.to_numpy() for v in (a, b))
    got = stator.vecdot(a, b)
    assert got.dtype.name == dtype
    tolerance = 2e-2 if dtype == "bfloat16" else 2e-3 if narrow else 1e-5
    as_float = stator.astype(got, "float64").to_numpy() if narrow else got.to_numpy()
    np.testing.assert_allclose(as_float, np.sum(np.conj(x) * y, axis=-1), rtol=tolerance, atol=tolerance * 4)


def test_vecdot_broadcasts_along_an_axis(be):
    a, b = draw((5, 1, 3, 2)), draw((4, 3, 2), seed=1)
    got = stator.vecdot(be.asarray(a), be.asarray(b), axis=-2).to_numpy()
    np.testing.assert_allclose(got, np.sum(a * b, axis=-2))
    assert stator.vecdot(be.zeros((3, 0)), be.zeros((3, 0))).to_numpy().tolist() == [0, 0, 0]
    with pytest.raises(AxisError):
        stator.vecdot(be.asarray(a), be.asarray(b), axis=0)
    with pytest.raises(ShapeError):
        stator.vecdot(be.zeros((3, 4)), be.zeros((3, 5)))


@pytest.mark.parametrize(
    ("left", "right"),
    [((), (3,)), ((3,), (3,)), ((2, 3), (3,)), ((2, 3), (3, 4)), ((3,), (2, 3, 4)), ((2, 3), (5, 3, 4))],
)
def test_dot(be, left, right):
    a, b = draw(left), draw(right, seed=1)
    np.testing.assert_allclose(stator.dot(be.asarray(a), be.asarray(b)).to_numpy(), np.dot(a, b), atol=1e-13)


@pytest.mark.parametrize("dtype", ["bool", "int16", "float16", "complex64"])
def test_outer_and_kron(be, dtype):
    a, b = np.arange(5).astype(dtype), np.arange(3).astype(dtype)
    np.testing.assert_array_equal(
        stator.outer(be.asarray(a), be.asarray(b[::-1].copy())).to_numpy(), np.outer(a, b[::-1])
    )
    x, y = np.arange(6).reshape(2, 3).astype(dtype), np.arange(8).reshape(2, 2, 2).astype(dtype)
    for left, right in ((x, y), (y, x), (a, x), (x.T, b), (x[:0], y)):
        np.testing.assert_array_equal(stator.kron(be.asarray(left), be.asarray(right)).to_numpy(), np.kron(left, right))
    with pytest.raises(ShapeError):
        stator.outer(be.asarray(x), be.asarray(a))


@pytest.mark.parametrize(
    "axes", [0, 1, 2, ((0, 2), (1, 0)), ([1], [1]), ((-1, 0), (0, -1))], ids=lambda axes: str(axes).replace(" ", "")
)
def test_tensordot(be, axes):
    a, b = draw((4, 3, 5)), draw((5, 4, 3) if axes == ((0, 2), (1, 0)) else (3, 5, 4), seed=1)
    if axes == ([1], [1]):
        b = draw((2, 3), seed=2)
    if axes == 1:
        b = draw((5, 2), seed=3)
    if axes == ((-1, 0), (0, -1)):
        b = draw((5, 2, 4), seed=4)
    got = stator.tensordot(be.asarray(a), be.asarray(b), axes=axes).to_numpy()
    np.testing.assert_allclose(got, np.tensordot(a, b, axes=axes), atol=1e-12)


def test_tensordot_errors(be):
    a, b = be.zeros((2, 3)), be.zeros((4, 5))
    with pytest.raises(ShapeError):
        stator.tensordot(a, b, axes=1)
    with pytest.raises(AxisError):
        stator.tensordot(a, b, axes=((0, 0), (0, 1)))
    with pytest.raises(ShapeError):
        stator.tensordot(a, b, axes=((0,), (0, 1)))
    with pytest.raises(InvalidValueError):
        stator.tensordot(a, b, axes=-1)


SUMS = [
    "ij,jk->ik",
    "ij,jk",
    "ij->ji",
    "ij->",
    "ij->i",
    "ii->i",
    "ii",
    "iij->j",
    "i,i",
    "i,j->ij",
    "i,j->ji",
    "ij,ij->ij",
    "ij,ij->",
    "bij,bjk->bik",
    "bij,bjk->kib",
    "bij,bkj->bik",
    "ijk,jkl->il",
    "ijk,l->lik",
    "ij,jk,kl->il",
    "ij,jk,kl,lm->im",
    "ij,jk,kl,lm,mi->",
    "i,ij,j",
    "...ij,...jk->...ik",
    "...i->...",
    "b...,b...->b...",
    "ij,jj->i",
    "ab,b,cb->ac",
    " i j , j k -> i k ",
]
EXTENTS = {c: 2 + k % 4 for k, c in enumerate("abcijklm")}


@pytest.mark.parametrize("text", SUMS)
def test_einsum(be, text):
    terms = text.replace(" ", "").split("->")[0].split(",")
    arrays = []
    for k, term in enumerate(terms):
        dots = (3, 2) if "..." in term else ()
        letters = [tuple(EXTENTS[c] for c in part) for part in (term.split("...") if dots else [term])]
        shape = letters[0] + dots + (letters[1] if dots else ())
        arrays.append(draw(shape, seed=k))
    got = stator.einsum(text, *map(be.asarray, arrays)).to_numpy()
    np.testing.assert_allclose(got, np.einsum(text, *arrays), atol=1e-12)


def test_einsum_promotes_all_operands_at_once(be):
    x = be.asarray(np.array([100, 100], np.int8))
    half = be.zeros((1,), dtype="float16")
    assert stator.einsum("i,j,k->", x, stator.astype(x, "uint8"), half).dtype == stator.float16
    assert stator.einsum("i,j->j", x, be.ones((1,), dtype="int64")).to_numpy().tolist() == [200]


def test_einsum_broadcasts_ones_and_ellipses(be):
    a, b = draw((4, 1, 2, 3)), draw((5, 3, 6), seed=1)
    np.testing.assert_allclose(
        stator.einsum("...ij,...jk->...ik", be.asarray(a), be.asarray(b)).to_numpy(),
        np.einsum("...ij,...jk->...ik", a, b),
        atol=1e-12,
    )
    got = stator.einsum("ij,jk->ik", be.asarray(draw((2, 1))), be.asarray(draw((3, 4), seed=1))).to_numpy()
    np.testing.assert_allclose(got, np.einsum("ij,jk->ik", draw((2, 1)), draw((3, 4), seed=1)), atol=1e-12)
    assert stator.einsum("ij,jk->ik", be.zeros((2, 0)), be.zeros((0, 3))).to_numpy().tolist() == [[0] * 3] * 2
    many = [draw((2, 2), seed=k) for k in range(10)]
    text = ",".join(f"{chr(97 + k)}{chr(98 + k)}" for k in range(10)) + "->ak"
    np.testing.assert_allclose(
        stator.einsum(text, *map(be.asarray, many)).to_numpy(), np.linalg.multi_dot(many), atol=1e-10
    )


def test_einsum_multiplies_in_the_cheapest_order(be):
    """A chain of products that takes 500 times as many operations from left to right."""
    a, b, c = be.zeros((300, 300)), be.zeros((300, 300)), be.zeros((300, 1))
    before = be.statistics()["library_calls"]
    stator.einsum("ij,jk,kl->il", a, b, c)
    assert be.statistics()["library_calls"] == before + 2


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("ij,jk->ik", [(2, 3)]),
        ("ij->ij", [(2, 3), (3, 4)]),
        ("ij,jk->ik", [(2, 3), (4, 5)]),
        ("ij->ik", [(2, 3)]),
        ("ij->ii", [(2, 3)]),
        ("ijk->i", [(2, 3)]),
        ("i->i", [(2, 3)]),
        ("i1->i", [(2, 3)]),
        ("......->", [(2, 3)]),
    ],
)
def test_einsum_errors(be, text, shapes):
    with pytest.raises(ShapeError) as caught:
        stator.einsum(text, *[be.zeros(s) for s in shapes])
    assert caught.value.op == "einsum"
    with pytest.raises((DTypeError, InvalidValueError)):
        stator.einsum(be.zeros((2,)))


@pytest.mark.parametrize("dtype", ["float16", *DTYPES])
def test_addmm_and_baddbmm(be, dtype):
    wide = "float32" if dtype == "float16" else dtype
    tolerance = 5e-3 if dtype == "float16" else 1e-4 if dtype in ("float32", "complex64") else 1e-12
    a, b = (draw(s, wide, k).astype(dtype) for k, s in enumerate([(4, 5), (5, 3)]))
    for shape in ((4, 3), (3,), (4, 1), ()):
        c = draw(shape, wide, 7).astype(dtype)
        got = stator.addmm(be.asarray(c), be.asarray(a), be.asarray(b), alpha=0.5, beta=2).to_numpy()
        assert got.dtype == np.dtype(dtype)
        np.testing.assert_allclose(got, 2 * c.astype(wide) + 0.5 * (a.astype(wide) @ b), rtol=tolerance, atol=tolerance)
    x, y, z = (draw(s, wide, k).astype(dtype) for k, s in enumerate([(6, 4, 5), (6, 5, 3), (6, 1, 3)]))
    got = stator.baddbmm(be.asarray(z), be.asarray(x), be.asarray(y)).to_numpy()
    np.testing.assert_allclose(got, z.astype(wide) + x.astype(wide) @ y, rtol=tolerance, atol=tolerance)


def test_addmm_edges(be):
    nan = be.full((2, 3), np.nan)
    got = stator.addmm(nan, be.asarray(np.ones((2, 4))), be.asarray(np.ones((4, 3))), beta=0).to_numpy()
    np.testing.assert_array_equal(got, np.full((2, 3), 4.0))
    c = be.asarray(np.ones((2, 3)))
    np.testing.assert_array_equal(
        stator.addmm(c, be.zeros((2, 0)), be.zeros((0, 3)), beta=3).to_numpy(), np.full((2, 3), 3)
    )
    with pytest.raises(ShapeError):
        stator.addmm(c, be.zeros((4,)), be.zeros((4, 3)))
    with pytest.raises(ShapeError):
        stator.addmm(be.zeros((5, 5)), be.zeros((2, 4)), be.zeros((4, 3)))
    with pytest.raises(ShapeError):
        stator.baddbmm(c, be.zeros((2, 4)), be.zeros((4, 3)))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("activation", [None, "relu", "gelu", "silu", "sigmoid", "tanh"])
def test_linear(be, dtype, activation):
    x, w, b = (stator.astype(be.asarray(draw(s, seed=k)), dtype) for k, s in enumerate([(2, 3, 8), (5, 8), (5,)]))
    got = stator.nn.linear(x, w, b, activation=activation)
    wide = [stator.astype(v, "float64") for v in (x, w, b)]
    want = stator.matmul(wide[0], wide[1].T) + wide[2]
    if activation:
        made = {"relu": stator.nn.relu, "gelu": stator.nn.gelu, "silu": stator.nn.silu}
        want = {**made, "sigmoid": stator.nn.sigmoid, "tanh": stator.tanh}[activation](want)
    assert got.dtype.name == dtype
    tolerance = {"float16": 1e-2, "bfloat16": 6e-2, "float32": 1e-5, "float64": 1e-13}[dtype]
    np.testing.assert_allclose(
        stator.astype(got, "float64").to_numpy(), want.to_numpy(), rtol=tolerance, atol=tolerance
    )


def test_linear_edges(be):
    x, w = be.zeros((3, 8)), be.zeros((5, 8))
    assert stator.nn.linear(x, w).shape == (3, 5)
    assert stator.nn.linear(x[0], w).shape == (5,)
    for bad in ((x, be.zeros((5, 7))), (x, w, be.zeros((4,)))):
        with pytest.raises(ShapeError):
            stator.nn.linear(*bad)
    with pytest.raises(ValueError, match="activation"):
        stator.nn.linear(x, w, activation="swoosh")
