"""Normalisations against their formulas in wide NumPy, in all dtypes, layouts and sizes."""

import inputs
import numpy as np
import oracles_norm
import pytest
from layer_loops.norm import BATCHES, CHANNELS, ROWS, affine, close, drawn
from reference import numpy_dtype, widen

import stator

nn = stator.nn


def call(be, op, operands, *numbers, **options):
    """The results of the op and of its reference, in pairs. None is an operand that is left out."""
    on = [None if a is None else a if isinstance(a, int) else be.asarray(a) for a in operands]
    wide = [a if a is None or isinstance(a, int) else widen(a) for a in operands]
    got, want = getattr(nn, op)(*on, *numbers, **options), getattr(oracles_norm, op)(*wide, *numbers, **options)
    return list(zip(got, want, strict=True)) if isinstance(want, tuple) else [(got, want)]


@pytest.mark.parametrize("dtype", inputs.FLOATS)
@pytest.mark.parametrize("shape", ROWS)
def test_layer_norm(be, shape, dtype):
    x, (weight, bias) = drawn(shape, dtype), affine(shape[-1:], dtype)
    for operands in ((x,), (x, weight), (x, weight, bias), (x, None, bias)):
        for got, want in call(be, "layer_norm", operands):
            assert got.dtype.name == dtype
            close(got, want, "layer_norm")


@pytest.mark.parametrize("dtype", inputs.FLOATS)
@pytest.mark.parametrize("shape", ROWS)
def test_rms_norm(be, shape, dtype):
    x, (weight, _) = drawn(shape, dtype), affine(shape[-1:], dtype)
    for operands in ((x,), (x, weight)):
        for got, want in call(be, "rms_norm", operands):
            close(got, want, "rms_norm")


@pytest.mark.parametrize("dtype", inputs.FLOATS)
@pytest.mark.parametrize("shape", ROWS)
def test_gradients_of_rows(be, shape, dtype):
    x, grad, (weight, _) = drawn(shape, dtype), drawn(shape, dtype, 1), affine(shape[-1:], dtype)
    for op in ("layer_norm_backward", "rms_norm_backward"):
        for operands in ((grad, x), (grad, x, weight)):
            for got, want in call(be, op, operands, eps=1e-3):
                close(got, want, op, 3.0 / np.sqrt(1e-3) if shape[-1] == 1 else 3.0)


def test_gradients_of_many_rows(be):
    """More rows than blocks, each of which sums up several."""
    x, grad, weight = drawn((3000, 96), "float32"), drawn((3000, 96), "float32", 1), affine((96,), "float32")[0]
    for got, want in call(be, "layer_norm_backward", (grad, x, weight)):
        close(got, want, "layer_norm_backward", 3.0)


def test_the_normalized_shape_is_several_axes(be):
    x, (weight, bias) = drawn((3, 4, 5), "float32"), affine((4, 5), "float32")
    for got, want in call(be, "layer_norm", (x, weight, bias)):
        close(got, want, "layer_norm")
    for op in ("layer_norm", "rms_norm"):
        for got, want in call(be, op, (x,), normalized_shape=(4, 5)):
            close(got, want, op)
    for got, want in call(be, "layer_norm_backward", (x, x), normalized_shape=(4, 5)):
        close(got, want, "layer_norm_backward", 3.0)


@pytest.mark.parametrize("dtype", inputs.FLOATS)
@pytest.mark.parametrize(("shape", "groups"), CHANNELS)
def test_group_and_instance_norm(be, shape, groups, dtype):
    x, grad, (weight, bias) = drawn(shape, dtype), drawn(shape, dtype, 1), affine(shape[1:2], dtype)
    made = [("group_norm", (x, groups)), ("group_norm", (x, groups, weight, bias)), ("group_norm", (x, groups, weight))]
    if len(shape) > 2:
        made += [("instance_norm", (x,)), ("instance_norm", (x, weight, bias))]
        made += [("instance_norm_backward", (grad, x, weight))]
    made += [("group_norm_backward", (grad, x, groups)), ("group_norm_backward", (grad, x, groups, weight))]
    for op, operands in made:
        for got, want in call(be, op, operands):
            close(got, want, op, 8.0)


@pytest.mark.parametrize("dtype", inputs.FLOATS)
@pytest.mark.parametrize("shape", BATCHES)
def test_batch_norm(be, shape, dtype):
    x, grad, (weight, bias) = drawn(shape, dtype), drawn(shape, dtype, 1), affine(shape[1:2], dtype)
    grad += x / 2  # so that the gradient's part along x counts
    wide = "float64" if dtype == "float64" else "float32"
    mean, var = (a.astype(wide) for a in (drawn(shape[1:2], wide, 3), drawn(shape[1:2], wide, 4, 0.5, 2)))
    for operands in ((x,), (x, weight, bias), (x, weight)):
        for got, want in call(be, "batch_norm", operands, training=True):
            close(got, want, "batch_norm")
    for operands in ((x, None, None, mean, var), (x, weight, bias, mean, var)):
        for got, want in call(be, "batch_norm", operands):
            close(got, want, "batch_norm", 8.0)
    _, batch_mean, batch_var = oracles_norm.batch_norm(widen(x), training=True)
    saved = batch_mean.astype(wide), batch_var.astype(wide)
    for (m, v), training in ((saved, True), ((mean, var), False)):
        for operands in ((grad, x, m, v), (grad, x, m, v, weight)):
            for got, want in call(be, "batch_norm_backward", operands, training=training):
                close(got, want, "batch_norm_backward", 8.0)


