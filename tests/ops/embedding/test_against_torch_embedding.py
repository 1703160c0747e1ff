"""Embeddings and bags against torch and its autograd."""

import numpy as np
import pytest
from torch_rows import assert_close, draw, gradients, tensor, torch

import stator

nn, F = stator.nn, torch.nn.functional
DTYPES = ["float16", "bfloat16", "float32", "float64"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("options", [{}, {"padding_idx": 3}, {"scale_grad_by_freq": True}])
def test_embedding(be, options, dtype):
    weight, at = draw((20, 6), dtype), np.random.default_rng(0).integers(0, 20, (5, 40))
    grad = draw((5, 40, 6), dtype, 1)
    there = tensor(at)
    assert_close(nn.embedding(be.asarray(weight), be.asarray(at)), F.embedding(there, tensor(weight)), 0)
    got = nn.embedding_backward(be.asarray(grad), be.asarray(at), 20, **options)
    want = gradients(lambda w: F.embedding(there, w, **options), tensor(grad), tensor(weight))[0]
    assert_close(got, want, 8, 100)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("padding", [None, 3])
@pytest.mark.parametrize("offsets", [None, [0, 0, 5, 30, 30]])
def test_embedding_bag(be, offsets, padding, mode, dtype):
    weight = draw((20, 6), dtype)
    at = np.random.default_rng(0).integers(0, 20, (40,) if offsets else (5, 8))
    grad = draw((5, 6), dtype, 1)
    there, starts = tensor(at), torch.tensor(offsets) if offsets else None
    where = [be.asarray(at), be.asarray(np.array(offsets)) if offsets else None]

    def reference(w):
        return F.embedding_bag(there, w, starts, mode=mode, padding_idx=padding)

    got = nn.embedding_bag(be.asarray(weight), *where, mode=mode, padding_idx=padding)
    assert_close(got, reference(tensor(weight)), 8, 100)
    got = nn.embedding_bag_backward(be.asarray(grad), be.asarray(weight), *where, mode=mode, padding_idx=padding)
    assert_close(got, gradients(reference, tensor(grad), tensor(weight))[0], 8, 100)


def test_one_hot(be):
    at = np.random.default_rng(0).integers(0, 9, (3, 4))
    got = nn.one_hot(be.asarray(at), 9)
    assert got.dtype.name == "int64"
    assert_close(got, F.one_hot(tensor(at), 9), 0)
