"""Where pip puts the vendor libraries, told to the C++ side before the first backend opens. Nothing is imported."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from stator import _table

# (library, package, path below it)
_PLACES = (
    ("openblas", "scipy_openblas32", "lib/libscipy_openblas.so"),
    ("cublasLt", "nvidia", "cu13/lib/libcublasLt.so.13"),
    ("cublas", "nvidia", "cu13/lib/libcublas.so.13"),
    ("cusparse", "nvidia", "cu13/lib/libcusparse.so.12"),
    ("cusolver", "nvidia", "cu13/lib/libcusolver.so.12"),
    ("cufft", "nvidia", "cu13/lib/libcufft.so.12"),
    ("nvrtc", "nvidia", "cu13/lib/libnvrtc.so.13"),
)
_registered = False


def register() -> None:
    """Registers the libraries that are installed as wheels; once a process."""
    global _registered
    if _registered:
        return
    _registered = True
    for library, package, below in _PLACES:
        spec = find_spec(package)
        for folder in (spec.submodule_search_locations or ()) if spec else ():
            path = Path(folder) / below
            if path.is_file():
                _table.set_library_path(library, str(path))
                break
