"""repr copies what it shows; its options are those of NumPy, and notebooks get shape, dtype and device."""

import numpy as np
import pytest

import stator
from stator.errors import DTypeError, InvalidValueError


@pytest.mark.parametrize("shape", [(1000,), (300, 2), (2, 300), (50, 60), (7, 8, 9), (4, 4, 4, 4), (0,), (8, 1, 40)])
def test_repr_is_that_of_all_elements(be, shape):
    x = np.random.default_rng(0).normal(size=shape)
    want = np.array2string(x, separator=", ", prefix="Array(", threshold=200)
    assert repr(be.asarray(x)) == f"Array({want}, dtype=float64, device='{be.device}')"


def test_repr_copies_the_edges_alone(be):
    x = be.zeros((1000, 1000))
    for view in (x, x.T, x[::-1, ::3]):
        before = be.statistics()["d2h_bytes"]
        repr(view)
        view._repr_html_()
        assert be.statistics()["d2h_bytes"] - before <= 2 * 7 * 7 * 8


def test_options_hold_inside_the_with_alone(be):
    x = be.asarray(np.linspace(0, 1, 12))
    plain = repr(x)
    with stator.printoptions(precision=2, threshold=5, edgeitems=1) as options:
        assert options["precision"] == 2 and options == stator.get_printoptions()
        assert repr(x).startswith("Array([0., ..., 1.]")
        with stator.printoptions(edgeitems=2):
            assert repr(x).startswith("Array([0.  , 0.09, ..., 0.91, 1.  ]")
    assert repr(x) == plain


def test_options_are_set_for_good(be):
    x, before = be.asarray([1 / 3]), stator.get_printoptions()
    try:
        stator.set_printoptions(precision=3)
        assert repr(x).startswith("Array([0.333]")
    finally:
        stator.set_printoptions(precision=before["precision"])
    with np.printoptions(suppress=True):  # what stator has not set is NumPy's
        assert "1e-05" not in repr(be.asarray([1e-5]))


@pytest.mark.parametrize(
    ("options", "error"),
    [({"precision": "a"}, DTypeError), ({"edgeitems": -1}, DTypeError), ({"sign": "x"}, InvalidValueError)],
)
def test_wrong_options_are_refused_and_change_nothing(options, error):
    before = stator.get_printoptions()
    with pytest.raises(error):
        stator.set_printoptions(**options)
    with pytest.raises(error), stator.printoptions(**options):
        pass
    assert stator.get_printoptions() == before


def test_notebooks_show_shape_dtype_and_device(be):
    text = be.asarray(np.ones((2, 3), np.float32))._repr_html_()
    for part in ("(2, 3)", "float32", str(be.device), "[[1., 1., 1.]"):
        assert part in text
