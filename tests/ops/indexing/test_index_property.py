"""Random indexing expressions, read and written, against NumPy. STATOR_INDEX_EXAMPLES raises their number."""

from __future__ import annotations

import os

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import stator

EXAMPLES = int(os.environ.get("STATOR_INDEX_EXAMPLES", "200"))
SETTINGS = settings(
    max_examples=EXAMPLES, deadline=None, derandomize=EXAMPLES <= 200, suppress_health_check=list(HealthCheck)
)
DTYPES = ("int8", "uint16", "float32", "float64", "complex128")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint64")


@st.composite
def arrays(draw):
    """A base array, a view of it, and the view's shape."""
    shape = tuple(draw(st.lists(st.integers(0, 5), max_size=4)))
    layout = draw(st.sampled_from(["plain", "transposed", "reversed", "every other"]))
    return shape, layout


def viewed(layout, x):
    if layout == "transposed":
        return x.T if x.ndim == 2 else (x.mT if x.ndim > 1 else x)
    if layout == "reversed" and x.ndim:
        return x[::-1]
    if layout == "every other" and x.ndim:
        return x[..., ::2]
    return x


@st.composite
def keys(draw, shape):
    """A tuple of entries that indexes an array of the shape, with host arrays in place of device arrays."""
    common = tuple(draw(st.lists(st.integers(0, 3), max_size=2)))
    count = draw(st.integers(0, len(shape)))
    entries, axis, ellipsis = [], 0, False
    while axis < count:
        kind = draw(st.sampled_from(["array", "array", "array", "int", "slice", "slice", "mask", "new", "...", "bool"]))
        n = shape[axis]
        if kind == "new":
            entries.append(None)
        elif kind == "bool" and draw(st.integers(0, 4)) == 0:
            entries.append(draw(st.booleans()))
        elif kind == "..." and not ellipsis:
            ellipsis = True
            entries.append(...)
            axis = len(shape) - (count - axis)
            count = len(shape)
        elif kind == "int" and n:
            entries.append(draw(st.integers(-n, n - 1)))
            axis += 1
        elif kind == "slice":
            bound = st.none() | st.integers(-6, 6)
            entries.append(slice(draw(bound), draw(bound), draw(st.sampled_from([None, 1, 2, -1, -2]))))
            axis += 1
        elif kind == "mask":
            axes = draw(st.integers(1, min(2, count - axis)))
            seed = draw(st.integers(0, 99))
            entries.append(
                np.random.default_rng(seed).random(shape[axis : axis + axes]) < draw(st.sampled_from([0.3, 0.7]))
            )
            axis += axes
        elif kind == "array":
            own = draw(
                st.sampled_from([common, common[1:], tuple(1 if k % 2 else m for k, m in enumerate(common)), ()])
            )
            dtype = draw(st.sampled_from(INTEGERS))
            if n == 0:
                own = (*own[:-1], 0) if own else (0,)
            low = 0 if dtype.startswith("u") else -n
            values = np.random.default_rng(draw(st.integers(0, 99))).integers(low, max(n, 1), own)
            entries.append(np.asarray(values, dtype))
            axis += 1
    return tuple(entries)


def on_device(be, key):
    return tuple(be.asarray(e) if isinstance(e, np.ndarray) else e for e in key)


def has_array(key):
    return any(isinstance(e, (np.ndarray, bool)) for e in key)


def read(x, key):
    """NumPy's result, or None where it raises: arrays that do not broadcast, a mask that does not fit."""
    try:
        return np.asarray(x[key])
    except (IndexError, ValueError):
        return None


def test_reads_are_numpys(be):
    @SETTINGS
    @given(st.data())
    def run(data):
        shape, layout = data.draw(arrays())
        dtype = data.draw(st.sampled_from(DTYPES))
        x = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
        ours = viewed(layout, be.asarray(x))
        view = viewed(layout, x)
        key = data.draw(keys(view.shape))
        want = read(view, key)
        try:
            got = ours[on_device(be, key)].to_numpy()
        except stator.errors.StatorError:
            assert want is None, (view.shape, key)
            return
        assert want is not None, (view.shape, key)
        assert got.shape == want.shape, (view.shape, key)
        np.testing.assert_array_equal(got, want)

    run()


def test_writes_are_numpys(be):
    @SETTINGS
    @given(st.data())
    def run(data):
        shape, layout = data.draw(arrays())
        dtype = data.draw(st.sampled_from(DTYPES))
        x = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
        device = be.asarray(x)
        ours, view = viewed(layout, device), viewed(layout, x)
        key = data.draw(keys(view.shape))
        selected = read(view, key)
        if selected is None:
            return
        form = data.draw(st.sampled_from(["number", "whole", "last axis", "one"]))
        values = (np.arange(selected.size) + 100).reshape(selected.shape).astype(dtype)
        if form == "last axis" and selected.ndim:
            values = values[(0,) * (selected.ndim - 1)] if values.size else values
        if form == "one":
            values = np.ones((1,) * selected.ndim, dtype)
        value = 7 if form == "number" else be.asarray(values)
        ours[on_device(be, key)] = value
        if be.device.type == "cuda" and form == "whole" and has_array(key):
            # Of several writes to one element any one stays, so the value read back is one of them.
            got = device.to_numpy()
            untouched = np.ones(view.shape, bool)
            untouched[key] = False
            np.testing.assert_array_equal(viewed(layout, got)[untouched], view[untouched])
            return
        view[key] = 7 if form == "number" else values
        np.testing.assert_array_equal(device.to_numpy(), x, err_msg=str((view.shape, key)))

    run()
