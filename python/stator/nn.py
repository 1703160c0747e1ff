"""Neural-network ops. Backward functions take the gradient first, then what the forward function saved."""

from typing import TYPE_CHECKING

from stator._elementwise import gelu, gelu_backward
from stator._indexing import masked_fill_backward, masked_scatter_backward, masked_select_backward
from stator._matmul import QuantizedResult, linear, quantize_fp8, scaled_matmul
from stator._namespace import missing, table_functions
from stator._nn import (
    adam_step,
    cross_entropy,
    cross_entropy_backward,
    log_softmax,
    log_softmax_backward,
    softmax,
    softmax_backward,
)
from stator._random_dropout import dropout, dropout_backward
from stator._reduce import mean_backward, prod_backward, sum_backward

if TYPE_CHECKING:
    from stator._table_functions_nn import *  # noqa: F403
else:
    globals().update(table_functions("nn."))

__all__ = [
    "QuantizedResult",
    "adam_step",
    "cross_entropy",
    "cross_entropy_backward",
    "dropout",
    "dropout_backward",
    "gelu",
    "gelu_backward",
    "linear",
    "log_softmax",
    "log_softmax_backward",
    "masked_fill_backward",
    "masked_scatter_backward",
    "masked_select_backward",
    "mean_backward",
    "prod_backward",
    "quantize_fp8",
    "scaled_matmul",
    "softmax",
    "softmax_backward",
    "sum_backward",
    *table_functions("nn."),
]


def __dir__() -> list[str]:
    return [*__all__]


if not TYPE_CHECKING:
    __getattr__ = missing(__name__, __all__)
