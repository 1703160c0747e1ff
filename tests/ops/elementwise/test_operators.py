"""Every Python operator of arrays against NumPy's: forward, reflected, in place, and with foreign operands."""

import operator

import numpy as np
import pytest

import stator

BINARY = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
BITS = {"&": operator.and_, "|": operator.or_, "^": operator.xor, "<<": operator.lshift, ">>": operator.rshift}
UNARY = {"-": operator.neg, "+": operator.pos, "abs": operator.abs, "~": operator.invert}
IN_PLACE = {
    "+=": operator.iadd,
    "-=": operator.isub,
    "*=": operator.imul,
    "/=": operator.itruediv,
    "//=": operator.ifloordiv,
    "%=": operator.imod,
    "**=": operator.ipow,
    "&=": operator.iand,
    "|=": operator.ior,
    "^=": operator.ixor,
    "<<=": operator.ilshift,
    ">>=": operator.irshift,
}
FLOATS = np.array([-2.5, -0.5, 1.0, 3.5]), np.array([2.0, 1.0, 1.0, -0.5])
WHOLE = np.array([-7, 5, 0, 3], np.int32), np.array([2, 5, 1, 3], np.int32)


def same(got, want):
    got = got.to_numpy()
    assert got.dtype == want.dtype
    np.testing.assert_allclose(got, want, rtol=1e-14)


def operands(symbol):
    return [WHOLE] if symbol.rstrip("=") in BITS else [FLOATS, WHOLE]


@pytest.mark.parametrize("symbol", [*BINARY, *BITS])
def test_binary_operators(be, symbol):
    act = (BINARY | BITS)[symbol]
    for x, y in operands(symbol):
        a, b = be.asarray(x), be.asarray(y)
        with np.errstate(all="ignore"):
            same(act(a, b), act(x, y))
            same(act(a, 2), act(x, 2))
            positive, on = abs(y), be.asarray(abs(y))  # NumPy refuses integers to negative powers
            same(act(3, on), act(3, positive))
            same(act(np.float64(3) if y.dtype == float else 3, on), act(3, positive))


@pytest.mark.parametrize("symbol", UNARY)
def test_unary_operators(be, symbol):
    for x in (FLOATS[0], WHOLE[0]) if symbol != "~" else (WHOLE[0], np.array([True, False])):
        same(UNARY[symbol](be.asarray(x)), UNARY[symbol](x))


@pytest.mark.parametrize("symbol", IN_PLACE)
def test_in_place_operators_write_the_memory_that_views_see(be, symbol):
    act = IN_PLACE[symbol]
    for x, y in operands(symbol):
        if symbol == "/=" and x.dtype != float:
            continue
        for other in (y, 2):
            want, whole = np.zeros(9, x.dtype), be.zeros((9,), dtype=x.dtype)
            want[1::2], whole[1::2] = x, be.asarray(x)
            view, pointer = whole[1::2], whole.data_ptr
            with np.errstate(all="ignore"):
                want[1::2] = act(x.copy(), other)
                result = act(view, other if isinstance(other, int) else be.asarray(other))
            assert result is view and whole.data_ptr == pointer
            same(whole, want)


def test_in_place_operators_keep_the_dtype(be):
    x = be.asarray(np.array([1.5, 2.5], np.float32))
    x += be.asarray(np.array([1.0, 2.0]))
    assert x.dtype == stator.float32
    np.testing.assert_array_equal(x.to_numpy(), [2.5, 4.5])
    whole = be.asarray(np.arange(3))
    with pytest.raises(stator.errors.DTypeError):
        whole /= 2
    with pytest.raises(stator.errors.DTypeError):
        whole += 0.5
    np.testing.assert_array_equal(whole.to_numpy(), [0, 1, 2])


def test_in_place_operators_broadcast_the_right_side_alone(be):
    x = be.zeros((2, 3))
    x += be.asarray(np.arange(3.0))
    np.testing.assert_array_equal(x.to_numpy(), [[0, 1, 2]] * 2)
    row = x[0]
    with pytest.raises(stator.errors.ShapeError):
        row += x


def test_logic_of_bools(be):
    x, y = np.array([True, True, False, False]), np.array([True, False, True, False])
    for symbol in "&|^":
        same(BITS[symbol](be.asarray(x), be.asarray(y)), BITS[symbol](x, y))
        same(BITS[symbol](be.asarray(x), True), BITS[symbol](x, True))


def test_operators_refuse_what_their_rows_do(be):
    x = be.asarray(FLOATS[0])
    for act in (lambda: x & x, lambda: ~x, lambda: x << 1, lambda: x | True):
        with pytest.raises(stator.errors.DTypeError):
            act()


def test_foreign_operands(be):
    class Foreign:
        def __radd__(self, other):
            return "radd"

        def __rpow__(self, other):
            return "rpow"

        def __lt__(self, other):
            return "lt"

    x = be.asarray(FLOATS[0])
    assert x + Foreign() == "radd"
    assert x ** Foreign() == "rpow"
    assert (x > Foreign()) == "lt"
    for other in (FLOATS[1], [1.0, 2.0, 3.0, 4.0]):
        for act in (operator.add, operator.mod, operator.pow):
            with pytest.raises(TypeError, match="asarray"):
                act(x, other)
            with pytest.raises(TypeError, match="asarray"):
                act(other, x)
    with pytest.raises(TypeError):
        x + "1"
    assert (x == "1") is False and (x != "1") is True


def test_chains_are_as_numpy_computes_them(be):
    x, y = FLOATS
    a, b = be.asarray(x), be.asarray(y)
    same(2 - (a + b) * 3 / (1 + a**2), 2 - (x + y) * 3 / (1 + x**2))
    same((a < b) | (a == 1), (x < y) | (x == 1))
    same(-abs(a) // 1 % 2, -abs(x) // 1 % 2)
