"""Kernels of your own on a cuda backend: compiled from CUDA C++, or loaded from PTX or machine code.

`Backend.compile` is the way in; without a GPU the emulated device runs them too (STATOR_EMULATE=h200).
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from stator._shared import kept
from stator.errors import CompileError, DTypeError, InvalidValueError
from stator.programs import _program
from stator.programs._arguments import kernel_of
from stator.programs._code import IncludeFolders, compiled_code
from stator.programs._program import Kernel

if TYPE_CHECKING:
    from stator._array import Array
    from stator._backend import Backend


class ProgramCacheInfo(NamedTuple):
    """Figures of a backend's cache of programs.

    hits, misses, evictions: of loaded programs. programs: how many are loaded. limit: the most that stay loaded.
    disk_hits, disk_misses: sources whose code was read from disk, and those that were compiled. seconds_saved: the time
    that the compiler took for code that was read from disk, less the time that finding and reading it took.
    """

    hits: int
    misses: int
    evictions: int
    programs: int
    limit: int
    disk_hits: int
    disk_misses: int
    seconds_saved: float


_LIMIT = 128
_OP = "Backend.compile"
_NAMES = "__nv_name_map"  # the file in which NVRTC finds fault with names, in its log


class ProgramCache:
    """The programs of one backend by source, names and options, the least recently used first. Thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._limit = _LIMIT
        self._programs: OrderedDict[tuple[object, ...], _program.Program] = OrderedDict()
        self._hits = self._misses = self._evictions = 0
        self._disk_hits = self._disk_misses = 0
        self._saved = 0.0

    def get(self, key: tuple[object, ...]) -> _program.Program | None:
        """The program of the key; counts a hit or a miss."""
        with self._lock:
            found = self._programs.get(key)
            if found is None:
                self._misses += 1
            else:
                self._hits += 1
                self._programs.move_to_end(key)
            return found

    def put(self, key: tuple[object, ...], program: _program.Program) -> None:
        """Keeps the program, and drops the one that was used longest ago if there are too many."""
        with self._lock:
            self._programs[key] = program
            self._evict()

    def note_disk(self, saved: float | None) -> None:
        """Counts code that was read from disk, which saved this many seconds, or had to be compiled (None)."""
        with self._lock:
            self._disk_hits += saved is not None
            self._disk_misses += saved is None
            self._saved += saved or 0

    def resize(self, limit: int) -> None:
        """Keeps at most `limit` programs from now on."""
        with self._lock:
            self._limit = limit
            self._evict()

    def clear(self) -> None:
        """Drops all programs. Those whose kernels are in use stay loaded as long."""
        with self._lock:
            self._programs.clear()

    def info(self) -> ProgramCacheInfo:
        """The figures of the cache."""
        with self._lock:
            return ProgramCacheInfo(
                hits=self._hits,
                misses=self._misses,
                evictions=self._evictions,
                programs=len(self._programs),
                limit=self._limit,
                disk_hits=self._disk_hits,
                disk_misses=self._disk_misses,
                seconds_saved=self._saved,
            )

    def _evict(self) -> None:
        while len(self._programs) > self._limit:
            self._programs.popitem(last=False)
            self._evictions += 1


def cache_of(backend: Backend) -> ProgramCache:
    """The backend's cache of programs, made at first use."""
    return kept(backend, "_programs", ProgramCache)


@cache
def include_folders() -> IncludeFolders:
    """The folders of headers: of stator/diagnostics.hpp, stator/device and its neighbours, and those of CUDA.

    CUDA's (cuda_fp16.h, cooperative_groups.h, cuda/std/complex) are those of NVIDIA's packages for Python, else of the
    toolkit that CUDA_HOME or CUDA_PATH names.
    """
    own = str(Path(__file__).parent / "include"), str(Path(_program.__file__).parents[1] / "include")
    spec = find_spec("nvidia")
    roots = [Path(folder) / "cu13/include" for folder in (spec.submodule_search_locations or ())] if spec else []
    roots += [Path(os.environ[name]) / "include" for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name)]
    having = [root for root in roots if (root / "cuda_fp16.h").is_file()]
    # The packages of the headers of CUDA's C++ library, which others include, are often not installed beside them.
    whole = [root for root in having if (root / "cccl/nv/target").is_file() or (root / "nv/target").is_file()]
    for root in whole or having:
        return IncludeFolders(own, (str(root), str(root / "cccl")))
    return IncludeFolders(own, ())


