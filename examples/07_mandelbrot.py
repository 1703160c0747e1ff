"""The Mandelbrot set
==================

Counts after how many steps each point of the plane escapes. Masks of the points that have not escaped choose what is
computed, so it shows indexing by masks, assignment through them, and complex numbers.
"""

from types import ModuleType
from typing import Any

SMALL = {"height": 20, "width": 30}


def make(np: ModuleType, height: int = 400, width: int = 600) -> tuple[Any]:
    x = np.linspace(-2.2, 0.8, width)
    y = np.linspace(-1.2, 1.2, height)
    return (x[None, :] + 1j * y[:, None],)


def run(np: ModuleType, c: Any, steps: int = 60) -> dict[str, Any]:
    z = np.zeros_like(c)
    escaped = np.full(c.shape, steps)
    inside = np.ones(c.shape, dtype=bool)
    for step in range(steps):
        z[inside] = z[inside] ** 2 + c[inside]
        out = inside & (np.abs(z) > 2)
        escaped[out] = step
        inside &= ~out
    counts, _ = np.histogram(escaped, bins=steps + 1, range=(0, steps + 1))
    return {"escaped": escaped, "inside": inside.mean(), "counts": counts}


def draw(plt: Any, results: dict[str, Any]) -> None:
    plt.figure(figsize=(8, 5), layout="constrained")
    plt.imshow(results["escaped"] + 1, cmap="magma", norm="log", extent=(-2.2, 0.8, -1.2, 1.2), origin="lower")
    plt.colorbar(label="steps until a point escapes, and 1")
    plt.title(f"{float(results['inside']):.1%} of the points never escape")


if __name__ == "__main__":
    from command import main

    main(__doc__, make, run, draw, SMALL)
