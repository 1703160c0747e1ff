"""Attributes and methods of arrays and dtypes that NumPy's have, and what they give there."""

import math
import sys

import numpy as np
import pytest

import stator
from stator.errors import AxisError, DTypeError, IndexTypeError, InvalidValueError
from tests.support.inputs import DTYPES

NAMES = [d for d in DTYPES if d != "bfloat16"]
HOST = np.arange(24).reshape(2, 3, 4)


@pytest.mark.parametrize("name", NAMES)
def test_attributes_of_a_dtype_are_numpys(name):
    ours, theirs = stator.dtype(name), np.dtype(name)
    for attribute in (
        "kind",
        "char",
        "str",
        "itemsize",
        "name",
        "num",
        "alignment",
        "byteorder",
        "isnative",
        "fields",
        "shape",
    ):
        assert getattr(ours, attribute) == getattr(theirs, attribute), attribute
    assert ours.type is theirs.type
    assert hash(ours) == hash(theirs)
    assert {theirs: 1}[ours] == 1 and {ours: 1}[theirs] == 1 and len({ours, theirs}) == 1


def test_bfloat16_counts_as_floating():
    kind = stator.bfloat16
    assert (kind.kind, kind.char, kind.str, kind.itemsize, kind.name) == ("f", "E", "<V2", 2, "bfloat16")
    assert stator.isdtype(kind, "real floating")
    assert hash(kind) == hash(stator.dtype("bfloat16"))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        assert kind.nothing


@pytest.mark.parametrize("dtype", ["bool", "int16", "float64", "complex128"])
def test_strides_count_bytes(be, dtype):
    host = HOST.astype(dtype)
    on = be.asarray(host)
    for take in (
        lambda x: x,
        lambda x: x.T,
        lambda x: x[:, ::2],
        lambda x: x[::-1],
        lambda x: x[0, 0, 0],
        lambda x: x[1],
    ):
        assert take(on).strides == take(host).strides
    assert stator.broadcast_to(be.asarray(host[0, 0]), (5, 4)).strides == np.broadcast_to(host[0, 0], (5, 4)).strides


@pytest.mark.parametrize("ndim", range(5))
def test_the_transpose_has_the_axes_in_reverse(be, ndim):
    shape = tuple(range(2, 2 + ndim))
    host = np.arange(math.prod(shape)).reshape(shape)
    on = be.asarray(host)
    assert on.T.shape == host.T.shape
    np.testing.assert_array_equal(on.T.to_numpy(), host.T)
    on.T[...] = 5
    assert on.tolist() == np.full_like(host, 5).tolist()


def test_parts_of_complex_arrays_are_views(be):
    host = np.array([[1 + 2j, 3 - 4j], [5j, 6 + 0j]])
    on = be.asarray(host)
    for x in (host, on, host.T, on.T):
        x.real = [[7, 8], [9, 1]]
        x.imag[0] = -1
        x.imag += 1
    np.testing.assert_array_equal(on.to_numpy(), host)
    np.testing.assert_array_equal(on[::2, 1].real.to_numpy(), host[::2, 1].real)
    assert on[0, 0].imag.item() == host[0, 0].imag
    real = be.asarray([1.0, 2.0])
    real.real = 3
    assert (
        real.tolist() == [3, 3]
        and real.imag.tolist() == [0, 0]
        and be.ones(2, dtype="complex64").imag.dtype == "float32"
    )
    with pytest.raises(DTypeError, match="imaginary"):
        real.imag = 1


def test_view_and_astype_take_numpys_arguments(be):
    on = be.asarray(HOST.astype("float64"))
    same = on.view()
    same[0, 0, 0] = 9
    assert on[0, 0, 0].item() == 9 and same is not on
    assert on.view(dtype="int64").dtype == "int64"
    assert on.astype(dtype="int32", order="C", casting="unsafe", copy=False).dtype == "int32"
    by_columns = on.astype("float32", order="F")
    assert by_columns.strides == np.asfortranarray(HOST.astype("float32")).strides
    np.testing.assert_array_equal(by_columns.to_numpy(), on.to_numpy())
    assert on.astype("float64", copy=False) is on
    with pytest.raises(InvalidValueError, match="order"):
        on.astype("float32", order="X")


