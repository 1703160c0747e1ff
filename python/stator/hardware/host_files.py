"""What Linux says of the processor, its caches, and the limits of the process, read from its files.

Every function takes the folder that stands for "/", so that tests describe machines. What is not there is None.
"""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path("/")


def _text(path: Path) -> str | None:
    try:
        return path.read_text().strip()
    except (OSError, UnicodeDecodeError):
        return None


def _number(path: Path) -> int | None:
    text = _text(path)
    return int(text) if text and text.lstrip("-").isdigit() else None


def cpu_facts(root: Path = ROOT) -> dict[str, str]:
    """The fields of the first processor in /proc/cpuinfo."""
    first = (_text(root / "proc/cpuinfo") or "").split("\n\n")[0]
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
    folder = root / "sys/devices/system/cpu"
    pairs = {
        (_number(folder / f"cpu{cpu}/topology/physical_package_id"), _number(folder / f"cpu{cpu}/topology/core_id"))
        for cpu in cpus
    }
    return None if any(None in pair for pair in pairs) else len(pairs)


def caches(cpu: int, root: Path = ROOT) -> dict[str, int]:
    """Bytes of "l1", "l2" and "l3" that data of a CPU passes, and of a "line"."""
    found: dict[str, int] = {}
    for folder in sorted((root / f"sys/devices/system/cpu/cpu{cpu}/cache").glob("index*")):
        level, size = _number(folder / "level"), _text(folder / "size") or ""
        if _text(folder / "type") == "Instruction" or level is None:
            continue
        digits, unit = size.rstrip("KMG"), size[-1:]
        if digits.isdigit():
            found[f"l{level}"] = int(digits) << {"K": 10, "M": 20, "G": 30}.get(unit, 0)
        line = _number(folder / "coherency_line_size")
        if line:
            found["line"] = line
    return found


def max_clock_khz(cpu: int, root: Path = ROOT) -> int | None:
    """The greatest clock of a CPU; virtual machines seldom tell it."""
    return _number(root / f"sys/devices/system/cpu/cpu{cpu}/cpufreq/cpuinfo_max_freq")


def _groups(root: Path) -> list[Path]:
    """The folders of the process' control group and those above it, in version 2 of them."""
    top = root / "sys/fs/cgroup"
    lines = (_text(root / "proc/self/cgroup") or "").splitlines()
    own = next((line[3:] for line in lines if line.startswith("0::")), "/")
    folder = top / own.lstrip("/")
    found = [folder]
    while folder != top and top in folder.parents:
        folder = folder.parent
        found.append(folder)
    return found


def cpu_limit(root: Path = ROOT) -> float | None:
    """The CPUs' worth of time that control groups grant; None without a limit."""
    limits = []
    for folder in _groups(root):
        quota, _, period = (_text(folder / "cpu.max") or "").partition(" ")
        if quota.isdigit() and period.isdigit() and int(period):
            limits.append(int(quota) / int(period))
    old = root / "sys/fs/cgroup/cpu"  # version 1
    quota_us, period_us = _number(old / "cpu.cfs_quota_us"), _number(old / "cpu.cfs_period_us")
    if quota_us and period_us and quota_us > 0:
        limits.append(quota_us / period_us)
    return min(limits, default=None)


def available_memory(root: Path = ROOT) -> int | None:
    """Bytes that a program can take without others being swapped out, and without passing a limit of control groups."""
    rooms = []
    for line in (_text(root / "proc/meminfo") or "").splitlines():
        if line.startswith("MemAvailable:"):
            rooms.append(int(line.split()[1]) << 10)
    for folder in _groups(root):
        limit, used = _number(folder / "memory.max"), _number(folder / "memory.current")
        if limit is None or used is None:
            continue
        stat = (line.split() for line in (_text(folder / "memory.stat") or "").splitlines())
        returned = [int(pair[1]) for pair in stat if pair[:1] == ["inactive_file"]]  # pages of files are given back
        rooms.append(max(0, limit - used + sum(returned)))
    return min(rooms, default=None)
