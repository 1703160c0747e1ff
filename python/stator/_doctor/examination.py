"""Runs the probes one after the other; one that fails is a finding, and the others go on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from stator._doctor.environment import Environment
from stator._doctor.finding import Finding, Severity, warning
from stator._doctor.probes import caches, cpu, devices, driver, libraries, package, system, variables

Probe = Callable[[Environment], Iterable[Finding]]

PROBE_FAILED = warning(
    "probe-failed",
    "a probe of the doctor itself raised an error",
    "What it looks for is not known; the other probes are not affected.",
    "Report it to stator's developers, with the text that was seen.",
)

PROBES: tuple[Probe, ...] = (
    package.files,
    package.copies,
    package.dependencies,
    package.package,
    variables.names,
    variables.values,
    variables.device,
    variables.record,
    variables.slow,
    variables.cuda,
    driver.driver,
    driver.device_files,
    driver.visible_devices,
    devices.emulated,
    devices.devices,
    libraries.cuda_libraries,
    libraries.openblas,
    caches.cache,
    cpu.instructions,
    cpu.threads,
    system.shared_memory,
    system.limits,
    system.control_groups,
    system.start_method,
)
_ORDER = list(Severity)


def name_of(probe: Probe) -> str:
    """The name of a probe: caches.cache."""
    return f"{probe.__module__.rpartition('.')[2]}.{getattr(probe, '__name__', type(probe).__name__)}"


def examine(env: Environment, probes: Sequence[Probe] = PROBES) -> list[Finding]:
    """What the probes find, the errors first."""
    found: list[Finding] = []
    for probe in probes:
        try:
            found.extend(probe(env))
        except Exception as error:
            found.append(PROBE_FAILED.found(f"{name_of(probe)}: {type(error).__name__}: {error}"))
    return sorted(found, key=lambda finding: _ORDER.index(finding.severity))


def facts(env: Environment) -> dict[str, Any]:
    """What was inspected, beside the findings; None for what is not known."""
    asked = not env.emulates and env.images != []
    questions: dict[str, Callable[[], Any]] = {
        "stator": lambda: env.package.version or None,
        "extension": lambda: str(env.extension) if env.extension else None,
        "emulated": lambda: env.package.emulated,
        "driver": lambda: env.driver.version if asked else None,
        "devices": lambda: [device.name for device in env.driver.devices] if asked else [],
        "cpus": lambda: env.allowed_cpus,
        "libraries": lambda: {library.name: library.path or None for library in env.package.libraries},
    }
    found: dict[str, Any] = {}
    for name, question in questions.items():
        try:
            found[name] = question()
        except Exception:  # a probe that asks the same is a finding
            found[name] = None
    return found
