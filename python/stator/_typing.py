"""Types of arguments."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from stator._dtype import DType

DTypeLike: TypeAlias = "DType | str | type | np.dtype[np.generic]"
