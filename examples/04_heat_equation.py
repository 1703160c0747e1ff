"""The heat equation on a plate
============================

A plate has a hot edge, a cold edge and a hot spot; explicit steps in time spread the heat. Each step is written with
slices of the plate, and is added to its inside in place.
"""

from types import ModuleType
from typing import Any

SMALL = {"size": 24}


def make(np: ModuleType, size: int = 512) -> tuple[Any]:
    plate = np.zeros((size, size))
    plate[0, :] = 100
    plate[:, -1] = -50
    y, x = np.mgrid[0:size, 0:size]
    plate += 200 * np.exp(-((y - size / 3) ** 2 + (x - size / 2) ** 2) / (size / 10) ** 2)
    return (plate,)


def run(np: ModuleType, plate: Any, steps: int = 300, rate: float = 0.2) -> dict[str, Any]:
    u = plate.copy()
    for _ in range(steps):
        inside = u[1:-1, 1:-1]
        change = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * inside
        inside += rate * change
    flow_y, flow_x = np.gradient(u)
    return {"plate": u, "warmest": u[1:-1, 1:-1].max(), "flow": np.hypot(flow_y, flow_x)}


def draw(plt: Any, results: dict[str, Any]) -> None:
    plt.figure(layout="constrained")
    plt.imshow(results["plate"], cmap="inferno")
    plt.colorbar(label="temperature")
    plt.contour(results["plate"], levels=10, colors="white", linewidths=0.5)
    plt.title("The plate after the last step, with lines of equal temperature")


if __name__ == "__main__":
    from command import main

    main(__doc__, make, run, draw, SMALL)
