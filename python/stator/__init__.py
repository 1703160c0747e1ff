"""Arrays on CUDA devices, and the same kernels on the CPU."""

from __future__ import annotations

import atexit
import math
import os
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

if sys.argv[:2] == ["-m", "doctor"] and sys.orig_argv[-len(sys.argv)].endswith("stator"):
    # `python -m stator doctor` answers also where the modules below cannot be imported.
    from stator._doctor.command import main

    sys.exit(main(sys.argv[2:]))

from stator import _array_methods, _pickling, errors, fft, linalg, nn, random, sparse, special, testing
from stator._array import Array
from stator._builder import BackendBuilder
from stator._creation import (
    arange,
    asarray,
    astype,
    copy,
    diag,
    empty,
    empty_like,
    eye,
    full,
    full_like,
    linspace,
    ones,
    ones_like,
    tri,
    tril,
    triu,
    zeros,
    zeros_like,
)
from stator._dtype import DType, all_dtypes, dtype, result_type
from stator._elementwise import clip, frexp, nan_to_num
from stator._indexing import (
    compress,
    index_add,
    masked_fill,
    masked_scatter,
    masked_select,
    nonzero,
    put_along_axis,
    scatter,
    scatter_add,
    segment_max,
    segment_mean,
    segment_min,
    segment_sum,
    take,
    take_along_axis,
)
from stator._interop import from_dlpack
from stator._matmul import addmm, baddbmm, cdist, dot, einsum, kron, matmul, outer, tensordot, vecdot
from stator._movement import concat, pad, ravel, repeat, roll, rot90, split, stack, tile
from stator._movement_views import (
    as_strided,
    broadcast_arrays,
    broadcast_to,
    expand_dims,
    flip,
    matrix_transpose,
    meshgrid,
    moveaxis,
    permute_dims,
    reshape,
    squeeze,
    unstack,
)
from stator._namespace import missing, table_functions
from stator._printing import get_printoptions, printoptions, set_printoptions
from stator._scan import cumulative_max, cumulative_min, cumulative_prod, cumulative_sum, diff, logcumsumexp
from stator._sets import (
    bincount,
    histc,
    histogram,
    isin,
    searchsorted,
    unique_all,
    unique_consecutive,
    unique_counts,
    unique_inverse,
    unique_values,
)
from stator._sort import argsort, kthvalue, median, mode, partition, quantile, sort, topk
from stator._table import rows as op_table
from stator._version import __version__
from stator.backend import (
    Backend,
    Device,
    Event,
    Stream,
    default_backend,
    is_available,
    set_default_backend,
    shutdown,
)
from stator.config import BackendConfig
from stator.inspection import __array_namespace_info__, broadcast_shapes, can_cast, finfo, iinfo, isdtype

if TYPE_CHECKING:
    # Modules that are loaded on first use.
    from stator import backends as backends
    from stator import graphs as graphs
    from stator import hardware as hardware
    from stator import memory as memory
    from stator import monitor as monitor
    from stator import numpy as numpy
    from stator import programs as programs
    from stator import scopes as scopes
    from stator import streams as streams
    from stator import telemetry as telemetry
    from stator import typing as typing
    from stator._table_functions import *  # noqa: F403
    from stator.graphs._decorator import graph
    from stator.hardware import (
        BackendType,
        Capabilities,
        DeviceInfo,
        DeviceRequirements,
        PerformanceHints,
        devices,
        find_best_device,
        get_devices_by_type,
        is_device_type_available,
    )
else:
    globals().update(table_functions(""))

(
    bool,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
    float16,
    bfloat16,
    float32,
    float64,
    complex64,
    complex128,
) = all_dtypes

__array_api_version__ = "2025.12"
e = math.e
inf = math.inf
nan = math.nan
newaxis = None
pi = math.pi


def get_include() -> str:
    """The folder of the C++ headers; the libraries are in `lib` beside it.

    In an editable install these are the folders of the build.
    """
    from stator import _backend

    return os.path.join(os.path.dirname(_backend.__file__), "include")


def _ops() -> SimpleNamespace:
    """Every function of the op table, by the name of its entry."""
    namespaces: dict[str, dict[str, Any]] = {
        "": globals(),
        "nn": vars(nn),
        "random": vars(random),
        "special": vars(special),
        "linalg": vars(linalg),
        "sparse": vars(sparse),
        "fft": vars(fft),
    }
    found = {}
    for entry in op_table():
        namespace, _, name = entry["call"].rpartition(".")
        if namespace in namespaces:
            found[entry["name"]] = namespaces[namespace][name]
    return SimpleNamespace(**found)


