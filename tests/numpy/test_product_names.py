"""Products, bits and functions applied along axes of stator.numpy beside NumPy's."""

import numpy as np
import pytest
from beside_numpy import assert_same, compare, on_device

import stator
import stator.numpy as snp

random = np.random.default_rng(11)
V = random.normal(size=4)
W = random.normal(size=4) + 1j * random.normal(size=4)
A = random.normal(size=(3, 4))
B = random.normal(size=(4, 3))
T = random.normal(size=(2, 3, 4))
N = np.arange(12).reshape(3, 4)

CALLS = {
    "dot": [(V, V), (A, B), (A, V), (2, A), (T, B), ([1, 2], [3, 4]), (3, 4)],
    "vdot": [(W, V), (A, B), (W, W), ([1, 2], [3, 4])],
    "inner": [(V, W), (A, A), (T, A), (2, A), (N, N)],
    "outer": [(V, W), (A, V), ([1, 2], 3)],
    "kron": [(V, W), (A, B), ([1, 2], N), (2, N)],
    "tensordot": [(A, B, 1), (T, T, ((0, 1), (0, 1))), (A, A, 2), (A, V, (1, 0)), (V, V, 0), (T, A, ([-1], [1]))],
    "matmul": [(A, B), (T, B), (A, V)],
    "vecdot": [(W, V), (A, V), (T, A)],
    "matvec": [(A, V), (T, V), (B, A[0, :3])],
    "vecmat": [(V, B), (W, B), (A, np.stack([B, B, B]))],
    "einsum": [
        ("ij,jk->ik", A, B),
        ("ij, j", A, V),
        ("ii", A[:3, :3]),
        ("ijk->kji", T),
        ("...j,j", T, V),
        (A, [0, 1], B, [1, 2], [0, 2]),
        (A, [0, 1], B, [1, 0]),
        (T, [Ellipsis, 3], V, [3], [Ellipsis]),
        (T, [2, 1, 0]),
        ("ij,ij->", N, N),
    ],
    "packbits": [
        (np.array([1, 0, 1, 1, 0, 0, 0, 1, 1], dtype="uint8"),),
        (N > 5,),
        (N > 5, 0),
        (N > 5, -1, "little"),
        ([True, False],),
        (np.zeros((0, 3), dtype=bool), 0),
    ],
    "unpackbits": [
        (np.array([[3, 200], [7, 129]], dtype="uint8"),),
        (np.array([[3, 200], [7, 129]], dtype="uint8"), 1),
        (np.array([[3, 200], [7, 129]], dtype="uint8"), 0, 5),
        (np.array([3, 200], dtype="uint8"), None, -3, "little"),
        (np.array([3], dtype="uint8"), None, 12),
    ],
    "base_repr": [(10, 3), (-10, 16, 4)],
    "binary_repr": [(10,), (-3, 5)],
}


@pytest.mark.parametrize(("name", "args"), [(n, a) for n, calls in CALLS.items() for a in calls])
def test_functions_agree(be, name, args):
    ours, theirs = getattr(snp, name), getattr(np, name)
    if name.endswith("repr"):
        assert ours(*args) == theirs(*args)
    else:
        compare(ours, theirs, *args)


def test_keywords_agree(be):
    compare(snp.vecdot, np.vecdot, A, A, axis=0)
    compare(snp.vecdot, np.vecdot, T, T, axis=1, keepdims=True)
    compare(snp.vecdot, np.vecdot, T, T, keepdims=True)
    compare(snp.vecdot, np.vecdot, T, A, axes=[1, 0, ()])
    compare(snp.vecdot, np.vecdot, T, A, axes=[1, 0])
    compare(snp.matmul, np.matmul, T, T, axes=[(1, 0), (0, 1), (2, 0)])
    compare(snp.matvec, np.matvec, T, A, axes=[(0, 1), 0, 0])
    compare(snp.vecmat, np.vecmat, A, T, axes=[0, (1, 0), -1])
    compare(snp.matmul, np.matmul, N, N.T, dtype=np.float32)
    compare(snp.einsum, np.einsum, "ij,kj,k", A, A, V[:3], optimize=True)
    compare(snp.einsum, np.einsum, "ij->j", N, dtype=np.float64)


