"""Limits of the system and of the process."""

from __future__ import annotations

import math
from collections.abc import Iterator

from stator._doctor.environment import Environment
from stator._doctor.finding import Finding, note, warning
from stator._system import cgroups

SHM_SMALL = warning(
    "shm-small",
    "/dev/shm is missing, has 64 MiB or less (the default of containers), or is full",
    "Libraries that share arrays between processes put them there (workers that load data, NCCL), and are ended by "
    "SIGBUS or an error when it is full.",
    "Start the container with --shm-size=8g or --ipc=host, or remove files of ended processes from /dev/shm.",
)
MEMLOCK_SMALL = warning(
    "locked-memory-small",
    "the process may lock less than 8 MiB of memory, the default of Linux",
    "Libraries that lock memory for devices other than GPUs (RDMA, io_uring) fail. CUDA's page-locked memory does not "
    "count.",
    "Raise the limit: ulimit -l unlimited, docker run --ulimit memlock=-1, or LimitMEMLOCK of a systemd unit.",
)
FILES_SMALL = warning(
    "open-files-small",
    "the process may have fewer than 256 files open",
    "Libraries cannot be opened when no file handle is left: ops raise LibraryNotFoundError.",
    "Raise the limit: ulimit -n 4096.",
)
ADDRESS_SPACE = warning(
    "address-space-limited",
    "the address space is limited (ulimit -v), and there is a GPU",
    "CUDA reserves addresses for the memory of all devices and of the host, far more than is used. Under such a limit "
    "it may not initialise, or a backend may not open.",
    "Run ulimit -v unlimited; limit memory by a control group instead.",
)
TASKS_FEW = warning(
    "threads-limited",
    "the control group lets the process start fewer threads than it has CPUs",
    "stator goes on with fewer threads; other libraries fail or end the process.",
    "Raise the limit: docker run --pids-limit, or TasksMax of a systemd unit.",
)
MEMORY_UNSEEN = warning(
    "memory-limit-unseen",
    "a control group below the root limits memory",
    'Device "cpu" takes the limit at the root, or the machine\'s memory, for its own: instead of OutOfMemoryError the '
    "kernel ends the process.",
    "Open the backend with memory_limit=, or run in a container, which has its own root of control groups.",
)
FORK = note(
    "fork",
    "multiprocessing starts processes by fork unless configured otherwise",
    "A backend that was opened before the fork raises ForkedProcessError in the child, and CUDA does not work there.",
    'Call multiprocessing.set_start_method("spawn") or ("forkserver") first, or open backends after the fork.',
)

_SMALL_SHM = 64 << 20
_LITTLE_LEFT = 1 << 20
_LEAST_LOCKED = 8 << 20
_LEAST_FILES = 256
_NO_LIMIT = 1 << 60  # version 1 of control groups writes a number near 2^63 for no limit


def _size(count: float) -> str:
    return f"{count / 2**20:,.1f} MiB"


def shared_memory(env: Environment) -> Iterator[Finding]:
    """/dev/shm."""
    space, path = env.shared_memory, env.at("/dev/shm")
    if space is None:
        yield SHM_SMALL.found(f"{path} does not exist")
    elif space.total <= _SMALL_SHM or space.free < _LITTLE_LEFT:
        yield SHM_SMALL.found(f"{path} has {_size(space.total)}, of which {_size(space.free)} are free")


def limits(env: Environment) -> Iterator[Finding]:
    """What ulimit shows."""
    locked, files, addresses = (env.limits[name] for name in ("locked memory", "open files", "address space"))
    if locked is not None and locked < _LEAST_LOCKED:
        yield MEMLOCK_SMALL.found(f"ulimit -l is {locked // 1024} KiB")
    if files is not None and files < _LEAST_FILES:
        yield FILES_SMALL.found(f"ulimit -n is {files}")
    if addresses is not None and not env.emulates and (env.driver.devices or env.driver.init not in (None, 100)):
        yield ADDRESS_SPACE.found(f"ulimit -v is {addresses // 1024} KiB")


def control_groups(env: Environment) -> Iterator[Finding]:
    """What the control groups of the process leave."""
    most, now = cgroups.tasks(env)
    if most - now < env.allowed_cpus:
        yield TASKS_FEW.found(f"{most - now:.0f} of {most:.0f} are left, and {env.allowed_cpus} CPUs are allowed")
    names = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
    seen = min((limit for limit in map(env.number, names) if limit is not None), default=math.inf)
    limit = cgroups.memory(env)
    if limit < min(seen, _NO_LIMIT):
        yield MEMORY_UNSEEN.found(f"A control group of this process may take {_size(limit)}")


def start_method(env: Environment) -> Iterator[Finding]:
    """How processes are started."""
    if env.start_method == "fork":
        yield FORK.found("The start method is fork, the default of Python before 3.14")
