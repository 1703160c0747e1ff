"""The NVIDIA driver: whether there is one, whether it works, and which of its devices are hidden."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from stator._doctor.environment import Environment
from stator._doctor.finding import Finding, error, note, warning

NO_GPU = note(
    "no-gpu",
    "there is neither an NVIDIA driver nor an NVIDIA GPU",
    'Device "cuda" is not available. Everything works on device "cpu".',
    "Nothing is to be done, unless a GPU is expected: then check that this machine, or the container's host, has one.",
)
DRIVER_MISSING = error(
    "driver-missing",
    "there is an NVIDIA GPU, and libcuda.so.1 cannot be opened",
    'Without the driver\'s library, device "cuda" is not available.',
    "Install NVIDIA's driver. In a container: start it with --gpus all (NVIDIA Container Toolkit), with the capability "
    "compute in NVIDIA_DRIVER_CAPABILITIES.",
)
DRIVER_CRASHED = error(
    "driver-crashed",
    "a process that asked the driver crashed or hung",
    "Every process that uses CUDA is likely to end in the same way.",
    "Look into the kernel's log (dmesg) for lines with NVRM or Xid, and restart the machine or reinstall the driver.",
)
DRIVER_STUB = error(
    "driver-stub",
    "libcuda.so.1 is the stub that toolkits have for linking",
    "The stub has no driver, and it hides the real one.",
    "Remove the folder named stubs from LD_LIBRARY_PATH.",
)
DRIVER_OLD = error(
    "driver-old",
    "the driver supports an older CUDA than stator was built with",
    "A CUDA program needs a driver of its own major version of CUDA, or of a newer one.",
    "Update NVIDIA's driver, or on a data-centre GPU install the package cuda-compat of the newer version.",
)
DRIVER_MISMATCH = error(
    "driver-mismatch",
    "libcuda.so.1 and the loaded kernel module are of different versions",
    "The two work together only if their versions are the same.",
    "Restart the machine, or reload the module nvidia, after an update of the driver. In a container, do not install "
    "a driver: the toolkit brings in the host's.",
)
DRIVER_REFUSES = error(
    "driver-refuses",
    "the driver does not initialise",
    "No CUDA program works on this machine.",
    "Run nvidia-smi, and look into the kernel's log (dmesg) for lines with NVRM or Xid.",
)
CUDA_UNUSABLE = error(
    "cuda-unusable",
    "the driver lists devices, and the CUDA runtime in stator cannot use them",
    'Device "cuda" is not available.',
    "Do as the reason says. Run nvidia-smi, and a program of another library on the GPU, to see whether these work.",
)
DEVICE_FILES_MISSING = error(
    "device-files-missing",
    "the kernel module is loaded, and files of the devices are missing from /dev",
    "The driver reaches the GPUs through these files.",
    "Run nvidia-modprobe -u -c 0. In a container: start it with --gpus all.",
)
DEVICE_FILES_FORBIDDEN = error(
    "device-files-forbidden",
    "this user may not read and write files of the devices in /dev",
    "The driver reaches the GPUs through these files.",
    "Add the user to the group of the files (often video or render), or allow the files for the container.",
)
DEVICES_NONE = error(
    "no-devices",
    "the driver works and lists no device, although none is hidden by a variable",
    'Device "cuda" is not available.',
    "Run nvidia-smi -L. Where MIG mode is on, make an instance (nvidia-smi mig -cgi); in a container, check "
    "NVIDIA_VISIBLE_DEVICES.",
)
DEVICES_HIDDEN = warning(
    "devices-hidden",
    "CUDA_VISIBLE_DEVICES is empty or -1",
    'The driver hides all devices, so device "cuda" is not available.',
    "Unset CUDA_VISIBLE_DEVICES, or list the devices to use, such as 0.",
)
DEVICES_WRONG = error(
    "devices-wrong",
    "CUDA_VISIBLE_DEVICES names devices that do not exist, or one of them twice",
    "The driver takes the devices before the first wrong entry, and none at all where an entry is there twice.",
    "List existing devices once each, by index or by the beginning of the UUID that nvidia-smi -L prints.",
)
BUILD_WITHOUT_CUDA = warning(
    "build-without-cuda",
    "there is an NVIDIA GPU, and stator was built without the cuda target",
    'Device "cuda" is not available.',
    "Build stator with CUDA: put an nvcc of CUDA 13 on PATH, or leave out STATOR_CUDA=OFF, which gets one from PyPI.",
)

_NO_DEVICE = 100
_STATUS = {  # CUresult of cuInit
    3: "it is not initialised",
    34: "the library is a stub",
    46: "a device is busy or unavailable",
    802: "the system is not ready yet: NVIDIA's fabric manager must run on machines with NVSwitch",
    803: "the versions of the library and of the kernel module do not fit together",
    804: "the compatibility library (cuda-compat) does not support this GPU",
    999: "an unknown error, often of a kernel module that must be reloaded (nvidia_uvm)",
}
_DISPLAY = "0x03"  # the class of PCI devices that GPUs are of


def text_of(version: int) -> str:
    """13.0 of 13000."""
    return f"{version // 1000}.{version % 1000 // 10}"


def hardware(env: Environment) -> str:
    """The sign of an NVIDIA GPU that was seen; empty where there is none."""
    for path in ("/proc/driver/nvidia/version", "/dev/nvidiactl", "/dev/dxg"):
        if env.at(path).exists():
            return path
    for folder in sorted(env.at("/sys/bus/pci/devices").glob("*")):
        name = f"/sys/bus/pci/devices/{folder.name}"
        if env.text(f"{name}/vendor") == "0x10de" and (env.text(f"{name}/class") or "").startswith(_DISPLAY):
            return f"{name} of NVIDIA"
    return ""


def needed(env: Environment) -> int | None:
    """The CUDA major version that stator's libraries are of, such as 13; None where stator cannot say."""
    found = [re.search(r"/cu(\d+)/", library.wheel_file) for library in env.package.libraries]
    return next((int(match[1]) for match in found if match), None)


