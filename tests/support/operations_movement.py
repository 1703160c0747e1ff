"""Cases of operations that move data or draw random numbers, for test_operation_cases.py."""

import pickle

import numpy as np
import oracles
import scipy.stats
from cases import TABLE

import stator

OPERATIONS = """
any: meshgrid_grid broadcast_bool strided_cat save_rng_state restore_rng_state manual_seed_gpu
f32: rand_uniform randn_normal
f32 f64: dropout dropout_philox
f32 f64: slice_write slice_read roll triu tril diag_embed diag_extract strided_split strided_scatter
"""


def numbers(shape, dtype="float32"):
    return np.random.default_rng(7).normal(size=shape).astype(dtype)


def same(got, want):
    got = got.to_numpy()
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)


def slice_write(be, dtype):
    dst, src = numbers((3, 9, 5), dtype), numbers((3, 5), dtype)
    on = be.asarray(dst)
    on[:, 4] = be.asarray(src)
    dst[:, 4] = src
    same(on, dst)


def slice_read(be, dtype):
    x = numbers((3, 9, 5), dtype)
    same(stator.copy(be.asarray(x)[:, :4]), x[:, :4])


def roll(be, dtype):
    x = numbers((3, 70, 5), dtype)
    for shift in (0, 1, -33, 200):
        same(stator.roll(be.asarray(x), shift, axis=1), np.roll(x, shift, axis=1))


def triu(be, dtype):
    x = numbers((3, 33, 40), dtype)
    for k in (-50, -2, 0, 3, 50):
        same(stator.triu(be.asarray(x), k=k), np.triu(x, k))


def tril(be, dtype):
    x = numbers((3, 33, 40), dtype)
    for k in (-50, -2, 0, 3, 50):
        same(stator.tril(be.asarray(x), k=k), np.tril(x, k))


def diag_embed(be, dtype):
    x = numbers((33,), dtype)
    for k in (-4, 0, 2):
        same(stator.diag(be.asarray(x), k), np.diag(x, k))


def diag_extract(be, dtype):
    x = numbers((33, 40), dtype)
    for k in (-40, -4, 0, 2):
        same(stator.diag(be.asarray(x), k), np.diag(x, k))


def strided_split(be, dtype):
    x = numbers((6, 33, 5), dtype)
    for got, want in zip(stator.split(be.asarray(x), [4, 20], axis=1), np.split(x, [4, 20], axis=1), strict=True):
        same(stator.copy(got), want)


def strided_scatter(be, dtype):
    dst, src = np.arange(60, dtype=dtype), numbers((4, 3), dtype)
    on = be.asarray(dst)
    stator.as_strided(on, (4, 3), (13, 2), 5)[...] = be.asarray(src)
    for i in range(4):
        dst[5 + 13 * i : 11 + 13 * i : 2] = src[i]
    same(on, dst)


def strided_cat(be, dtype):
    for kind in TABLE["concat"]["dtypes"]:
        pieces = [stator.astype(be.asarray(numbers((4, n, 3)) * 9), kind) for n in (5, 1, 12)]
        want = np.concatenate([p.to_numpy() for p in pieces], axis=1)
        same(stator.concat(pieces, axis=1), want)
        out, begin = be.zeros(want.shape, dtype=kind), 0
        for piece in pieces:
            out[:, begin : begin + piece.shape[1]] = piece
            begin += piece.shape[1]
        same(out, want)


def broadcast_bool(be, dtype):
    mask = numbers((5, 1, 33)) > 0
    for shape in ((5, 4, 33), (2, 5, 7, 33)):
        same(stator.copy(stator.broadcast_to(be.asarray(mask), shape)), np.broadcast_to(mask, shape))


def meshgrid_grid(be, dtype):
    x, y = np.arange(3, dtype=dtype), np.arange(4, dtype=dtype)
    for got, want in zip(
        stator.meshgrid(be.asarray(x), be.asarray(y), indexing="ij"), np.meshgrid(x, y, indexing="ij"), strict=True
    ):
        same(got, want)


def words(seed, counter, n):
    blocks = np.arange(counter, counter + -(-n // 4), dtype=np.uint64)
    return oracles.philox4x32_10(seed, blocks).ravel()[:n].astype(np.uint64)


def rand_uniform(be, dtype):
    be.random.seed(12)
    got = stator.random.uniform(size=(1001,), dtype=dtype)
    same(got, ((words(12, 0, 1001) >> np.uint64(8)) * 2.0**-24).astype(dtype))


def randn_normal(be, dtype):
    be.random.seed(12)
    x = stator.random.normal(size=(40000,), dtype=dtype).to_numpy()
    assert x.dtype == dtype and abs(x.mean()) < 0.02 and abs(x.std() - 1) < 0.02
    assert scipy.stats.kstest(x, "norm").pvalue > 1e-3


def manual_seed_gpu(be, dtype):
    stator.random.seed(2**63 + 5)
    first = be.random.uniform(size=(8,)).to_numpy()
    stator.random.seed(2**63 + 5)
    with stator.Backend(be.device) as other:
        np.testing.assert_array_equal(other.random.uniform(size=(8,)).to_numpy(), first)
    np.testing.assert_array_equal(be.random.uniform(size=(8,)).to_numpy(), first)


def save_rng_state(be, dtype):
    be.random.seed(31)
    stator.random.uniform(size=(6,), dtype="float32")
    state = pickle.loads(pickle.dumps(stator.random.get_state(device=be)))
    assert state == stator.random.RngState(31, 2, 0, str(be.device))


def restore_rng_state(be, dtype):
    be.random.seed(31)
    state = stator.random.get_state()
    first = [stator.random.normal(size=(9,)).to_numpy(), stator.random.integers(9, size=(9,)).to_numpy()]
    stator.random.set_state(state)
    np.testing.assert_array_equal(stator.random.normal(size=(9,)).to_numpy(), first[0])
    np.testing.assert_array_equal(stator.random.integers(9, size=(9,)).to_numpy(), first[1])


def dropout(be, dtype):
    x = be.asarray(np.full(40000, 2, dtype))
    y, state = stator.nn.dropout(x, 0.25, rng=3)
    got = y.to_numpy()
    assert abs((got == 0).mean() - 0.25) < 0.01
    assert np.unique(got[got != 0]).tolist() == [np.dtype(dtype).type(2) * np.dtype(dtype).type(1 / 0.75)]
    same(stator.nn.dropout_backward(x, 0.25, state), got)


def dropout_philox(be, dtype):
    x = numbers((10, 101), dtype)
    be.random.seed(8)
    be.random.uniform(size=(4,), dtype="float32")
    y, state = stator.nn.dropout(be.asarray(x), 0.5)
    assert state.counter == 1 and be.random.get_state().counter == 1 + -(-1010 // 4)
    keep = words(8, 1, 1010).reshape(10, 101) >= 2**31
    same(y, np.where(keep, x * 2, 0).astype(dtype))
    same(stator.nn.dropout(be.asarray(x), 0.5, rng=state)[0], y.to_numpy())
