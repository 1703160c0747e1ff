"""Prints "folder;version" of the newest complete CUDA toolkit among the running Python's wheels, or nothing."""

from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

NEEDED = ("bin/nvcc", "include/cuda_runtime.h", "include/crt/host_config.h", "lib/libcudart_static.a", "nvvm")

spec = find_spec("nvidia")
roots = [Path(p) for p in spec.submodule_search_locations] if spec and spec.submodule_search_locations else []
homes = sorted((home for root in roots for home in root.glob("cu[0-9]*")), key=lambda home: int(home.name[2:]))
complete = [home for home in homes if all((home / name).exists() for name in NEEDED)]
if complete:
    print(f"{complete[-1]};{version('nvidia-cuda-nvcc')}")
