"""Linear algebra."""

from typing import TYPE_CHECKING

from stator._linalg import matmul
from stator._namespace import made

if TYPE_CHECKING:
    from stator._made_linalg import *  # noqa: F403
else:
    globals().update(made("linalg."))

__all__ = ["matmul", *made("linalg.")]
