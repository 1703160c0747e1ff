"""The limits of the control groups that this process is in. The tightest of a group and its parents holds."""

from __future__ import annotations

import math
from collections.abc import Iterator

from stator._system.files import SystemFiles

_MOUNT = "/sys/fs/cgroup"


def _folders(files: SystemFiles, controller: str) -> Iterator[tuple[str, bool]]:
    """The folders of the process's groups, the innermost first, and whether they are of version 2."""
    lines = [line.split(":", 2) for line in (files.text("/proc/self/cgroup") or "").splitlines()]
    groups = [(line[1], line[2]) for line in lines if len(line) == 3]
    for controllers, path in [*groups, ("", "/"), (controller, "/")]:  # a container may not see where it is mounted
        if controllers and controller not in controllers.split(","):
            continue
        base = f"{_MOUNT}/{controller}" if controllers else _MOUNT
        parts = [part for part in path.split("/") if part]
        for count in range(len(parts), -1, -1):
            yield "/".join([base, *parts[:count]]), not controllers


def cpus(files: SystemFiles) -> float:
    """The CPUs' worth of time that the process may take; infinite without a quota."""
    found = math.inf
    for folder, second in _folders(files, "cpu"):
        if second:
            quota, _, period = (files.text(f"{folder}/cpu.max") or "max").partition(" ")
            numbers = (int(quota), int(period)) if quota.isdigit() and period.isdigit() else (-1, 0)
        else:
            numbers = files.number(f"{folder}/cpu.cfs_quota_us") or -1, files.number(f"{folder}/cpu.cfs_period_us") or 0
        if min(numbers) > 0:
            found = min(found, numbers[0] / numbers[1])
    return found


def memory(files: SystemFiles) -> float:
    """The bytes that the process may take; infinite without a limit."""
    found = math.inf
    for folder, second in _folders(files, "memory"):
        limit = files.number(f"{folder}/{'memory.max' if second else 'memory.limit_in_bytes'}")
        if limit is not None:
            found = min(found, limit)
    return found


def room(files: SystemFiles) -> float:
    """The bytes that the process may take beside what its groups have; infinite without a limit. What groups have of
    files that were not used lately does not count, since it is freed when memory is needed."""
    found = math.inf
    for folder, second in _folders(files, "memory"):
        names = ("memory.max", "memory.current") if second else ("memory.limit_in_bytes", "memory.usage_in_bytes")
        limit, used = (files.number(f"{folder}/{name}") for name in names)
        if limit is None or used is None:
            continue
        pairs = (line.split() for line in (files.text(f"{folder}/memory.stat") or "").splitlines())
        returned = sum(int(pair[1]) for pair in pairs if pair[:1] == ["inactive_file"])
        found = min(found, max(0, limit - used + returned))
    return found


def tasks(files: SystemFiles) -> tuple[float, int]:
    """The threads and processes that the tightest group may have, and those that it has."""
    found = (math.inf, 0)
    for folder, _ in _folders(files, "pids"):
        limit, current = files.number(f"{folder}/pids.max"), files.number(f"{folder}/pids.current")
        if limit is not None and current is not None and limit - current < found[0] - found[1]:
            found = (limit, current)
    return found
