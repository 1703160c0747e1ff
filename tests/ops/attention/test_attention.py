"""Attention against the formula in wide NumPy: sizes of heads, masks, shared heads, layouts, special values."""

import inputs
import numpy as np
import oracles
import pytest
from reference import widen

import stator

nn = stator.nn
# In units in the last place of 1 of the largest value: halves round the weights, the others err by the exponential.
UNITS = {"float16": 3, "bfloat16": 3, "float32": 32, "float64": 64}
DIGITS = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}


def drawn(shape, dtype, seed):
    return inputs.random(np.random.default_rng(seed), shape, dtype, -1, 1)


def operands(dtype, queries, keys, size, value_size, batch=(2,), heads=None):
    shared = batch if heads is None else (*batch[:-1], heads)
    shapes = (*batch, queries, size), (*shared, keys, size), (*shared, keys, value_size)
    return [drawn(shape, dtype, seed) for seed, shape in enumerate(shapes)]


def compare(be, given, **options):
    """The result and its lse, of arrays of NumPy or of arrays already made beside them."""
    host = [x if isinstance(x, np.ndarray) else x.to_numpy() for x in given]
    on = [be.asarray(x) if isinstance(x, np.ndarray) else x for x in given]
    wide = dict(options)
    if (mask := options.get("mask")) is not None:
        wide["mask"] = mask if mask.dtype == bool else widen(mask)
        options["mask"] = be.asarray(mask)
    want, lse = oracles.attention(*map(widen, host), **wide)
    got, got_lse = nn.attention(*on, **options, return_lse=True)
    dtype = got.dtype.name if hasattr(got.dtype, "name") else str(got.dtype)
    unit = UNITS[dtype] * 2.0 ** -DIGITS[dtype]
    assert got.shape == want.shape and got_lse.shape == lse.shape
    largest = max(float(np.max(np.abs(widen(host[2])), initial=0)), 1e-30)
    np.testing.assert_allclose(widen(got.to_numpy()), want, rtol=0, atol=unit * largest)
    assert got_lse.to_numpy().dtype == (np.float64 if dtype == "float64" else np.float32)
    exact = 2.0**-40 if dtype == "float64" else 2.0**-17
    np.testing.assert_allclose(widen(got_lse.to_numpy()), lse, rtol=exact, atol=exact)
    np.testing.assert_array_equal(nn.attention(*on, **options).to_numpy(), got.to_numpy())
    return got


SIZES = [(1, 1, 16, 16), (70, 130, 64, 64), (33, 65, 40, 24), (5, 200, 128, 80), (40, 70, 256, 256), (66, 35, 19, 150)]


@pytest.mark.parametrize("dtype", inputs.FLOATS)
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_sizes_of_heads(be, dtype, sizes):
    compare(be, operands(dtype, *sizes))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_so_many_queries_that_warps_take_two_strips(be, dtype):
    compare(be, operands(dtype, 130, 70, 40, 33, batch=(70,)), causal=dtype == "bfloat16")


@pytest.mark.parametrize("dtype", inputs.FLOATS)
def test_few_queries_of_many_keys(be, dtype):
    """Which the host reads in one pass for each query; also with keys that are not a multiple of four."""
    for queries, keys in ((1, 600), (3, 301), (4, 2)):
        given = operands(dtype, queries, keys, 64, 32)
        compare(be, given)
        compare(be, given, causal=True)
        mask = np.random.default_rng(9).random((queries, keys)) < 0.5
        mask[0] = False
        compare(be, given, mask=mask, scale=2.0)
        compare(be, given, mask=drawn((keys,), dtype, 10))


@pytest.mark.parametrize("dtype", inputs.FLOATS)
@pytest.mark.parametrize("size", [64, 130])
def test_a_query_sees_no_later_key(be, dtype, size):
    for queries, keys in ((70, 70), (20, 90), (90, 20)):
        compare(be, operands(dtype, queries, keys, size, size), causal=True)


MASKS = [(70, 90), (1, 90), (70, 1), (90,), (2, 1, 1, 90), (1, 3, 70, 90), ()]