def driver(env: Environment) -> Iterator[Finding]:
    """The driver as a whole."""
    if env.emulates:
        return
    seen = hardware(env)
    if env.images == []:
        if seen:
            yield BUILD_WITHOUT_CUDA.found(f"{seen} exists; {env.folder} has no libstator_cuda.so")
        return
    d = env.driver
    if d.failure:
        yield DRIVER_CRASHED.found(f"Of the process that asked libcuda.so.1: {d.failure}")
    elif d.path is None and not seen:
        yield NO_GPU.found(f"{d.error or 'libcuda.so.1 was not found'}; no NVIDIA device is on the PCI bus or in /dev")
    elif d.path is None:
        yield DRIVER_MISSING.found(f"{seen} exists, and the library does not open: {d.error}")
    elif "stubs" in Path(d.path).parts or d.init == 34:
        yield DRIVER_STUB.found(f"{d.path} was opened; LD_LIBRARY_PATH={env.variable('LD_LIBRARY_PATH')}")
    else:
        yield from _versions(env, d.path, d.version)
        if d.init not in (0, _NO_DEVICE, None):
            yield DRIVER_REFUSES.found(f"cuInit of {d.path} returns {d.init}: {_STATUS.get(d.init, 'see CUresult')}")


def _versions(env: Environment, path: str, version: int | None) -> Iterator[Finding]:
    module = re.search(r"Kernel Module.*?\s(\d+(?:\.\d+)+)", env.text("/proc/driver/nvidia/version") or "")
    library = re.search(r"\.so\.(\d+\.\d[\d.]*)$", path)
    if module and library and module[1] != library[1] and "compat" not in Path(path).parts:
        yield DRIVER_MISMATCH.found(f"{path} is of {library[1]}, the kernel module of {module[1]}")
    major = needed(env)
    if version is not None and major is not None and version // 1000 < major:
        yield DRIVER_OLD.found(f"{path} supports CUDA {text_of(version)}; stator was built with CUDA {major}")
    elif env.driver.devices and not env.package.failure and not env.package.cuda_usable:
        yield CUDA_UNUSABLE.found(f"The driver lists {len(env.driver.devices)} devices; {env.package.cuda_reason}")


def device_files(env: Environment) -> Iterator[Finding]:
    """The files of the devices, where the kernel module is this machine's and the driver finds no device.

    Where it finds some, files of others may be missing on purpose, as in a container of one GPU.
    """
    if env.emulates or env.images == [] or env.text("/proc/driver/nvidia/version") is None or env.driver_of_all.devices:
        return
    names = ["/dev/nvidiactl", "/dev/nvidia-uvm"]
    paths = [env.at(name) for name in names] + sorted(env.at("/dev").glob("nvidia[0-9]*"))
    missing = [str(path) for path in paths if not path.exists()]
    if len(paths) == len(names):
        missing.append(str(env.at("/dev/nvidia0")))
    if missing:
        yield DEVICE_FILES_MISSING.found(f"Missing: {', '.join(missing)}")
    forbidden = [str(path) for path in paths if path.exists() and not env.accessible(path, os.R_OK | os.W_OK)]
    if forbidden:
        yield DEVICE_FILES_FORBIDDEN.found(f"Not to be read and written by this user: {', '.join(forbidden)}")


def visible_devices(env: Environment) -> Iterator[Finding]:
    """What CUDA_VISIBLE_DEVICES leaves."""
    if env.emulates or env.images == [] or env.driver.init not in (0, _NO_DEVICE):
        return
    count, every = len(env.driver.devices), len(env.driver_of_all.devices)
    text = env.variables.get("CUDA_VISIBLE_DEVICES")
    if not every:
        yield DEVICES_NONE.found(f"cuInit returns {env.driver_of_all.init} and the driver lists 0 devices")
    elif text is None:
        return
    elif text.strip() in ("", "-1", "NoDevFiles"):
        yield DEVICES_HIDDEN.found(f"CUDA_VISIBLE_DEVICES='{text}' hides {every} of {every} devices")
    elif count < len(text.split(",")):
        yield DEVICES_WRONG.found(
            f"CUDA_VISIBLE_DEVICES='{text}' has {len(text.split(','))} entries and leaves {count} of {every} devices"
        )
