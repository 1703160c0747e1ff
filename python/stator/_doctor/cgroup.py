"""The limits of the control groups that this process is in. The tightest of a group and its parents holds."""

from __future__ import annotations

import math
from collections.abc import Iterator

from stator._doctor.environment import Environment

_MOUNT = "/sys/fs/cgroup"


def _folders(env: Environment, controller: str) -> Iterator[tuple[str, bool]]:
    """The folders of the process's groups, the innermost first, and whether they are of version 2."""
    lines = [line.split(":", 2) for line in (env.text("/proc/self/cgroup") or "").splitlines()]
    groups = [(line[1], line[2]) for line in lines if len(line) == 3]
    for controllers, path in [*groups, ("", "/"), (controller, "/")]:  # a container may not see where it is mounted
        if controllers and controller not in controllers.split(","):
            continue
        base = f"{_MOUNT}/{controller}" if controllers else _MOUNT
        parts = [part for part in path.split("/") if part]
        for count in range(len(parts), -1, -1):
            yield "/".join([base, *parts[:count]]), not controllers


def cpus(env: Environment) -> float:
    """The CPUs' worth of time that the process may take; infinite without a quota."""
    found = math.inf
    for folder, second in _folders(env, "cpu"):
        if second:
            quota, _, period = (env.text(f"{folder}/cpu.max") or "max").partition(" ")
            numbers = (int(quota), int(period)) if quota.isdigit() and period.isdigit() else (-1, 0)
        else:
            numbers = env.number(f"{folder}/cpu.cfs_quota_us") or -1, env.number(f"{folder}/cpu.cfs_period_us") or 0
        if min(numbers) > 0:
            found = min(found, numbers[0] / numbers[1])
    return found


def memory(env: Environment) -> float:
    """The bytes that the process may take; infinite without a limit."""
    found = math.inf
    for folder, second in _folders(env, "memory"):
        limit = env.number(f"{folder}/{'memory.max' if second else 'memory.limit_in_bytes'}")
        if limit is not None:
            found = min(found, limit)
    return found


def tasks(env: Environment) -> tuple[float, int]:
    """The threads and processes that the tightest group may have, and those that it has."""
    found = (math.inf, 0)
    for folder, _ in _folders(env, "pids"):
        limit, current = env.number(f"{folder}/pids.max"), env.number(f"{folder}/pids.current")
        if limit is not None and current is not None and limit - current < found[0] - found[1]:
            found = (limit, current)
    return found
