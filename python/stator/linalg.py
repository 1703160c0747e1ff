"""Linear algebra."""

from stator._linalg import matmul

__all__ = ["matmul"]
