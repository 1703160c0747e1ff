"""Figures of telemetry: their names, sums and differences, and the text format of Prometheus."""

from __future__ import annotations

from typing import Any

Figures = dict[str, Any]
Snapshot = dict[str, Any]

COUNTERS = {
    "calls": "Calls of users.",
    "dispatches": "Calls that enqueued work.",
    "untimed_dispatches": "Calls that enqueued work whose time on the device is not known.",
    "kernel_launches": "Launches of kernels, those into graphs included.",
    "library_calls": "Calls of vendor libraries that enqueue work.",
    "graph_launches": "Launches of graphs.",
    "copies": "Copies.",
    "fills": "Fills.",
    "allocations": "Allocations of the runtime, without those that the pool served from its cache.",
    "synchronisations": "Waits of the host for the device.",
    "h2d_bytes": "Bytes copied from the host to the device.",
    "d2h_bytes": "Bytes copied from the device to the host.",
    "d2d_bytes": "Bytes copied within the device.",
    "thread_slots": "Threads of kernel launches.",
    "idle_thread_slots": "Threads of kernel launches beyond the number of elements.",
    "wall_seconds": "Time of the host from the beginning of calls to their end.",
    "device_seconds": "Time of the device from the beginning of the work of calls to its end.",
}
MAXIMA = {
    "longest_wall_seconds": "The longest call on the host.",
    "longest_device_seconds": "The longest work of a call on the device.",
}
CACHE_COUNTERS = {"hits": "Look-ups that found an entry.", "misses": "Look-ups that made one."}
NO_CALL = "(none)"  # what no call of a user did


def total(ops: dict[str, Figures]) -> Figures:
    out: Figures = {}
    for key in COUNTERS:
        values = [figures[key] for figures in ops.values()]
        out[key] = None if None in values else sum(values)
    for key in MAXIMA:
        out[key] = max((figures[key] for figures in ops.values()), default=0.0)
    return out


def difference(before: Figures, after: Figures) -> Figures:
    out: Figures = {}
    for key in COUNTERS:
        known = before[key] is not None and after[key] is not None
        out[key] = after[key] - before[key] if known else None
    for key in MAXIMA:
        out[key] = after[key] if after[key] > before[key] else None
    return out


def cache_difference(before: Figures | None, after: Figures) -> Figures:
    counts = {key: max(after[key] - (before[key] if before else 0), 0) for key in CACHE_COUNTERS}
    return {**counts, "entries": after["entries"]}


def prometheus(found: Snapshot) -> str:
    """A snapshot in the text format of Prometheus. What is not known is left out."""
    device = found["device"]
    lines: list[str] = []

    def family(name: str, text: str, kind: str, label: str, values: dict[str, Any]) -> None:
        known = {key: value for key, value in values.items() if value is not None}
        if known:
            lines.extend((f"# HELP {name} {text}", f"# TYPE {name} {kind}"))
        for key, value in known.items():
            lines.append(f'{name}{{device="{_escaped(device)}",{label}="{_escaped(key)}"}} {value}')

    def column(table: dict[str, Figures], key: str) -> dict[str, Any]:
        return {name: figures[key] for name, figures in table.items()}

    for key, text in COUNTERS.items():
        family(f"stator_{key}_total", text, "counter", "op", column(found["ops"], key))
    for key, text in MAXIMA.items():
        family(f"stator_{key}", text, "gauge", "op", column(found["ops"], key))
    for key, text in CACHE_COUNTERS.items():
        family(f"stator_cache_{key}_total", text, "counter", "cache", column(found["caches"], key))
    family("stator_cache_entries", "Entries that are kept.", "gauge", "cache", column(found["caches"], "entries"))
    return "\n".join([*lines, ""])


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
