"""A dtype is called, and has a scalar class, as NumPy's types do; the parts of a real array are views of it."""

import numpy as np
import pytest

import stator
from stator.errors import DTypeError


@pytest.mark.parametrize("name", ["float32", "int8", "uint64", "bool", "complex64"])
def test_a_dtype_makes_arrays(be, name):
    kind = getattr(stator, name)
    for value in (1, [0, 1, 1], np.array([1.0, 0.0]), np.float64(1)):
        got = kind(value)
        assert isinstance(got, stator.Array) and got.dtype is kind and got.backend is be
        np.testing.assert_array_equal(got.to_numpy(), np.asarray(value).astype(name))
    cast = kind(be.asarray([0.0, 1.0]))
    assert cast.dtype is kind and cast.tolist() == [0, 1]


def test_an_array_that_is_cast_stays_on_its_backend(be):
    with stator.Backend(be.device) as other:
        assert stator.int32(other.ones((2,))).backend is other


@pytest.mark.parametrize("spelling", ["f4", "single", "=f4", np.dtype("f4"), np.float32])
def test_a_spelling_means_the_same_again(spelling):
    assert [stator.dtype(spelling) for _ in range(2)] == [stator.float32, stator.float32]


@pytest.mark.parametrize("other", [">f4", np.dtype(">f4"), np.dtype([("f4", "f4")]), "f16"])
def test_a_dtype_that_is_not_ours_is_refused_again(other):
    for _ in range(2):
        with pytest.raises(DTypeError):
            stator.dtype(other)


def test_many_dtypes_that_equal_each_other_are_not_kept():
    for k in range(300):
        assert stator.dtype(np.dtype("f4", metadata={"k": k})) == "float32"
        with pytest.raises(DTypeError):
            stator.dtype(f"f4{k}")


@pytest.mark.parametrize("bad", ["text", object(), None])
def test_what_is_no_number_makes_no_array(be, bad):
    with pytest.raises(DTypeError, match=r"^float32: "):
        stator.float32(bad)


def test_the_scalar_class_is_numpys():
    for kind in (stator.float16, stator.int64, stator.bool, stator.complex128):
        assert kind.type is np.dtype(kind.name).type


@pytest.mark.parametrize("name", ["bool", "int16", "float32", "complex64"])
def test_real_and_imaginary_parts_of_every_dtype(be, name):
    host = np.array([1, 0, 1]).astype(name)
    x = be.asarray(host)
    for got, want in ((x.real, host.real), (x.imag, host.imag)):
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got.to_numpy(), want)
    assert hasattr(x, "real") and hasattr(x, "imag")


def test_the_real_part_of_a_real_array_shares_its_memory(be):
    x = be.asarray([1.0, 2.0])
    x.real[0] = 5
    assert x.tolist() == [5.0, 2.0]
