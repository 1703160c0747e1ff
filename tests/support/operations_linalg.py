"""Cases of products and linear algebra: test_operation_cases.py calls case(be, operation, kind)."""

import numpy as np

import stator

OPERATIONS = """
f32 f64 f16_f32 f16_f16 bf16_f32 bf16_bf16: matmul
f32 f64 bf16_bf16: matmul_nt
f32 f64 f16_f32 bf16_f32 bf16_bf16: bmm
f32 f64 f16 bf16: broadcast_bmm
f32 f64: dot mv vm svd cholesky solve qr lu_factor lstsq eig eigh eigvalsh
"""
# The names of dtypes: of the operands, compute_dtype, and of the result.
PRODUCTS = {
    "f32": ("float32", None, "float32"),
    "f64": ("float64", None, "float64"),
    "f16": ("float16", None, "float16"),
    "bf16": ("bfloat16", None, "bfloat16"),
    "f16_f16": ("float16", None, "float16"),
    "bf16_bf16": ("bfloat16", None, "bfloat16"),
    "f16_f32": ("float32", "float16", "float32"),
    "bf16_f32": ("float32", "bfloat16", "float32"),
}
EPS = {"float16": 2**-10, "bfloat16": 2**-7, "float32": 2**-23, "float64": 2**-52}
SHAPES = {
    "matmul": [((33, 65), (65, 17)), ((1, 1), (1, 1)), ((128, 100), (100, 64))],
    "matmul_nt": [((33, 65), (17, 65)), ((64, 128), (100, 128))],
    "mv": [((33, 65), (65,)), ((1, 257), (257,))],
    "vm": [((65,), (65, 33)), ((257,), (257, 1))],
    "broadcast_bmm": [((4, 1, 9, 17), (3, 17, 5)), ((9, 17), (6, 17, 5)), ((2, 3, 9, 17), (17, 5))],
    "bmm": [((7, 9, 17), (7, 17, 5)), ((1, 33, 32), (1, 32, 31))],
}


def product(be, operation, kind):
    operands, compute, result = PRODUCTS[kind]
    rng = np.random.default_rng(len(operation))
    for left, right in SHAPES[operation]:
        a, b = (stator.astype(be.asarray(rng.uniform(-1, 1, s)), operands) for s in (left, right))
        options = {} if compute is None else {"compute_dtype": compute, "dtype": result}
        before = be.statistics()["kernel_launches"]
        got = stator.matmul(a, b.mT if operation == "matmul_nt" else b, **options)
        if operation == "matmul_nt" and operands != "bfloat16":
            assert be.statistics()["kernel_launches"] == before  # b was not copied
        assert got.dtype.name == result
        x, y = (stator.astype(stator.astype(v, compute or operands), "float64").to_numpy() for v in (a, b))
        y = y.T if operation == "matmul_nt" else y
        error = np.abs(stator.astype(got, "float64").to_numpy() - x @ y)
        bound = (4 + x.shape[-1]) * min(EPS[result], EPS["float32"]) + EPS[result]
        assert (error <= bound * (np.abs(x) @ np.abs(y)) + 1e-30).all()


def dot(be, operation, kind):
    for n in (1, 33, 4097):
        a, b = np.random.default_rng(n).uniform(-1, 1, (2, n)).astype(PRODUCTS[kind][0])
        got = stator.vecdot(be.asarray(a), be.asarray(b))
        assert got.shape == () and got.dtype.name == a.dtype
        want = np.dot(a.astype(np.float64), b.astype(np.float64))
        assert abs(float(got) - want) <= EPS[a.dtype.name] * n**0.5 * 4 * np.dot(np.abs(a), np.abs(b))


def close(got, want, n, size=1.0):
    """Asserts an error within a small multiple of n eps, relative to `size`."""
    got = np.asarray(got.to_numpy() if isinstance(got, stator.Array) else got)
    eps = np.finfo(got.dtype).eps
    assert np.abs(got - want).max() <= 8 * (n + 4) * eps * size


def matrix(n, m, dtype, seed=0):
    return np.random.default_rng(seed + 100 * n + m).normal(size=(n, m)).astype(dtype)


