"""Bad input raises the typed error with op and remedy, leaks nothing, and the next correct call works."""

import gc
import pickle
from types import SimpleNamespace

import inputs
import numpy as np
import pytest

import stator
from stator import errors as E

HUGE = 2**62


def operands(be):
    """The operands of the calls below: x, y of two shapes; integers, bools, bytes, complex numbers; an empty array."""
    return SimpleNamespace(
        be=be,
        x=be.zeros((2, 3)),
        y=be.zeros((4, 5)),
        i=be.zeros((2, 3), dtype="int32"),
        u=be.zeros((2, 3), dtype="uint8"),
        b=be.zeros((2, 3), dtype="bool"),
        z=be.zeros((2, 3), dtype="complex64"),
        h=be.zeros((2, 3), dtype="float16"),
        empty=be.zeros((0, 3)),
    )


BAD = {
    "shapes that do not broadcast": (lambda a: stator.add(a.x, a.y), E.ShapeError),
    "shapes that do not broadcast in place": (lambda a: a.x.__iadd__(a.be.zeros((5, 2, 3))), E.ShapeError),
    "three shapes that do not broadcast": (lambda a: stator.lerp(a.x, a.x, a.y), E.ShapeError),
    "a condition that does not broadcast": (lambda a: stator.where(a.b, a.y, 0), E.ShapeError),
    "a bound that does not broadcast": (lambda a: stator.clip(a.x, 0, a.y), E.ShapeError),
    "out of the wrong shape": (lambda a: stator.add(a.x, a.x, out=a.y), E.ShapeError),
    "out of more dimensions": (lambda a: stator.exp(a.x, out=a.be.zeros((1, 2, 3))), E.ShapeError),
    "out of the wrong shape for three": (lambda a: stator.lerp(a.x, a.x, 0.5, out=a.y), E.ShapeError),
    "out of a lower kind": (lambda a: stator.add(a.x, a.x, out=a.i), E.DTypeError),
    "out of a lower kind for a choice": (lambda a: stator.where(a.b, a.x, a.x, out=a.i), E.DTypeError),
    "in place with a higher kind": (lambda a: a.i.__iadd__(a.x), E.DTypeError),
    "dtype= of a lower kind": (lambda a: stator.exp(a.x, dtype="int32"), E.DTypeError),
    "dtype= of a comparison": (lambda a: stator.equal(a.x, a.x, dtype="float32"), E.DTypeError),
    "dtype= of a modulus": (lambda a: stator.abs(a.z, dtype="complex64"), E.DTypeError),
    "order of complex numbers": (lambda a: stator.less(a.z, a.z), E.DTypeError),
    "order of complex numbers by an operator": (lambda a: a.z >= a.z, E.DTypeError),
    "the larger of complex numbers": (lambda a: stator.maximum(a.z, 1), E.DTypeError),
    "whole quotients of complex numbers": (lambda a: stator.floor_divide(a.z, a.z), E.DTypeError),
    "remainders by complex numbers": (lambda a: stator.remainder(a.x, a.z), E.DTypeError),
    "complex bounds": (lambda a: stator.clip(a.x, a.z, 1j), E.DTypeError),
    "the floor of complex numbers": (lambda a: stator.floor(a.z), E.DTypeError),
    "angles of complex numbers": (lambda a: stator.atan2(a.z, a.x), E.DTypeError),
    "special functions of complex numbers": (lambda a: stator.special.erf(a.z), E.DTypeError),
    "bits of floats": (lambda a: stator.bitwise_and(a.x, a.x), E.DTypeError),
    "bits of floats by an operator": (lambda a: a.x | a.i, E.DTypeError),
    "bits of a float number": (lambda a: stator.bitwise_xor(a.i, 1.5), E.DTypeError),
    "bits of complex numbers, inverted": (lambda a: ~a.z, E.DTypeError),
    "shifts of floats": (lambda a: stator.bitwise_left_shift(a.x, a.i), E.DTypeError),
    "shifts by floats": (lambda a: a.i >> 0.5, E.DTypeError),
    "shifts of bools": (lambda a: stator.bitwise_right_shift(a.b, a.b), E.DTypeError),
    "differences of bools": (lambda a: a.b - a.b, E.DTypeError),
    "a negative bool": (lambda a: -a.b, E.DTypeError),
    "common divisors of floats": (lambda a: stator.gcd(a.x, a.x), E.DTypeError),
    "common multiples of bools": (lambda a: stator.lcm(a.b, a.b), E.DTypeError),
    "common divisors by a float": (lambda a: stator.gcd(a.i, 2.0), E.DTypeError),
    "a common divisor that does not fit": (lambda a: stator.gcd(a.u, -4), E.InvalidValueError),
    "common divisors of shapes that do not broadcast": (lambda a: stator.gcd(a.i, a.i.T), E.ShapeError),
    "fractions of integers": (lambda a: stator.frexp(a.i), E.DTypeError),
    "fractions of complex numbers": (lambda a: stator.frexp(a.z), E.DTypeError),
    "fractions of a number": (lambda a: stator.frexp(1.5), E.DTypeError),
    "steps of complex numbers": (lambda a: stator.heaviside(a.z, a.z), E.DTypeError),
    "base-2 sums of complex numbers": (lambda a: stator.logaddexp2(a.z, 1.0), E.DTypeError),
    "beta of complex numbers": (lambda a: stator.special.beta(a.z, a.x), E.DTypeError),
    "beta of no number": (lambda a: stator.special.betaln(a.x, "1"), E.DTypeError),
    "incomplete gamma of complex numbers": (lambda a: stator.special.gammainc(a.x, a.z), E.DTypeError),
    "incomplete gamma of one operand": (lambda a: stator.special.gammaincc(a.x), TypeError),
    "incomplete gamma of shapes that do not broadcast": (lambda a: stator.special.gammainc(a.x, a.y), E.ShapeError),
    "a floating factor of integer matrices": (lambda a: stator.addmm(a.i, a.i, a.i.T, alpha=0.5), E.StatorError),
    "neighbours of integers": (lambda a: stator.nextafter(a.i, a.i), E.DTypeError),
    "steps between integers": (lambda a: stator.lerp(a.i, a.i, a.i), E.DTypeError),
    "a step that is not a number": (lambda a: stator.lerp(a.x, a.x, "0.5"), E.DTypeError),
    "a bound that is not a number": (lambda a: stator.clip(a.x, "0", None), E.DTypeError),
    "a bound from NumPy": (lambda a: stator.clip(a.x, np.zeros(3), 1), E.DTypeError),
    "a bound that does not fit": (lambda a: stator.clip(a.u, -1, 5), E.InvalidValueError),
    "a condition of floats": (lambda a: stator.where(a.x, a.x, a.x), E.DTypeError),
    "a condition of integers": (lambda a: stator.where(1, a.x, a.x), E.DTypeError),
    "a choice of numbers": (lambda a: stator.where(True, 1, 2), E.DTypeError),
    "softmax of integers": (lambda a: stator.nn.softmax(a.i), E.DTypeError),
    "activations of integers": (lambda a: stator.nn.silu(a.i), E.DTypeError),
    "activations of complex numbers": (lambda a: stator.nn.softplus(a.z), E.DTypeError),
    "gelu of another form": (lambda a: stator.nn.gelu(a.x, approximate="x"), E.InvalidValueError),
    "the gradient of gelu of another form": (
        lambda a: stator.nn.gelu_backward(a.x, a.x, approximate=None),
        E.DTypeError,
    ),
    "a gradient of another shape": (lambda a: stator.nn.elu_backward(a.x, a.y), E.ShapeError),
    "unknown dtype": (lambda a: a.be.zeros((2,), dtype="float7"), TypeError),
    "object dtype": (lambda a: a.be.asarray(np.array([object()])), TypeError),
    "strings": (lambda a: a.be.asarray(["a", "b"]), TypeError),
    "ragged lists": (lambda a: a.be.asarray([[1, 2], [3]]), ValueError),
    "numpy operand": (lambda a: stator.add(a.x, np.zeros((2, 3))), E.DTypeError),
    "no number": (lambda a: stator.add(a.x, "1"), E.DTypeError),
    "None": (lambda a: stator.exp(None), E.DTypeError),
    "two scalars": (lambda a: stator.add(1, 2), E.DTypeError),
    "a parameter without a name": (lambda a: stator.exp(a.x, None, None), TypeError),
    "an unknown keyword": (lambda a: stator.lerp(a.x, a.x, 1, step=2), TypeError),
    "too few operands": (lambda a: stator.lerp(a.x, a.x), TypeError),
    "axis out of range": (lambda a: stator.sum(a.x, axis=2), E.AxisError),
    "axis repeated": (lambda a: stator.sum(a.x, axis=(0, -2)), E.AxisError),
    "axis of the wrong type": (lambda a: stator.sum(a.x, axis=1.5), E.DTypeError),
    "axis out of range among others": (lambda a: stator.linalg.vector_norm(a.x, axis=(0, 5)), E.AxisError),
    "axis of a scalar": (lambda a: stator.var(a.be.zeros(()), axis=0), E.AxisError),
    "two axes of a position": (lambda a: stator.argmax(a.x, axis=(0, 1)), E.AxisError),
    "softmax axis": (lambda a: stator.nn.softmax(a.x, axis=-3), E.AxisError),
    "the largest of no elements": (lambda a: stator.max(a.empty), E.InvalidValueError),
    "the least of no row": (lambda a: stator.nanmin(a.empty, axis=0), E.InvalidValueError),
    "the index of the largest of no elements": (lambda a: stator.argmax(a.empty, axis=0), E.InvalidValueError),
    "the largest modulus of no elements": (
        lambda a: stator.linalg.vector_norm(a.empty, ord=float("inf")),
        E.InvalidValueError,
    ),
    "the largest of complex numbers": (lambda a: stator.max(a.z), E.DTypeError),
    "the index of the least complex number": (lambda a: stator.argmin(a.z), E.DTypeError),
    "dtype= of a largest": (lambda a: stator.max(a.x, dtype="float64"), E.DTypeError),
    "dtype= of a count": (lambda a: stator.count_nonzero(a.x, dtype="int32"), E.DTypeError),
    "an integer mean": (lambda a: stator.mean(a.x, dtype="int32"), E.DTypeError),
    "where= of integers": (lambda a: stator.sum(a.x, where=a.i), E.DTypeError),
    "where= that is not an array": (lambda a: stator.sum(a.x, where=[True]), E.DTypeError),
    "where= that does not broadcast": (lambda a: stator.prod(a.x, where=a.y < 1), E.ShapeError),
    "where= of more dimensions": (lambda a: stator.any(a.x, where=a.be.zeros((2, 2, 3), dtype="bool")), E.ShapeError),
    "where= of a larger axis": (lambda a: stator.all(a.x[:1], where=a.b), E.ShapeError),
    "where= of a position": (lambda a: stator.argmin(a.x, where=a.b), E.UnsupportedError),
    "out of a reduction of another shape": (lambda a: stator.sum(a.x, axis=0, out=a.be.zeros((2,))), E.ShapeError),
    "out of a reduction without its axis": (
        lambda a: stator.sum(a.x, axis=0, keepdims=True, out=a.be.zeros((3,))),
        E.ShapeError,
    ),
    "out of a reduction of a lower kind": (lambda a: stator.sum(a.x, axis=0, out=a.i[0]), E.DTypeError),
    "out of a reduction that overlaps": (lambda a: stator.sum(a.x, axis=0, out=a.x[0]), E.InvalidValueError),
    "out of a reduction over its mask": (
        lambda a: stator.any(a.x, axis=0, where=a.b, out=a.b[0]),
        E.InvalidValueError,
    ),
    "an order that is not a number": (lambda a: stator.linalg.vector_norm(a.x, ord="two"), E.DTypeError),
    "a correction that is not a number": (lambda a: stator.var(a.x, correction=None), E.DTypeError),
    "a correction for a sum": (lambda a: stator.sum(a.x, correction=1), TypeError),
    "permutation repeated": (lambda a: stator.permute_dims(a.x, (0, 0)), ValueError),
    "permutation too short": (lambda a: stator.permute_dims(a.x, (0,)), ValueError),
    "squeeze of a long axis": (lambda a: stator.squeeze(a.x, axis=0), E.ShapeError),
    "squeeze of an axis too many": (lambda a: stator.squeeze(a.x, axis=5), E.AxisError),
    "new axes at one position": (lambda a: stator.expand_dims(a.x, axis=(0, 0)), E.AxisError),
    "too many new axes": (lambda a: stator.expand_dims(a.x, axis=tuple(range(32))), E.ShapeError),
    "axes moved to fewer positions": (lambda a: stator.moveaxis(a.x, (0, 1), (0,)), E.ShapeError),
    "an axis moved twice": (lambda a: stator.moveaxis(a.x, (0, 0), (0, 1)), E.AxisError),
    "flip of an axis named twice": (lambda a: stator.flip(a.x, axis=(1, -1)), E.AxisError),
    "flip of an axis that is not an integer": (lambda a: stator.flip(a.x, axis=0.5), E.DTypeError),
    "transpose of a vector": (lambda a: stator.matrix_transpose(a.x[0]), E.ShapeError),
    "diagonal of a vector": (lambda a: stator.linalg.diagonal(a.x[0]), E.ShapeError),
    "arrays that do not broadcast": (lambda a: stator.broadcast_arrays(a.x, a.y), E.ShapeError),
    "a grid of matrices": (lambda a: stator.meshgrid(a.x), E.ShapeError),
    "a grid in an unknown order": (lambda a: stator.meshgrid(a.x[0], indexing="yx"), E.InvalidValueError),
    "a grid of numbers": (lambda a: stator.meshgrid(1, 2), E.DTypeError),
    "too many axes of a grid": (lambda a: stator.meshgrid(*[a.x[0, :1]] * 33), E.ShapeError),
    "pieces along no axis": (lambda a: stator.unstack(a.x, axis=2), E.AxisError),
    "reshape to another size": (lambda a: stator.reshape(a.x, (4, 2)), E.ShapeError),
    "reshape with two unknowns": (lambda a: stator.reshape(a.x, (-1, -1)), ValueError),
    "reshape with a negative extent": (lambda a: stator.reshape(a.x, (-1, -2)), E.ShapeError),
    "subscripts beyond ASCII": (lambda a: stator.einsum("\u00e9j->j", a.x), E.InvalidValueError),
    "a stream between streams": (lambda a: a.be.stream(1.5), E.DTypeError),
    "a stream beyond 32 bits": (lambda a: a.be.stream(2**31), E.InvalidValueError),
    "a module as dtype": (lambda a: a.x.astype(gc), E.DTypeError),
    "the join of a number": (lambda a: stator.concat(3), E.DTypeError),
    "a flag that is an array": (lambda a: stator.sort(a.x, descending=a.b), E.DTypeError),
    "a flag that is neither 0 nor 1": (lambda a: stator.sum(a.x, keepdims=2), E.DTypeError),
    "a complex factor of real matrices": (lambda a: stator.addmm(a.x, a.x, a.x[:, :0], alpha=1j), E.StatorError),
    "a shape of bytes": (lambda a: a.be.zeros(b"ab"), E.DTypeError),
    "too many indices": (lambda a: a.x[0, 0, 0], IndexError),
    "index out of range": (lambda a: a.x[2], IndexError),
    "slice step zero": (lambda a: a.x[::0], E.InvalidValueError),
    "index of the wrong type": (lambda a: a.x[1.5], (TypeError, IndexError)),
    "mask of another shape": (lambda a: a.x[(a.x < 1)[:, :1]], IndexError),
    "two ellipses": (lambda a: a.x[..., ...], IndexError),
    "negative size": (lambda a: a.be.zeros((-1,)), ValueError),
    "huge size": (lambda a: a.be.zeros((HUGE, 8)), (E.ShapeError, E.OutOfMemoryError)),
    "more memory than there is": (lambda a: a.be.zeros((1 << 50,)), E.OutOfMemoryError),
    "too many dimensions": (lambda a: a.be.zeros((1,) * 33), E.ShapeError),
    "too many new axes of an index": (lambda a: a.x[(None,) * 33], E.ShapeError),
    "too many dimensions of an index": (
        lambda a: a.i[(None,) * 15][..., a.be.zeros((1,) * 20, dtype="int64")],
        E.ShapeError,
    ),
    "too many dimensions of what is taken": (
        lambda a: stator.take(a.x[(None,) * 15], a.be.zeros((1,) * 20, dtype="int64"), axis=0),
        E.ShapeError,
    ),
    "too many repetitions": (lambda a: stator.tile(a.x, (1,) * 40), E.ShapeError),
    "too many dimensions of a product": (
        lambda a: stator.tensordot(a.x[(None,) * 20], a.x[(None,) * 20], axes=0),
        E.ShapeError,
    ),
    "too many dimensions of a Kronecker product": (lambda a: stator.kron(a.x[(None,) * 20], a.x), E.UnsupportedError),
    "page-locked memory of no whole length": (lambda a: stator.memory.pinned_empty(1.5, device=a.be), E.DTypeError),
    "page-locked memory beyond addresses": (lambda a: stator.memory.pinned_empty(HUGE, device=a.be), E.ShapeError),
    "part of a byte as memory_limit": (lambda a: stator.Backend("cpu", memory_limit=0.5), E.DTypeError),
    "arange without end": (lambda a: a.be.arange(0, 1, 0), ValueError),
    "value that does not fit": (lambda a: stator.add(a.u, 300), E.InvalidValueError),
    "value that does not fit 64 bits": (lambda a: stator.multiply(a.i, 2**70), E.InvalidValueError),
    "take with a float index": (lambda a: stator.take(a.x, a.x, axis=0), E.DTypeError),
    "cross entropy shapes": (lambda a: stator.nn.cross_entropy(a.x, a.i), E.ShapeError),
    "cross entropy reduction": (
        lambda a: stator.nn.cross_entropy(a.x, a.be.zeros((2,), dtype="int64"), reduction="max"),
        ValueError,
    ),
    "adam lists of two lengths": (lambda a: stator.nn.adam_step([a.x], [], [a.x], [a.x], step=1), ValueError),
    "adam step zero": (lambda a: stator.nn.adam_step([a.x], [a.x], [a.x], [a.x], step=0), ValueError),
    "matmul shapes": (lambda a: stator.matmul(a.x, a.x), E.ShapeError),
    "device name": (lambda a: stator.Backend("tpu"), ValueError),
    "device index": (lambda a: stator.Backend("cpu:7"), (E.DeviceUnavailableError, ValueError)),
    "check_indices": (lambda a: stator.Backend("cpu", check_indices="often"), ValueError),
    "stream index": (lambda a: a.be.stream(99), (ValueError, IndexError)),
    "length of a scalar": (lambda a: len(a.be.zeros(())), TypeError),
    "truth of many": (lambda a: bool(a.x), ValueError),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_has_its_type_and_leaves_nothing(be, name):
    call, kind = BAD[name]
    given = operands(be)
    gc.collect()
    before = [(r["kind"], r["bytes"]) for r in be.resources()]
    with pytest.raises(kind) as caught:
        call(given)
    if isinstance(caught.value, E.StatorError):
        assert caught.value.op
        assert caught.value.cause
        assert caught.value.remedy
    del caught
    gc.collect()
    assert [(r["kind"], r["bytes"]) for r in be.resources()] == before
    np.testing.assert_array_equal(stator.add(be.asarray([1.0]), 1).to_numpy(), [2.0])
    assert float(stator.sum(given.x, where=given.b)) == 0


SHIFTED = [-128, -77, -1, 0, 1, 5, 127]


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_shifts_beyond_the_width_are_defined(be, dtype):
    info = np.iinfo(dtype)
    values = [v for v in (*SHIFTED, info.min, info.max) if v >= info.min]
    for amount in [n for n in (0, 1, info.bits - 1, info.bits, info.bits + 1, 100, -1, -info.bits) if n >= info.min]:
        inside = 0 <= amount < info.bits
        left = [(v << amount) % 2**info.bits if inside else 0 for v in values]
        right = [v >> (amount if inside else info.bits) for v in values]
        # Dense operands, and other values.
        for x in (np.array(values, dtype), np.repeat(np.array(values, dtype), 2)[::2]):
            on, by = inputs.on_device(be, x), be.asarray(np.full(x.shape, amount, dtype))
            got = stator.bitwise_left_shift(on, by).to_numpy()
            np.testing.assert_array_equal(got, np.array(left, np.uint64).astype(dtype))
            np.testing.assert_array_equal(stator.bitwise_right_shift(on, by).to_numpy(), np.array(right, dtype))
            np.testing.assert_array_equal((on >> amount).to_numpy(), np.array(right, dtype))


def test_division_by_zero_warns_once_and_work_goes_on(be):
    x = be.asarray(np.arange(-6, 6, dtype=np.int32).reshape(3, 4))
    before = [(r["kind"], r["bytes"]) for r in be.resources()]
    for call in (
        lambda: x // 0,
        lambda: x % (x * 0),
        lambda: stator.fmod(x[::2, ::-1], stator.broadcast_to(be.zeros((), dtype="int32"), (2, 4))),
        lambda: stator.floor_divide(7, x[:, :1] * 0),
    ):
        got = call()
        with pytest.warns(RuntimeWarning, match="division by zero") as seen:
            values = got.to_numpy()
        assert len(seen) == 1
        np.testing.assert_array_equal(values, np.zeros_like(values))
        np.testing.assert_array_equal(stator.add(x, 1).to_numpy(), np.arange(-5, 7).reshape(3, 4))
        del got
    assert [(r["kind"], r["bytes"]) for r in be.resources()] == before
    np.testing.assert_array_equal((be.asarray([1.0, 0.0]) / 0).to_numpy(), [np.inf, np.nan])  # floats: no fault


def test_numpy_operands_are_told_about_asarray(be):
    with pytest.raises(TypeError, match="asarray"):
        stator.add(be.zeros((2,)), np.zeros(2))


def test_arrays_of_two_backends_do_not_mix(be):
    with stator.Backend(be.device) as other, pytest.raises(E.BackendMismatchError, match="add"):
        stator.add(be.zeros((2,)), other.zeros((2,)))
    assert issubclass(E.BackendMismatchError, ValueError)


def test_an_op_that_changes_nothing_names_itself(be):
    for op in (stator.clip, stator.nan_to_num):
        with pytest.raises(E.DTypeError) as caught:
            op(be.zeros((2,), dtype="bool"))
        assert caught.value.op == op.__name__


def test_errors_name_the_function_that_was_called(be):
    x, bools = be.zeros((2,)), be.zeros((2,), dtype="bool")
    for name, call in {
        "clip": lambda: stator.clip(x, "a", None),
        "ones": lambda: stator.ones("a", device=be),
        "ones_like": lambda: stator.ones_like(x, dtype="a"),
        "full_like": lambda: stator.full_like(x, 1j),
        "sparse.coo_from_dense": lambda: stator.sparse.coo_from_dense(x),
        "sparse.csc_from_dense": lambda: stator.sparse.csc_from_dense(bools),
        "sparse.CSC": lambda: stator.sparse.CSC(x, bools, bools, (2, 2)),
        "exp": lambda: stator.exp(x, out=1),
        "zeros": lambda: stator.zeros(2, device="somewhere"),
        "Array.__float__": lambda: float(x),
    }.items():
        with pytest.raises(E.StatorError) as caught:
            call()
        assert caught.value.op == name


def test_errors_are_sentences_that_show_what_was_given(be):
    x = be.zeros((6,))
    for text, call in {
        "reshape: Shape (-1, -1) has more than one -1. Pass": lambda: x.reshape(-1, -1),
        "reshape: Shape (-1, -2) has a negative extent. Extents must": lambda: x.reshape(-1, -2),
        "reshape: The -1 of shape (4, -1) cannot be inferred: ": lambda: x.reshape(4, -1),
        "sort: Got axis=1.5 of type float. Pass an integer.": lambda: stator.sort(x, axis=1.5),
        "sum: Got keepdims=Array(6,) of type Array. Pass True or False.": lambda: stator.sum(x, keepdims=x),
        "addmm: Got alpha='a' of type str. Pass a number.": lambda: stator.addmm(x, x, x, alpha="a"),
        "nn.softmax: Got dtype=int32, which is not floating. ": lambda: stator.nn.softmax(x, dtype="int32"),
        "Array.__float__: An array of shape (6,) is not a number. Reduce": lambda: float(x),
    }.items():
        with pytest.raises(E.StatorError) as caught:
            call()
        assert str(caught.value).startswith(text)


def test_time_between_events_needs_both_to_have_happened(cpu):
    first = cpu.stream(0).record()
    x = cpu.zeros((700, 700))
    with cpu.stream(1):
        x = stator.matmul(x, x)
    second = cpu.stream(1).record()
    with pytest.raises(E.InvalidValueError, match="not happened") as caught:
        second.milliseconds_since(first)
    assert caught.value.op == "Event.milliseconds_since"
    cpu.synchronize()
    assert second.milliseconds_since(first) > 0


def test_arrays_of_a_closed_backend_say_so(be):
    other = stator.Backend(be.device)
    x = other.zeros((3,))
    stream, event = other.stream(1), other.stream(1).record()
    other.close()
    for call in (
        lambda: x + 1,
        lambda: x.to_numpy(),
        lambda: x.data_ptr,
        lambda: other.zeros((1,)),
        lambda: other.synchronize(),
        lambda: stator.copy(x),
        lambda: other.stream(0),
        lambda: other.memory.empty_cache(),
        lambda: stream.record(),
        lambda: stream.wait(event),
        lambda: stream.done(),
        lambda: x.__dlpack__(),
    ):
        with pytest.raises(E.BackendClosedError) as caught:
            call()
        assert caught.value.op
    assert x.shape == (3,)
    assert "closed" in repr(x)
    other.close()


def test_out_of_memory_has_its_figures(be):
    with stator.Backend(be.device, memory_limit=1 << 20) as small:
        keep = small.zeros((1 << 15,))
        with pytest.raises(E.OutOfMemoryError) as caught:
            small.zeros((1 << 17,))
        e = caught.value
        assert isinstance(e, MemoryError)
        assert e.requested >= 1 << 20
        assert e.limit == 1 << 20
        assert e.largest_owner
        del keep, e, caught
        gc.collect()
        assert small.zeros((1 << 16,)).shape == (1 << 16,)


def test_cuda_without_a_gpu_names_cause_and_remedy():
    if stator.is_available("cuda"):
        pytest.skip("a GPU is usable here")
    with pytest.raises(E.DeviceUnavailableError) as caught:
        stator.Backend("cuda")
    assert caught.value.remedy
    assert str(caught.value)


def test_errors_pickle(be):
    for call in (
        lambda: stator.add(be.zeros((2,)), be.zeros((3,))),
        lambda: stator.sum(be.zeros((2,)), axis=5),
        lambda: be.zeros((1 << 50,)),
    ):
        with pytest.raises(E.StatorError) as caught:
            call()
        again = pickle.loads(pickle.dumps(caught.value))
        assert type(again) is type(caught.value)
        assert (again.op, again.remedy, str(again)) == (caught.value.op, caught.value.remedy, str(caught.value))


def test_the_hierarchy_is_api():
    for child, parents in {
        E.ShapeError: (E.StatorError, ValueError),
        E.AxisError: (E.ShapeError, IndexError),
        E.DTypeError: (E.StatorError, TypeError),
        E.UnsupportedError: (E.StatorError, NotImplementedError),
        E.OutOfMemoryError: (E.StatorError, MemoryError),
        E.CudaError: (E.StatorError,),
        E.DeviceUnavailableError: (E.StatorError,),
        E.BackendClosedError: (E.StatorError,),
        E.CaptureError: (E.StatorError,),
        E.CompileError: (E.StatorError,),
        E.LibraryNotFoundError: (E.StatorError,),
    }.items():
        assert all(issubclass(child, p) for p in parents)
