"""Which arguments are of one kind, so that a function is captured once for them."""

import dataclasses
import gc
import math
import struct
import threading
import weakref
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


class Raising:
    """A value whose __hash__ or __eq__ raises what `error` is."""

    error = None

    def __init__(self, method):
        self.method = method

    def __hash__(self):
        if self.error and self.method == "__hash__":
            raise self.error("mine")
        return 1

    def __eq__(self, other):
        if self.error and self.method == "__eq__":
            raise self.error("mine")
        return isinstance(other, Raising)


@pytest.mark.parametrize("method", ["__hash__", "__eq__"])
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_what_a_value_raises_is_raised_and_the_next_call_works(be, method, error, monkeypatch):
    f, x = be.graph(lambda x, value: x + 1), be.ones(3)
    f(x, Raising(method))
    monkeypatch.setattr(Raising, "error", error)
    with pytest.raises(error, match="mine"):
        f(x, Raising(method))
    monkeypatch.setattr(Raising, "error", None)
    ended = threading.Thread(target=f, args=(x, Raising(method)))  # another thread, which would wait for a lock
    ended.start()
    ended.join(60)
    assert not ended.is_alive() and f.cache_info().graphs == 1


def test_a_type_error_of_hash_says_that_the_value_cannot_be_a_key(be, monkeypatch):
    f, x = be.graph(lambda x, value: x + 1), be.ones(3)
    monkeypatch.setattr(Raising, "error", TypeError)
    with pytest.raises(InvalidValueError, match="cannot be a key: mine"):
        f(x, Raising("__hash__"))


def test_a_type_error_of_eq_is_raised_as_it_is(be, monkeypatch):
    f, x = be.graph(lambda x, value: x + 1), be.ones(3)
    f(x, Raising("__eq__"))
    monkeypatch.setattr(Raising, "error", TypeError)
    with pytest.raises(TypeError, match=r"^mine$"):
        f(x, Raising("__eq__"))


def test_a_value_may_call_the_function_while_it_is_compared(be):
    f, x = be.graph(lambda x, value: x + 1), be.ones(3)

    class Calling:
        def __hash__(self):
            return 1

        def __eq__(self, other):
            f(x, 5)
            return type(other) is Calling

    for _ in range(3):
        assert f(x, Calling()).tolist() == [2, 2, 2]
    assert f.cache_info().graphs == 2


def test_a_graph_keeps_its_key_and_no_other_values_alive(be):
    f, values = be.graph(lambda x, value: x + 1), [Raising("") for _ in range(4)]
    kept = [weakref.ref(value) for value in values]
    for value in values:
        f(be.ones(3), value)
    del value, values
    gc.collect()
    assert sum(one() is not None for one in kept) == 1
    f.clear_cache()
    gc.collect()
    assert not any(one() for one in kept)


def test_the_distance_of_arguments_in_a_buffer_is_not_taken_for_a_dtype(be):
    f = be.graph(lambda a, b, c, d: d + 1)
    rows = be.zeros(1000, dtype="uint8")
    apart = 256 + 1  # bytes, as the signature has an array of one axis of int8
    shared = rows[:4], rows[apart : apart + 4], be.zeros((), dtype="float32"), be.zeros((), dtype="int8")
    others = rows[:4], be.zeros(5, dtype="uint8")[1:], be.zeros((), dtype="bool"), be.zeros(11, dtype="int8")
    for arguments in (shared, others) * 3:
        assert f(*arguments).shape == arguments[3].shape
    assert f.cache_info().graphs == 2
