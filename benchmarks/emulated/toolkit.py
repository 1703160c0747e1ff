"""Where the compiler and the headers of CUB are."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def toolkit() -> Path | None:
    """The folder with bin/nvcc and with CUB: that of the wheels, else that of PATH; None where there is none."""
    found = subprocess.run(
        [sys.executable, str(ROOT / "cmake" / "find_cuda_wheels.py")], check=True, capture_output=True, text=True
    ).stdout.strip()
    nvcc = shutil.which("nvcc")
    home = Path(found.split(";")[0]) if found else Path(nvcc).resolve().parents[1] if nvcc else None
    if home is None:
        return None
    places = (home / "include" / "cccl", home / "include")
    return home if any((place / "cub" / "cub.cuh").exists() for place in places) else None
