"""Residuals of linear algebra next to those of NumPy and SciPy: python -m benchmarks.factorisations [--write PAGE].

--write replaces only the section on factorisations in the page that benchmarks.accuracy writes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import stator

from .page import write_section

SIZES = (2, 32, 33, 257)
DTYPES = ("float32", "float64", "complex64", "complex128")
TITLE = "## Factorisations"
NEXT = "## Outside the contract"
INTRODUCTION = """
Largest residual of three random matrices (normal entries; one of 257 rows), in units of eps of the dtype, computed in
long double (float32 and complex64: float64): stator's, then the other library's on the same matrices. Norms are
Frobenius's; orth(Q) is |Q^H Q - I| / sqrt(k), and the larger of two residuals is shown where there are two.
numpy.linalg computes float32 in float64 and complex64 in complex128, and rounds the results.
""".strip()

Arrays = list[np.ndarray]
Run = Callable[..., Any]


def adjoint(x: np.ndarray) -> np.ndarray:
    return np.conj(np.swapaxes(x, -1, -2))


def norm(x: np.ndarray) -> np.ndarray:
    return np.sqrt(np.sum(np.abs(x) ** 2, axis=(-2, -1)))


def orth(q: np.ndarray) -> np.ndarray:
    k = q.shape[-1]
    return norm(adjoint(q) @ q - np.eye(k)) / np.sqrt(k)


def cholesky(a: np.ndarray, factor: np.ndarray) -> np.ndarray:
    return norm(factor @ adjoint(factor) - a) / norm(a)


def lu(a: np.ndarray, p: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    return norm(p @ lower @ upper - a) / norm(a)


def qr(a: np.ndarray, q: np.ndarray, r: np.ndarray) -> np.ndarray:
    return np.maximum(norm(q @ r - a) / norm(a), orth(q))


def svd(a: np.ndarray, u: np.ndarray, s: np.ndarray, vh: np.ndarray) -> np.ndarray:
    parts = norm((u * s[..., None, :]) @ vh - a) / norm(a), orth(u), orth(adjoint(vh))
    return np.maximum.reduce(parts)


def eigh(a: np.ndarray, w: np.ndarray, v: np.ndarray) -> np.ndarray:
    return np.maximum(norm(a @ v - v * w[..., None, :]) / norm(a), orth(v))


def eig(a: np.ndarray, w: np.ndarray, v: np.ndarray) -> np.ndarray:
    return norm(a @ v - v * w[..., None, :]) / norm(a)


def solve(a: np.ndarray, b: np.ndarray, x: np.ndarray) -> np.ndarray:
    return norm(a @ x - b) / (norm(a) * norm(x) + norm(b))


def inv(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    return norm(a @ x - np.eye(a.shape[-1])) / (norm(a) * norm(x))


def lstsq(a: np.ndarray, b: np.ndarray, x: np.ndarray) -> np.ndarray:
    return norm(adjoint(a) @ (a @ x - b)) / (norm(a) * (norm(a) * norm(x) + norm(b)))


def expm(a: np.ndarray, forth: np.ndarray, back: np.ndarray) -> np.ndarray:
    return norm(forth @ back - np.eye(a.shape[-1])) / (norm(forth) * norm(back))


def draw(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    x = rng.normal(size=shape)
    return (x + 1j * rng.normal(size=shape) if dtype.startswith("complex") else x).astype(dtype)


def general(rng: np.random.Generator, count: int, n: int, dtype: str) -> Arrays:
    return [draw(rng, (count, n, n), dtype)]


def hermitian(rng: np.random.Generator, count: int, n: int, dtype: str) -> Arrays:
    (a,) = general(rng, count, n, dtype)
    return [(a + adjoint(a)).astype(dtype)]


def positive(rng: np.random.Generator, count: int, n: int, dtype: str) -> Arrays:
    (a,) = general(rng, count, n, dtype)
    return [(a @ adjoint(a) + np.eye(n)).astype(dtype)]


def system(rng: np.random.Generator, count: int, n: int, dtype: str) -> Arrays:
    return [*general(rng, count, n, dtype), draw(rng, (count, n, 2), dtype)]


def tall(rng: np.random.Generator, count: int, n: int, dtype: str) -> Arrays:
    return [draw(rng, (count, 2 * n, n), dtype), draw(rng, (count, 2 * n, 2), dtype)]


def each(f: Run) -> Run:
    """A function of single matrices as one of batches."""

    def run(*arrays: np.ndarray) -> Any:
        results = [f(*some) for some in zip(*arrays, strict=True)]
        return tuple(map(np.stack, zip(*results, strict=True))) if isinstance(results[0], tuple) else np.stack(results)

    return run


def _scipy(name: str) -> Run:
    import scipy.linalg

    return getattr(scipy.linalg, name)


L = stator.linalg
# Inputs, the residual and its definition, stator's call, the other library's name and call.
CASES: dict[str, tuple[Callable[..., Arrays], Run, str, Run, str, Run]] = {
    "cholesky": (positive, cholesky, "\\|A - L L^H\\| / \\|A\\|", L.cholesky, "NumPy", np.linalg.cholesky),
    "lu": (general, lu, "\\|A - P L U\\| / \\|A\\|", L.lu, "SciPy", each(lambda a: _scipy("lu")(a))),
    "qr": (general, qr, "\\|A - Q R\\| / \\|A\\|, orth(Q)", L.qr, "NumPy", np.linalg.qr),
    "svd": (
        general,
        svd,
        "\\|A - U S V^H\\| / \\|A\\|, orth(U), orth(V)",
        lambda a: L.svd(a, full_matrices=False),
        "NumPy",
        lambda a: np.linalg.svd(a, full_matrices=False),
    ),
    "eigh": (hermitian, eigh, "\\|A V - V W\\| / \\|A\\|, orth(V)", L.eigh, "NumPy", np.linalg.eigh),
    "eig": (general, eig, "\\|A V - V W\\| / \\|A\\|", L.eig, "NumPy", np.linalg.eig),
    "solve": (system, solve, "\\|A x - b\\| / (\\|A\\| \\|x\\| + \\|b\\|)", L.solve, "NumPy", np.linalg.solve),
    "inv": (general, inv, "\\|A X - I\\| / (\\|A\\| \\|X\\|)", L.inv, "NumPy", np.linalg.inv),
    "lstsq": (
        tall,
        lstsq,
        "\\|A^H (A x - b)\\| / (\\|A\\| (\\|A\\| \\|x\\| + \\|b\\|)), A of 2 n rows",
        lambda a, b: L.lstsq(a, b).x,
        "NumPy",
        each(lambda a, b: np.linalg.lstsq(a, b, rcond=None)[0]),
    ),
    "expm": (
        general,
        expm,
        "\\|e^A e^-A - I\\| / (\\|e^A\\| \\|e^-A\\|), A / sqrt(n)",
        lambda a: (L.expm(a), L.expm(-a)),
        "SciPy",
        lambda a: (_scipy("expm")(a), _scipy("expm")(-a)),
    ),
}


def wider(x: np.ndarray) -> np.ndarray:
    """The array in the dtype that residuals are computed in."""
    name = {"f": np.float64, "d": np.longdouble, "F": np.complex128, "D": np.clongdouble}
    return x.astype(name.get(x.dtype.char, x.dtype))


def residual(be: stator.Backend, name: str, n: int, dtype: str) -> tuple[float, float]:
    """The residuals of stator and of the other library, in units of eps."""
    make, measure, _, ours, _, theirs = CASES[name]
    inputs = make(np.random.default_rng(n), 1 if n > 100 else 3, n, dtype)
    if name == "expm":
        inputs = [(inputs[0] / n**0.5).astype(dtype)]
    found = ours(*map(be.asarray, inputs))
    got = [x.to_numpy() for x in (found if isinstance(found, tuple) else (found,))]
    want = theirs(*inputs)
    eps = float(np.finfo(dtype).eps)
    return tuple(
        float(np.max(measure(*map(wider, inputs), *map(wider, some)))) / eps
        for some in (got, want if isinstance(want, tuple) else (want,))
    )


def section(be: stator.Backend) -> list[str]:
    """The lines of the section."""
    head = ("op", "dtype", *(f"n = {n}" for n in SIZES), "beside", *(f"n = {n}" for n in SIZES))
    lines = [TITLE, "", *INTRODUCTION.splitlines(), "", "| op | residual |", "| --- | --- |"]
    lines += [f"| {name} | {case[2]} |" for name, case in CASES.items()]
    lines += ["", "| " + " | ".join(head) + " |", "| " + " | ".join(["---"] * len(head)) + " |"]
    for name, case in CASES.items():
        for dtype in DTYPES:
            pairs = [residual(be, name, n, dtype) for n in SIZES]
            ours, theirs = ([f"{pair[k]:.2f}" for pair in pairs] for k in (0, 1))
            lines.append("| " + " | ".join((name, dtype, *ours, case[4], *theirs)) + " |")
    return lines


def replaced(page: str, lines: list[str]) -> str:
    """The page with these lines in place of its section, or before its last section."""
    before, _, after = page.partition(NEXT)
    before = before.partition(TITLE)[0]
    return before.rstrip() + "\n\n" + "\n".join(lines) + "\n\n" + NEXT + after


def main() -> int:
    return write_section("python -m benchmarks.factorisations", __doc__, section, replaced)


if __name__ == "__main__":
    raise SystemExit(main())