@pytest.mark.parametrize("name", ["dot", "matmul"])
def test_out(be, name):
    out = stator.zeros((3, 3))
    assert getattr(snp, name)(on_device(A), on_device(B), out=out) is out
    assert_same(out, A @ B)
    with pytest.raises(ValueError, match="shape"):
        getattr(snp, name)(on_device(A), on_device(B), out=stator.zeros((2,)))


def test_out_of_einsum(be):
    out = stator.zeros((3,))
    assert snp.einsum("ij,j->i", on_device(A), on_device(V), out=out) is out
    assert_same(out, A @ V)


def test_axes_that_do_not_fit_are_refused(be):
    x = on_device(A)
    for kwargs in (
        {"axis": 0},
        {"keepdims": True},
        {"axes": [0, 0]},
        {"axes": [(0, 1), (0, 1)]},
        {"axes": [(0, 1), (0, 7), (0, 1)]},
    ):
        with pytest.raises((TypeError, ValueError, IndexError)) as wanted:
            np.matmul(A, A, **kwargs)
        theirs = next(c for c in wanted.type.__mro__ if c.__module__ == "builtins")
        with pytest.raises(theirs):
            snp.matmul(x, x, **kwargs)


def test_einsum_path(be):
    wanted = np.einsum_path("ij,jk,k", A, B, V[:3], optimize="optimal")
    assert snp.einsum_path("ij,jk,k", *(on_device(v) for v in (A, B, V[:3])), optimize="optimal") == wanted
    with be.forbid_host_copies():
        assert snp.einsum_path(on_device(A), [0, 1], on_device(V), [1])[0] == ["einsum_path", (0, 1)]


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_apply_along_axis(be, axis):
    for ours, theirs in (
        (stator.sum, np.sum),
        (lambda v: v[:2], lambda v: v[:2]),
        (lambda v: stator.outer(v, v), lambda v: np.outer(v, v)),
        (lambda v: 1, lambda v: 1),
    ):
        assert_same(snp.apply_along_axis(ours, axis, on_device(T)), np.apply_along_axis(theirs, axis, T))
    found = snp.apply_along_axis(lambda v, a, b: v * a + b, axis, on_device(N), 2, b=1)
    assert_same(found, 2 * N + 1)


def test_apply_over_axes(be):
    for axes in (0, (0, 2), [1, -1]):
        found = snp.apply_over_axes(lambda x, k: stator.sum(x, axis=k), on_device(T), axes)
        assert_same(found, np.apply_over_axes(np.sum, T, axes))


REFUSED = [
    ("dot", (A, A)),
    ("vdot", (V, V[:2])),
    ("tensordot", (A, A, 1)),
    ("tensordot", (A, A, ((0, 5), (0, 1)))),
    ("matmul", (A, 2.0)),
    ("matvec", (V, V)),
    ("vecmat", (V, V)),
    ("vecdot", (V, 1.0)),
    ("einsum", ("ij,jk", A, A)),
    ("einsum", ("ij", A, A)),
    ("packbits", (V,)),
    ("packbits", (N, 5)),
    ("packbits", (N, 0, "middle")),
    ("unpackbits", (N,)),
    ("unpackbits", (np.zeros(2, dtype="uint8"), None, -20)),
    ("apply_along_axis", (len, 3, A)),
    ("apply_along_axis", (len, 0, np.zeros((3, 0)))),
]


@pytest.mark.parametrize(("name", "args"), REFUSED)
def test_what_numpy_refuses_is_refused_alike(be, name, args):
    with pytest.raises((ValueError, TypeError, IndexError)) as wanted:
        getattr(np, name)(*args)
    theirs = next(c for c in wanted.type.__mro__ if c.__module__ == "builtins")
    with pytest.raises(theirs):
        getattr(snp, name)(*(on_device(a) for a in args))


def test_numpy_arrays_are_refused(be):
    for call in (lambda: snp.dot(A, on_device(B)), lambda: snp.einsum("i", V), lambda: snp.kron(on_device(A), B)):
        with pytest.raises(TypeError, match="asarray"):
            call()
