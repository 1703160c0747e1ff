"""Which arguments are of one kind, so that a function is captured once for them."""

import dataclasses
import math
import struct
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from stator.errors import InvalidValueError


@dataclasses.dataclass(frozen=True)
class Options:
    low: float = 0.0


def captures(be, *values):
    """How often a function of an array and a value is captured for these, two calls each."""
    f = be.graph(lambda x, value: x + 1)
    x = be.ones(3)
    for value in values:
        f(x, value)
        f(x, value)
    return f.cache_info().graphs


APART = {
    "signs of zeros": (0.0, -0.0),
    "bits of NaN": (math.nan, struct.unpack("d", struct.pack("Q", 0x7FF8000000000001))[0]),
    "signs of zeros in float16": (np.float16(0.0), np.float16(-0.0)),
    "signs of zeros in float32": (np.float32(0.0), np.float32(-0.0)),
    "signs of zeros in float64": (np.float64(0.0), np.float64(-0.0)),
    "signs of zeros in longdouble": (np.longdouble(0.0), np.longdouble(-0.0)),
    "signs of zeros in complex": (complex(0.0, 0.0), complex(0.0, -0.0), complex(-0.0, 0.0)),
    "signs of zeros in complex64": (np.complex64(0), np.complex64(complex(-0.0, 0.0))),
    "signs of zeros in clongdouble": (np.clongdouble(0), np.clongdouble(complex(0.0, -0.0))),
    "signs of zeros in Decimal": (Decimal("0.0"), Decimal("-0.0")),
    "digits of Decimal": (Decimal("1.0"), Decimal("1.00")),
    "frozensets": (frozenset([0.0]), frozenset([-0.0]), frozenset([0]), frozenset([False])),
    "ranges of the same numbers": (range(0, 4, 2), range(0, 3, 2)),
    "types of one number": (1, 1.0, True, np.int64(1), np.int32(1), np.float64(1), Fraction(1), Decimal(1), 1 + 0j),
    "fields of data classes": (Options(0.0), Options(-0.0), Options(0)),
    "keys of dicts": ({0.0: 1}, {-0.0: 1}, {0: 1}, {False: 1}),
    "tuples in frozensets": (frozenset([(0.0,)]), frozenset([(-0.0,)])),
    "lists and tuples": ([1], (1,)),
}
ALIKE = {
    "NaN": lambda: (float("nan"), float("nan")),
    "NaN of NumPy": lambda: (np.float32("nan"), np.float32("nan")),
    "NaN in longdouble": lambda: (np.longdouble("nan"), np.longdouble("nan")),
    "NaN in complex": lambda: (complex(math.nan, 1), complex(math.nan, 1)),
    "NaN in Decimal": lambda: (Decimal("NaN"), Decimal("NaN")),
    "NaN in a tuple": lambda: ((float("nan"), 1), (float("nan"), 1)),
    "NaN in a data class": lambda: (Options(float("nan")), Options(float("nan"))),
    "large integers": lambda: (10**40, int("1" + "0" * 40)),
    "strings": lambda: ("ab", "".join(["a", "b"])),
    "ranges": lambda: (range(3), range(3)),
    "dates": lambda: (np.datetime64("2026-01-01"), np.datetime64("2026-01-01")),
}


@pytest.mark.parametrize("case", APART)
def test_values_that_a_function_can_tell_apart_have_graphs_of_their_own(be, case):
    assert captures(be, *APART[case]) == len(APART[case])


@pytest.mark.parametrize("case", ALIKE)
def test_values_of_the_same_bits_share_a_graph(be, case):
    assert captures(be, *ALIKE[case]()) == 1


def test_the_sign_of_a_zero_reaches_the_work(be):
    f = be.graph(lambda x, sign: x * sign)
    for sign in (np.float32(0.0), np.float32(-0.0)) * 3:
        assert math.copysign(1, f(be.ones(1), sign).item()) == math.copysign(1, sign)


def test_structures_that_are_nested_too_deeply_are_refused(be):
    f, x, endless, nested = be.graph(lambda x, y: x + 1), be.ones(3), [], 1
    endless.append(endless)
    for _ in range(150):
        nested = [nested]
    assert f(x, nested).tolist() == [2, 2, 2]
    for _ in range(1000):
        nested = {"next": (nested,)}
    for value in (endless, nested):
        with pytest.raises(InvalidValueError, match="nested deeper"):
            f(x, value)
