"""Types of arguments."""

from __future__ import annotations

from typing import Protocol, TypeAlias

import numpy as np

from stator._dtype import DType

DTypeLike: TypeAlias = "DType | str | type | np.dtype[np.generic]"


class StreamLike(Protocol):
    """A stream of stator or of another library, by the protocol of cuda.core: (version, cudaStream_t)."""

    def __cuda_stream__(self) -> tuple[int, int]: ...
