"""Arrays in files and buffers, in NumPy's formats. What is written is copied to the host and counted as such."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

import stator
from stator._array import Array
from stator.errors import DTypeError
from stator.numpy import _convert
from stator.numpy._convert import ArrayLike, DTypeLike
from stator.numpy._rows import differs, same


def _host(value: ArrayLike, op: str) -> np.ndarray[Any, Any]:
    """A copy on the host in a dtype that NumPy's formats have."""
    x = _convert.array(value, op)
    if x.dtype == stator.bfloat16:
        raise DTypeError(".npy files cannot hold bfloat16", op=op, remedy="Convert it with x.astype('float32').")
    return x.to_numpy()


def _numpy_dtype(dtype: DTypeLike) -> Any:
    return _convert.dtype(dtype).numpy()


@differs("Pickled objects are never written; bfloat16 is refused.")
def save(file: Any, arr: ArrayLike, allow_pickle: bool = True) -> None:
    """Writes an array as a .npy file: a path, to which .npy is added, or an open file. Synchronises."""
    np.save(file, _host(arr, "save"), allow_pickle=False)


@differs("Pickled objects are never written; bfloat16 is refused.")
def savez(file: Any, *args: ArrayLike, allow_pickle: bool = True, **kwds: ArrayLike) -> None:
    """Writes arrays as a .npz file, by name; positional ones are arr_0, arr_1, ... Synchronises."""
    given = [_host(a, "savez") for a in args]
    np.savez(file, *given, allow_pickle=False, **{k: _host(v, "savez") for k, v in kwds.items()})


@differs("Pickled objects are never written; bfloat16 is refused.")
def savez_compressed(file: Any, *args: ArrayLike, allow_pickle: bool = True, **kwds: ArrayLike) -> None:
    """As savez, compressed."""
    given = [_host(a, "savez_compressed") for a in args]
    named = {k: _host(v, "savez_compressed") for k, v in kwds.items()}
    np.savez_compressed(file, *given, allow_pickle=False, **named)


class NpzFile(Mapping[str, Array]):
    """The arrays of a .npz file by name, each read and copied to the device when it is asked for. Close it."""

    def __init__(self, source: Any) -> None:
        self._source = source

    @property
    def files(self) -> list[str]:
        """The names of the arrays."""
        return list(self._source.files)

    def __getitem__(self, key: str) -> Array:
        return stator.asarray(self._source[key])

    def __iter__(self) -> Iterator[str]:
        return iter(self._source.files)

    def __len__(self) -> int:
        return len(self._source.files)

    def __contains__(self, key: object) -> bool:
        return key in self._source

    def close(self) -> None:
        """Closes the file."""
        self._source.close()

    def __enter__(self) -> NpzFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@differs("Pickled objects are refused; with mmap_mode the file is mapped while it is copied to the device.")
def load(
    file: Any,
    mmap_mode: Any = None,
    allow_pickle: bool = False,
    fix_imports: bool = True,
    encoding: Any = "ASCII",
    *,
    max_header_size: int = 10000,
) -> Any:
    """The array of a .npy file, or the arrays of a .npz file by name."""
    if allow_pickle:
        raise DTypeError(
            "allow_pickle=True would load objects, which devices do not hold", op="load", remedy="Leave it False."
        )
    found = np.load(file, mmap_mode=mmap_mode, max_header_size=max_header_size)
    return NpzFile(found) if isinstance(found, np.lib.npyio.NpzFile) else stator.asarray(found)


@same
def savetxt(fname: Any, X: ArrayLike, *args: Any, **kwargs: Any) -> None:
    """Writes a vector or a matrix as text; arguments as numpy.savetxt. Synchronises."""
    np.savetxt(fname, _host(X, "savetxt"), *args, **kwargs)


def _read(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if "dtype" in kwargs and kwargs["dtype"] is not None:
        kwargs["dtype"] = _numpy_dtype(kwargs["dtype"])
    found = function(*args, **kwargs)
    return [stator.asarray(v) for v in found] if isinstance(found, (list, tuple)) else stator.asarray(found)


@differs("Structured dtypes are refused.")
def loadtxt(fname: Any, dtype: DTypeLike = float, *args: Any, **kwargs: Any) -> Any:
    """An array of text in lines; arguments as numpy.loadtxt."""
    return _read(np.loadtxt, (fname, _numpy_dtype(dtype), *args), kwargs)


@differs("Structured dtypes and names are refused.")
def genfromtxt(fname: Any, dtype: DTypeLike = float, *args: Any, **kwargs: Any) -> Any:
    """An array of text with missing values; arguments as numpy.genfromtxt."""
    return _read(np.genfromtxt, (fname, None if dtype is None else _numpy_dtype(dtype), *args), kwargs)


@same
def fromfile(file: Any, dtype: DTypeLike = float, count: int = -1, sep: str = "", offset: int = 0) -> Array:
    """A vector of the bytes, or with sep of the text, of a file."""
    return stator.asarray(np.fromfile(file, _numpy_dtype(dtype), count, sep, offset))


@same
def fromstring(string: str, dtype: DTypeLike = float, count: int = -1, *, sep: str) -> Array:
    """A vector of numbers in text, with sep between them."""
    return stator.asarray(np.fromstring(string, _numpy_dtype(dtype), count, sep=sep))


@differs("The bytes are copied to the device.")
def frombuffer(buffer: Any, dtype: DTypeLike = float, count: int = -1, offset: int = 0) -> Array:
    """A vector of the bytes of an object with a buffer."""
    return stator.asarray(np.frombuffer(buffer, _numpy_dtype(dtype), count, offset))