def _is_ptx(source: str) -> bool:
    lines = (line.strip() for line in source.splitlines())
    first = next((line for line in lines if line and not line.startswith("//")), "")
    return first.startswith(".version")


def compile_program(
    backend: Backend, source: str | bytes, name: str | Sequence[str], options: Sequence[str] = ()
) -> Kernel | tuple[Kernel, ...]:
    """What Backend.compile does."""
    if not isinstance(name, (str, list, tuple)):
        raise DTypeError(f"name is of type {type(name).__name__}", op=_OP, remedy="Give a string, or several.")
    names = (name,) if isinstance(name, str) else tuple(name)
    if not names:
        raise InvalidValueError(f"name={name!r}", op=_OP, remedy="Name one kernel at least.")
    if not isinstance(options, (list, tuple)) or not all(isinstance(option, str) for option in (*options, *names)):
        raise DTypeError("Names and options are not all strings", op=_OP, remedy="Give lists or tuples of strings.")
    if not isinstance(source, (str, bytes)):
        raise DTypeError(f"source is of type {type(source).__name__}", op=_OP, remedy="Give a str, or bytes of code.")
    key = (source, names, tuple(options))
    programs = cache_of(backend)
    program = programs.get(key)
    if program is None:
        if isinstance(source, bytes):
            program = _program.load_code(backend, source, names)
        elif _is_ptx(source):
            program = _program.load_code(backend, source.encode(errors="backslashreplace"), names)
        else:
            program = _compiled(backend, source, names, tuple(options))
        programs.put(key, program)
    kernels = program.kernels(backend, names)
    return kernels[0] if isinstance(name, str) else kernels


def _compiled(backend: Backend, source: str, names: tuple[str, ...], options: tuple[str, ...]) -> _program.Program:
    """The program of CUDA C++."""
    architecture = _program.architecture_of(backend)
    try:
        code, saved = compiled_code(source, names, options, include_folders(), architecture)
    except CompileError as error:
        if _NAMES not in error.cause or "program.cu(" in error.cause:
            raise
        raise CompileError(
            f"The source has no kernel for one of the names {', '.join(names)}:{error.cause.partition(':')[2]}",
            op=_OP,
            remedy='Name kernels as the source does, and instances of templates with their arguments: "axpy<float>".',
        ) from None
    cache_of(backend).note_disk(saved)
    return _program.load_compiled(backend, names, code.ptx, code.machine_code, code.symbols, code.log)


@dataclass(frozen=True)
class KernelDescriptor:
    """What Backend.programs.create_kernel compiles: the arguments of Backend.compile."""

    name: str
    source: str | bytes
    options: tuple[str, ...] = ()


def create_kernel(backend: Backend, descriptor: KernelDescriptor) -> Kernel:
    """What Backend.programs.create_kernel does."""
    if not isinstance(descriptor, KernelDescriptor):
        raise DTypeError(
            f"descriptor is of type {type(descriptor).__name__}",
            op="Backend.programs.create_kernel",
            remedy="Give a stator.programs.KernelDescriptor.",
        )
    made = compile_program(backend, descriptor.source, descriptor.name, descriptor.options)
    assert not isinstance(made, tuple)  # of one name
    return made


def uniform_values(backend: Backend, kernel: Kernel, buffers: Sequence[Array], uniform_data: bytes) -> list[bytes]:
    """The values after the buffers of BackendAdapter.execute_kernel, checked."""
    op = "BackendAdapter.execute_kernel"
    kernel_of(backend, kernel, op)
    if not isinstance(buffers, (list, tuple)):
        raise DTypeError(f"buffers is of type {type(buffers).__name__}", op=op, remedy="Give a list of Arrays.")
    if not isinstance(uniform_data, (bytes, bytearray, memoryview)):
        raise DTypeError(f"uniform_data is of type {type(uniform_data).__name__}", op=op, remedy="Give bytes.")
    rest = kernel.parameters[len(buffers) :]
    uniform = bytes(uniform_data)
    size = rest[-1].offset + rest[-1].size - rest[0].offset if rest else 0
    if len(uniform) != size:
        raise DTypeError(
            f"uniform_data has {len(uniform)} bytes, and the parameters after {len(buffers)} buffers have {size}",
            op=op,
            remedy=f"The kernel is {kernel!r}; pad its values as a structure in C.",
        )
    return [uniform[p.offset - rest[0].offset :][: p.size] for p in rest]
