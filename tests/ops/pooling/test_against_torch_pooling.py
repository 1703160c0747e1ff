"""Pooling against torch and its autograd: all ranks and options, results, indices and gradients."""

import numpy as np
import pytest
from torch_rows import assert_close, draw, gradients, in_turn, tensor, torch

import stator

nn, F = stator.nn, torch.nn.functional
DTYPES = ["float16", "bfloat16", "float32", "float64"]
WINDOWS = [
    (1, (2, 3, 17), {"kernel_size": 3}),
    (1, (3, 20), {"kernel_size": 4, "stride": 3, "padding": 2, "ceil_mode": True}),
    (1, (1, 1, 3), {"kernel_size": 4, "stride": 2, "ceil_mode": True}),
    (2, (2, 3, 12, 13), {"kernel_size": 3, "stride": 2, "padding": 1}),
    (2, (3, 11, 700), {"kernel_size": (3, 5), "stride": (2, 1), "padding": (1, 2), "ceil_mode": True}),
    (2, (2, 2, 8, 9), {"kernel_size": (2, 4), "stride": (3, 5)}),
    (2, (1, 2, 4, 2310), {"kernel_size": (3, 2300), "stride": 1}),
    (2, (3, 2, 7, 9), {"kernel_size": (7, 9)}),
    (3, (2, 2, 5, 6, 7), {"kernel_size": 2}),
    (3, (2, 5, 6, 7), {"kernel_size": (2, 3, 3), "stride": (1, 2, 1), "padding": (1, 1, 0), "ceil_mode": True}),
]
DILATED = [
    (1, (2, 3, 19), {"kernel_size": 3, "dilation": 4, "padding": 1}),
    (1, (1, 2, 2), {"kernel_size": 2, "dilation": 3, "padding": 1}),
    (2, (2, 3, 12, 13), {"kernel_size": (3, 2), "stride": (1, 2), "dilation": (2, 3), "padding": 1}),
    (3, (1, 2, 7, 6, 7), {"kernel_size": 2, "stride": 1, "dilation": (2, 1, 3), "ceil_mode": True}),
]
OUTPUTS = [(1, (2, 3, 17), 5), (2, (2, 3, 12, 13), (7, 4)), (2, (3, 5, 9), (None, 20)), (3, (2, 2, 5, 6, 7), (2, 9, 3))]
FEW = [(1, (1, 2, 3000), 7), (2, (2, 3, 5, 7), 1), (2, (1, 2, 41, 30), 1), (3, (2, 1, 2, 3, 4), 1)]


def named(name, rank, form=""):
    return getattr(nn, f"{name}{rank}d{form}")


def ties(shape, dtype):
    """Elements of which many are equal, and some are NaN or infinite."""
    x = np.round(draw(shape, dtype).astype(np.float64) / 2).astype(draw((1,), dtype).dtype)
    flat = x.reshape(-1)
    flat[::7], flat[::11], flat[3::13] = -np.inf, np.inf, np.nan
    return x


@pytest.mark.parametrize(("window", "dtype"), in_turn(WINDOWS + DILATED), ids=str)
def test_max_pool(be, window, dtype):
    rank, shape, options = window

    def theirs(t, indices=False):
        return getattr(F, f"max_pool{rank}d")(t, **options, return_indices=indices)

    for x in (draw(shape, dtype), ties(shape, dtype)):
        want, places = theirs(tensor(x), True)
        y, indices = named("max_pool", rank)(be.asarray(x), **options, return_indices=True)
        assert_close(y, want, 0, 0, "with indices")
        assert_close(named("max_pool", rank)(be.asarray(x), **options), want, 0, 0, "without indices")
        there = places.numpy()
        empty = np.isneginf(want.numpy()) & (indices.to_numpy() < 0)  # windows of only padding
        np.testing.assert_array_equal(np.where(empty, there, indices.to_numpy()), there)
    if empty.any():
        return
    x = draw(shape, dtype)
    _, indices = named("max_pool", rank)(be.asarray(x), **options, return_indices=True)
    g = draw(tuple(want.shape), dtype, 3)
    got = named("max_pool", rank, "_backward")(be.asarray(g), be.asarray(x), indices, **options)
    assert_close(got, gradients(theirs, tensor(g), tensor(x))[0], 8, 16)


DIVISORS = [{}, {"count_include_pad": False}, {"divisor_override": 3}]


