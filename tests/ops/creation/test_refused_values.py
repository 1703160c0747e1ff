"""What has no form on a device is refused by a typed error wherever arrays are made of it; nothing is leaked."""

import datetime
import fractions
import gc

import numpy as np
import pytest

import stator
import stator.numpy as snp
from stator.errors import DTypeError, InvalidValueError

OF_NO_DTYPE = {
    "objects": np.array([1, None], dtype=object),
    "None": None,
    "a list of None": [1, None],
    "texts": ["a", "b"],
    "bytes": b"ab",
    "structures": np.zeros(2, "i4,f4"),
    "records": np.rec.array([(1, 2.0)]),
    "dates": np.array(["2020-01-01"], "M8[D]"),
    "spans of time": np.array([1], "m8[s]"),
    "a datetime": datetime.datetime(2020, 1, 1),
    "long doubles": np.zeros(2, "g"),
    "a dict": {"a": 1},
    "a set": {1, 2},
    "fractions": [fractions.Fraction(1, 2)],
    "integers beyond 64 bits": [2**70],
    "untyped memory": np.void(b"ab"),
}
RAGGED = {
    "rows": [[1, 2], [3]],
    "deeper": [[[1], [2, 3]], [[1], [2]]],
    "depths": [1, [2]],
    "arrays of NumPy": [np.zeros(2), np.zeros(3)],
}
MAKE = {"stator.asarray": stator.asarray, "stator.numpy.array": snp.array, "stator.numpy.asarray": snp.asarray}


@pytest.mark.parametrize("make", MAKE)
@pytest.mark.parametrize("name", OF_NO_DTYPE)
def test_what_has_no_dtype_is_refused(be, make, name):
    with pytest.raises(DTypeError, match=r"asarray: .*not an element type.*Pass one of"):
        MAKE[make](OF_NO_DTYPE[name])
    assert MAKE[make]([1.0, 2.0]).tolist() == [1.0, 2.0]


@pytest.mark.parametrize("make", MAKE)
@pytest.mark.parametrize("name", RAGGED)
def test_ragged_lists_are_refused(be, make, name):
    with pytest.raises(InvalidValueError, match="inhomogeneous"):
        MAKE[make](RAGGED[name])
    assert MAKE[make]([[1, 2], [3, 4]]).shape == (2, 2)


@pytest.mark.parametrize("name", ["objects", "structures", "texts", "dates"])
def test_they_are_refused_as_assigned_values_and_operands(be, name):
    x = be.ones(2)
    for call in (
        lambda: x.__setitem__(slice(None), OF_NO_DTYPE[name]),
        lambda: stator.full((2,), OF_NO_DTYPE[name]),
        lambda: snp.sum(OF_NO_DTYPE[name]),
        lambda: snp.add(x, OF_NO_DTYPE[name]),
        lambda: snp.concatenate([x, OF_NO_DTYPE[name]]),
    ):
        with pytest.raises(TypeError) as caught:
            call()
        assert isinstance(caught.value, DTypeError)
    assert x.tolist() == [1.0, 1.0]


def test_a_list_too_deep_is_refused(be):
    deep = [1]
    for _ in range(100):
        deep = [deep]
    with pytest.raises(ValueError, match="number of dimension"):
        stator.asarray(deep)
    gc.collect()
    assert not [r for r in be.resources() if r["kind"] == "buffer"]
