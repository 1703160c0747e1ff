"""The environment that probes inspect. All that they know comes from here, so that tests can make a broken one."""

from __future__ import annotations

import multiprocessing
import os
import platform
import resource
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from stator._doctor import children, elf
from stator._doctor.facts import Driver, Package
from stator._system.files import SystemFiles

_LIMITS = {
    "locked memory": resource.RLIMIT_MEMLOCK,
    "open files": resource.RLIMIT_NOFILE,
    "address space": resource.RLIMIT_AS,
}
LEVELS = ("v2", "v3", "v4")  # x86-64 levels that host kernels can be built for, ascending


class Space(NamedTuple):
    """Bytes of a file system."""

    total: int
    free: int


@dataclass
class Environment(SystemFiles):
    """Where files are searched, and what was found there; each fact is found out when it is first read.

    root: what stands for "/" in the paths of the system. variables: of the process. path: that of Python's imports.
    A test sets these, or the facts themselves.
    """

    variables: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    path: Sequence[str] = field(default_factory=lambda: list(sys.path))

    def variable(self, name: str) -> str:
        """The value of a variable; empty where it is not set."""
        return self.variables.get(name, "")

    def accessible(self, path: Path, mode: int) -> bool:
        """Whether this user may do what os.access calls `mode` with the file."""
        return os.access(path, mode)

    # The processes that ask.

    @cached_property
    def driver(self) -> Driver:
        return children.ask_driver(self.variables)

    @cached_property
    def driver_of_all(self) -> Driver:
        """The driver without CUDA_VISIBLE_DEVICES."""
        if "CUDA_VISIBLE_DEVICES" not in self.variables:
            return self.driver
        return children.ask_driver({k: v for k, v in self.variables.items() if k != "CUDA_VISIBLE_DEVICES"})

    @cached_property
    def package(self) -> Package:
        return children.ask_package(self.path, self.variables)

    @property
    def emulates(self) -> bool:
        """Whether device "cuda" is an emulated one, so that no driver is asked."""
        return bool(self.variable("STATOR_EMULATE"))

    # The files of stator.

    @cached_property
    def extension(self) -> Path | None:
        """A compiled module of stator; None where there is none."""
        spec = find_spec("stator._backend")
        return Path(spec.origin) if spec and spec.origin else None

    @cached_property
    def folder(self) -> Path | None:
        """The folder of stator's shared objects."""
        return self.extension.parent / "lib" if self.extension else None

    @cached_property
    def images(self) -> list[elf.Image] | None:
        """The code for GPUs of this build, empty for one without the cuda target; None where it cannot be read."""
        path = self.folder / "libstator_cuda.so" if self.folder else None
        if path and not path.exists() and not self.package.cuda_built:
            return []
        try:
            return elf.images(path) if path else None
        except (elf.BrokenFileError, OSError):  # the probe of stator's files says so
            return None

    def levels(self, prefix: str) -> list[str]:
        """The x86-64 levels of which stator has a shared object, ascending."""
        return [v for v in LEVELS if self.folder and (self.folder / f"lib{prefix}_{v}.so").is_file()]

    # The system.

    @cached_property
    def machine(self) -> str:
        return platform.machine()

    @cached_property
    def cpu_flags(self) -> frozenset[str]:
        """What the CPU can do, in the kernel's words."""
        for line in (self.text("/proc/cpuinfo") or "").splitlines():
            key, _, value = line.partition(":")
            if key.strip() == "flags":
                return frozenset(value.split())
        return frozenset()

    @cached_property
    def allowed_cpus(self) -> int:
        return len(os.sched_getaffinity(0))

    @cached_property
    def limits(self) -> dict[str, int | None]:
        """The soft limits of this process; None for unlimited."""
        soft = {name: resource.getrlimit(which)[0] for name, which in _LIMITS.items()}
        return {name: None if value == resource.RLIM_INFINITY else value for name, value in soft.items()}

    @cached_property
    def shared_memory(self) -> Space | None:
        """/dev/shm; None where there is none."""
        return self.space(self.at("/dev/shm"))

    def space(self, path: Path) -> Space | None:
        """The file system of a folder; None where there is none."""
        try:
            found = os.statvfs(path)
        except OSError:
            return None
        return Space(found.f_blocks * found.f_frsize, found.f_bavail * found.f_frsize)

    @cached_property
    def start_method(self) -> str:
        """How multiprocessing starts processes unless configured otherwise."""
        return multiprocessing.get_all_start_methods()[0]
