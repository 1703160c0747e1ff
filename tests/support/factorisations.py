"""Factorisations and their checks: residuals in units of eps, for every layout of the operands."""

import numpy as np

from stator import linalg

DTYPES = ["float32", "float64", "complex64", "complex128"]


def draw(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=shape)
    return (x + 1j * rng.normal(size=shape) if dtype.startswith("complex") else x).astype(dtype)


def hermitian(shape, dtype, seed=0):
    x = draw((*shape, shape[-1]), dtype, seed)
    return (x + adjoint(x)) / np.array(2, dtype)


def positive(shape, dtype, seed=0):
    x = draw((*shape, shape[-1]), dtype, seed)
    return x @ adjoint(x) + shape[-1] * np.eye(shape[-1], dtype=dtype)


def adjoint(x):
    return np.conj(np.swapaxes(x, -1, -2))


def get(*arrays):
    found = tuple(a.to_numpy() for a in arrays)
    return found if len(found) > 1 else found[0]


def assert_small(error, size, dtype, n, factor=8):
    """Asserts for each matrix that error is at most factor (n + 4) eps size."""
    eps = np.finfo(dtype).eps
    if error.size:
        worst = np.abs(error).max(axis=(-2, -1)) / (eps * (n + 4) * np.maximum(size, 1e-300))
        assert np.max(worst) <= factor, f"{np.max(worst):.1f} (n + 4) eps"


def norm(x):
    return np.abs(x).max(axis=(-2, -1)) if x.size else np.zeros(x.shape[:-2])


def upload(be, x, layout):
    """x on the device in a layout, as a view of a contiguous upload."""
    if layout == "transposed":
        return be.asarray(np.ascontiguousarray(np.swapaxes(x, -1, -2))).mT
    if layout == "strided":
        return be.asarray(np.repeat(np.repeat(x, 2, axis=-1), 3, axis=-2))[..., ::3, ::2]
    if layout == "reversed":
        return be.asarray(np.ascontiguousarray(x[..., ::-1, ::-1]))[..., ::-1, ::-1]
    return be.asarray(x)


def check_cholesky(be, a, dtype, layout):
    n = a.shape[-1]
    for upper in (False, True):
        factor = get(linalg.cholesky(upload(be, a, layout), upper=upper))
        kept = np.triu(factor) if upper else np.tril(factor)
        np.testing.assert_array_equal(factor, kept)
        product = adjoint(factor) @ factor if upper else factor @ adjoint(factor)
        assert_small(product - a, norm(a), dtype, n)


def check_solve(be, a, dtype, layout):
    n = a.shape[-1]
    b = draw((*a.shape[:-1], 3), dtype, 9)
    x = get(linalg.solve(upload(be, a, layout), upload(be, b, layout)))
    assert_small(a @ x - b, norm(a) * norm(x), dtype, n)


def check_inv(be, a, dtype, layout):
    n = a.shape[-1]
    x = get(linalg.inv(upload(be, a, layout)))
    assert_small(a @ x - np.eye(n), norm(a) * norm(x), dtype, n)


def check_lu(be, a, dtype, layout):
    n = a.shape[-1]
    p, lower, upper = get(*linalg.lu(upload(be, a, layout)))
    assert_small(p @ lower @ upper - a, norm(upper), dtype, n)
    assert (np.abs(lower) <= 1.42).all()  # complex pivots maximise |re| + |im|
    np.testing.assert_array_equal(np.swapaxes(p, -1, -2) @ p, np.broadcast_to(np.eye(n), a.shape))


def check_lu_solve(be, a, dtype, layout):
    n = a.shape[-1]
    b = draw((*a.shape[:-1], 2), dtype, 9)
    factors = linalg.lu_factor(upload(be, a, layout))
    for trans, op in ((0, a), (1, np.swapaxes(a, -1, -2)), ("C", adjoint(a))):
        x = get(linalg.lu_solve(factors, upload(be, b, layout), trans=trans))
        assert_small(op @ x - b, norm(a) * norm(x), dtype, n)