def test_running_statistics_move_in_place(be):
    given = [drawn((5,), "float32", seed, 0.5, 2) for seed in range(4)]
    on = [be.asarray(a) for a in given]
    assert nn.update_running_stats(*on, count=8, momentum=0.25) is None
    want = oracles_norm.update_running_stats(*(widen(a) for a in given), count=8, momentum=0.25)
    for got, expected in zip(on, want, strict=False):
        close(got, expected, "update_running_stats")
    spread = [be.zeros((5, 2), dtype="float32") for _ in range(2)]
    for whole, values in zip(spread, given, strict=False):
        whole[:, 1] = be.asarray(values)
    nn.update_running_stats(*(whole[:, 1] for whole in spread), *on[2:], count=8, momentum=0.25)
    for whole, expected in zip(spread, want, strict=False):
        close(whole[:, 1], expected, "update_running_stats")
        assert whole[:, 0].tolist() == [0] * 5


@pytest.mark.parametrize("dtype", inputs.FLOATS)
@pytest.mark.parametrize("size", [1, 2, 5, 8, 9, 20])
@pytest.mark.parametrize("shape", [(2, 7, 5), (3, 12), (1, 40, 3, 130)])
def test_local_response_norm(be, shape, size, dtype):
    x, grad = drawn(shape, dtype), drawn(shape, dtype, 1)
    for beta in (0.75, 0.5, 1.0, 0.6):
        for got, want in call(be, "local_response_norm", (x, size), alpha=0.5, beta=beta, k=1.5):
            close(got, want, "local_response_norm")
    _, denom = oracles_norm.local_response_norm(widen(x), size, alpha=0.5, k=1.5)
    denom = denom.astype(x.dtype)
    for got, want in call(be, "local_response_norm_backward", (grad, x, denom, size), alpha=0.5):
        close(got, want, "local_response_norm_backward")


@pytest.mark.parametrize("op", ["layer_norm", "rms_norm"])
@pytest.mark.parametrize("dtype", inputs.FLOATS)
def test_residual_and_activation_are_fused(be, op, dtype):
    x, residual, (weight, _) = drawn((6, 300), dtype), drawn((6, 300), dtype, 1), affine((300,), dtype)
    before = be.statistics()["kernel_launches"]
    y, total = getattr(nn, op)(be.asarray(x), be.asarray(weight), residual=be.asarray(residual))
    assert be.statistics()["kernel_launches"] == before + 1
    np.testing.assert_array_equal(widen(total.to_numpy()), widen((widen(x) + widen(residual)).astype(x.dtype)))
    close(y, getattr(oracles_norm, op)(widen(total.to_numpy()), widen(weight)), op)
    plain = getattr(oracles_norm, op)(widen(x), widen(weight))
    for activation in ("relu", "silu", "gelu"):
        got = getattr(nn, op)(be.asarray(x), be.asarray(weight), activation=activation)
        wide = getattr(nn, activation)(be.asarray(plain.astype(np.float64))).to_numpy()
        close(got, wide, op)


@pytest.mark.parametrize("shape", [(2, 6, 5), (2, 6, 400), (1, 4, 96, 64)])
@pytest.mark.parametrize(("op", "groups"), [("group_norm", (2,)), ("instance_norm", ())])
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_residual_and_activation_of_groups_are_fused(be, op, groups, shape, dtype):
    x, residual, (weight, bias) = drawn(shape, dtype), drawn(shape, dtype, 1), affine(shape[1:2], dtype)
    on = [be.asarray(a) for a in (x, weight, bias, residual)]
    before = be.statistics()["kernel_launches"]
    y, total = getattr(nn, op)(on[0], *groups, *on[1:3], residual=on[3], activation="relu")
    assert be.statistics()["kernel_launches"] == before + 1
    np.testing.assert_array_equal(widen(total.to_numpy()), widen((widen(x) + widen(residual)).astype(x.dtype)))
    plain = getattr(oracles_norm, op)(widen(total.to_numpy()), *groups, widen(weight), widen(bias))
    close(y, np.maximum(plain, 0), op, 8.0)


