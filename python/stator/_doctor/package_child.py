"""Imports stator and works on the cpu with it; a process of its own, which reports what happened.

A compiled module may end its process, which must not end the doctor. No cuda backend is opened.
"""

from __future__ import annotations

import json
import sys
from typing import Any


def work_on_the_cpu() -> str:
    """What a product of matrices raises; empty where it works."""
    import stator

    try:
        with stator.Backend("cpu"):
            ones = stator.ones((64, 64), dtype="float32")
            value = float(stator.matmul(ones, ones)[0, 0])
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "" if value == 64 else f"a product of matrices of ones has elements {value}, not 64.0"


def configuration() -> dict[str, Any]:
    """The variables of the configuration, and what they and the file say together."""
    from stator.config._sources import FILE_VARIABLE, VARIABLES, resolve
    from stator.errors import StatorError

    found: dict[str, Any] = {"variables": [*VARIABLES, FILE_VARIABLE]}
    try:
        return found | {"configuration": resolve(None, {}).to_dict()}
    except StatorError as error:
        return found | {"configuration_error": str(error)}


def report() -> dict[str, Any]:
    try:
        from stator import _backend, _libraries, _table
    except Exception as error:
        return {"failure": f"{type(error).__name__}: {error}"}
    _libraries.register()
    usable, reason = _backend.available("cuda")
    configured = configuration()
    return {
        **configured,
        "version": _table.build()["version"],
        "cuda_built": _table.build()["cuda"],
        "cuda_usable": usable,
        "cuda_reason": reason,
        "emulated": _backend.emulated("cuda"),
        "libraries": _table.libraries(False),
        "cpu_error": "" if "configuration_error" in configured else work_on_the_cpu(),
    }


if __name__ == "__main__":
    sys.path[:] = json.loads(sys.argv[1])  # those of the doctor, so that the same stator is found
    print(json.dumps(report()))
