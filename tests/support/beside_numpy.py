"""Comparison of stator.numpy with NumPy, of one call on equal arguments."""

from collections.abc import Callable
from typing import Any

import numpy as np

import stator


def on_device(value: Any) -> Any:
    """NumPy arrays as stator's, inside lists and tuples too."""
    if isinstance(value, np.ndarray):
        return stator.asarray(value)
    if isinstance(value, (list, tuple)) and any(isinstance(v, (np.ndarray, list, tuple)) for v in value):
        return type(value)(on_device(v) for v in value)
    return value


def on_host(value: Any) -> Any:
    """stator's arrays as NumPy's, inside lists and tuples too."""
    if isinstance(value, stator.Array):
        return value.to_numpy()
    if isinstance(value, (list, tuple)):
        return tuple(on_host(v) for v in value)
    return value


def assert_same(found: Any, wanted: Any, *, rtol: float = 1e-12, atol: float = 1e-12, dtypes: bool = True) -> None:
    """Values to a tolerance, or 1e-5 for single precision; shapes and dtypes exactly."""
    found = on_host(found)
    if isinstance(wanted, (list, tuple)):
        assert len(found) == len(wanted)
        for f, w in zip(found, wanted, strict=True):
            assert_same(f, w, rtol=rtol, atol=atol, dtypes=dtypes)
        return
    wanted = np.asarray(wanted)
    found = np.asarray(found)
    assert found.shape == wanted.shape
    if dtypes:
        assert found.dtype == wanted.dtype
    if wanted.dtype.kind in "fc" and np.finfo(wanted.dtype).eps > 1e-10:
        rtol = atol = 2e-5
    np.testing.assert_allclose(found, wanted, rtol=rtol, atol=atol)


def compare(ours: Callable[..., Any], theirs: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """One call of both, with the arrays among the arguments on the device for ours."""
    given = {k: on_device(v) for k, v in kwargs.items()}
    assert_same(ours(*(on_device(a) for a in args), **given), theirs(*args, **kwargs))