_array_methods.install()
_pickling.register()
Backend.nn = nn
Backend.linalg = linalg
Backend.fft = fft
Backend.special = special
Backend.sparse = sparse
Backend.ops = _ops()


def _end() -> None:
    """Closes what is open when the process ends. Daemon threads that are in a call then end without a message."""
    import threading

    shown = threading.excepthook

    def excepthook(args: threading.ExceptHookArgs, /) -> None:
        if not isinstance(args.exc_value, errors.BackendClosedError):
            shown(args)

    threading.excepthook = excepthook
    shutdown()


atexit.register(_end)

__all__ = [
    "Array",
    "Backend",
    "BackendBuilder",
    "BackendConfig",
    "BackendType",
    "Capabilities",
    "DType",
    "Device",
    "DeviceInfo",
    "DeviceRequirements",
    "Event",
    "PerformanceHints",
    "Stream",
    "__array_api_version__",
    "__array_namespace_info__",
    "__version__",
    "addmm",
    "arange",
    "argsort",
    "as_strided",
    "asarray",
    "astype",
    "baddbmm",
    "bfloat16",
    "bincount",
    "bool",
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "can_cast",
    "cdist",
    "clip",
    "complex64",
    "complex128",
    "concat",
    "compress",
    "copy",
    "cumulative_max",
    "cumulative_min",
    "cumulative_prod",
    "cumulative_sum",
    "default_backend",
    "devices",
    "diag",
    "diff",
    "dot",
    "dtype",
    "e",
    "einsum",
    "empty",
    "empty_like",
    "errors",
    "expand_dims",
    "eye",
    "fft",
    "find_best_device",
    "finfo",
    "flip",
    "float16",
    "float32",
    "float64",
    "frexp",
    "from_dlpack",
    "full",
    "full_like",
    "graph",
    "get_devices_by_type",
    "get_include",
    "get_printoptions",
    "histc",
    "histogram",
    "iinfo",
    "index_add",
    "inf",
    "int8",
    "int16",
    "int32",
    "int64",
    "is_available",
    "is_device_type_available",
    "isdtype",
    "isin",
    "kthvalue",
    "kron",
    "linalg",
    "linspace",
    "logcumsumexp",
    "masked_fill",
    "masked_scatter",
    "masked_select",
    "matmul",
    "matrix_transpose",
    "median",
    "memory",
    "meshgrid",
    "mode",
    "moveaxis",
    "nan",
    "nan_to_num",
    "newaxis",
    "nn",
    "nonzero",
    "ones",
    "ones_like",
    "op_table",
    "pad",
    "partition",
    "outer",
    "permute_dims",
    "pi",
    "printoptions",
    "quantile",
    "put_along_axis",
    "random",
    "ravel",
    "repeat",
    "reshape",
    "result_type",
    "roll",
    "rot90",
    "searchsorted",
    "scatter",
    "scatter_add",
    "segment_max",
    "segment_mean",
    "segment_min",
    "segment_sum",
    "set_default_backend",
    "set_printoptions",
    "shutdown",
    "sort",
    "sparse",
    "special",
    "split",
    "squeeze",
    "stack",
    "take",
    "tensordot",
    "take_along_axis",
    "testing",
    "tile",
    "tri",
    "tril",
    "triu",
    "topk",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "unique_all",
    "unique_consecutive",
    "unique_counts",
    "unique_inverse",
    "unique_values",
    "unstack",
    "vecdot",
    "zeros",
    "zeros_like",
    *table_functions(""),
]


def __dir__() -> list[str]:
    return [*__all__]


_missing = missing(__name__, __all__)
# Names of stator.hardware, which is loaded on first use.
_OF_HARDWARE = {
    "BackendType",
    "Capabilities",
    "DeviceInfo",
    "DeviceRequirements",
    "PerformanceHints",
    "devices",
    "find_best_device",
    "get_devices_by_type",
    "is_device_type_available",
}


def __getattr__(name: str) -> Any:
    if name in (
        "backends",
        "graphs",
        "hardware",
        "memory",
        "monitor",
        "numpy",
        "programs",
        "scopes",
        "streams",
        "telemetry",
        "typing",
    ):  # loaded on first use
        import importlib

        return importlib.import_module(f"stator.{name}")
    if name in _OF_HARDWARE:
        from stator import hardware

        return getattr(hardware, name)
    if name == "graph":
        from stator.graphs._decorator import graph

        return graph
    return _missing(name)
