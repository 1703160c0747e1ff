"""A climate in chunks
===================

Monthly temperatures of a grid are a dask array whose chunks are made on the device, one after another, so the whole
series never has to fit there. dask calls stator on each chunk and joins the parts: the mean year, the departures from
it, and the trend of every cell. The trend that was put in is found again.
"""

from typing import Any

import dask
import dask.array as da
import numpy as np
from numpy.typing import NDArray

import stator

SMALL = {"years": 6, "rows": 8, "columns": 12}


def make(years: int = 40, rows: int = 60, columns: int = 120) -> tuple[NDArray[Any], NDArray[Any], int]:
    """The true trend of each cell in degrees a year, how far north it is, and the number of years."""
    north, east = np.mgrid[-1 : 1 : rows * 1j, -1 : 1 : columns * 1j]
    return 0.02 + 0.04 * north**2 * (1 + 0.5 * np.sin(3 * np.pi * east)), north, years


def series(trend: NDArray[Any], north: NDArray[Any], years: int, years_of_chunk: int = 5) -> Any:
    """A dask array (years, 12, rows, columns) of chunks that are NumPy's until they are computed."""

    def block(block_info: dict[None, dict[str, list[tuple[int, int]]]]) -> NDArray[Any]:
        (first, last), *_ = block_info[None]["array-location"]
        year, month = np.arange(first, last)[:, None, None, None], np.arange(12)[:, None, None]
        season = 15 * north * np.cos(2 * np.pi * month / 12)
        noise = np.random.default_rng(first).normal(scale=1.5, size=(last - first, 12, *north.shape))
        made: NDArray[Any] = 25 - 30 * north**2 - season + trend * year + noise
        return made

    chunks = tuple(min(years_of_chunk, years - y) for y in range(0, years, years_of_chunk)), 12, *north.shape
    return da.map_blocks(block, chunks=chunks, dtype="float64", meta=np.empty((0,) * 4))


def run(be: stator.Backend, trend: NDArray[Any], north: NDArray[Any], years: int) -> dict[str, Any]:
    t = series(trend, north, years).map_blocks(be.asarray, meta=be.zeros((0,) * 4, dtype="float64"))
    departures = t - t.mean(axis=0, keepdims=True)
    time = be.arange(years, dtype="float64") - (years - 1) / 2
    slopes = da.tensordot(da.from_array(time, chunks=t.chunks[0]), departures.mean(axis=1), axes=1) / (time @ time)
    parts = slopes, departures.mean(axis=(1, 2, 3)), t.mean(axis=0).mean(axis=2), departures.std()
    slopes, yearly, seasons, spread = dask.compute(*parts, scheduler="synchronous")
    true = be.asarray(trend)
    return {
        "trend": slopes,
        "true trend": true,
        "error of trend": stator.sqrt(stator.mean((slopes - true) ** 2)),
        "yearly": yearly,
        "seasons": seasons,
        "spread": spread,
        "chunks": t.npartitions,
    }


def draw(plt: Any, results: dict[str, Any]) -> None:
    _, axes = plt.subplots(2, 2, figsize=(10, 6), layout="constrained")
    (found, true), (yearly, seasons) = axes
    for ax, name in ((found, "trend"), (true, "true trend")):
        image = ax.imshow(results[name], cmap="YlOrRd", origin="lower", vmin=0, vmax=0.09, aspect="auto")
        ax.set(title=f"{name.capitalize()}, degrees a year", xticks=[], yticks=[])
    plt.colorbar(image, ax=(found, true))
    yearly.plot(results["yearly"], "o-", markersize=3)
    yearly.set(xlabel="year", title="Mean departure from the mean year")
    plt.colorbar(seasons.imshow(results["seasons"].T, cmap="coolwarm", origin="lower", aspect="auto"))
    seasons.set(xlabel="month", ylabel="row", title="The mean year")


if __name__ == "__main__":
    from command import on_device

    on_device(__doc__, make, run, draw, SMALL)
