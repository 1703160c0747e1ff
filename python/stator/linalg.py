"""Linear algebra.

Matrices are the last two axes; the other axes are a batch. float32, float64, complex64 and complex128; integers and
bool become float64. Functions that check whether a decomposition succeeded wait for the device; with check=False they
do not wait, and also return info, int32 on the device, which is 0 for success.
"""

from typing import TYPE_CHECKING

from stator._linalg import (
    EighResult,
    EigResult,
    LUFactorResult,
    LUResult,
    QRResult,
    SlogdetResult,
    SVDResult,
    cho_solve,
    cholesky,
    det,
    eig,
    eigh,
    eigvals,
    eigvalsh,
    inv,
    lu,
    lu_factor,
    lu_solve,
    qr,
    slogdet,
    solve,
    solve_triangular,
    svd,
    svdvals,
)
from stator._linalg_functions import (
    LstsqResult,
    cond,
    cross,
    expm,
    lstsq,
    matrix_norm,
    matrix_power,
    matrix_rank,
    pinv,
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
from stator._namespace import missing, table_functions
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


def __dir__() -> list[str]:
    return [*__all__]


if not TYPE_CHECKING:
    __getattr__ = missing(__name__, __all__)
