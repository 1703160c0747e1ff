"""Attention against torch's, where that has the option too."""

import numpy as np
import pytest
from torch_rows import assert_close, draw, tensor, torch

import stator

F = torch.nn.functional


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("heads", [4, 2])
@pytest.mark.parametrize("options", [{}, {"causal": True}, {"scale": 0.3}, {"mask": True}], ids=str)
def test_attention(be, dtype, heads, options):
    shapes = (2, 4, 37, 24), (2, heads, 37, 24), (2, heads, 37, 40)
    q, k, v = (draw(shape, dtype, seed, -1, 1) for seed, shape in enumerate(shapes))
    mask = np.random.default_rng(3).random((37, 37)) < 0.7
    mask[:, 0] = True
    ours, theirs = dict(options), {"enable_gqa": heads != 4}
    if "mask" in options:
        ours["mask"], theirs["attn_mask"] = be.asarray(mask), torch.from_numpy(mask)
    theirs |= {"is_causal": True} if "causal" in options else {}
    theirs |= {"scale": options["scale"]} if "scale" in options else {}
    want = F.scaled_dot_product_attention(*map(tensor, (q, k, v)), **theirs)
    assert_close(stator.nn.attention(*map(be.asarray, (q, k, v)), **ours), want, 64, 1.0, str(options))
