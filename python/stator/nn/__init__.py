"""Neural-network ops. Backward functions take the gradient first, then what the forward function saved."""

from typing import TYPE_CHECKING

from stator._elementwise import gelu, gelu_backward
from stator._indexing import masked_fill_backward, masked_scatter_backward, masked_select_backward
from stator._matmul import QuantizedResult, linear, quantize_fp8, scaled_matmul
from stator._namespace import missing, table_functions
from stator._random_dropout import dropout, dropout_backward
from stator._reduce import mean_backward, prod_backward, sum_backward
from stator.nn._attention import attention
from stator.nn._convolution import (
    conv1d,
    conv1d_backward,
    conv2d,
    conv2d_backward,
    conv3d,
    conv3d_backward,
    conv_transpose1d,
    conv_transpose1d_backward,
    conv_transpose2d,
    conv_transpose2d_backward,
    conv_transpose3d,
    conv_transpose3d_backward,
    fold,
    unfold,
)
from stator.nn._embedding import embedding, embedding_backward, embedding_bag, embedding_bag_backward, one_hot
from stator.nn._losses import (
    binary_cross_entropy_with_logits,
    binary_cross_entropy_with_logits_backward,
    ctc_loss,
    ctc_loss_backward,
    huber_loss,
    huber_loss_backward,
    kl_div,
    kl_div_backward,
    l1_loss,
    l1_loss_backward,
    mse_loss,
    mse_loss_backward,
    nll_loss,
    nll_loss_backward,
    smooth_l1_loss,
    smooth_l1_loss_backward,
)
from stator.nn._nn import (
    cross_entropy,
    cross_entropy_backward,
    gumbel_softmax,
    gumbel_softmax_backward,
    log_softmax,
    log_softmax_backward,
    softmax,
    softmax_backward,
    softmin,
    softmin_backward,
)
from stator.nn._norm import (
    group_norm,
    group_norm_backward,
    instance_norm,
    instance_norm_backward,
    layer_norm,
    layer_norm_backward,
    rms_norm,
    rms_norm_backward,
)
from stator.nn._norm_batch import (
    batch_norm,
    batch_norm_backward,
    local_response_norm,
    local_response_norm_backward,
    update_running_stats,
)
from stator.nn._optim import (
    adagrad_step,
    adam_step,
    clip_grad_norm,
    has_inf_nan,
    lamb_step,
    lion_step,
    rmsprop_step,
    sgd_step,
)

if TYPE_CHECKING:
    from stator._table_functions_nn import *  # noqa: F403
else:
    globals().update(table_functions("nn."))

__all__ = [
    "QuantizedResult",
    "adagrad_step",
    "adam_step",
    "attention",
    "batch_norm",
    "batch_norm_backward",
    "binary_cross_entropy_with_logits",
    "binary_cross_entropy_with_logits_backward",
    "clip_grad_norm",
    "conv1d",
    "conv1d_backward",
    "conv2d",
    "conv2d_backward",
    "conv3d",
    "conv3d_backward",
    "conv_transpose1d",
    "conv_transpose1d_backward",
    "conv_transpose2d",
    "conv_transpose2d_backward",
    "conv_transpose3d",
    "conv_transpose3d_backward",
    "cross_entropy",
    "cross_entropy_backward",
    "ctc_loss",
    "ctc_loss_backward",
    "dropout",
    "dropout_backward",
    "embedding",
    "embedding_backward",
    "embedding_bag",
    "embedding_bag_backward",
    "fold",
    "gelu",
    "gelu_backward",
    "group_norm",
    "group_norm_backward",
    "gumbel_softmax",
    "gumbel_softmax_backward",
    "has_inf_nan",
    "huber_loss",
    "huber_loss_backward",
    "instance_norm",
    "instance_norm_backward",
    "kl_div",
    "kl_div_backward",
    "l1_loss",
    "l1_loss_backward",
    "lamb_step",
    "layer_norm",
    "layer_norm_backward",
    "linear",
    "lion_step",
    "local_response_norm",
    "local_response_norm_backward",
    "log_softmax",
    "log_softmax_backward",
    "masked_fill_backward",
    "masked_scatter_backward",
    "masked_select_backward",
    "mean_backward",
    "mse_loss",
    "mse_loss_backward",
    "nll_loss",
    "nll_loss_backward",
    "one_hot",
    "prod_backward",
    "quantize_fp8",
    "rms_norm",
    "rms_norm_backward",
    "rmsprop_step",
    "scaled_matmul",
    "sgd_step",
    "smooth_l1_loss",
    "smooth_l1_loss_backward",
    "softmax",
    "softmax_backward",
    "softmin",
    "softmin_backward",
    "sum_backward",
    "unfold",
    "update_running_stats",
    *table_functions("nn."),
]


def __dir__() -> list[str]:
    return [*__all__]


if not TYPE_CHECKING:
    __getattr__ = missing(__name__, __all__)
