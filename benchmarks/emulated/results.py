"""The results of a run as files: emulated.csv, a row of counters for each case, and emulated.json about the device."""

from __future__ import annotations

import csv
import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from .counted import Counted

COMMITTED = Path(__file__).resolve().parents[1] / "results"
CUB = "CUB "  # begins the names of cases that are not stator's


@dataclass(frozen=True)
class Device:
    """What a run was on: bytes_per_second of its memory and instructions_per_second of its warps are the most."""

    device: str
    multiprocessors: int
    bytes_per_second: float
    instructions_per_second: float


@dataclass(frozen=True)
class Results:
    device: Device
    rows: list[Counted]


def _value(kind: str, text: str) -> Any:
    if kind == "str":
        return text
    return int(text) if kind == "int" else float(text) if text else None


def read(folder: Path) -> Results:
    device = Device(**json.loads((folder / "emulated.json").read_text()))
    kinds = {field.name: str(field.type) for field in fields(Counted)}
    with (folder / "emulated.csv").open(newline="") as f:
        rows = [Counted(**{name: _value(kinds[name], text) for name, text in row.items()}) for row in csv.DictReader(f)]
    return Results(device, rows)


def write(folder: Path, results: Results) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "emulated.json").write_text(json.dumps(asdict(results.device), indent=2) + "\n")
    with (folder / "emulated.csv").open("w", newline="") as f:
        writer = csv.DictWriter(f, [field.name for field in fields(Counted)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(map(asdict, results.rows))
