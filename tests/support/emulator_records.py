"""What emulated devices count, by the functions of csrc/emulator/runtime/record.hpp and the files that it describes.

Needs STATOR_EMULATE in the environment before stator is imported.
"""

from __future__ import annotations

import ctypes
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from emulated import library


class _Launch(ctypes.Structure):
    _fields_ = (
        ("kernel", ctypes.c_char_p),
        ("device", ctypes.c_uint32),
        ("multiprocessors", ctypes.c_uint32),
        ("resident", ctypes.c_uint32),
        ("registers", ctypes.c_uint32),
        ("architecture", ctypes.c_uint32),
        ("local_bytes", ctypes.c_uint32),
        ("grid", ctypes.c_uint32 * 3),
        ("block", ctypes.c_uint32 * 3),
        ("shared_bytes", ctypes.c_uint64),
        ("counters", ctypes.POINTER(ctypes.c_uint64)),
    )


_VISIT_LAUNCH = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(_Launch))
_VISIT_KERNEL = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_char_p)
_VISIT_FORM = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint64)


@dataclass(frozen=True)
class Launch:
    """A launch as it ran. resident: blocks that one multiprocessor holds; architecture: that of the machine code, 90
    for 9.0, and 0 without one that can be read; registers and local_bytes: of a thread, in the machine code.
    """

    kernel: str
    multiprocessors: int
    resident: int
    registers: int
    architecture: int
    local_bytes: int
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    counters: dict[str, int]


@dataclass
class Records:
    """The sums of all processes: launches and counters by kernel, executions by form, calls by symbol."""

    launches: Counter[str] = field(default_factory=Counter)
    counters: dict[str, Counter[str]] = field(default_factory=dict)
    forms: Counter[str] = field(default_factory=Counter)
    calls: Counter[str] = field(default_factory=Counter)


@cache
def emulator() -> Any:
    """The emulator's library, as the installed stator has opened it."""
    from stator import _backend

    if not _backend.emulated("cuda"):
        raise RuntimeError("STATOR_EMULATE was not set when stator was imported")
    found = library("emulator")
    found.stator_emulator_counter.restype = ctypes.c_char_p
    return found


@cache
def counter_names() -> tuple[str, ...]:
    names = []
    while name := emulator().stator_emulator_counter(len(names)):
        names.append(name.decode())
    return tuple(names)


@contextmanager
def watched(synchronize: Callable[[], None]) -> Iterator[list[Launch]]:
    """A list that has the launches of the block when that has ended and `synchronize` has waited for them."""
    found: list[Launch] = []
    names = counter_names()

    def visit(_: Any, at: Any) -> None:
        one = at.contents
        counters = dict(zip(names, one.counters[: len(names)], strict=True))
        code = (one.registers, one.architecture, one.local_bytes)
        numbers = (one.multiprocessors, one.resident, *code, tuple(one.grid), tuple(one.block))
        found.append(Launch(one.kernel.decode(), *numbers, one.shared_bytes, counters))

    synchronize()
    emulator().stator_emulator_watch(1)
    try:
        yield found
        synchronize()
        emulator().stator_emulator_launches(_VISIT_LAUNCH(visit), None)
    finally:
        emulator().stator_emulator_watch(0)


def peaks(device: int = 0) -> tuple[float, float]:
    """The most that a device could do: bytes of its memory and instructions of warps, each per second."""
    most, issued = ctypes.c_double(), ctypes.c_double()
    if not emulator().stator_emulator_peaks(device, ctypes.byref(most), ctypes.byref(issued)):
        raise ValueError(f"there is no emulated device {device}")
    return most.value, issued.value


def built() -> tuple[set[str], Counter[str]]:
    """The kernels of the library, and the forms of instructions in their text with their numbers."""
    kernels: set[str] = set()
    forms: Counter[str] = Counter()

    def add_form(_: Any, form: bytes, count: int) -> None:
        forms[form.decode()] += count

    kernel = _VISIT_KERNEL(lambda _, __, name: kernels.add(name.decode()))
    emulator().stator_emulator_built(kernel, _VISIT_FORM(add_form), None)
    return kernels, forms


def family(kernel: str) -> str:
    """The family that a kernel's name in PTX tells: the namespace below stator::cuda."""
    found = re.search(r"6stator4cuda(\d+)", kernel)
    return kernel[found.end() : found.end() + int(found.group(1))] if found else "other"


def read(folder: Path) -> Records:
    """The records that processes with STATOR_EMULATE_RECORD left in the folder."""
    sums = Records()
    for path in sorted(folder.glob("emulated-*.tsv")):
        columns: list[str] = []
        for line in path.read_text().splitlines():
            what, name, *numbers = line.split("\t")
            if what == "columns":
                columns = [name, *numbers]
            elif what == "kernel":
                sums.launches[name] += int(numbers[0])
                counters = sums.counters.setdefault(name, Counter())
                counters.update(dict(zip(columns, map(int, numbers[1:]), strict=True)))
            elif what == "form":
                sums.forms[name] += int(numbers[1])
            elif what == "call":
                sums.calls[name] += int(numbers[0])
    return sums
