"""Ops that the table calls asynchronous neither copy to the host nor wait; those that it calls sync do copy."""

from functools import partial

import numpy as np
import pytest
from cases import TABLE

import stator
from stator.errors import HostCopyError
from tests.ops.test_launches import calls

WAITS = ("stream_synchronize", "event_synchronize")
METHODS = {
    "seed": lambda be, x: be.random.seed(3),
    "get_state": lambda be, x: be.random.get_state(),
    "set_state": lambda be, x: be.random.set_state((1, 2, 0, "cpu")),
    "data_ptr": lambda be, x: x.data_ptr,
    "itemsize": lambda be, x: x.itemsize,
    "stream_count": lambda be, x: be.stream_count,
    "native": lambda be, x: be.native,
    "to_numpy": lambda be, x: x.to_numpy(),
}


def waits(be):
    made = be.statistics()["calls"]
    return {name: count for name, count in made.items() if name in WAITS}


def rows(sync):
    return [n for n, r in TABLE.items() if r["sync"] == sync and n != "synchronize"]


@pytest.mark.parametrize("name", rows("async"))
def test_asynchronous_ops_copy_nothing_and_do_not_wait(be, name):
    x = be.asarray(np.ones(3))
    both = (partial(METHODS[name], be, x), None) if name in METHODS else calls(be)[name]
    be.synchronize()
    before = waits(be)
    with be.forbid_host_copies():
        for call in both:
            if call is not None:
                call()
    assert waits(be) == before


# Calls with the check or the data-dependent size for which the entry is `sync`; other calls do not wait.
def looking(be):
    linalg = stator.linalg
    a = be.asarray(np.random.default_rng(2).normal(size=(16, 16)) + 16 * np.eye(16))
    a = stator.add(a, a.T)
    b = be.zeros((16, 2))
    names = ("cholesky", "inv", "pinv", "lu_factor", "svd", "svdvals", "eigh", "eigvalsh", "eig", "eigvals")
    made = {n: partial(getattr(linalg, n), a) for n in names}
    return made | {
        "solve": partial(linalg.solve, a, b),
        "solve_triangular": partial(linalg.solve_triangular, a, b),
        "lstsq": partial(linalg.lstsq, a, b),
        "matrix_rank": partial(linalg.matrix_rank, a),
        "matrix_norm": partial(linalg.matrix_norm, a, ord=2),
        "matrix_power": partial(linalg.matrix_power, a, -1),
        "cond": partial(linalg.cond, a),
        "to_numpy": partial(METHODS["to_numpy"], be, a),
        "spsolve_triangular": partial(
            stator.sparse.spsolve_triangular, stator.sparse.csr_from_dense(stator.tril(a)), b
        ),
        "istft": partial(stator.fft.istft, be.zeros((33, 9), dtype="complex128"), 64, window=be.ones((64,))),
    }


@pytest.mark.parametrize("name", rows("sync"))
def test_ops_that_synchronise_say_so_where_copies_are_forbidden(be, name):
    call = looking(be).get(name) or calls(be)[name][0]
    call()
    with be.forbid_host_copies(), pytest.raises(HostCopyError, match="bytes"):
        call()
    call()


def test_synchronize_waits(be):
    before = sum(waits(be).values())
    be.synchronize()
    assert sum(waits(be).values()) > before
