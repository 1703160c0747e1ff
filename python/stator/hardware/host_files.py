"""What Linux says of the processor, its caches, and the limits of the process, read from its files.

Every function takes the folder that stands for "/", so that tests describe machines. What is not there is None.
"""

from __future__ import annotations

import math
import os
from pathlib import Path

from stator._system import cgroups
from stator._system.files import SystemFiles

ROOT = Path("/")


def cpu_facts(root: Path = ROOT) -> dict[str, str]:
    """The fields of the first processor in /proc/cpuinfo."""
    first = (SystemFiles(root).text("proc/cpuinfo") or "").split("\n\n")[0]
    pairs = (line.partition(":") for line in first.splitlines())
    return {name.strip(): value.strip() for name, colon, value in pairs if colon}


def instruction_sets(root: Path = ROOT) -> tuple[str, ...] | None:
    """The flags of the processor, as the kernel names them."""
    facts = cpu_facts(root)
    flags = facts.get("flags") or facts.get("Features")
    return tuple(flags.split()) if flags else None


def usable_cpus() -> tuple[int, ...]:
    """The CPUs that the process may run on."""
    return tuple(sorted(os.sched_getaffinity(0)))


def physical_cores(cpus: tuple[int, ...], root: Path = ROOT) -> int | None:
    """How many cores the CPUs belong to: fewer than CPUs where threads share a core."""
    number, folder = SystemFiles(root).number, "sys/devices/system/cpu"
    pairs = {
        (number(f"{folder}/cpu{cpu}/topology/physical_package_id"), number(f"{folder}/cpu{cpu}/topology/core_id"))
        for cpu in cpus
    }
    return None if any(None in pair for pair in pairs) else len(pairs)


def caches(cpu: int, root: Path = ROOT) -> dict[str, int]:
    """Bytes of "l1", "l2" and "l3" that data of a CPU passes, and of a "line"."""
    found: dict[str, int] = {}
    for folder in map(SystemFiles, sorted((root / f"sys/devices/system/cpu/cpu{cpu}/cache").glob("index*"))):
        level, size = folder.number("level"), folder.text("size") or ""
        if folder.text("type") == "Instruction" or level is None:
            continue
        digits, unit = size.rstrip("KMG"), size[-1:]
        if digits.isdigit():
            found[f"l{level}"] = int(digits) << {"K": 10, "M": 20, "G": 30}.get(unit, 0)
        line = folder.number("coherency_line_size")
        if line:
            found["line"] = line
    return found


def max_clock_khz(cpu: int, root: Path = ROOT) -> int | None:
    """The greatest clock of a CPU; virtual machines seldom tell it."""
    return SystemFiles(root).number(f"sys/devices/system/cpu/cpu{cpu}/cpufreq/cpuinfo_max_freq")


def cpu_limit(root: Path = ROOT) -> float | None:
    """The CPUs' worth of time that control groups grant; None without a limit."""
    limit = cgroups.cpus(SystemFiles(root))
    return limit if math.isfinite(limit) else None


def available_memory(root: Path = ROOT) -> int | None:
    """Bytes that a program can take without others being swapped out, and without passing a limit of control groups."""
    files = SystemFiles(root)
    rooms = [cgroups.room(files)]
    for line in (files.text("proc/meminfo") or "").splitlines():
        if line.startswith("MemAvailable:"):
            rooms.append(int(line.split()[1]) << 10)
    return int(min(rooms)) if math.isfinite(min(rooms)) else None
