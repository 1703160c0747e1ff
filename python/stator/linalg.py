"""Linear algebra.

Matrices are the last two axes; the others are a batch. float32, float64, complex64, complex128; integers and bool
become float64. Where the device must be waited for to know that a decomposition worked, check=False does not wait and
returns its info, int32 on the device, besides: 0 is success.
"""

from typing import TYPE_CHECKING

from stator._linalg import (
    EighResult,
    EigResult,
    LstsqResult,
    LUFactorResult,
    LUResult,
    QRResult,
    SlogdetResult,
    SVDResult,
    cho_solve,
    cholesky,
    cond,
    cross,
    det,
    eig,
    eigh,
    eigvals,
    eigvalsh,
    expm,
    inv,
    lstsq,
    lu,
    lu_factor,
    lu_solve,
    matrix_norm,
    matrix_power,
    matrix_rank,
    pinv,
    qr,
    slogdet,
    solve,
    solve_triangular,
    svd,
    svdvals,
    trace,
)
from stator._matmul import (
    MatmulCacheInfo,
    clear_matmul_cache,
    matmul,
    matmul_cache_info,
    outer,
    set_matmul_cache_limit,
    tensordot,
    vecdot,
)
from stator._movement_views import diagonal, matrix_transpose
from stator._namespace import table_functions
from stator.errors import LinAlgError

if TYPE_CHECKING:
    from stator._table_functions_linalg import *  # noqa: F403
else:
    globals().update(table_functions("linalg."))

__all__ = [
    "EigResult",
    "EighResult",
    "LUFactorResult",
    "LUResult",
    "LinAlgError",
    "LstsqResult",
    "MatmulCacheInfo",
    "QRResult",
    "SVDResult",
    "SlogdetResult",
    "cho_solve",
    "cholesky",
    "clear_matmul_cache",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "expm",
    "inv",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_solve",
    "matmul",
    "matmul_cache_info",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "outer",
    "pinv",
    "qr",
    "set_matmul_cache_limit",
    "slogdet",
    "solve",
    "solve_triangular",
    "svd",
    "svdvals",
    "tensordot",
    "trace",
    "vecdot",
    *table_functions("linalg."),
]
