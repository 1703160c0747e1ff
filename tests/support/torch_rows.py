"""Comparisons with PyTorch: a call of stator, a call of torch, their inputs, and the bound of the difference.

Torch computes in float64 or complex128, on the CPU. Importing this skips a test module where torch is not installed.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from reference import numpy_dtype

import stator

torch = pytest.importorskip("torch")
torch.set_num_threads(1)  # inputs are small, and torch's workers would compete with stator's

WIDE_EPS = float(np.finfo("float64").eps)
EPS = dict.fromkeys(["float16", "bfloat16", "float32", "complex64"], 2.0**-23)
HALVES = {"float16": (2.0**-10, 2.0**-14), "bfloat16": (2.0**-7, 2.0**-126)}  # eps, the smallest normal number


def in_turn(*axes: Sequence) -> list[tuple]:
    """The product of the axes, each combination with one half dtype and one wide one, in turn along every axis.

    A kernel differs between dtypes only in its conversions. So each choice of an axis meets all four where there is
    another axis, and not each combination has to; tests of all dtypes against NumPy stand beside those that use this.
    """
    halves, wide = ("float16", "bfloat16"), ("float32", "float64")
    places = itertools.product(*(range(len(axis)) for axis in axes))
    return [
        (*(axis[i] for axis, i in zip(axes, place, strict=True)), kinds[sum(place) % 2])
        for place in places
        for kinds in (halves, wide)
    ]


@dataclass(frozen=True)
class Row:
    """`ours` takes Arrays and `theirs` tensors, both from what `make` returns for a dtype; one result or several."""

    ours: Callable
    theirs: Callable
    make: Callable[[str], Sequence]
    units: float = 8  # the bound, in eps of the result's dtype; for halves in eps of float32
    scale: Callable | float = (
        0  # relative to |result|, or to this where larger: a number or a function of wide NumPy inputs
    )


def draw(shape, dtype="float64", seed=0, low=-4, high=4):
    """Uniform random numbers of a dtype."""
    rng = np.random.default_rng([seed, *shape])
    x = rng.uniform(low, high, shape)
    if dtype.startswith("complex"):
        x = x + 1j * rng.uniform(low, high, shape)
    return x.astype(numpy_dtype(dtype))


def wide(x):
    """An array in the precision in which torch computes; integers and other values stay as they are."""
    if not isinstance(x, np.ndarray) or x.dtype.kind in "biu":
        return x
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)


def tensor(x):
    return torch.from_numpy(np.array(wide(x))) if isinstance(x, np.ndarray) else x


def several(x) -> list:
    return list(x) if isinstance(x, (tuple, list)) else [x]


def as_numpy(x) -> np.ndarray:
    if isinstance(x, torch.Tensor):
        return x.detach().resolve_conj().resolve_neg().numpy()
    return x.to_numpy() if isinstance(x, stator.Array) else np.asarray(x)


def assert_close(got, want, units: float, scale=0, what: str = "") -> None:
    """Asserts equal shapes, kinds, NaN and infinities, and errors within units eps of |want| or `scale`.

    torch's own error is added. Halves are computed in float32 and rounded once, so they may differ by one more eps of
    their own.
    """
    got, want = as_numpy(got), as_numpy(want)
    assert got.shape == want.shape, f"{what}: shape {got.shape}, torch's {want.shape}"
    if got.dtype.kind in "biu":
        np.testing.assert_array_equal(got, want, what)
        return
    assert (got.dtype.kind == "c") == (want.dtype.kind == "c"), f"{what}: {got.dtype}, torch's {want.dtype}"
    got, eps, (rounding, least) = wide(got), EPS.get(got.dtype.name, WIDE_EPS), HALVES.get(got.dtype.name, (0, 0))
    finite = np.isfinite(want)
    np.testing.assert_array_equal(np.where(finite, 0, got), np.where(finite, 0, want), what)
    size = np.fmax(np.abs(np.where(finite, want, 0)), np.nan_to_num(np.abs(scale)))
    bound = units * eps * size + 64 * WIDE_EPS * np.fmax(size, 1)
    bound = bound + rounding * np.fmax(np.abs(np.where(finite, want, 0)), least)
    error = np.abs(np.where(finite, got, 0) - np.where(finite, want, 0))
    bad = ~(error <= bound)
    if bad.any():
        k = np.unravel_index(np.argmax(np.where(bad, error / bound, 0)), want.shape)
        raise AssertionError(
            f"{what}: {bad.sum()} of {bad.size} beyond {units:g} eps; the worst at {k}: {got[k]}, torch's {want[k]},"
            f" {error[k] / bound[k]:.3g} times the bound"
        )


def check(be, row: Row, dtype: str) -> None:
    """Compares the results of a row with torch's, for one dtype."""
    given = row.make(dtype)
    got = several(row.ours(*[be.asarray(x) if isinstance(x, np.ndarray) else x for x in given]))
    want = several(row.theirs(*map(tensor, given)))
    assert len(got) == len(want)
    scale = row.scale(*map(wide, given)) if callable(row.scale) else row.scale
    for k, pair in enumerate(zip(got, want, strict=True)):
        assert_close(*pair, row.units, scale, f"result {k} of {dtype} {[np.shape(x) for x in given]}")


def gradients(function: Callable, grad, *leaves):
    """torch's gradients of the leaves, where the result of `function` has the gradient `grad`."""
    leaves = [x.detach().clone().requires_grad_() for x in leaves]
    return torch.autograd.grad(function(*leaves), leaves, grad)
