"""Asks the CUDA driver for its version and its devices, without making a context; a process of its own.

A driver may hang or crash, which must not end the doctor. It is run by its path, so it imports nothing of stator.
"""

from __future__ import annotations

import ctypes
import json
from typing import Any

_MAJOR, _MINOR, _COMPUTE_MODE = 75, 76, 20  # CUdevice_attribute


def loaded_path(name: str) -> str | None:
    """The file of a shared object of this process."""
    with open("/proc/self/maps") as maps:
        for line in maps:
            path = line.split(maxsplit=5)[-1].strip()
            if path.startswith("/") and name in path.rpartition("/")[2]:
                return path
    return None


def device(cuda: ctypes.CDLL, index: int) -> dict[str, Any]:
    handle, value = ctypes.c_int(), ctypes.c_int()
    name, uuid = ctypes.create_string_buffer(256), (ctypes.c_ubyte * 16)()
    cuda.cuDeviceGet(ctypes.byref(handle), index)
    cuda.cuDeviceGetName(name, len(name), handle)
    numbers = []
    for attribute in (_MAJOR, _MINOR, _COMPUTE_MODE):
        cuda.cuDeviceGetAttribute(ctypes.byref(value), attribute, handle)
        numbers.append(value.value)
    text = ""
    if hasattr(cuda, "cuDeviceGetUuid_v2") and cuda.cuDeviceGetUuid_v2(uuid, handle) == 0:
        digits = bytes(uuid).hex()
        text = "GPU-" + "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
    return {
        "name": name.value.decode(errors="replace"),
        "capability": numbers[:2],
        "compute_mode": numbers[2],
        "uuid": text,
    }


def ask() -> dict[str, Any]:
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        return {"error": str(error)}
    found: dict[str, Any] = {"path": loaded_path("libcuda.so")}
    number = ctypes.c_int()
    if cuda.cuDriverGetVersion(ctypes.byref(number)) == 0:
        found["version"] = number.value
    found["init"] = cuda.cuInit(0)
    if found["init"] == 0 and cuda.cuDeviceGetCount(ctypes.byref(number)) == 0:
        found["devices"] = [device(cuda, index) for index in range(number.value)]
    return found


if __name__ == "__main__":
    print(json.dumps(ask()))
