"""Variables of the environment that stator reads, and those of CUDA that change how it runs."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path

from stator._doctor.environment import Environment
from stator._doctor.finding import Finding, error, note, warning

VARIABLE_UNKNOWN = warning(
    "variable-unknown",
    "a variable begins with STATOR_ and is none that stator reads",
    "It has no effect, which is easily not noticed.",
    "Correct its name, or unset it.",
)
VARIABLE_WRONG = error(
    "variable-wrong",
    "a variable of stator has a value that is not one of its own",
    "Opening a backend raises an error.",
    "Set it to one of the values that were named, or not at all.",
)
CONFIGURATION_WRONG = error(
    "configuration-wrong",
    "variables or the file of stator's configuration have fields that cannot be used",
    "Opening a backend raises ConfigurationError.",
    "Correct what was named; docs/config.md has the fields and their values.",
)
DEVICE_MISSING = error(
    "device-missing",
    "STATOR_DEVICE names a device that is not usable",
    "The default backend does not open, so that every op without a device fails.",
    "Set STATOR_DEVICE=auto, or not at all. Other findings may say why the device is not usable.",
)
RECORD_FAILS = warning(
    "record-fails",
    "the folder that STATOR_EMULATE_RECORD names cannot be written",
    "Records of what emulated devices executed are lost.",
    "Make the folder, or name another one.",
)
DEBUGGING = note(
    "debugging",
    "a variable is set that makes stator or CUDA check more, or wait after each launch",
    "Everything is slower, in checked mode most of all.",
    "Unset the variable when nothing is to be found by it.",
)
CUDA_WRONG = warning(
    "cuda-variable-wrong",
    "a variable of CUDA has a value that CUDA does not know",
    "CUDA ignores it.",
    "Set it to one of the values that were named, or not at all.",
)
EAGER_LOADING = note(
    "eager-loading",
    "CUDA_MODULE_LOADING=EAGER",
    "The driver loads all kernels of all libraries when the first backend opens: seconds, and memory of the device.",
    "Unset CUDA_MODULE_LOADING, unless the first launches must not wait.",
)

_FLAG = ("0", "1")
CHOICES: dict[str, tuple[str, ...]] = {  # of variables that C++ reads and that have few values
    "STATOR_HOST_MODE": ("fast", "checked"),
    "STATOR_SYNC": _FLAG,
}
CHECKS = ("order", "poison", "all")  # words of STATOR_CHECK
_OF_TESTS = {
    "STATOR_CUDA_LIBRARIES",
    "STATOR_EXIT_RUNS",
    "STATOR_HOST_MEMORY",
    "STATOR_INDEX_EXAMPLES",
    "STATOR_REQUIRE_DEVICE",
}
# Read by stator, its emulator, or its tests, beside those of the configuration.
KNOWN = {
    *CHOICES,
    *_OF_TESTS,
    "STATOR_CHECK",
    "STATOR_EMULATE",
    "STATOR_EMULATE_RECORD",
    "STATOR_EMULATOR_ISA",
    "STATOR_HOST_ISA",
    "STATOR_OPENBLAS",
}
_CUDA_CHOICES = {
    "CUDA_DEVICE_ORDER": ("FASTEST_FIRST", "PCI_BUS_ID"),
    "CUDA_MODULE_LOADING": ("EAGER", "LAZY", "DEFAULT"),
    "CUDA_LAUNCH_BLOCKING": _FLAG,
    "CUDA_CACHE_DISABLE": _FLAG,
    "CUDA_FORCE_PTX_JIT": _FLAG,
    "CUDA_DISABLE_PTX_JIT": _FLAG,
}
_SLOW = {"STATOR_HOST_MODE": "checked", "STATOR_SYNC": "1", "CUDA_LAUNCH_BLOCKING": "1"}


def names(env: Environment) -> Iterator[Finding]:
    """Variables that nothing reads. Without stator those of the configuration are not known."""
    if env.package.failure:
        return
    known = KNOWN.union(env.package.variables)
    for name in sorted(set(env.variables) - known):
        if name.startswith("STATOR_"):
            close = get_close_matches(name, known, 1)
            yield VARIABLE_UNKNOWN.found(f"{name}={env.variable(name)}" + (f"; there is {close[0]}" if close else ""))


def values(env: Environment) -> Iterator[Finding]:
    """Values that opening a backend would refuse."""
    choices = dict(CHOICES)
    for name, prefix in (("STATOR_HOST_ISA", "stator_host"), ("STATOR_EMULATOR_ISA", "stator_emulator")):
        if env.folder:
            choices[name] = tuple(env.levels(prefix))
    for name, allowed in choices.items():
        text = env.variable(name)
        if text and text not in allowed:
            yield VARIABLE_WRONG.found(f"{name}={text}, not one of: {' '.join(allowed)}")
    words = [word for word in env.variable("STATOR_CHECK").split(",") if word]
    if not set(words) <= set(CHECKS):
        yield VARIABLE_WRONG.found(f"STATOR_CHECK={','.join(words)}, whose words are {', '.join(CHECKS)}")
    if env.package.configuration_error:
        yield CONFIGURATION_WRONG.found(env.package.configuration_error)


def device(env: Environment) -> Iterator[Finding]:
    """The device of the default backend."""
    text = env.variable("STATOR_DEVICE")
    match = re.fullmatch(r"(cpu|cuda)(?::(\d+))?", text)
    if match is None:  # auto, or no name of a device, which is another finding
        return
    index = int(match[2] or 0)
    if match[1] == "cpu":
        count, reason = 1, "there is one device of type cpu"
    elif env.package.failure:
        return  # that is the finding
    else:
        emulated = env.variable("STATOR_EMULATE").split(",")
        count = 0 if not env.package.cuda_usable else len(emulated if env.emulates else env.driver.devices)
        reason = env.package.cuda_reason or f"the number of devices is {count}"
    if index >= count:
        yield DEVICE_MISSING.found(f"STATOR_DEVICE={text}: {reason}")


def record(env: Environment) -> Iterator[Finding]:
    """Where records of emulated devices go."""
    folder = env.variable("STATOR_EMULATE_RECORD")
    if folder and not (Path(folder).is_dir() and env.accessible(Path(folder), os.W_OK | os.X_OK)):
        yield RECORD_FAILS.found(f"STATOR_EMULATE_RECORD={folder}")


def slow(env: Environment) -> Iterator[Finding]:
    """Variables for finding faults."""
    found = [f"{name}={value}" for name, value in _SLOW.items() if env.variable(name) == value]
    if env.variable("STATOR_CHECK"):
        found.append(f"STATOR_CHECK={env.variable('STATOR_CHECK')}")
    if found:
        yield DEBUGGING.found(", ".join(found))


def cuda(env: Environment) -> Iterator[Finding]:
    """Variables that CUDA reads."""
    for name, allowed in _CUDA_CHOICES.items():
        text = env.variable(name)
        if text and text not in allowed:
            yield CUDA_WRONG.found(f"{name}={text}, not one of: {' '.join(allowed)}")
    if env.variable("CUDA_MODULE_LOADING") == "EAGER" and not env.emulates:
        yield EAGER_LOADING.found("CUDA_MODULE_LOADING=EAGER")