@pytest.mark.parametrize(("shape", "dtype"), [(m, d) for i, m in enumerate(MASKS) for d in inputs.FLOATS[i % 2 :: 2]])
def test_masks_are_broadcast(be, shape, dtype):
    """Each shape in two dtypes: how a mask is broadcast is in its strides, which no kernel knows by its dtype."""
    given = operands(dtype, 70, 90, 24, 16, (2, 3))
    chosen = np.random.default_rng(5).random(shape) < 0.6
    compare(be, given, mask=chosen)
    compare(be, given, mask=drawn(shape, dtype, 6))


@pytest.mark.parametrize("dtype", inputs.FLOATS)
def test_a_mask_and_the_causal_order_both_exclude(be, dtype):
    chosen = np.random.default_rng(5).random((70, 90)) < 0.6
    compare(be, operands(dtype, 70, 90, 24, 16, (3,)), mask=chosen, causal=True)


@pytest.mark.parametrize("dtype", inputs.FLOATS)
def test_queries_that_see_no_key_give_zeros(be, dtype):
    given = operands(dtype, 40, 50, 32, 24)
    mask = np.random.default_rng(7).random((40, 50)) < 0.5
    mask[3] = mask[39] = False
    got = compare(be, given, mask=mask)
    assert not got.to_numpy()[:, [3, 39]].any()
    added = np.where(mask, 0, -np.inf).astype(given[0].dtype)
    assert not compare(be, given, mask=added).to_numpy()[:, 3].any()


@pytest.mark.parametrize("dtype", inputs.FLOATS)
@pytest.mark.parametrize("heads", [1, 2, 6])
def test_heads_share_keys(be, dtype, heads):
    compare(be, operands(dtype, 20, 40, 16, 16, (2, 6), heads))
    compare(be, operands(dtype, 20, 40, 16, 16, (6,), heads), mask=np.random.default_rng(8).random((6, 20, 40)) < 0.7)


@pytest.mark.parametrize("batch", [(), (3,), (2, 1, 3), (0,), (2, 0)])
def test_any_batch_axes(be, batch):
    compare(be, operands("float32", 9, 8, 16, 16, batch))


@pytest.mark.parametrize("dtype", inputs.FLOATS)
def test_no_queries_and_no_keys(be, dtype):
    assert compare(be, operands(dtype, 0, 5, 16, 8)).shape == (2, 0, 8)
    for mask in (None, np.ones((4, 0), bool)):
        assert not compare(be, operands(dtype, 4, 0, 16, 8), mask=mask).to_numpy().any()


@pytest.mark.parametrize("dtype", inputs.FLOATS)
def test_operands_of_any_layout(be, dtype):
    q, k, v = (be.asarray(x) for x in operands(dtype, 40, 70, 32, 32, (2, 3)))
    heads_last = [stator.copy(stator.permute_dims(x, (0, 2, 1, 3))) for x in (q, k, v)]
    compare(be, [stator.permute_dims(x, (0, 2, 1, 3)) for x in heads_last])
    compare(be, [stator.matrix_transpose(stator.copy(stator.matrix_transpose(x))) for x in (q, k, v)])
    compare(be, [x[..., ::-1, ::2] for x in (q, k, v)])
    compare(be, [q[..., 1:], k[..., 1:], v[..., 3:]])
    compare(be, [stator.broadcast_to(x[:1, :1], x.shape) for x in (q, k, v)])


def test_a_mask_of_any_layout(be):
    given = [be.asarray(x) for x in operands("float32", 40, 70, 32, 32)]
    mask = np.random.default_rng(4).random((70, 40)) < 0.5
    want = nn.attention(*given, mask=be.asarray(np.ascontiguousarray(mask.T)))
    np.testing.assert_array_equal(nn.attention(*given, mask=be.asarray(mask).T).to_numpy(), want.to_numpy())


@pytest.mark.parametrize("dtype", inputs.FLOATS)
def test_a_scale_is_a_factor_of_the_scores(be, dtype):
    for scale in (0, -0.5, 1, 3.0):
        compare(be, operands(dtype, 10, 40, 16, 16), scale=scale)


@pytest.mark.parametrize("dtype", inputs.FLOATS)
def test_large_scores_do_not_overflow(be, dtype):
    q, k, v = operands(dtype, 10, 100, 16, 16)
    q = (q * 64).astype(q.dtype)
    got = nn.attention(be.asarray(q), be.asarray((k * 64).astype(k.dtype)), be.asarray(v)).to_numpy()
    assert np.isfinite(widen(got)).all()


