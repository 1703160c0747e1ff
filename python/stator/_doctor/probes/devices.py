"""The devices that the driver lists, and whether this build has code for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stator._doctor.elf import Image
from stator._doctor.environment import Environment
from stator._doctor.facts import Device
from stator._doctor.finding import Finding, error, note, warning

EMULATED = note(
    "emulated",
    'STATOR_EMULATE makes an emulated GPU of device "cuda"',
    "An emulated device is for tests: it checks every access, is far slower than a GPU, and no driver is used.",
    "Unset STATOR_EMULATE to use a real GPU.",
)
EMULATION_FAILS = error(
    "emulation-fails",
    "STATOR_EMULATE is set, and there is no emulated device",
    'Device "cuda" is not available, because a real GPU is not looked for while the variable is set.',
    "Set STATOR_EMULATE as what was seen says, or not at all.",
)
DEVICE_UNSUPPORTED = error(
    "device-unsupported",
    "this build has neither machine code nor PTX that the GPU can run",
    "Every launch of a kernel fails: there is no kernel image for the device.",
    'Build stator on this machine, or with -C cmake.define.STATOR_CUDA_ARCHITECTURES="80;90" and the like: ten times '
    "the compute capability, which must be 8.0 or newer.",
)
DEVICE_JIT = warning(
    "device-jit",
    "this build has no machine code for the GPU, only PTX",
    "The driver compiles each kernel at its first use, which makes first runs slow, and keeps it in its cache.",
    "Build stator on this machine, or with the GPU's architecture in STATOR_CUDA_ARCHITECTURES.",
)
JIT_DISABLED = error(
    "jit-disabled",
    "CUDA_DISABLE_PTX_JIT=1, and this build has only PTX for the GPU",
    "The driver may not compile the PTX, so that every launch of a kernel fails.",
    "Unset CUDA_DISABLE_PTX_JIT.",
)
JIT_FORCED = warning(
    "jit-forced",
    "CUDA_FORCE_PTX_JIT=1",
    "The driver ignores the machine code of this build and compiles each kernel at its first use.",
    "Unset CUDA_FORCE_PTX_JIT.",
)
DEVICE_PROHIBITED = error(
    "device-prohibited",
    "the compute mode of the GPU is prohibited",
    "No process can make a context on the device.",
    "Run nvidia-smi -i INDEX -c DEFAULT as an administrator.",
)
DEVICE_EXCLUSIVE = note(
    "device-exclusive",
    "the compute mode of the GPU is exclusive",
    "One process at a time can use the device; others get the error that it is busy.",
    "Run nvidia-smi -i INDEX -c DEFAULT as an administrator, if several processes are to share it.",
)

_EXCLUSIVE, _PROHIBITED = (1, 3), 2  # CUcomputemode


def architectures(images: Sequence[Image], kind: str) -> list[int]:
    return sorted({image.architecture for image in images if image.kind == kind})


def has_code(images: Sequence[Image], device: Device) -> bool:
    """Whether there is machine code for the device: of its major, and of its minor or a lower one."""
    major, minor = device.capability
    return any(a // 10 == major and a % 10 <= minor for a in architectures(images, "code"))


def has_ptx(images: Sequence[Image], device: Device) -> bool:
    """Whether there is PTX that can be compiled for the device."""
    major, minor = device.capability
    return any(a <= 10 * major + minor for a in architectures(images, "ptx"))


def compiled_at_first_use(env: Environment) -> bool:
    """Whether the driver compiles kernels of this build for one of the devices."""
    disabled, forced = _jit(env)
    return any(
        has_ptx(env.images or (), device) and (forced or not (disabled or has_code(env.images or (), device)))
        for device in env.driver.devices
    )


def _jit(env: Environment) -> tuple[bool, bool]:
    """Whether compilation of PTX is disabled, and whether it is forced."""
    return env.variable("CUDA_DISABLE_PTX_JIT") == "1", env.variable("CUDA_FORCE_PTX_JIT") == "1"


def _listed(values: Sequence[int]) -> str:
    return ", ".join(f"{a // 10}.{a % 10}" for a in values) or "no architecture"


def emulated(env: Environment) -> Iterator[Finding]:
    """Whether device "cuda" is an emulated one."""
    if not env.emulates or env.package.failure:
        return
    text = f"STATOR_EMULATE={env.variable('STATOR_EMULATE')}"
    if env.package.cuda_usable:
        yield EMULATED.found(f'{text}: device "cuda" is emulated')
    else:
        yield EMULATION_FAILS.found(f"{text}: {env.package.cuda_reason}")


def devices(env: Environment) -> Iterator[Finding]:
    """Each device: its architecture and its mode."""
    if env.emulates or not env.images:
        return
    disabled, forced = _jit(env)
    code, ptx = architectures(env.images, "code"), architectures(env.images, "ptx")
    for index, device in enumerate(env.driver.devices):
        major, minor = device.capability
        name = f"cuda:{index} ({device.name}) has compute capability {major}.{minor}"
        seen = f"{name}; this build has machine code for {_listed(code)} and PTX for {_listed(ptx)} and later"
        ready, portable = has_code(env.images, device), has_ptx(env.images, device)
        if not portable and (forced or not ready):
            yield DEVICE_UNSUPPORTED.found(seen)
        elif not ready and disabled:
            yield JIT_DISABLED.found(f"CUDA_DISABLE_PTX_JIT=1; {seen}")
        elif not ready:
            yield DEVICE_JIT.found(seen)
        elif forced:
            yield JIT_FORCED.found(f"CUDA_FORCE_PTX_JIT=1; {seen}")
        if device.compute_mode == _PROHIBITED:
            yield DEVICE_PROHIBITED.found(f"{name} and compute mode {device.compute_mode}")
        elif device.compute_mode in _EXCLUSIVE:
            yield DEVICE_EXCLUSIVE.found(f"{name} and compute mode {device.compute_mode}")
