"""Finds the vendor libraries of wheels, conda and toolkits, before the first backend opens.

Their paths are passed to the C++ side. Nothing is imported or opened here: a library is opened at its first use.
cuda-pathfinder looks in the same places in the same order, but its public functions load what they find.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from stator import _table

# (library, package, path inside the package's folder)
_PATHS = (
    ("openblas", "scipy_openblas32", "lib/libscipy_openblas.so"),
    ("cublasLt", "nvidia", "cu13/lib/libcublasLt.so.13"),
    ("cublas", "nvidia", "cu13/lib/libcublas.so.13"),
    ("cusparse", "nvidia", "cu13/lib/libcusparse.so.12"),
    ("cusolver", "nvidia", "cu13/lib/libcusolver.so.12"),
    ("cufft", "nvidia", "cu13/lib/libcufft.so.12"),
    ("nvrtc", "nvidia", "cu13/lib/libnvrtc.so.13"),
    ("cusparseLt", "nvidia", "cu13/lib/libcusparseLt.so.0"),
)
_registered = False


def candidates(package: str, below: str) -> Iterator[Path]:
    """The paths that may hold a library, the best first.

    They are in its wheel, and for NVIDIA's libraries also in the conda environment and the toolkit.
    """
    spec = find_spec(package)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        yield Path(folder) / below
    if package != "nvidia":
        return
    name = Path(below).name
    for variable, folder in (("CONDA_PREFIX", "lib"), ("CUDA_HOME", "lib64"), ("CUDA_PATH", "lib64")):
        if root := os.environ.get(variable):
            yield Path(root) / folder / name


def register() -> None:
    """Registers the paths of the installed libraries, once per process."""
    global _registered
    if _registered:
        return
    _registered = True
    for library, package, below in _PATHS:
        path = next((p for p in candidates(package, below) if p.is_file()), None)
        if path is not None:
            _table.set_library_path(library, str(path))
