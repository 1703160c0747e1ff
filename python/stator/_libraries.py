"""Finds the vendor libraries of wheels, conda and toolkits, before the first backend opens.

Their paths are passed to the C++ side. Nothing is imported or opened here: a library is opened at its first use.
cuda-pathfinder looks in the same folders in the same order, but its public functions load what they find.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from importlib.util import find_spec

from stator import _table
from stator.errors import LibraryNotFoundError

_registered = False


def candidates(package: str, below: str) -> Iterator[str]:
    """The paths that may hold a library, the best first.

    They are in its wheel, and for NVIDIA's libraries also in the conda environment and the toolkit.
    """
    spec = find_spec(package)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        yield os.path.join(folder, below)
    if package != "nvidia":
        return
    for variable, folder in (("CONDA_PREFIX", "lib"), ("CUDA_HOME", "lib64"), ("CUDA_PATH", "lib64")):
        if root := os.environ.get(variable):
            yield os.path.join(root, folder, os.path.basename(below))


def register() -> None:
    """Registers the paths of the installed libraries, once per process."""
    global _registered
    if _registered:
        return
    try:
        for library in _table.libraries(False):
            package, _, below = library["wheel_file"].partition("/")
            path = next((p for p in candidates(package, below) if os.path.isfile(p)), None)
            if path is not None:
                _table.set_library_path(library["name"], path)
    except OSError as error:  # Python lists folders to find a package
        if error.errno not in (errno.EMFILE, errno.ENFILE):
            raise
        raise LibraryNotFoundError(
            f"the installed libraries cannot be looked for: no file handle is left ({errno.errorcode[error.errno]})",
            op="Backend",
            remedy="Close files, or raise the limit (ulimit -n), and repeat the call.",
        ) from None
    _registered = True
