"""What attention refuses, with the values seen."""

import numpy as np
import pytest

import stator
from stator import errors as E

attention = stator.nn.attention


def ones(be, *shape, dtype="float32"):
    return be.ones(shape, dtype=dtype)


# Shapes of q, k and v, or of q, k, v and the mask.
SHAPES = {
    "one axis": [(4,), (4,), (4,)],
    "axes of q": [(2, 3, 4), (5, 4), (5, 4)],
    "axes of v": [(3, 4), (5, 4), (1, 5, 4)],
    "sizes of q and k": [(3, 4), (5, 8), (5, 4)],
    "keys": [(3, 4), (5, 4), (6, 4)],
    "batches of k and v": [(2, 3, 4), (2, 5, 4), (1, 5, 4)],
    "batches of q and k": [(2, 1, 3, 4), (1, 1, 5, 4), (1, 1, 5, 4)],
    "heads": [(4, 3, 4), (3, 5, 4), (3, 5, 4)],
    "no shared heads": [(4, 3, 4), (0, 5, 4), (0, 5, 4)],
    "no features": [(3, 0), (5, 0), (5, 4)],
    "many features": [(3, 257), (5, 257), (5, 4)],
    "many values": [(3, 4), (5, 4), (5, 300)],
    "mask": [(3, 4), (5, 4), (5, 4), (3, 6)],
    "axes of the mask": [(3, 4), (5, 4), (5, 4), (1, 3, 5)],
}


@pytest.mark.parametrize("name", SHAPES)
def test_shapes(be, name):
    q, k, v, *mask = (ones(be, *shape) for shape in SHAPES[name])
    with pytest.raises(E.ShapeError) as raised:
        attention(q, k, v, mask=mask[0] if mask else None)
    assert raised.value.op == "nn.attention" and raised.value.remedy
    assert any(str(x.shape) in str(raised.value) for x in (q, v, *mask))


def test_dtypes(be):
    x, wide, whole = ones(be, 3, 4), ones(be, 3, 4, dtype="float64"), ones(be, 3, 4, dtype="int32")
    with pytest.raises(E.DTypeError, match=r"(?i)got q of float32, k of float64 and v of float32"):
        attention(x, wide, x)
    with pytest.raises(E.DTypeError, match=r"(?i)v of float64"):
        attention(x, x, wide)
    with pytest.raises(E.DTypeError, match=r"(?i)got q of int32"):
        attention(whole, whole, whole)
    with pytest.raises(E.DTypeError, match=r"(?i)mask of float64 for q of float32"):
        attention(x, x, x, mask=ones(be, 3, 3, dtype="float64"))
    with pytest.raises(E.DTypeError, match=r"(?i)mask of int32"):
        attention(x, x, x, mask=ones(be, 3, 3, dtype="int32"))
    np.testing.assert_allclose(attention(x, x, x).to_numpy(), np.ones((3, 4)), rtol=1e-6)


@pytest.mark.parametrize("scale", [float("nan"), float("inf")])
def test_scales(be, scale):
    x = ones(be, 3, 4)
    with pytest.raises(E.InvalidValueError, match=r"(?i)scale="):
        attention(x, x, x, scale=scale)
