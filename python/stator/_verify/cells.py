"""The cells of the verification, and how one is run."""

from __future__ import annotations

import traceback
from dataclasses import asdict, dataclass
from typing import Any

import stator
from stator._catalogue import entries
from stator._catalogue.given import FLOATING, WIDER, Cell, Given, function, table
from stator._verify.compare import Contract, Part, compare, parts

QUICK_LAYOUTS = ("contiguous", "transposed", "offset", "empty")
QUICK_DTYPES = ("float32", "float16", "int32", "complex64", "bool")


def plan(
    *,
    quick: bool = False,
    ops: list[str] | None = None,
    dtypes: list[str] | None = None,
    layouts: list[str] | None = None,
) -> list[Cell]:
    """The cells in the order in which they run. Lists choose; None chooses all.

    Those with large operands come last, and of these one dtype of every op before the others, since time may be short.

    quick: two dtypes of each op, in four layouts.
    """
    found: list[tuple[int, Cell]] = []  # the turn of a cell, and the cell
    for name, row in table().items():
        if name not in entries() or (ops and name not in ops):
            continue
        kinds = row["dtypes"]
        first = [d for d in QUICK_DTYPES if d in kinds]
        order = [*first, *(d for d in kinds if d not in first)]
        for dtype in order[:2] if quick else kinds:
            if dtypes and dtype not in dtypes:
                continue
            for layout in layouts_of(name, dtype):
                if (layout in layouts) if layouts else (not quick or layout in QUICK_LAYOUTS):
                    found.append((1 + order.index(dtype) if layout == "large" else 0, Cell(name, dtype, layout)))
    return [cell for _, cell in sorted(found, key=lambda pair: pair[0])]


def layouts_of(name: str, dtype: str) -> tuple[str, ...]:
    """The layouts of an op in a dtype: special values are those of real floats."""
    special = dtype in FLOATING and not dtype.startswith("complex")
    return tuple(x for x in entries()[name].layouts if special or x != "special")


@dataclass
class Outcome:
    """What came of a cell. error: the worst one in units of the contract's bound. failed: the reason, or nothing."""

    op: str
    dtype: str
    layout: str
    error: float = 0.0
    failed: str = ""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


class Runner:
    """Runs cells on a device, and on the cpu for the references, of which it keeps the last ones.

    The cpu's results are compared with those for wider operands too, so that a wrong reference shows.
    """

    def __init__(self, device: stator.Backend, cpu: stator.Backend, seed: int) -> None:
        self.device, self.cpu, self.seed = device, cpu, seed
        limits = device.devices.properties()
        self.threads = max(limits["multiprocessors"], 1) * 2048 if device.device.type == "cuda" else 1 << 16
        self.kept: tuple[Cell | None, list[Part], list[Part] | None] = (None, [], None)

    def _call(self, be: stator.Backend, cell: Cell, *, wide: bool = False, laid: bool = False) -> list[Part]:
        with be.use():
            given = Given(be, cell, self.seed, self.threads, wide=wide, laid=laid)
            found = list(parts(entries()[cell.op].call(function(cell.op), given)))
            be.synchronize()
            return found

    def references(self, cell: Cell) -> tuple[list[Part], list[Part] | None]:
        """The cpu's results for contiguous operands, in the cell's dtype and, if that says more, in a wider one."""
        alike = {"transposed", "strided", "reversed", "offset"}
        key = Cell(cell.op, cell.dtype, "contiguous" if cell.layout in alike else cell.layout)
        if self.kept[0] != key:
            same = self._call(self.cpu, key)
            contract = Contract.of(table()[cell.op])
            widens = entries()[cell.op].wide and cell.dtype in WIDER and self._widens(cell)
            wide = self._call(self.cpu, key, wide=True) if widens and not contract.exact else None
            self.kept = (key, same, wide)
        return self.kept[1], self.kept[2]

    def _widens(self, cell: Cell) -> bool:
        return WIDER[cell.dtype] in table()[cell.op]["dtypes"]

    def run(self, cell: Cell) -> Outcome:
        """Runs one cell; whatever goes wrong is in the outcome."""
        outcome = Outcome(cell.op, cell.dtype, cell.layout)
        contract = Contract.of(table()[cell.op])
        try:
            same, wide = self.references(cell)
            got = self._call(self.device, cell, laid=True)
            verdict = compare(contract, got, same, wide)
            outcome.error, outcome.failed = verdict.error, verdict.message
            if wide is not None and not outcome.failed:
                own = compare(contract, same, same, wide)
                outcome.failed = own.message and f"on the cpu: {own.message}"
        except Exception as error:  # the outcome has it, and the next cell runs
            where = traceback.extract_tb(error.__traceback__)[-1]
            outcome.failed = f"{type(error).__name__}: {error} ({where.name}, line {where.lineno})"
            outcome.error = float("inf")
        return outcome


__all__ = ["Outcome", "Runner", "plan"]
