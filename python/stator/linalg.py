"""Linear algebra."""

from typing import TYPE_CHECKING

from stator._linalg import matmul
from stator._manipulation import diagonal, matrix_transpose
from stator._namespace import made

if TYPE_CHECKING:
    from stator._made_linalg import *  # noqa: F403
else:
    globals().update(made("linalg."))

__all__ = ["diagonal", "matmul", "matrix_transpose", *made("linalg.")]