@pytest.mark.parametrize("dtype", inputs.FLOATS)
def test_nan_stays_in_its_query(be, dtype):
    q, k, v = operands(dtype, 40, 40, 16, 16)
    q[0, 5] = np.nan
    got = widen(nn.attention(*(be.asarray(x) for x in (q, k, v))).to_numpy())
    assert np.isnan(got[0, 5]).all() and np.isnan(got).sum() == 16


@pytest.mark.parametrize("dtype", inputs.FLOATS)
def test_a_value_that_nobody_sees_counts_for_nothing(be, dtype):
    q, k, v = operands(dtype, 4, 20, 16, 16)
    k[:, 4:] = np.nan
    seen = np.arange(20) < 4
    got = nn.attention(be.asarray(q), be.asarray(k[:, :4].copy()), be.asarray(v[:, :4].copy()))
    hidden = nn.attention(be.asarray(q), be.asarray(k), be.asarray(v), mask=be.asarray(seen))
    np.testing.assert_array_equal(hidden.to_numpy(), got.to_numpy())


def test_results_are_equal_from_run_to_run(be):
    given = [be.asarray(x) for x in operands("float16", 130, 200, 64, 64)]
    first = nn.attention(*given, causal=True).to_numpy()
    np.testing.assert_array_equal(nn.attention(*given, causal=True).to_numpy(), first)


def masked(be, kind, queries, keys, dtype, hidden):
    """The options of a mask that hides some keys from all queries, and which keys each query sees."""
    seen = np.broadcast_to(~np.isin(np.arange(keys), hidden), (queries, keys))
    if kind == "causal":
        return {"causal": True}, np.arange(keys) <= np.arange(queries)[:, None]
    if kind == "bool":
        return {"mask": be.asarray(seen)}, seen
    return {"mask": be.asarray(np.where(seen, np.float32(0), -np.inf), dtype=dtype)}, seen


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("kind", ["causal", "bool", "added"])
@pytest.mark.parametrize("queries", [3, 40])
@pytest.mark.parametrize("dtype", inputs.FLOATS)
def test_keys_that_take_no_part_may_hold_anything(be, dtype, queries, kind, bad):
    keys, hidden = 71, [1, 5, 66, 70]
    q, k, v = operands(dtype, queries, keys, 16, 24)
    options, seen = masked(be, kind, queries, keys, dtype, hidden)
    want = nn.attention(be.asarray(q), be.asarray(k), be.asarray(v), **options).to_numpy()
    unseen = ~seen.any(axis=0)
    dirty_k, dirty_v = k.copy(), v.copy()
    dirty_k[:, unseen], dirty_v[:, unseen] = bad, bad
    got = nn.attention(be.asarray(q), be.asarray(dirty_k), be.asarray(dirty_v), **options).to_numpy()
    unit = UNITS[dtype] * 2.0 ** -DIGITS[dtype]
    np.testing.assert_allclose(widen(got), widen(want), rtol=0, atol=unit)


@pytest.mark.parametrize("dtype", inputs.FLOATS)
@pytest.mark.parametrize("queries", [4, 40])
def test_a_value_reaches_only_the_queries_that_see_it(be, dtype, queries):
    q, k, v = operands(dtype, queries, queries, 16, 24)
    want = nn.attention(be.asarray(q), be.asarray(k), be.asarray(v), causal=True).to_numpy()
    v[:, 2, 5] = np.nan
    got = widen(nn.attention(be.asarray(q), be.asarray(k), be.asarray(v), causal=True).to_numpy())
    reached = np.zeros(got.shape, bool)
    reached[:, 2:, 5] = True
    np.testing.assert_array_equal(np.isnan(got), reached)
    unit = UNITS[dtype] * 2.0 ** -DIGITS[dtype]
    np.testing.assert_allclose(got[~reached], widen(want)[~reached], rtol=0, atol=unit)


def test_a_query_without_keys_is_zero_whatever_they_hold(be):
    x = be.full((1, 6, 8), np.nan, dtype="float32")
    got = nn.attention(be.ones((1, 6, 8), dtype="float32"), x, x, mask=be.zeros((6, 6), dtype="bool"))
    np.testing.assert_array_equal(got.to_numpy(), 0)
