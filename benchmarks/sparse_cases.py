"""Cases of sparse matrices, against SciPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import stator

from .cases import Plan
from .domains import Interval
from .others import CORE, Other, arrays, nothing


def _sparse(be: stator.Backend, p: Plan) -> tuple[Any, stator.sparse.CSR]:
    """A square matrix with about 16 entries a row, in SciPy (halves as float32) and on the device."""
    import scipy.sparse

    n = max(p.size // 16, 64)
    rng = np.random.default_rng(0)
    row, col = rng.integers(0, n, (2, 16 * n)).astype(np.int32)
    host = scipy.sparse.coo_array((rng.uniform(-1, 1, 16 * n), (row, col)), shape=(n, n)).tocsr()
    host.sum_duplicates()
    on = stator.sparse.from_scipy(host, dtype=p.dtype, device=be)
    return on.to_scipy(), on  # the same values, rounded


def _over_sparse(
    ours: Callable[[Any], stator.Array], scipy: Callable[[Any], Any]
) -> Callable[[stator.Backend, Plan], Other]:
    """An op on a sparse matrix alone."""

    def case(be: stator.Backend, p: Plan) -> Other:
        host, on = _sparse(be, p)
        return Other(nothing, lambda: ours(on), lambda: scipy(host))

    return case


def _times_dense(be: stator.Backend, p: Plan) -> Other:
    host, on = _sparse(be, p)
    shape = (on.shape[1], 16)
    return Other(
        lambda plan, pool, turn: (pool.array(shape, plan.dtype, Interval(-1, 1), turn, plan.layout),),
        lambda b: on @ b,
        lambda b: host @ b.astype(host.dtype),
    )


SPARSE: dict[str, Callable[[stator.Backend, Plan], Other]] = {
    "csr_matmul": _times_dense,
    "csr_from_dense": lambda be, p: Other(
        arrays(CORE), lambda x: stator.sparse.csr_from_dense(x).data, lambda x: x[x != 0]
    ),
    "csr_to_csc": _over_sparse(lambda a: a.to_csc().data, lambda a: a.tocsc().data),
    "coo_to_csr": _over_sparse(lambda a: a.to_coo().T.to_csr().data, lambda a: a.tocoo().T.tocsr().data),
    "csr_to_coo": _over_sparse(lambda a: a.to_coo().row, lambda a: a.tocoo().row),
    "sparse_add": _over_sparse(lambda a: (a + a).data, lambda a: (a + a).data),
}
