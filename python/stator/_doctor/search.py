"""Where the dynamic linker, and stator before it, would find a shared object. Nothing is opened."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from stator._doctor.environment import Environment

_DEFAULT = ("/lib64", "/usr/lib64", "/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib", "/usr/lib")
_DEPTH = 4  # of files of the linker's configuration that include others


def from_variable(env: Environment) -> list[Path]:
    """The folders of LD_LIBRARY_PATH."""
    return [Path(part) for part in env.variable("LD_LIBRARY_PATH").split(":") if part]


def _configured(env: Environment, name: str, depth: int = 0) -> list[Path]:
    found: list[Path] = []
    for line in (env.text(name) or "").splitlines():
        words = line.partition("#")[0].split()
        if len(words) == 2 and words[0] == "include" and depth < _DEPTH:
            pattern = words[1] if words[1].startswith("/") else f"{name.rpartition('/')[0]}/{words[1]}"
            for file in sorted(env.root.glob(pattern.lstrip("/"))):
                found += _configured(env, "/" + str(file.relative_to(env.root)), depth + 1)
        elif words:
            found.append(env.at(words[0]))
    return found


def from_system(env: Environment) -> list[Path]:
    """The folders that the linker is configured with, and its own."""
    return [*_configured(env, "/etc/ld.so.conf"), *map(env.at, _DEFAULT)]


def from_wheels(env: Environment, below: str) -> list[Path]:
    """The folders of a wheel, such as nvidia/cu13/lib, and of other wheels of the same vendor."""
    package = below.split("/", 1)[0]
    roots = [Path(entry or ".") for entry in env.path]
    own = [root / below for root in roots]
    return [*own, *(folder for root in roots for folder in sorted((root / package).glob("*/lib")))]


def from_toolkits(env: Environment) -> list[Path]:
    """The folders of the toolkit and of the conda environment that variables name."""
    named = (("CONDA_PREFIX", "lib"), ("CUDA_HOME", "lib64"), ("CUDA_PATH", "lib64"))
    return [Path(env.variable(name)) / folder for name, folder in named if env.variable(name)]


def files(folders: Iterable[Path], stem: str) -> list[Path]:
    """The files of any version (libcublas.so.12 and .13 of "libcublas.so."), each once whatever its names."""
    found: dict[Path, Path] = {}
    for folder in folders:
        try:
            named = sorted(path for path in folder.iterdir() if path.name.startswith(stem))
        except OSError:
            continue
        for path in named:
            if path.is_file():
                found.setdefault(path.resolve(), path)
    return list(found.values())


def major(path: Path, stem: str) -> str:
    """The major version in a file's name, 13 of libcublas.so.13.0.1."""
    return path.name[len(stem) :].partition(".")[0]


def first(folders: Iterable[Path], names: Iterable[str]) -> Path | None:
    """The first file of one of these names; None where there is none."""
    wanted = list(names)
    return next((f / name for f in folders for name in wanted if (f / name).is_file()), None)
