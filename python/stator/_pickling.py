"""How arrays, sparse matrices, generators and backends are pickled and restored.

A pickle has the number of its format, and device memory by value; it is restored on a backend of the device it came
from.
"""

from __future__ import annotations

import copyreg
import math
import sys
import threading
from pickle import PickleBuffer
from typing import TYPE_CHECKING, Any

import numpy as np

from stator._array import Array
from stator._creation import asarray
from stator._dask import tell
from stator._dtype import DType
from stator._dtype import dtype as as_dtype
from stator._random import Generator
from stator._sparse import COO, CSC, CSR
from stator.errors import DeviceUnavailableError, StatorError, UnpicklingError

if TYPE_CHECKING:
    from stator._backend import Backend

FORMAT = 1

_opened: dict[Any, Backend] = {}
_lock = threading.Lock()


def _check_format(found: object, what: str) -> None:
    if found != FORMAT:
        raise UnpicklingError(
            f"Format {found!r} of {what}, where this version reads format {FORMAT}",
            op="pickle.loads",
            remedy="Write the pickle with the version of stator that reads it.",
        )


def _corrupt(what: str, why: object) -> UnpicklingError:
    return UnpicklingError(f"{what} is corrupt: {why}", op="pickle.loads", remedy="Write it again.")


def _backend_of(device: object) -> Backend:
    """The current backend if it is of the device, else the process's shared one."""
    from stator._backend import resolve_backend

    try:
        current = resolve_backend(None)
        if current.device_name == device and not current.closed:
            return current
        return resolve_backend(str(device), "pickle.loads")
    except StatorError as error:
        raise DeviceUnavailableError(
            f"The pickle is of the device {device!r}, which cannot be opened here: {error.cause}",
            op="pickle.loads",
            remedy="Pickle x.to_device('cpu'), or x.to_numpy().",
        ) from None


def bytes_of(x: Array) -> memoryview:
    """The bytes of the elements, by rows. Synchronises."""
    bits = x.view("uint16") if x.dtype == "bfloat16" else x  # NumPy has no bfloat16 of its own
    return bits.to_numpy().reshape(-1).view(np.uint8).data


def array_from(data: Any, kind: DType, shape: tuple[int, ...], backend: Backend) -> Array:
    """An array of the bytes that bytes_of() gave. Asynchronous once the data has been read."""
    stored = np.dtype(np.uint16) if kind == "bfloat16" else kind.numpy()
    x = asarray(np.frombuffer(data, np.uint8).view(stored).reshape(shape), device=backend)
    return x.view(kind) if kind == "bfloat16" else x


def reduce_array(x: Array, protocol: int) -> tuple[Any, ...]:
    """What Array.__reduce_ex__ returns: only the elements of x, where x is a view."""
    tell()  # dask names an array by its pickle
    values = bytes_of(x)
    data = PickleBuffer(values) if protocol >= 5 else values.tobytes()
    return restore_array, (FORMAT, x.dtype.name, x.shape, x.backend.device_name, data)


def restore_array(form: object, dtype: str, shape: tuple[int, ...], device: str, data: Any) -> Array:
    """The array of a pickle. Asynchronous once the data has been read."""
    _check_format(form, "a pickled array")
    tell()
    try:
        kind = as_dtype(dtype)
        raw = np.frombuffer(data, np.uint8)
        if len(shape) > 32 or any(type(n) is not int or n < 0 for n in shape):
            raise ValueError(f"the shape {shape!r}")
        if math.prod(n or 1 for n in shape) * kind.itemsize > sys.maxsize:
            raise ValueError(f"the shape {shape!r}, which no array has")
        if raw.nbytes != math.prod(shape) * kind.itemsize:
            raise ValueError(f"{raw.nbytes} bytes for shape {shape} of {kind}")
    except (StatorError, TypeError, ValueError) as error:
        raise _corrupt("The pickled array", error) from None
    return array_from(raw, kind, shape, _backend_of(device))


_KINDS: dict[str, Any] = {"CSR": CSR, "CSC": CSC, "COO": COO}


def _reduce_sparse(x: Any) -> tuple[Any, ...]:
    parts = (x.data, x.row, x.col) if isinstance(x, COO) else (x.data, x.indices, x.indptr)
    return restore_sparse, (FORMAT, type(x).__name__, parts, x.shape, (x.is_sorted, x.is_coalesced))


def restore_sparse(form: object, kind: str, parts: tuple[Array, ...], shape: Any, flags: tuple[bool, bool]) -> Any:
    """The sparse matrix of a pickle."""
    _check_format(form, "a pickled sparse matrix")
    try:
        sort, coalesced = flags
        return _KINDS[kind](*parts, shape, is_sorted=sort, is_coalesced=coalesced)
    except (StatorError, KeyError, TypeError, ValueError) as error:
        raise _corrupt("The pickled sparse matrix", error) from None


def _reduce_generator(generator: Generator) -> tuple[Any, ...]:
    state = generator.get_state()
    return restore_generator, (FORMAT, tuple(state), generator.backend.device_name)


def restore_generator(form: object, state: tuple[Any, ...], device: str) -> Generator:
    """A generator of its own that goes on from the pickled state."""
    from stator._random import RngState

    _check_format(form, "a pickled generator")
    out = Generator(_backend_of(device), seed=0)
    try:
        out.set_state(RngState(*state))
    except (StatorError, TypeError) as error:
        raise _corrupt("The pickled generator", error) from None
    return out


def reduce_backend(backend: Backend) -> tuple[Any, ...]:
    """What Backend.__reduce__ returns: its device and options, without those that hold for a process."""
    options = {name: value for name, value in backend.options.items() if not name.startswith("jit_cache")}
    return restore_backend, (FORMAT, backend.device_name, options)


def restore_backend(form: object, device: str, options: dict[str, Any]) -> Backend:
    """The backend of a configuration in this process.

    The current or the shared backend if its options are the same, else one that is opened once per configuration.
    """
    _check_format(form, "a pickled backend")
    known = _backend_of(device)
    try:
        if {name: known.options.get(name) for name in options} == options:
            return known
        key = device, tuple(sorted(options.items()))
        with _lock:
            found = _opened.get(key)
            if found is None or found.closed:
                needed = {**options, "require_libraries": options["require_libraries"] or None}
                found = _opened[key] = type(known)(device, **needed)
            return found
    except (StatorError, TypeError, KeyError, AttributeError) as error:
        raise _corrupt("The pickled backend", error) from None


def register() -> None:
    """Makes pickle and copy use these functions for the classes that have no method for it."""
    for kind in (CSR, CSC, COO):
        copyreg.pickle(kind, _reduce_sparse)
    copyreg.pickle(Generator, _reduce_generator)