@pytest.mark.parametrize("shape", [(4, 6), (-1,), 24, (2, -1, 2), (3, 8)], ids=str)
@pytest.mark.parametrize("order", ["C", "F", "A"])
def test_reshape_in_an_order(be, shape, order):
    on = be.asarray(HOST)
    np.testing.assert_array_equal(on.reshape(shape, order=order).to_numpy(), HOST.reshape(shape, order=order))
    np.testing.assert_array_equal(on.T.reshape(shape, order=order).to_numpy(), HOST.T.reshape(shape, order=order))
    if isinstance(shape, tuple):
        np.testing.assert_array_equal(on.reshape(*shape, order=order).to_numpy(), HOST.reshape(*shape, order=order))
    with pytest.raises(InvalidValueError, match="order"):
        on.reshape(shape, order="K")


REDUCTIONS = {
    "max": [{"initial": 50}, {"initial": 5, "axis": 1}, {"axis": (0, 2), "initial": 7, "keepdims": True}],
    "min": [{"initial": -1}, {"initial": 5, "axis": 1}],
    "sum": [{"initial": 100}, {"axis": 0, "initial": 3, "dtype": "float32"}],
    "prod": [{"initial": 2, "axis": 2}],
}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_begin_with_a_value(be, name):
    for options in REDUCTIONS[name]:
        got, want = getattr(be.asarray(HOST), name)(**options), getattr(HOST, name)(**options)
        np.testing.assert_array_equal(got.to_numpy(), want)
    assert getattr(be.zeros((0,)), name)(initial=4.0).item() == 4
    assert getattr(be.asarray(HOST), name)(1).tolist() == getattr(HOST, name)(1).tolist()


def test_choose_and_argpartition(be):
    which, choices = np.array([2, 0, 1]), np.arange(9).reshape(3, 3)
    np.testing.assert_array_equal(be.asarray(which).choose(be.asarray(choices)).to_numpy(), which.choose(choices))
    np.testing.assert_array_equal(
        be.asarray([5, 0, 1]).choose(be.asarray(choices), mode="wrap").to_numpy(),
        np.array([5, 0, 1]).choose(choices, mode="wrap"),
    )
    x = np.array([5, 1, 4, 2, 3])
    order = be.asarray(x).argpartition(2).to_numpy()
    assert x[order][2] == 3 and sorted(order) == list(range(5))


@pytest.mark.parametrize("key", ["a", 2.0, np.float64(1), (0, "a"), (0, 1.5), [1.0], {}, 1j], ids=repr)
def test_what_is_no_index_is_an_index_error(be, key):
    on = be.asarray(HOST)
    for call in (lambda: on[key], lambda: on.__setitem__(key, 0)):
        with pytest.raises(IndexError) as info:
            call()
        assert isinstance(info.value, IndexTypeError)


@pytest.mark.parametrize(
    "key",
    [
        np.array([1, 0]),
        np.array([True, False]),
        np.int64(1),
        (slice(None), np.array([2, 0])),
        (0, np.array(1)),
        np.array(1),
    ],
    ids=repr,
)
def test_arrays_of_numpy_are_indices(be, key):
    on, host = be.asarray(HOST), HOST.copy()
    np.testing.assert_array_equal(on[key].to_numpy(), host[key])
    on[key] = host[key] = 7
    np.testing.assert_array_equal(on.to_numpy(), host)


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0), (2, 0, 3)], ids=str)
def test_the_text_of_an_empty_array_has_its_shape(be, shape):
    text = repr(be.zeros(shape))
    assert text == f"Array([], {'' if shape == (0,) else f'shape={shape}, '}dtype=float64, device='{be.device_name}')"
    assert ("shape=" in repr(np.zeros(shape))) == ("shape=" in text)


def test_the_size_of_an_object_has_its_elements(be):
    assert sys.getsizeof(be.zeros((1000, 100))) - sys.getsizeof(be.zeros(0)) == 800_000
    repeated = stator.broadcast_to(be.zeros(100), (1000, 100))
    assert sys.getsizeof(repeated) - sys.getsizeof(be.zeros(0)) == 800


def test_a_capsule_is_told_from_an_array():
    for make in (stator.from_dlpack, stator.asarray):
        with pytest.raises(DTypeError, match=r"Pass the array that made it"):
            make(np.zeros(3).__dlpack__())


def test_axes_out_of_range_are_refused_with_an_initial_value(be):
    with pytest.raises(AxisError):
        be.ones(3).max(axis=2, initial=0)