def decomposition(be, operation, kind):
    dtype = PRODUCTS[kind][0]
    for n in (1, 2, 31, 32, 33, 100):
        a = matrix(n, n, dtype)
        globals()[f"check_{operation}"](be, a, n, dtype)
    for m, n in ((40, 9), (9, 40), (100, 33)) if operation in ("svd", "qr", "lstsq", "lu_factor") else ():
        globals()[f"check_{operation}"](be, matrix(m, n, dtype), max(m, n), dtype)


def check_svd(be, a, n, dtype):
    u, s, vh = stator.linalg.svd(be.asarray(a), full_matrices=False)
    u, s, vh = (x.to_numpy() for x in (u, s, vh))
    close((u * s) @ vh, a, n, np.abs(s).max())
    close(s, np.linalg.svd(a.astype(np.float64), compute_uv=False), n, s.max())
    close(u.T @ u, np.eye(len(s)), n)
    close(vh @ vh.T, np.eye(len(s)), n)


def check_cholesky(be, a, n, dtype):
    a = a @ a.T + n * np.eye(n, dtype=dtype)
    factor = stator.linalg.cholesky(be.asarray(a)).to_numpy()
    np.testing.assert_array_equal(factor, np.tril(factor))
    close(factor @ factor.T, a, n, np.abs(a).max())


def check_solve(be, a, n, dtype):
    a = a + 2 * np.sqrt(n) * np.eye(n, dtype=dtype)
    for b in (matrix(n, 1, dtype, 5)[:, 0], matrix(n, 3, dtype, 6)):
        x = stator.linalg.solve(be.asarray(a), be.asarray(b)).to_numpy()
        assert x.shape == b.shape
        close(a @ x, b, n, np.abs(b).max() * 4)


def check_qr(be, a, n, dtype):
    q, r = (x.to_numpy() for x in stator.linalg.qr(be.asarray(a)))
    np.testing.assert_array_equal(r, np.triu(r))
    close(q @ r, a, n, np.abs(a).max())
    close(q.T @ q, np.eye(q.shape[1]), n)


def check_lu_factor(be, a, n, dtype):
    lu, pivots = stator.linalg.lu_factor(be.asarray(a))
    assert pivots.dtype == stator.int32
    lu, pivots = lu.to_numpy(), pivots.to_numpy()
    k = min(a.shape)
    lower, upper = np.tril(lu[:, :k], -1) + np.eye(len(a), k), np.triu(lu[:k])
    order = np.arange(len(a))
    for i, p in enumerate(pivots):
        assert i <= p < len(a)
        order[[i, p]] = order[[p, i]]
    close((lower @ upper).astype(dtype), a[order], n, np.abs(upper).max())


def check_lstsq(be, a, n, dtype):
    b = matrix(len(a), 2, dtype, 7)
    got = stator.linalg.lstsq(be.asarray(a), be.asarray(b))
    x, residuals, rank, s = np.linalg.lstsq(a.astype(np.float64), b.astype(np.float64), rcond=None)
    condition = s.max() / s.min()
    close(got.x, x, n, np.abs(x).max() * condition)
    assert int(got.rank) == rank
    close(got.singular_values, s, n, s.max())
    assert got.residuals.shape == residuals.shape
    if residuals.size:
        close(got.residuals, residuals, n, np.abs(b).max() ** 2 * len(a))


def check_eig(be, a, n, dtype):
    values, vectors = stator.linalg.eig(be.asarray(a))
    assert values.dtype.name == vectors.dtype.name == {"float32": "complex64", "float64": "complex128"}[dtype]
    values, vectors = values.to_numpy(), vectors.to_numpy()
    close(a @ vectors, vectors * values, n, np.linalg.norm(a))
    close(np.linalg.norm(vectors, axis=0), np.ones(n), n)


def check_eigh(be, a, n, dtype):
    a = a + a.T
    values, vectors = (x.to_numpy() for x in stator.linalg.eigh(be.asarray(a)))
    close(a @ vectors, vectors * values, n, np.linalg.norm(a))
    close(vectors.T @ vectors, np.eye(n), n)
    assert (np.diff(values) >= 0).all()


def check_eigvalsh(be, a, n, dtype):
    a = a + a.T
    close(stator.linalg.eigvalsh(be.asarray(a)), np.linalg.eigvalsh(a.astype(np.float64)), n, np.linalg.norm(a))


def case(be, operation, kind):
    (product if operation in SHAPES else dot if operation == "dot" else decomposition)(be, operation, kind)
