"""Poisson's equation by conjugate gradients
=========================================

Solves Poisson's equation on a grid without a matrix: the solver only asks for the five-point differences of a grid,
which slices give. The host reads one number per step, to know when it is done.
"""

from types import ModuleType
from typing import Any

SMALL = {"size": 12}


def make(np: ModuleType, size: int = 200) -> tuple[Any]:
    y, x = np.meshgrid(np.linspace(0, 1, size), np.linspace(0, 1, size), indexing="ij")
    return (np.sin(3 * np.pi * x) * np.cos(2 * np.pi * y) + np.where((x - 0.5) ** 2 + y**2 < 0.1, 5.0, 0.0),)


def laplacian(np: ModuleType, u: Any) -> Any:
    """Minus the five-point differences of a grid whose border is 0."""
    wide = np.pad(u, 1)
    return 4 * u - wide[:-2, 1:-1] - wide[2:, 1:-1] - wide[1:-1, :-2] - wide[1:-1, 2:]


def run(np: ModuleType, source: Any, tolerance: float = 1e-8, most: int = 1000) -> dict[str, Any]:
    u = np.zeros_like(source)
    r = source - laplacian(np, u)
    p = r.copy()
    rho = np.vdot(r, r)
    enough = tolerance**2 * float(np.vdot(source, source))
    steps, history = 0, [rho]
    while float(rho) > enough and steps < most:
        q = laplacian(np, p)
        alpha = rho / np.vdot(p, q)
        u += alpha * p
        r -= alpha * q
        before, rho = rho, np.vdot(r, r)
        p = r + (rho / before) * p
        steps += 1
        history.append(rho)
    residual = np.linalg.norm(source - laplacian(np, u))
    return {"u": u, "steps": steps, "residual": residual, "history": np.sqrt(np.stack(history))}


def draw(plt: Any, results: dict[str, Any]) -> None:
    _, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
    plt.colorbar(left.imshow(results["u"], cmap="RdBu_r", origin="lower"))
    left.set(title="The solution")
    right.semilogy(results["history"])
    right.set(xlabel="step", title="Norm of the residual")


if __name__ == "__main__":
    from command import main

    main(__doc__, make, run, draw, SMALL)
