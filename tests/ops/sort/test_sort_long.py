"""Lines that are long enough to be counted, or divided among buckets by several threads."""

import numpy as np
import pytest
from sort_inputs import DTYPES, drawn

import stator


def length(be):
    """More than a million elements, which the cpu divides among its most buckets; fewer on other devices."""
    return 1_200_000 if be.device.type == "cpu" else 70_000


def ascending(x):
    """A stable order with NaN last, of which the bits are compared: -0 and +0 keep their order."""
    return x[np.argsort(x, kind="stable")]


def same_bits(got, want):
    assert got.dtype == want.dtype
    number = want == want  # not of NaN, whose bits may differ
    np.testing.assert_array_equal(number, got == got)
    bits = f"u{want.dtype.itemsize}"
    np.testing.assert_array_equal(got[number].view(bits), want[number].view(bits))


@pytest.mark.parametrize("dtype", ["int16", "uint8", "int32", "uint64", "float16", "float32", "float64"])
def test_more_than_a_million_elements(be, dtype):
    x = drawn((length(be),), dtype, 7)
    want = ascending(x)
    same_bits(stator.sort(be.asarray(x)).to_numpy(), want)
    np.testing.assert_array_equal(stator.unique_values(be.asarray(x)).to_numpy(), np.unique(want, equal_nan=False))


@pytest.mark.parametrize("dtype", ["int8", "uint16", "float16", "float32"])
def test_views_with_steps_and_several_lines(be, dtype):
    x = drawn((2, 60_000), dtype, 8)
    on = be.asarray(x)
    for lines, views in ((x[:, ::-2], on[:, ::-2]), (np.ascontiguousarray(x.T)[::3].T, stator.copy(on.T)[::3].T)):
        same_bits(stator.sort(views).to_numpy(), np.stack([ascending(line) for line in lines]))
    turned = stator.sort(stator.copy(on.T), axis=0).to_numpy()
    same_bits(turned, np.stack([ascending(line) for line in x], axis=1))


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_zeros_keep_the_order_of_their_signs(be, dtype, descending):
    rng = np.random.default_rng(9)
    x = rng.choice(np.array([-1.0, -0.0, 0.0, 2.0], dtype), 50_000)
    got = stator.sort(be.asarray(x), descending=descending).to_numpy()
    want = x[np.argsort(-x if descending else x, kind="stable")]
    same_bits(got, want)


@pytest.mark.parametrize("dtype", ["int8", "int32", "float64"])
def test_few_distinct_elements(be, dtype):
    for values in ([3], [5, 5, -7], [0, 1]):
        x = np.random.default_rng(10).choice(np.array(values, dtype), 100_000)
        same_bits(stator.sort(be.asarray(x)).to_numpy(), ascending(x))
        np.testing.assert_array_equal(stator.argsort(be.asarray(x)).to_numpy(), np.argsort(x, kind="stable"))


@pytest.mark.parametrize("dtype", DTYPES)
def test_sorted_and_reversed_lines(be, dtype):
    x = drawn((60_000,), dtype, 11)
    values = stator.sort(be.asarray(x))
    assert np.array_equal(stator.sort(values).to_numpy(), values.to_numpy(), equal_nan=values.dtype.kind != "b")
    again = stator.sort(values[::-1]).to_numpy()
    assert np.array_equal(again, values.to_numpy(), equal_nan=values.dtype.kind != "b")
