"""The time that the driver takes to compile PTX, as on GPUs for which the build has no machine code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

from . import emulated, main

CHILD = """
import json, time
import numpy as np, stator
with stator.Backend("cuda") as be, be.use():
    x = be.asarray(np.arange(1000.0, 0, -1))
    be.synchronize()
    start = time.perf_counter()
    assert stator.sort(x)[0].item() == 1
    first = time.perf_counter() - start
    print(json.dumps({"first call, seconds": first}))
"""


def check(be: Any, small: bool) -> dict[str, Any]:
    emulated(be, "there is no machine code and no compiler in the driver")
    found = {}
    for name, variables in {"machine code": {}, "PTX": {"CUDA_FORCE_PTX_JIT": "1", "CUDA_CACHE_DISABLE": "1"}}.items():
        done = subprocess.run([sys.executable, "-c", CHILD], env=os.environ | variables, capture_output=True, text=True)
        assert done.returncode == 0, f"{name}: {done.stderr[-1000:]}"
        found[name] = json.loads(done.stdout.splitlines()[-1])
    return found


if __name__ == "__main__":
    raise SystemExit(main(check))
