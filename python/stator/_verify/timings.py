"""Timings of a few dense ops against the device's copy rate, and against peers on the same operands."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Container, Iterator
from functools import partial
from typing import Any

import numpy as np

import stator
from stator._verify.machine import installed

Leg = Callable[[], Any]


def cases(be: stator.Backend, rows: int, columns: int) -> dict[str, tuple[int, Leg, Callable[[Any], Leg]]]:
    """By name: the bytes that are read and written at least, our call, and a peer's call by its namespace."""
    host = np.random.default_rng(0).uniform(0.5, 2, (rows, columns)).astype(np.float32)
    x, y, size = be.asarray(host), be.asarray(host), host.nbytes
    order = np.random.default_rng(1).permutation(rows)
    index = be.asarray(order)
    square = np.random.default_rng(2).uniform(0.5, 2, (columns, columns)).astype(np.float32)
    side = be.asarray(square)

    def peer(call: Callable[[Any, Any], Any], data: Any = host) -> Callable[[Any], Leg]:
        def of(library: Any) -> Leg:
            there = on(library, data)
            return lambda: call(library, there)

        return of

    def taken(library: Any, there: Any) -> Any:
        return there[on_cached(library, order)]

    def softmax(library: Any, there: Any) -> Any:
        if library.__name__ == "torch":
            return library.softmax(there, 1)
        top = library.exp(there - there.max(axis=1, keepdims=True))
        return top / top.sum(axis=1, keepdims=True)

    return {
        "copy": (
            2 * size,
            partial(stator.copy, x),
            peer(_copied),
        ),
        "add": (3 * size, partial(stator.add, x, y), peer(lambda lib, a: a + a)),
        "exp": (2 * size, partial(stator.exp, x), peer(lambda lib, a: lib.exp(a))),
        "sum": (size, partial(stator.sum, x), peer(lambda lib, a: lib.sum(a))),
        "sum along columns": (size, partial(stator.sum, x, axis=0), peer(lambda lib, a: lib.sum(a, 0))),
        "cumulative_sum": (2 * size, partial(stator.cumulative_sum, x, axis=1), peer(lambda lib, a: lib.cumsum(a, 1))),
        "softmax": (2 * size, partial(stator.nn.softmax, x), peer(softmax)),
        "transposed copy": (2 * size, lambda: stator.copy(x.T), peer(_transposed)),
        "take": (2 * size, partial(stator.take, x, index, axis=0), peer(taken)),
        "matmul": (
            3 * columns * columns * 4,
            partial(stator.matmul, side, side),
            peer(lambda lib, a: a @ a, square),
        ),
    }


def _copied(library: Any, there: Any) -> Any:
    return there.clone() if hasattr(there, "clone") else library.copy(there)


def _transposed(library: Any, there: Any) -> Any:
    return there.T.contiguous() if hasattr(there, "contiguous") else library.ascontiguousarray(there.T)


def on(library: Any, data: Any) -> Any:
    """Values on the device of a peer."""
    if library.__name__ == "torch":
        return library.from_numpy(np.ascontiguousarray(data)).to(_torch_device)
    return library.asarray(data)


_torch_device = "cpu"
_indices: dict[str, Any] = {}


def on_cached(library: Any, data: Any) -> Any:
    if library.__name__ not in _indices:
        _indices[library.__name__] = on(library, data)
    return _indices[library.__name__]


def peers(device: str) -> dict[str, tuple[Any, Callable[[], Any]]]:
    """The installed libraries that work on the device: module, and what waits for its work."""
    global _torch_device
    found: dict[str, tuple[Any, Callable[[], Any]]] = {}
    for name in installed():
        try:
            library = importlib.import_module(name)
            if name == "torch":
                _torch_device = "cuda" if device == "cuda" else "cpu"
                finish = library.cuda.synchronize if device == "cuda" else lambda: None
            elif device == "cuda":
                finish = library.cuda.Device().synchronize
            else:
                continue
            on(library, np.ones(3, np.float32)).sum()
            finish()
        except Exception:  # a peer that does not work here is left out
            continue
        found[name] = (library, finish)
    return found


def burst(call: Leg, finish: Callable[[], Any], count: int) -> float:
    """Seconds per call."""
    start = time.perf_counter()
    for _ in range(count):
        call()
    finish()
    return (time.perf_counter() - start) / count


def measure(
    be: stator.Backend, quick: bool, *, rows: int = 0, most: Container[str] | None = None
) -> Iterator[dict[str, Any]]:
    """One row per case; of the cases in `most` only.

    The legs take turns in each round, so that drift of the machine cancels in the ratios.
    A ratio is the median over rounds, its spread half of the distance between the quartiles. `of_copy` is the rate of
    the bytes that must be moved against that of our copy of the same array, in the same round.
    """
    rows = rows or (4096 if quick or be.device.type == "cpu" else 65536)
    made = cases(be, rows, 1024)
    others = peers(be.device.type)
    copy_bytes, copy, _ = made["copy"]
    for name, (moved, call, of) in made.items():
        if most is not None and name not in most:
            continue
        legs: dict[str, tuple[Leg, Callable[[], Any]]] = {"ours": (call, be.synchronize)}
        if name != "copy":
            legs["copy"] = (copy, be.synchronize)
        for peer, (library, finish) in others.items():
            legs[peer] = (of(library), finish)
        counts = {}
        for leg, (run, finish) in legs.items():
            burst(run, finish, 2)
            counts[leg] = int(min(max(0.01 / max(burst(run, finish, 1), 1e-7), 1), 200))
        seen: dict[str, list[float]] = {leg: [] for leg in legs}
        for k in range(5 if quick else 9):
            for leg in list(legs)[:: -1 if k % 2 else 1]:
                seen[leg].append(burst(*legs[leg], counts[leg]))
        mine = np.array(seen["ours"])
        floor = np.array(seen.get("copy", seen["ours"])) * moved / copy_bytes
        row: dict[str, Any] = {"case": name, "microseconds": float(np.median(mine) * 1e6)}
        row["gigabytes_per_second"] = moved / float(np.median(mine)) / 1e9
        row["of_copy"] = _ratio(floor / mine)
        row["peers"] = {peer: _ratio(np.array(seen[peer]) / mine) for peer in others}
        yield row


def _ratio(values: Any) -> list[float]:
    low, middle, high = np.percentile(values, [25, 50, 75])
    return [float(middle), float((high - low) / 2)]
