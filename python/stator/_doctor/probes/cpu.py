"""The CPU: whether this build has host kernels for it, and how many threads it can run."""

from __future__ import annotations

import math
from collections.abc import Iterator

from stator._doctor.environment import LEVELS, Environment
from stator._doctor.finding import Finding, error, note, warning
from stator._system import cgroups

CPU_FOREIGN = error(
    "cpu-foreign",
    "the processor is not an x86-64 one",
    "stator is built only for x86-64.",
    "Use a machine with an x86-64 processor.",
)
CPU_OLD = error(
    "cpu-old",
    "the CPU lacks instructions that all host kernels of this build have",
    'Device "cpu" does not open.',
    'Build stator on this machine, or with -C cmake.define.STATOR_HOST_ISA="v2;v3;v4".',
)
CPU_UNUSED = note(
    "cpu-unused",
    "the CPU has instructions that no host kernel of this build uses",
    'Device "cpu" is slower than it could be.',
    'Build stator on this machine, or with -C cmake.define.STATOR_HOST_ISA="v2;v3;v4".',
)
THREADS_OVER_QUOTA = warning(
    "threads-over-quota",
    "the control group gives less of the CPUs' time than the process may run threads",
    "stator starts up to one thread per CPU that it may run on, as OpenBLAS and OpenMP do. When the quota of a period "
    "is used up, all threads stand still.",
    "Give the container CPUs instead of time (docker run --cpuset-cpus, taskset), and set OMP_NUM_THREADS and "
    "OPENBLAS_NUM_THREADS to the quota.",
)
THREADS_OVERSUBSCRIBED = warning(
    "threads-oversubscribed",
    "a variable asks for more threads than there are CPUs for this process",
    "Threads that wait for each other take turns on one CPU, which can be slower than one thread.",
    "Lower the variable to the number of CPUs, or unset it.",
)
THREADS_WRONG = warning(
    "threads-wrong",
    "a variable of a number of threads is not a positive number",
    "Libraries ignore it, or take one thread.",
    "Set it to a positive number, or not at all.",
)

# As `supported` in csrc/core/target.cpp, in the words of /proc/cpuinfo.
NEEDED = {
    "v2": ("sse4_2", "popcnt"),
    "v3": ("avx2", "fma", "bmi2"),
    "v4": ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"),
}
_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS", "GOTO_NUM_THREADS")


def instructions(env: Environment) -> Iterator[Finding]:
    """The levels that the CPU has, and those that were built."""
    if env.machine not in ("x86_64", "AMD64"):
        yield CPU_FOREIGN.found(f"The machine is {env.machine}")
        return
    built, flags = env.levels("stator_host"), env.cpu_flags
    if not built or not flags:
        return
    usable = [level for level in LEVELS if flags.issuperset(NEEDED[level])]
    if not set(built) & set(usable):
        lacking = ", ".join(sorted(set(NEEDED[built[0]]) - flags))
        yield CPU_OLD.found(f"This build has x86-64 {', '.join(built)}; for {built[0]} the CPU lacks {lacking}")
    elif LEVELS.index(usable[-1]) > LEVELS.index(built[-1]):
        yield CPU_UNUSED.found(f"The CPU has x86-64 {usable[-1]}; this build has {', '.join(built)}")


def threads(env: Environment) -> Iterator[Finding]:
    """The threads that are asked for, and the CPUs that there are for them."""
    quota = cgroups.cpus(env)
    if quota < env.allowed_cpus:
        yield THREADS_OVER_QUOTA.found(f"{env.allowed_cpus} CPUs are allowed, with the time of {quota:g} of them")
    cpus = min(env.allowed_cpus, max(1, math.ceil(quota)) if math.isfinite(quota) else env.allowed_cpus)
    for name in _VARIABLES:
        text = env.variable(name).strip()
        if not text:
            continue
        numbers = [part.strip() for part in text.split(",")]  # of OpenMP: one per level of nested regions
        if not all(part.isdigit() and int(part) > 0 for part in numbers):
            yield THREADS_WRONG.found(f"{name}={text}")
        elif math.prod(map(int, numbers)) > cpus:
            yield THREADS_OVERSUBSCRIBED.found(f"{name}={text}, and there are {cpus} CPUs for this process")
