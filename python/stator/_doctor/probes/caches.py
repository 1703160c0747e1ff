"""The driver's cache of compiled kernels, which matters where it compiles PTX."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from stator._doctor.environment import Environment
from stator._doctor.finding import Finding, note, warning
from stator._doctor.probes.devices import compiled_at_first_use

CACHE_DISABLED = warning(
    "cache-disabled",
    "CUDA_CACHE_DISABLE=1",
    "Kernels that the driver compiles are compiled again in every process.",
    "Unset CUDA_CACHE_DISABLE.",
)
CACHE_READ_ONLY = warning(
    "cache-read-only",
    "the folder of the driver's cache can be neither written nor made",
    "Kernels that the driver compiles are compiled again in every process.",
    "Set CUDA_CACHE_PATH to a folder that this user may write.",
)
CACHE_SIZE_WRONG = warning(
    "cache-size-wrong",
    "CUDA_CACHE_MAXSIZE is not a number of bytes from 1 to 4 GiB",
    "The driver ignores it, or keeps nothing.",
    "Set it to a number of bytes such as 4294967296, or not at all.",
)
CACHE_SMALL = warning(
    "cache-small",
    "the driver's cache is smaller than the code that it would have to keep for this build",
    "Kernels that the driver compiles push each other out, and are compiled again in later processes.",
    "Set CUDA_CACHE_MAXSIZE=4294967296, the largest.",
)
CACHE_FULL = warning(
    "cache-full",
    "the driver's cache has nine tenths of the bytes that it may have",
    "New kernels push others out, which are compiled again in later processes.",
    "Raise CUDA_CACHE_MAXSIZE (4294967296 is the largest), or remove the files of the folder.",
)
CACHE_COLD = note(
    "cache-cold",
    "the driver's cache is empty, and this build has kernels that the driver must compile",
    "The first use of each kernel takes the time of its compilation, once.",
    "Keep the folder between runs: in a container, mount it.",
)

_DEFAULT = 1 << 30  # bytes, of CUDA_CACHE_MAXSIZE on machines with desktop and data-centre GPUs
_LARGEST = 4 << 30
_FULL = 0.9


def folder(env: Environment) -> Path | None:
    """The folder of the driver's cache; None where neither the configuration, CUDA_CACHE_PATH nor HOME says one."""
    if named := env.package.configuration.get("jit_cache_path") or env.variable("CUDA_CACHE_PATH"):
        return Path(named)
    home = env.variable("HOME")
    return Path(home) / ".nv/ComputeCache" if home else None


def _writable(env: Environment, path: Path) -> bool:
    """Whether the folder can be written, or made in the first of its parents that exists."""
    while not path.exists() and path != path.parent:
        path = path.parent
    return path.is_dir() and env.accessible(path, os.W_OK | os.X_OK)


def _bytes(path: Path) -> int:
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())


def _bytes_by_architecture(env: Environment) -> Counter[tuple[str, int]]:
    """The length of the code of this build, machine code where it has some: what the driver makes is about as long."""
    images = env.images or []
    kind = "code" if any(image.kind == "code" for image in images) else "ptx"
    found: Counter[tuple[str, int]] = Counter()
    for image in images:
        if image.kind == kind:
            found[kind, image.architecture] += image.bytes
    return found


def cache(env: Environment) -> Iterator[Finding]:
    """The cache's folder and sizes."""
    if env.emulates or not env.driver.devices:
        return
    if env.variable("CUDA_CACHE_DISABLE") == "1":
        yield CACHE_DISABLED.found("CUDA_CACHE_DISABLE=1")
        return
    path = folder(env)
    if path is None or not _writable(env, path):
        yield CACHE_READ_ONLY.found(f"{path}" if path else "Neither CUDA_CACHE_PATH nor HOME is set")
        return
    text = str(env.package.configuration.get("jit_cache_size") or env.variable("CUDA_CACHE_MAXSIZE")).strip()
    limit = int(text) if text.isdigit() else -1 if text else _DEFAULT
    if not 0 < limit <= _LARGEST:
        yield CACHE_SIZE_WRONG.found(f"CUDA_CACHE_MAXSIZE={text}")
        return
    used = _bytes(path) if path.is_dir() else 0
    if used >= _FULL * limit:
        yield CACHE_FULL.found(f"{path} has {used} of {limit} bytes")
    if not compiled_at_first_use(env):
        return
    wanted = max(_bytes_by_architecture(env).values(), default=0)
    if wanted > limit:
        yield CACHE_SMALL.found(f"The code of this build has {wanted} bytes, and the cache may have {limit}")
    if not used:
        yield CACHE_COLD.found(f"{path} has no file")
