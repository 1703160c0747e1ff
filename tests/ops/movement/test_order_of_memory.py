"""roll, pad and the shifts of spectra write their results in the order of memory in which they read."""

import numpy as np
import pytest

import stator

ACTS = {
    "roll": (lambda m, x: m.roll(x, (3, -2), axis=(0, 1)), np),
    "pad": (lambda m, x: m.pad(x, ((1, 2), (0, 3))), np),
    "pad wrapped": (lambda m, x: m.pad(x, ((1, 2), (0, 3)), mode="wrap"), np),
    "fftshift": (lambda m, x: m.fft.fftshift(x), np),
    "ifftshift": (lambda m, x: m.fft.ifftshift(x, axes=(1,)), np),
}


def views(x, lib):
    """The matrix by rows, by columns, and with gaps."""
    return x, lib.copy(x).T if lib is stator else x.copy().T, x[::2, 1::3]


@pytest.mark.parametrize("name", ACTS)
def test_results_of_transposed_operands_are_transposed(be, name):
    act, numpy = ACTS[name]
    host = np.random.default_rng(1).random((40, 50)).astype("float32")
    for k, (on, there) in enumerate(zip(views(be.asarray(host), stator), views(host, numpy), strict=True)):
        got, want = act(stator, on), act(numpy, there)
        np.testing.assert_array_equal(got.to_numpy(), want)
        assert (got.T if k == 1 else got).is_contiguous


def test_more_axes(be):
    host = np.random.default_rng(2).random((3, 4, 5, 6))
    for axes in ((0, 1, 2, 3), (3, 1, 0, 2), (1, 0, 3, 2)):
        on, there = stator.permute_dims(be.asarray(host), axes), host.transpose(axes)
        got = stator.roll(on, (1, 2), axis=(1, 3))
        np.testing.assert_array_equal(got.to_numpy(), np.roll(there, (1, 2), axis=(1, 3)))
        assert got.strides == on.strides
        got = stator.pad(on, ((0, 1), (2, 0), (1, 1), (0, 0)), mode="edge")
        np.testing.assert_array_equal(got.to_numpy(), np.pad(there, ((0, 1), (2, 0), (1, 1), (0, 0)), mode="edge"))
        np.testing.assert_array_equal(stator.fft.fftshift(on).to_numpy(), np.fft.fftshift(there))
    empty = stator.permute_dims(be.empty((3, 0, 2)), (2, 0, 1))
    assert stator.roll(empty, 1, axis=0).shape == (2, 3, 0)
    assert stator.pad(empty, ((0, 0), (0, 0), (1, 1))).shape == (2, 3, 2)
