"""Errors of ops that add the terms of a sum one after the other: python -m benchmarks.long_sums [--write PAGE].

--write replaces only the last section of the page that benchmarks.accuracy writes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import stator
from stator import sparse

from .page import write_section
from .table import TABLE, tolerance

SIZES = (10**4, 10**5, 10**6)
DTYPES = ("float32", "float64")
SEEDS = range(3)
TITLE = "### Long lines"
INTRODUCTION = """
These add the terms of a result one by one in the working precision, so that the error grows with the root of their
number, and faster where many alike round the same way. The largest error of three sums of that many products (or
values) of uniform numbers in [0, 1), against long double; the contract is that of the op's entry in ops.def, which
grows by half a unit with each term, as it does for all ops that add up products or values in any order: those of
libraries, whose order is not known, and these.
""".strip()


def one_row(be: stator.Backend, values: np.ndarray) -> sparse.CSR:
    n = values.size
    parts = (values, np.arange(n), np.array([0, n]))
    return sparse.CSR(*map(be.asarray, parts), (1, n), is_sorted=True, is_coalesced=True)


def spgemm(be: stator.Backend, x: np.ndarray, y: np.ndarray) -> stator.Array:
    return (one_row(be, x) @ one_row(be, y).T).to_dense()


def packed(be: stator.Backend, x: np.ndarray, y: np.ndarray) -> stator.Array:
    """A 2:4 operand: two of four elements are 0, so that it is twice as long as the number of terms."""
    both = [np.stack([v, np.zeros_like(v)], axis=1).reshape(-1, 1) for v in (x, y)]
    return sparse.matmul_2to4(be.asarray(both[0].T), sparse.compress(be.asarray(both[1]), axis=0))


def scattered(op: Callable[..., stator.Array]) -> Callable[..., stator.Array]:
    def call(be: stator.Backend, x: np.ndarray, y: np.ndarray) -> stator.Array:
        return op(be.zeros(1, dtype=x.dtype.name), 0, be.zeros(x.size, dtype="int64"), be.asarray(x))

    return call


def segment_sum(be: stator.Backend, x: np.ndarray, y: np.ndarray) -> stator.Array:
    return stator.segment_sum(be.asarray(x), be.zeros(x.size, dtype="int64"), 1)


# For each op: the call, whether it sums products, and the op whose entry states the bound.
CASES = {
    "sparse.spgemm": (spgemm, True, "spgemm"),
    "sparse.matmul_2to4": (packed, True, "matmul_2to4"),
    "segment_sum": (segment_sum, False, "segment_sum"),
    "scatter_add": (scattered(stator.scatter_add), False, "scatter_add"),
    "index_add": (scattered(stator.index_add), False, "index_add"),
}


def error(be: stator.Backend, name: str, n: int, dtype: str) -> float:
    call, products, _ = CASES[name]
    worst = 0.0
    for seed in SEEDS:
        x, y = np.random.default_rng(seed).random((2, n)).astype(dtype)
        want = np.sum(x.astype(np.longdouble) * (y if products else 1))
        got = call(be, x, y).to_numpy().item()
        worst = max(worst, float(abs(got - want) / np.spacing(want.astype(dtype))))
    return worst


def section(be: stator.Backend) -> list[str]:
    """The lines of the section."""
    head = ("op", "dtype", *(f"n = {n:.0e}".replace("+0", "") for n in SIZES), "contract")
    lines = [TITLE, "", *INTRODUCTION.splitlines(), ""]
    lines += ["| " + " | ".join(head) + " |", "| " + " | ".join(["---"] * len(head)) + " |"]
    for name, (_, _, row) in CASES.items():
        for k, dtype in enumerate(DTYPES):
            errors = [f"{error(be, name, n, dtype):.2f}" for n in SIZES]
            contract = f"{tolerance(row)[k]:g} + {TABLE[row]['error_per_term']:g} n"
            lines.append("| " + " | ".join((name, dtype, *errors, contract)) + " |")
    return lines


def replaced(page: str, lines: list[str]) -> str:
    """The page with these lines as its last section."""
    return "\n".join([page.partition(TITLE)[0].rstrip(), "", *lines, ""])


def main() -> int:
    return write_section("python -m benchmarks.long_sums", __doc__, section, replaced)


if __name__ == "__main__":
    raise SystemExit(main())
