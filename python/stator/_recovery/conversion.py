"""Exceptions of other libraries as stator's, and the level at which errors are logged."""

from __future__ import annotations

import errno
import logging
import re
from collections.abc import Iterator

import numpy as np

from stator.errors import (
    AxisError,
    BackendClosedError,
    CudaError,
    DeviceUnavailableError,
    DTypeError,
    InvalidValueError,
    LibraryNotFoundError,
    LinAlgError,
    OutOfMemoryError,
    OutOfRangeError,
    StatorError,
    UnsupportedError,
)

# The first class of an exception's that is named here decides. Those of other libraries are known by name, since
# importing these would be slow, and they may not be there.
_NAMES: dict[str, type[StatorError]] = {
    "torch.OutOfMemoryError": OutOfMemoryError,
    "torch.cuda.OutOfMemoryError": OutOfMemoryError,
    "torch.AcceleratorError": CudaError,
    "cupy.cuda.memory.OutOfMemoryError": OutOfMemoryError,
    "cupy_backends.cuda.api.runtime.CUDARuntimeError": CudaError,
    "cupy_backends.cuda.api.driver.CUDADriverError": CudaError,
    "cupy_backends.cuda.libs.cublas.CUBLASError": CudaError,
    "cupy_backends.cuda.libs.cusolver.CUSOLVERError": CudaError,
    "cupy_backends.cuda.libs.cusparse.CuSparseError": CudaError,
    "cupy.cuda.cufft.CuFFTError": CudaError,
    "numba.cuda.cudadrv.driver.CudaAPIError": CudaError,
    "numba.cuda.cudadrv.error.CudaSupportError": DeviceUnavailableError,
    "numba.cuda.cudadrv.error.NvvmSupportError": LibraryNotFoundError,
    "cuda.core._utils.cuda_utils.CUDAError": CudaError,
    "cuda.core.experimental._utils.cuda_utils.CUDAError": CudaError,
}
_TYPES: tuple[tuple[type[Exception], type[StatorError]], ...] = (
    (MemoryError, OutOfMemoryError),
    (ImportError, LibraryNotFoundError),
    (np.linalg.LinAlgError, LinAlgError),
    (np.exceptions.AxisError, AxisError),
    (NotImplementedError, UnsupportedError),
    (IndexError, OutOfRangeError),
    (TypeError, DTypeError),
    (ValueError, InvalidValueError),
    (OverflowError, InvalidValueError),
)
_OUT_OF_MEMORY = re.compile(r"out of memory|cudaErrorMemoryAllocation|CUDA_ERROR_OUT_OF_MEMORY|ALLOC_FAILED", re.I)
_CUDA = re.compile(
    r"\b(CUDA error|CUDA out of memory|cudaError\w+|CUDA_ERROR_\w+|CUBLAS_STATUS_\w+|CUSOLVER_STATUS_\w+|cuDNN error)"
)
_STATUS = re.compile(r"\b(cudaError[A-Z]\w*|CUDA_ERROR_\w+|CU[A-Z]+_STATUS_\w+)")
_SHARED_OBJECT = re.compile(r"cannot open shared object file|\.so[.\d]*: ")

# Errors after which nothing of the device works in this process.
_STICKY = re.compile(
    r"illegal ?(memory)? ?(address|access|instruction)|launch ?_?fail|misaligned|hardware_?stack|"
    r"device-?side ?assert|ecc ?_?uncorrectable|device_?lost|unspecified launch",
    re.I,
)


def _names(error: BaseException) -> Iterator[str]:
    for kind in type(error).__mro__:
        yield f"{kind.__module__}.{kind.__qualname__}"


def _kind(error: Exception, text: str) -> type[StatorError]:
    """The type of stator's that fits."""
    named = next((_NAMES[name] for name in _names(error) if name in _NAMES), None)
    if named is CudaError and _OUT_OF_MEMORY.search(text):
        return OutOfMemoryError
    if named is not None:
        return named
    if isinstance(error, OSError):
        if error.errno == errno.ENOMEM:
            return OutOfMemoryError
        return LibraryNotFoundError if _SHARED_OBJECT.search(text) else StatorError
    if isinstance(error, RuntimeError) and _CUDA.search(text):  # torch's, and those of extensions in C++
        return OutOfMemoryError if _OUT_OF_MEMORY.search(text) else CudaError
    return next((ours for theirs, ours in _TYPES if isinstance(error, theirs)), StatorError)


def convert(error: Exception) -> StatorError:
    """What stator.errors.convert_error does, without its check."""
    if isinstance(error, StatorError):
        return error
    text = str(error)
    name = type(error).__name__
    if text:
        name += f": {text}"
    converted = _kind(error, text)(name)
    if isinstance(converted, CudaError):
        status = next((value for key in ("status", "code", "error_code") if (value := _code(error, key))), 0)
        found = _STATUS.search(text)
        converted.code, converted.name = status, found.group(0) if found else ""
    converted.__cause__ = error
    return converted


def converted(error: Exception, op: str) -> StatorError:
    """As convert(). DTypeError for what is not an exception."""
    if not isinstance(error, Exception):
        raise DTypeError(f"Got error of type {type(error).__name__}", op=op, remedy="Give an exception.")
    return convert(error)


def _code(error: Exception, name: str) -> int:
    value = getattr(error, name, 0)
    return int(value) if isinstance(value, int) else 0


def is_sticky(error: StatorError) -> bool:
    """Whether the device cannot be used any more in this process."""
    return isinstance(error, CudaError) and bool(_STICKY.search(f"{error.name} {error}"))


def level_of(error: StatorError) -> int:
    """The level at which stator.errors.log_error logs it."""
    if is_sticky(error):
        return logging.CRITICAL
    of_a_call = (ValueError, TypeError, IndexError, NotImplementedError, BackendClosedError, np.linalg.LinAlgError)
    return logging.WARNING if isinstance(error, of_a_call) else logging.ERROR
