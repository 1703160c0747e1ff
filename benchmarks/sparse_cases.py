"""The cases of sparse matrices, against SciPy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

import stator

from .cases import Other, Others, Plan
from .inputs import CORE, ONE, arrays, nothing, shaped, squares


def _sparse(be: stator.Backend, p: Plan) -> tuple[Any, stator.sparse.CSR]:
    """A square matrix with about 16 entries per row, in SciPy (halves as float32) and on the device."""
    import scipy.sparse

    n = max(p.size // 16, 64)
    rng = np.random.default_rng(0)
    row, col = rng.integers(0, n, (2, 16 * n)).astype(np.int32)
    host = scipy.sparse.coo_array((rng.uniform(-1, 1, 16 * n), (row, col)), shape=(n, n)).tocsr()
    host.sum_duplicates()
    on = stator.sparse.from_scipy(host, dtype=p.dtype, device=be)
    return on.to_scipy(), on  # the same values, rounded


def _over_sparse(ours: Callable[[Any], Any], scipy: Callable[[Any], Any]) -> Any:
    """The case of an op whose only operand is a sparse matrix."""

    def case(be: stator.Backend, p: Plan) -> Other:
        host, on = _sparse(be, p)
        return Other(nothing, lambda: ours(on), lambda: scipy(host))

    return case


def _times_dense(be: stator.Backend, p: Plan) -> Other:
    host, on = _sparse(be, p)
    dense = shaped(lambda _: [(on.shape[1], 16)], ONE, turned=True)
    return Other(dense, lambda b: on @ b, lambda b: host @ b.astype(host.dtype))


def _product(be: stator.Backend, p: Plan) -> Other:
    host, on = _sparse(be, p)

    def scipy() -> Any:
        out = host @ host
        out.sort_indices()  # as stator's result is
        return out.data

    return Other(nothing, lambda: stator.sparse.spgemm(on, on).data, scipy)


def _sampled(be: stator.Backend, p: Plan) -> Other:
    host, on = _sparse(be, p)
    n, row, col = on.shape[0], host.tocoo().row, host.tocoo().col
    return Other(
        shaped(lambda _: [(n, 16)] * 2, ONE),
        lambda x, y: stator.sparse.sddmm(on, x, y.T).data,
        lambda x, y: np.einsum("ij,ij->i", x[row], y[col]),
    )


def _triangular(be: stator.Backend, p: Plan) -> Other:
    import scipy.sparse
    from scipy.sparse.linalg import spsolve_triangular

    host, _ = _sparse(be, p)
    n = host.shape[0]
    lower = scipy.sparse.csr_array(scipy.sparse.tril(host, -1) * 0.1 + scipy.sparse.eye_array(n, dtype=host.dtype) * 4)
    lower = lower.astype(host.dtype)
    on = stator.sparse.from_scipy(lower, dtype=p.dtype, device=be)
    return Other(
        shaped(lambda _: [(n, 4)], ONE, turned=True),
        lambda b: stator.sparse.spsolve_triangular(on, b),
        lambda b: spsolve_triangular(lower, b),
    )


def _pruned(x: Any, axis: int) -> Any:
    fours = np.moveaxis(x, axis, -1).reshape(-1, 4)
    kept = np.argsort(-abs(fours), axis=1, kind="stable")[:, :2]
    out = np.zeros_like(fours)
    np.put_along_axis(out, kept, np.take_along_axis(fours, kept, 1), 1)
    turned = np.moveaxis(x, axis, -1).shape
    return np.ascontiguousarray(np.moveaxis(out.reshape(turned), -1, axis))


def _dense_of(kind: str) -> Any:
    """The case of a conversion, with at most 2048 rows, since the dense matrix grows with their square."""

    def case(be: stator.Backend, p: Plan) -> Other:
        host, on = _sparse(be, replace(p, size=min(p.size, 1 << 15)))
        there, here = (on, host) if kind == "csr" else (on.to_csc(), host.tocsc())
        return Other(nothing, lambda: there.to_dense(), lambda: here.toarray())

    return case


SPARSE: Others = {
    "csr_matmul": _times_dense,
    "csr_from_dense": Other(arrays(CORE), lambda x: stator.sparse.csr_from_dense(x).data, lambda x: x[x != 0]),
    "csr_to_csc": _over_sparse(lambda a: a.to_csc().data, lambda a: a.tocsc().data),
    "coo_to_csr": _over_sparse(lambda a: a.to_coo().T.to_csr().data, lambda a: a.tocoo().T.tocsr().data),
    "csr_to_coo": _over_sparse(lambda a: a.to_coo().row, lambda a: a.tocoo().row),
    "sparse_add": _over_sparse(lambda a: (a + a).data, lambda a: (a + a).data),
    "csr_to_dense": _dense_of("csr"),
    "csc_to_dense": _dense_of("csc"),
    "spgemm": _product,
    "sddmm": _sampled,
    "spsolve_triangular": _triangular,
    "prune_2to4": Other(squares(1), None, lambda x: _pruned(x, -1)),
    "matmul_2to4": Other(squares(2), None, lambda a, b: a @ _pruned(b, -2)),
}
