"""The array API's inspection functions, against NumPy's results."""

import itertools
import sys
from importlib.machinery import BuiltinImporter

import numpy as np
import pytest

import stator
from stator.errors import DTypeError, InvalidValueError, LibraryNotFoundError, ShapeError

STANDARD = [d for d in stator.__array_namespace_info__().dtypes().values()]
KINDS = ("bool", "signed integer", "unsigned integer", "integral", "real floating", "complex floating", "numeric")


def theirs(dtype):
    return np.dtype(dtype.name)


@pytest.mark.parametrize("name", ["float16", "float32", "float64", "complex64", "complex128"])
def test_finfo(name):
    got, want = stator.finfo(name), np.finfo(name)
    for field in ("bits", "eps", "max", "min", "smallest_normal"):
        assert getattr(got, field) == getattr(want, field)
    assert got.dtype == want.dtype


def test_finfo_of_bfloat16_names_the_package_it_needs(monkeypatch):
    monkeypatch.delitem(sys.modules, "ml_dtypes", raising=False)
    monkeypatch.setattr(sys, "meta_path", [BuiltinImporter])  # nothing else can be imported
    with pytest.raises(LibraryNotFoundError, match="ml_dtypes"):
        stator.finfo("bfloat16")


def test_finfo_of_bfloat16_and_of_an_array(be):
    assert stator.finfo(stator.bfloat16).eps == 2.0**-7
    assert stator.finfo(be.zeros((2,), dtype="float32")) == stator.finfo("float32")


@pytest.mark.parametrize("name", ["int8", "int64", "uint8", "uint64"])
def test_iinfo(name):
    got, want = stator.iinfo(name), np.iinfo(name)
    assert (got.bits, got.max, got.min, got.dtype) == (want.bits, want.max, want.min, stator.dtype(name))


def test_limits_of_the_wrong_kind_of_dtype():
    with pytest.raises(DTypeError):
        stator.finfo("int32")
    with pytest.raises(DTypeError):
        stator.iinfo("bool")


@pytest.mark.parametrize("dtype", STANDARD, ids=str)
def test_isdtype(dtype):
    for kind in KINDS:
        assert stator.isdtype(dtype, kind) == np.isdtype(theirs(dtype), kind)
    assert stator.isdtype(dtype, (stator.float16, dtype))
    assert stator.isdtype(dtype, dtype)
    assert not stator.isdtype(dtype, ())
    assert not stator.isdtype(dtype, stator.float16)


def test_isdtype_of_an_unknown_kind():
    with pytest.raises(InvalidValueError):
        stator.isdtype(stator.int8, "floating")


@pytest.mark.parametrize("dtype", STANDARD, ids=str)
def test_can_cast(dtype):
    for other in STANDARD:
        assert stator.can_cast(dtype, other) == (np.result_type(theirs(dtype), theirs(other)) == theirs(other))


def test_result_type_of_three_is_numpys_in_any_order():
    for three in itertools.product([*STANDARD, stator.float16], repeat=3):
        assert theirs(stator.result_type(*three)) == np.result_type(*map(theirs, three)), three


def test_broadcast_shapes():
    assert stator.broadcast_shapes((2, 1), (3,), ()) == (2, 3)
    assert stator.broadcast_shapes() == ()
    for shapes in (((2,), (3,)), ((-1,), (1,))):
        with pytest.raises(ShapeError):
            stator.broadcast_shapes(*shapes)


def test_namespace_info():
    info = stator.__array_namespace_info__()
    assert isinstance(info.devices(), tuple)
    assert "cpu" in info.devices()
    assert info.default_device() in info.devices()
    assert info.default_dtypes() == np.__array_namespace_info__().default_dtypes()
    for kind in (None, *KINDS, ("bool", "integral")):
        assert info.dtypes(kind=kind) == np.__array_namespace_info__().dtypes(kind=kind)
    assert info.capabilities()["max dimensions"] == 32


@pytest.mark.parametrize("name", ["empty_like", "zeros_like", "ones_like", "full_like"])
def test_creation_like_an_array(be, name):
    x = be.zeros((3, 0, 2), dtype="int16")
    args = (7,) if name == "full_like" else ()
    got = getattr(stator, name)(x, *args)
    assert (got.shape, got.dtype, got.backend is be) == (x.shape, stator.int16, True)
    y = be.zeros((2, 3))
    got = getattr(stator, name)(y.T, *args, dtype="complex64")
    assert (got.shape, got.dtype) == ((3, 2), stator.complex64)
    if name != "empty_like":
        np.testing.assert_array_equal(got.to_numpy(), getattr(np, name)(np.zeros((3, 2)), *args))


def test_ones(be):
    assert be.ones((2,)).dtype == stator.float64
    np.testing.assert_array_equal(be.ones((2, 3), dtype="int8").to_numpy(), np.ones((2, 3), np.int8))
