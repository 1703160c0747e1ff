"""CUB's algorithms on the emulated device: compiled by the nvcc that compiled stator, for the same architectures.

Their calls of the CUDA runtime go to the emulator of the process (runtime.cpp), which has stator's devices and arrays.
"""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import emulator_records as records
import numpy as np

import stator

from ..inputs import upload
from .case import MILLION
from .counted import Counted, summed
from .toolkit import ROOT, toolkit

HERE = Path(__file__).resolve().parent
# As csrc/CMakeLists.txt and cmake/CudaFromWheels.cmake compile stator's kernels.
FLAGS = ["-c", "--compress-mode=speed", "--expt-relaxed-constexpr", "--fmad=false", "-O1", "-std=c++20"]
FLAGS += ["-gencode", "arch=compute_80,code=[sm_90,compute_80]"]


def compiled(folder: Path) -> ctypes.CDLL | None:
    """The library of algorithms.cpp, made in the folder; None where there is no nvcc or no CUB."""
    home = toolkit()
    if home is None:
        return None
    include = home / "include"
    emulator = Path(records.emulator()._name)
    hidden = ["-fPIC", "-fvisibility=hidden"]
    headers = ["-I", str(include / "cccl"), "-I", str(include), "-I", str(ROOT / "csrc")]
    host = f"-Xcompiler={','.join(hidden)}"
    link = [emulator, f"-Wl,-rpath,{emulator.parent},-z,defs"]
    steps = [
        [home / "bin" / "nvcc", "-x", "cu", *FLAGS, host, *headers, HERE / "algorithms.cpp"],
        ["g++", "-std=c++20", "-O1", *hidden, *headers, "-c", HERE / "runtime.cpp"],
        ["g++", "-shared", "algorithms.o", "runtime.o", *link, "-o", "libcub.so"],
    ]
    for step in steps:
        subprocess.run([str(word) for word in step], cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "libcub.so"))


class Cub:
    """The algorithms as functions of stator's arrays."""

    def __init__(self, library: ctypes.CDLL, be: stator.Backend) -> None:
        self.library, self.be = library, be

    def synchronize(self) -> None:
        self.be.synchronize()
        self._checked("finish", self.library.finish())

    def call(self, name: str, *arguments: Any) -> list[records.Launch]:
        """The launches of a call with the workspace that the algorithm asks for."""
        function = getattr(self.library, name)
        given = [ctypes.c_void_p(a.data_ptr) if isinstance(a, stator.Array) else a for a in arguments]
        size = ctypes.c_size_t()
        self._checked(name, function(None, ctypes.byref(size), *given))
        workspace = stator.empty(max(size.value, 1), dtype="uint8", device=self.be)
        with records.watched(self.synchronize) as launches:
            self._checked(name, function(ctypes.c_void_p(workspace.data_ptr), ctypes.byref(size), *given))
        return launches

    @staticmethod
    def _checked(name: str, code: int) -> None:
        if code != 0:
            raise RuntimeError(f"{name} of CUB failed with the CUDA error {code}")


def _run(cub: Cub, x: np.ndarray) -> list[Counted]:
    """Each algorithm, checked against NumPy before it is counted."""
    be, n = cub.be, x.size
    source = upload(be, x)
    made: list[Counted] = []

    def case(name: str, family: str, launches: list[records.Launch], *touched: Any) -> None:
        floor = sum(int(a.nbytes) for a in (source, *touched))
        made.append(summed(f"CUB {name}", family, launches, n, floor))

    def output(size: int, dtype: str = "float32") -> Any:
        return stator.empty(size, dtype=dtype, device=be)

    def same(name: str, got: Any, want: np.ndarray, close: Callable[..., bool] = np.array_equal) -> None:
        if not close(got.to_numpy(), want):
            raise RuntimeError(f"{name} of CUB gave wrong numbers on the emulated device")

    total, sums, ordered, kept, count, bins, exps = (
        output(1),
        output(n),
        output(n),
        output(n),
        output(1, "int32"),
        output(50, "int32"),
        output(n),
    )
    launches = cub.call("reduce_sum", source, total, n)
    same("sum", total, np.array([x.sum(dtype=np.float64)]), lambda a, b: np.allclose(a, b, atol=0.1))
    case("sum", "reduce", launches, total)
    launches = cub.call("scan_sum", source, sums, n)
    same("scan", sums, np.cumsum(x, dtype=np.float64), lambda a, b: np.allclose(a, b, atol=0.1))
    case("inclusive scan", "scan", launches, sums)
    launches = cub.call("radix_sort", source, ordered, n)
    same("sort", ordered, np.sort(x))
    case("radix sort", "sort", launches, ordered)
    launches = cub.call("select_if", source, kept, count, n)
    same("select", kept[: int(count.to_numpy()[0])], x[x > 0])
    case("select if", "indexing", launches, kept[: int((x > 0).sum())], count)
    edges = (ctypes.c_float(-3), ctypes.c_float(3))
    launches = cub.call("histogram", source, bins, 51, *edges, n)
    if abs(int(bins.to_numpy().sum()) - int((np.abs(x) < 3).sum())) > 1:
        raise RuntimeError("histogram of CUB gave wrong numbers on the emulated device")
    case("histogram", "sets", launches, bins)
    launches = cub.call("transform", source, exps, n)
    same("transform", exps, np.exp(x), lambda a, b: np.allclose(a, b, rtol=1e-5))
    case("transform exp", "elementwise", launches, exps)
    return made


def count_cub(be: stator.Backend, folder: Path) -> list[Counted]:
    """The rows of CUB's algorithms on a million floats; none without a compiler."""
    library = compiled(folder)
    if library is None:
        return []
    return _run(Cub(library, be), np.random.default_rng(2026).standard_normal(MILLION).astype("float32"))