@pytest.mark.parametrize("layout", inputs.layouts())
def test_any_strides(be, layout):
    lay = inputs.layouts()[layout]
    x, grad = lay(drawn((6, 4, 40), "float32")), lay(drawn((6, 4, 40), "float32", 1))
    on, slope = inputs.on_device(be, x), inputs.on_device(be, grad)
    close(nn.layer_norm(on), oracles_norm.layer_norm(widen(x)), "layer_norm")
    close(nn.group_norm(on, 2), oracles_norm.group_norm(widen(np.ascontiguousarray(x)), 2), "group_norm")
    for got, want in zip(
        nn.batch_norm(on, training=True), oracles_norm.batch_norm(widen(x), training=True), strict=True
    ):
        close(got, want, "batch_norm")
    want = oracles_norm.layer_norm_backward(widen(grad), widen(x))
    for got, expected in zip(nn.layer_norm_backward(slope, on), want, strict=True):
        close(got, expected, "layer_norm_backward", 3.0)
    want = oracles_norm.local_response_norm(widen(x), 3)
    close(nn.local_response_norm(on, 3)[0], want[0], "local_response_norm")


def test_a_large_mean_does_not_cancel(be):
    """E[x^2] - E[x]^2 would have no correct digit in float32.

    The means of parts are rounded to last places of 4096, and they differ by about a tenth, hence the terms.
    """
    x = (drawn((4, 3, 500), "float64") + 4096).astype(np.float32)
    close(nn.layer_norm(be.asarray(x)), oracles_norm.layer_norm(widen(x)), "layer_norm", 300.0)
    close(
        nn.layer_norm(be.asarray(x), normalized_shape=(3, 500)),
        oracles_norm.layer_norm(widen(x), normalized_shape=(3, 500)),
        "layer_norm",
        300.0,
    )
    got, want = nn.batch_norm(be.asarray(x), training=True), oracles_norm.batch_norm(widen(x), training=True)
    close(got[2], want[2], "batch_norm", 100.0)


@pytest.mark.parametrize("dtype", inputs.FLOATS)
def test_nan_and_infinities_stay_in_their_row(be, dtype):
    x = drawn((4, 64), dtype)
    x[0, 3], x[1, 5], x[2, 7] = np.nan, np.inf, -np.inf
    got = widen(nn.layer_norm(be.asarray(x)).to_numpy())
    assert np.isnan(got[:3]).all()
    assert np.isfinite(got[3]).all()


def test_no_variance_and_no_eps_is_undefined(be):
    x = be.full((2, 8), 3.0, dtype="float32")
    assert np.isnan(nn.layer_norm(x, eps=0).to_numpy()).all()
    assert (nn.layer_norm(x, eps=1e-5).to_numpy() == 0).all()


def test_a_batch_of_no_samples(be):
    x, c = be.zeros((0, 4, 3), dtype="float32"), be.full((4,), 2.0, dtype="float32")
    assert nn.layer_norm(x).shape == nn.group_norm(x, 2).shape == nn.batch_norm(x, c, c, c, c)[0].shape == (0, 4, 3)
    dx, dw, db = nn.layer_norm_backward(x, x)
    assert (dx.shape, dw.to_numpy().tolist(), db.to_numpy().tolist()) == ((0, 4, 3), [0] * 3, [0] * 3)
    for found in (nn.group_norm_backward(x, x, 2), nn.batch_norm_backward(x, x, c, c)):
        assert [a.to_numpy().tolist() for a in found[1:]] == [[0] * 4] * 2
    assert nn.local_response_norm(x, 3)[0].shape == (0, 4, 3)
    empty = be.zeros((3, 0), dtype="float32")
    assert nn.layer_norm(empty).shape == (3, 0)
    assert nn.rms_norm_backward(empty, empty)[1].shape == (0,)
    no_pixels = be.zeros((2, 4, 0), dtype="float32")
    for found in (nn.group_norm_backward(no_pixels, no_pixels, 2), nn.batch_norm_backward(no_pixels, no_pixels, c, c)):
        assert [a.to_numpy().tolist() for a in found[1:]] == [[0] * 4] * 2


@pytest.mark.parametrize("op", ["layer_norm_backward", "group_norm_backward", "batch_norm_backward"])
def test_gradients_are_equal_bits_each_time(be, op):
    x, grad = (be.asarray(drawn((64, 6, 200), "float32", seed)) for seed in (0, 1))
    stats = [be.full((6,), v, dtype="float32") for v in (0.5, 1.0)]
    more = {"layer_norm_backward": (), "group_norm_backward": (3,), "batch_norm_backward": stats}[op]
    first, second = ([a.to_numpy() for a in getattr(nn, op)(grad, x, *more)] for _ in range(2))
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a, b)


def test_numpy_dtypes_of_results(be):
    x = be.asarray(drawn((4, 3), "bfloat16"))
    y, mean, var = nn.batch_norm(x, training=True)
    assert (y.dtype.name, mean.dtype.name, var.dtype.name) == ("bfloat16", "float32", "float32")
    assert numpy_dtype("bfloat16") == y.to_numpy().dtype
