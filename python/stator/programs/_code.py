"""What NVRTC makes of a source, and where it is kept between processes."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import NamedTuple

from stator import _libraries, _table
from stator._version import __version__
from stator.programs import _program
from stator.programs._disk_cache import disk_cache
from stator.programs._headers import UnknownHeader, digest

# Options of NVRTC that read or write other files.
_WITH_FILES = ("--create-pch", "--use-pch", "--pch", "-pch", "--device-time-trace", "-fdevice-time-trace", "--time")


@dataclass(frozen=True)
class Code:
    """Code of kernels for one architecture: PTX, a cubin, the kernels' names in it, what the compiler warned of."""

    ptx: bytes
    machine_code: bytes
    symbols: tuple[str, ...]
    log: str
    seconds: float  # that the compiler took

    def to_bytes(self) -> bytes:
        """For from_bytes()."""
        rest = {name: value for name, value in asdict(self).items() if name not in ("ptx", "machine_code")}
        head = json.dumps(rest | {"ptx_bytes": len(self.ptx)}).encode()
        return b"".join((len(head).to_bytes(4, "little"), head, self.ptx, self.machine_code))

    @classmethod
    def from_bytes(cls, data: bytes) -> Code:
        """What to_bytes() wrote."""
        start = 4 + int.from_bytes(data[:4], "little")
        head = json.loads(data[4:start])
        end = start + head["ptx_bytes"]
        return cls(data[start:end], data[end:], tuple(head["symbols"]), head["log"], head["seconds"])


class IncludeFolders(NamedTuple):
    """The folders of headers that come after those of the options: stator's own, and CUDA's."""

    own: tuple[str, ...]
    toolkit: tuple[str, ...]


def compiled_code(
    source: str,
    names: tuple[str, ...],
    options: tuple[str, ...],
    folders: IncludeFolders,
    architecture: int,
) -> tuple[Code, float | None]:
    """Code of the disk cache, and the seconds that it saved; else newly compiled code and None."""
    began = time.perf_counter()
    cache = disk_cache("Backend.compile")
    options = (*options, *(f"--include-path={folder}" for folder in folders.own + folders.toolkit))
    key = cache and _key(source, names, options, folders.toolkit, architecture)
    if cache and key and (found := cache.get(key)) is not None:
        code = Code.from_bytes(found)
        return code, code.seconds - (time.perf_counter() - began)
    began = time.perf_counter()
    ptx, machine_code, symbols, log = _program.compile_code(source, names, options, "program.cu", architecture)
    code = Code(ptx, machine_code, symbols, log, time.perf_counter() - began)
    if cache and key:
        cache.put(key, code.to_bytes())
    return code, None


def _key(
    source: str, names: Sequence[str], options: Sequence[str], toolkit: Sequence[str], architecture: int
) -> str | None:
    """The key of all that the code depends on; None where that is not known."""
    if any(option.startswith(_WITH_FILES) for option in options):
        return None
    try:
        headers = digest(source, options, toolkit)
    except (UnknownHeader, OSError, UnicodeError):
        return None
    whole = [__version__, _compiler(), architecture, source, list(names), list(options), headers]
    return sha256(json.dumps(whole).encode()).hexdigest()


def _compiler() -> list[object]:
    """What identifies NVRTC: its file where that is known without opening it, else its version."""
    _libraries.register()
    path = next(one["path"] for one in _table.libraries(False) if one["name"] == "nvrtc")
    if not path:
        return [_program.compiler_version()]
    status = os.stat(path)
    return [path, status.st_size, status.st_mtime_ns]
