"""Types of arguments. `stator.typing` is their public face.

Nothing imports this module when stator is imported: annotations are not evaluated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from stator._array import Array
from stator._backend import Backend
from stator._device import Device
from stator._dtype import DType


class StreamLike(Protocol):
    """A stream of stator or of another library, by the protocol of cuda.core: (version, cudaStream_t)."""

    def __cuda_stream__(self) -> tuple[int, int]: ...


class SupportsBuffer(Protocol):
    """What has Python's buffer protocol, as NumPy's arrays, array.array and memoryview have."""

    def __buffer__(self, flags: int, /) -> memoryview: ...


class SupportsArray(Protocol):
    """What turns itself into a NumPy array."""

    def __array__(self) -> np.ndarray[Any, Any]: ...


class SupportsDLPack(Protocol):
    """An array of another library, by DLPack."""

    def __dlpack__(self, *, stream: Any = ...) -> Any: ...

    def __dlpack_device__(self) -> tuple[Any, int]: ...


class SupportsCudaArrayInterface(Protocol):
    """An array of another library on a GPU, by Numba's protocol."""

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...


DTypeLike: TypeAlias = DType | str | type[Any] | np.dtype[Any]
DeviceLike: TypeAlias = Backend | Device | str | None
if TYPE_CHECKING:
    Nested: TypeAlias = Sequence["ArrayLike"]
else:  # get_type_hints() looks for names in the module of the function, which need not have this one
    Nested = Sequence[Any]
ArrayLike: TypeAlias = (
    Array | complex | SupportsBuffer | SupportsArray | SupportsDLPack | SupportsCudaArrayInterface | Nested
)
