"""Ratios against peers, measured in one run: python -m benchmarks [--device cpu|cuda] [--quick] [--json]."""

from __future__ import annotations

import argparse
import csv
import importlib
import json
import os
import platform
import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

import stator

from .cases import cases
from .timing import paired


def peers_for(device: str, wanted: list[str]) -> dict[str, object]:
    """NumPy on the CPU; torch where it is installed; CuPy on a GPU."""
    found: dict[str, object] = {}
    for name in ["numpy", "torch"] if device == "cpu" else ["torch", "cupy"]:
        if wanted and name not in wanted:
            continue
        try:
            found[name] = importlib.import_module(name)
        except ImportError:
            continue
    if "torch" in found:
        found["torch"].set_num_threads(os.cpu_count() or 1)
    return found


def wait_for(be: stator.Backend, peers: dict[str, object]) -> dict:
    """What waits for each library's device."""
    finish = {"ours": be.synchronize, "numpy": lambda: None}
    if "torch" in peers:
        finish["torch"] = peers["torch"].cuda.synchronize if be.device.type == "cuda" else (lambda: None)
    if "cupy" in peers:
        finish["cupy"] = peers["cupy"].cuda.Device().synchronize
    return finish


def copy_bandwidth(be: stator.Backend) -> float:
    """Bytes a second of our own large copy, read and written, the floor of memory-bound ops in this run."""
    x = be.zeros(((1 << 24) if be.device.type == "cpu" else (1 << 28),), dtype="float32")
    best = float("inf")
    for _ in range(5):
        be.synchronize()
        start = time.perf_counter()
        stator.copy(x)
        be.synchronize()
        best = min(best, time.perf_counter() - start)
    return 2 * x.nbytes / best


def valid(case) -> bool:
    """The result against NumPy's, before anything is timed."""
    got = np.asarray(case.ours().to_numpy(), dtype=np.float64)
    return np.allclose(got, np.asarray(case.reference(), dtype=np.float64), rtol=case.tolerance, atol=case.tolerance)


def measure(be, args, console) -> list[dict]:
    peers = peers_for(be.device.type, args.peers)
    finish = wait_for(be, peers)
    bandwidth = copy_bandwidth(be)
    rounds, seconds = (5, 0.01) if args.quick else (9, 0.04)
    rows = []
    table = list(cases(be, args.quick, {}))
    chosen = [c.name for c in table if args.only in c.name]
    del table
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("benchmarks", total=len(chosen))
        for case in cases(be, args.quick, peers):
            if args.only not in case.name:
                continue
            progress.update(task, advance=1, description=case.name)
            row = {
                "case": case.name,
                "op": case.op,
                "dtype": case.dtype,
                "size": case.size,
                "layout": case.layout,
                "valid": valid(case),
            }
            if row["valid"]:
                t = paired(case.ours, case.peers, finish, rounds=rounds, burst_seconds=seconds)
                row |= {"ours_us": t.ours, "floor_us": case.bytes / bandwidth * 1e6}
                for name, ratio in t.ratio.items():
                    row |= {f"{name}_us": t.peers[name], f"r_{name}": ratio, f"r_{name}_pm": t.spread[name]}
            rows.append(row)
    return rows


def summary(rows: list[dict], peer: str) -> dict:
    ratios = {r["case"]: r[f"r_{peer}"] for r in rows if f"r_{peer}" in r}
    if not ratios:
        return {}
    worst = sorted(ratios, key=ratios.__getitem__)[:10]
    by_size = {}
    for size in sorted({r["size"] for r in rows}):
        some = [r[f"r_{peer}"] for r in rows if r["size"] == size and f"r_{peer}" in r]
        by_size[str(size)] = float(np.exp(np.mean(np.log(some)))) if some else None
    return {
        "peer": peer,
        "cases": len(ratios),
        "geomean": float(np.exp(np.mean(np.log(list(ratios.values()))))),
        "by_size": by_size,
        "worst": {w: ratios[w] for w in worst},
    }


def show(console: Console, rows: list[dict], peers: list[str]) -> None:
    table = Table(title="time of the peer / time of stator (median of paired rounds)")
    for column in ("case", "ours", "floor", *peers):
        table.add_column(column, justify="left" if column == "case" else "right")
    for r in rows:
        if not r["valid"]:
            table.add_row(r["case"], "WRONG", "", *[""] * len(peers))
            continue
        cells = [f"{r[f'r_{p}']:.2f} ± {r[f'r_{p}_pm']:.2f}" if f"r_{p}" in r else "" for p in peers]
        table.add_row(r["case"], f"{r['ours_us']:.1f} us", f"{r['floor_us']:.1f}", *cells)
    console.print(table)


def write(folder: Path, rows: list[dict], report: dict) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    columns = list(dict.fromkeys(k for r in rows for k in r))
    with (folder / f"{report['device'].replace(':', '')}.csv").open("w", newline="") as f:
        writer = csv.DictWriter(f, columns)
        writer.writeheader()
        writer.writerows({k: round(v, 4) if isinstance(v, float) else v for k, v in r.items()} for r in rows)
    (folder / f"{report['device'].replace(':', '')}.json").write_text(json.dumps(report, indent=1) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--quick", action="store_true", help="one dtype an op, short bursts: at most 3 minutes")
    parser.add_argument("--json", action="store_true", help="print one object: cases, geomean, worst")
    parser.add_argument("--out", type=Path, help="write CSV and JSON there")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--peers", nargs="*", default=[], help="numpy, torch, cupy; default: those installed")
    args = parser.parse_args()
    console = Console(stderr=args.json)
    with stator.Backend(args.device) as be:
        rows = measure(be, args, console)
        device, column = str(be.device), be.kernels
    peers = sorted({k[2:] for r in rows for k in r if k.startswith("r_") and not k.endswith("_pm")})
    report = {
        "device": device,
        "column": column,
        "machine": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "versions": {"stator": stator.__version__, "numpy": np.__version__, "python": platform.python_version()},
        "wrong": [r["case"] for r in rows if not r["valid"]],
        "summary": [summary(rows, p) for p in peers],
    }
    if args.out:
        write(args.out, rows, report)
    if args.json:
        first = report["summary"][0] if report["summary"] else {}
        print(json.dumps(report | {"cases": rows, "geomean": first.get("geomean"), "worst": first.get("worst")}))
    else:
        show(console, rows, peers)
        console.print_json(json.dumps(report))
    return 1 if report["wrong"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
