"""What NVML says of a CUDA device, which is found by its address on the PCI bus: NVML numbers hidden devices too.

Where there is no NVML, where it does not answer, and for emulated devices, everything is None. So it is for a part of
a GPU (MIG), whose figures are not those of the whole.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

T = TypeVar("T")


@cache
def binding() -> Any:
    """NVIDIA's binding of NVML, ready for use; None where there is none, or no driver."""
    try:
        pynvml = importlib.import_module("pynvml")
        pynvml.nvmlInit()
    except Exception:  # whatever the binding raises: nothing is known then
        return None
    return pynvml


@cache
def bus_id(index: int) -> str | None:
    """The address of "cuda:index" on the PCI bus; None for emulated devices and parts of GPUs. Creates no context."""
    from stator import _backend, _devices

    if _backend.emulated("cuda"):
        return None
    said = _devices.device_report("cuda", index)
    place = [said["attributes"].get(f"pci_{part}_id") for part in ("domain", "bus", "device")]
    if None in place or " MIG " in f"{said['name']} ":
        return None
    return "{:08x}:{:02x}:{:02x}.0".format(*place)


def _ask(index: int, question: Callable[[Any, Any], T]) -> T | None:
    nvml = binding()
    place = bus_id(index) if nvml is not None else None
    if nvml is None or place is None:
        return None
    try:
        return question(nvml, nvml.nvmlDeviceGetHandleByPciBusId(place))
    except nvml.NVMLError:
        return None


def memory_free(index: int) -> int | None:
    """The free bytes of "cuda:index"."""
    return _ask(index, lambda nvml, handle: int(nvml.nvmlDeviceGetMemoryInfo(handle).free))


def gpu_percent(index: int) -> float | None:
    """How much of the time "cuda:index" ran kernels lately, of whatever process."""
    return _ask(index, lambda nvml, handle: float(nvml.nvmlDeviceGetUtilizationRates(handle).gpu))