def check_det(be, a, dtype, layout):
    on = upload(be, a, layout)
    sign, logabsdet = get(*linalg.slogdet(on))
    want_sign, want = np.linalg.slogdet(a.astype(np.complex128 if dtype.startswith("c") else np.float64))
    eps, n = np.finfo(dtype).eps, a.shape[-1]
    np.testing.assert_allclose(sign, want_sign, atol=200 * n * eps)
    np.testing.assert_allclose(logabsdet, want, rtol=0, atol=200 * n * eps)
    if n <= 33 and not (dtype in ("float32", "complex64") and n > 8):
        np.testing.assert_allclose(get(linalg.det(on)), np.exp(want) * want_sign, rtol=400 * n * eps)


def check_qr(be, a, dtype, layout):
    m, n = a.shape[-2:]
    for mode in ("reduced", "complete"):
        q, r = get(*linalg.qr(upload(be, a, layout), mode=mode))
        k = m if mode == "complete" else min(m, n)
        assert q.shape == (*a.shape[:-1], k) and r.shape == (*a.shape[:-2], k, n)
        np.testing.assert_array_equal(r, np.triu(r))
        assert_small(q @ r - a, norm(a), dtype, max(m, n))
        assert_small(adjoint(q) @ q - np.eye(k), np.ones(a.shape[:-2]), dtype, max(m, n))


def check_svd(be, a, dtype, layout):
    m, n = a.shape[-2:]
    for full in (True, False):
        u, s, vh = get(*linalg.svd(upload(be, a, layout), full_matrices=full))
        k = min(m, n)
        assert u.shape[-1] == (m if full else k) and vh.shape[-2] == (n if full else k)
        top = s[..., 0] if s.size else np.zeros(a.shape[:-2])
        assert_small((u[..., :k] * s[..., None, :]) @ vh[..., :k, :] - a, top, dtype, max(m, n))
        assert_small(adjoint(u) @ u - np.eye(u.shape[-1]), np.ones(a.shape[:-2]), dtype, max(m, n))
        assert_small(vh @ adjoint(vh) - np.eye(vh.shape[-2]), np.ones(a.shape[:-2]), dtype, max(m, n))
    values = get(linalg.svdvals(upload(be, a, layout)))
    assert_small((values - s)[..., None], top, dtype, max(m, n))


def check_eigh(be, a, dtype, layout):
    n = a.shape[-1]
    garbage = a + np.triu(np.full((n, n), 7, dtype), 1)  # the other triangle must not be read
    w, v = get(*linalg.eigh(upload(be, garbage, layout)))
    size = np.abs(w).max(axis=-1) if w.size else np.zeros(a.shape[:-2])
    assert w.dtype == np.finfo(dtype).dtype
    assert_small(a @ v - v * w[..., None, :], size, dtype, n)
    assert_small(adjoint(v) @ v - np.eye(n), np.ones(a.shape[:-2]), dtype, n)
    assert (np.diff(w) >= 0).all()
    upper = get(linalg.eigvalsh(upload(be, np.swapaxes(garbage, -1, -2).conj(), layout), UPLO="U"))
    assert_small((upper - w)[..., None], size, dtype, n)


def check_eig(be, a, dtype, layout):
    n = a.shape[-1]
    w, v = get(*linalg.eig(upload(be, a, layout)))
    assert w.dtype == v.dtype == np.result_type(np.dtype(dtype), np.complex64)
    size = np.sqrt((np.abs(a) ** 2).sum(axis=(-2, -1)))
    assert_small(a @ v - v * w[..., None, :], size, dtype, n)
    values = get(linalg.eigvals(upload(be, a, layout)))
    for x, y in zip(values.reshape(-1, n), w.reshape(-1, n), strict=True):
        assert np.abs(np.sort_complex(x)[:, None] - y[None, :]).min(axis=0).max(initial=0) <= 1e-2


CHECKS = {
    "cholesky": (check_cholesky, positive),
    "solve": (check_solve, positive),
    "inv": (check_inv, positive),
    "lu": (check_lu, None),
    "lu_solve": (check_lu_solve, positive),
    "det": (check_det, positive),
    "qr": (check_qr, None),
    "svd": (check_svd, None),
    "eigh": (check_eigh, hermitian),
    "eig": (check_eig, None),
}


def source(name, shape, dtype, seed=0):
    make = CHECKS[name][1]
    return draw((*shape, shape[-1]), dtype, seed) if make is None else make(shape, dtype, seed)
