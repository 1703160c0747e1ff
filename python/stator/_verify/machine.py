"""What a report says of the machine: device, driver, versions, libraries."""

from __future__ import annotations

import os
import platform
from importlib import metadata, util
from typing import Any

import numpy as np

import stator
from stator import _backend, _libraries, _table

PEERS = ("torch", "cupy")


def installed() -> dict[str, str]:
    """The versions of the peers that are installed; nothing is imported."""
    found = {}
    for name in PEERS:
        if util.find_spec(name) is None:
            continue
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:  # CuPy's distributions have the names of CUDA's versions
            found[name] = "unknown"
    return found


def describe(device: str) -> dict[str, Any]:
    """The facts of a device, which is opened, and of the process."""
    _libraries.register()
    with stator.Backend(device) as be:
        facts = {"device": str(be.device), "kernels": be.kernels, **be.devices.properties()}
        emulated = _backend.emulated(be.device.type)
    return {
        **facts,
        "emulated": emulated,
        "environment": {name: value for name, value in os.environ.items() if name.startswith(("STATOR_", "CUDA_"))},
        "libraries": {x["name"]: x["path"] if x["found"] else "" for x in _table.libraries(False)},
        "system": platform.platform(),
        "versions": {
            "stator": stator.__version__,
            "compiler": _table.build()["compiler"],
            "python": platform.python_version(),
            "numpy": np.__version__,
            **installed(),
        },
    }