@pytest.mark.parametrize(("window", "more", "dtype"), in_turn(WINDOWS, DIVISORS), ids=str)
def test_avg_pool(be, window, more, dtype):
    rank, shape, options = window
    if rank == 1 and "divisor_override" in more:
        pytest.skip("torch has no divisor of one axis")

    def theirs(t):
        return getattr(F, f"avg_pool{rank}d")(t, **options, **more)

    x = draw(shape, dtype)
    want, scale = theirs(tensor(x)), 2300 if "divisor_override" in more else 4
    assert_close(named("avg_pool", rank)(be.asarray(x), **options, **more), want, 64, scale)
    g = draw(tuple(want.shape), dtype, 3)
    got = named("avg_pool", rank, "_backward")(be.asarray(g), be.asarray(x), **options, **more)
    assert_close(got, gradients(theirs, tensor(g), tensor(x))[0], 16, 16)


@pytest.mark.parametrize(("window", "power", "dtype"), in_turn(WINDOWS, [1, 2, 3.5]), ids=str)
def test_lp_pool(be, window, power, dtype):
    rank, shape, options = window
    options = {k: v for k, v in options.items() if k != "padding"}

    def theirs(t):
        return getattr(F, f"lp_pool{rank}d")(t, float(power), **options)

    x = draw(shape, dtype, 0, 0.5, 2)
    want = theirs(tensor(x))
    y = named("lp_pool", rank)(be.asarray(x), power, **options)
    assert_close(y, want, 64)
    g = draw(tuple(want.shape), dtype, 3)
    got = named("lp_pool", rank, "_backward")(be.asarray(g), be.asarray(x), y, power, **options)
    # y is rounded, and its power with it.
    rounding = {"float16": 2.0**13, "bfloat16": 2.0**16}.get(dtype, 1)
    assert_close(got, gradients(theirs, tensor(g), tensor(x))[0], 64 + 8 * rounding, 16)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("rank", "shape", "output"), OUTPUTS + FEW, ids=str)
def test_adaptive_pooling(be, rank, shape, output, dtype):
    x = draw(shape, dtype)
    on = be.asarray(x)

    def means(t):
        return getattr(F, f"adaptive_avg_pool{rank}d")(t, output)

    def largest(t):
        return getattr(F, f"adaptive_max_pool{rank}d")(t, output)

    want = means(tensor(x))
    assert_close(named("adaptive_avg_pool", rank)(on, output), want, 16, 4)
    g = draw(tuple(want.shape), dtype, 3)
    got = named("adaptive_avg_pool", rank, "_backward")(be.asarray(g), on)
    assert_close(got, gradients(means, tensor(g), tensor(x))[0], 16, 16)
    want, places = getattr(F, f"adaptive_max_pool{rank}d")(tensor(x), output, return_indices=True)
    y, indices = named("adaptive_max_pool", rank)(on, output, return_indices=True)
    assert_close(y, want, 0)
    assert_close(named("adaptive_max_pool", rank)(on, output), want, 0)
    np.testing.assert_array_equal(indices.to_numpy(), places.numpy())
    got = named("adaptive_max_pool", rank, "_backward")(be.asarray(g), on, indices)
    assert_close(got, gradients(largest, tensor(g), tensor(x))[0], 16, 16)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("rank", "shape", "options", "output"), [
    (1, (2, 3, 17), {"kernel_size": 3}, None),
    (1, (3, 18), {"kernel_size": 4, "stride": 3, "padding": 1}, 19),
    (2, (2, 3, 12, 13), {"kernel_size": 2, "stride": (2, 3)}, (12, 13)),
    (3, (2, 2, 4, 6, 8), {"kernel_size": 2}, None),
], ids=str)  # fmt: skip
def test_max_unpool(be, rank, shape, options, output, dtype):
    y, places = getattr(F, f"max_pool{rank}d")(tensor(draw(shape, dtype)), **options, return_indices=True)
    size = None if output is None else (output if isinstance(output, tuple) else (output,))

    def theirs(t):
        return getattr(F, f"max_unpool{rank}d")(t, places, **options, output_size=size)

    x = draw(tuple(y.shape), dtype, 5)
    at, want = be.asarray(places.numpy()), theirs(tensor(x))
    assert_close(named("max_unpool", rank)(be.asarray(x), at, **options, output_size=output), want, 0)
    g = draw(tuple(want.shape), dtype, 3)
    got = named("max_unpool", rank, "_backward")(be.asarray(g), at)
    assert_close(got, gradients(theirs, tensor(g), tensor(x))[0], 0)
