"""Bad input: the typed error with op and remedy, nothing leaked, and the next correct call works."""

import gc
import pickle

import numpy as np
import pytest

import stator
from stator import errors

HUGE = 2**62


def bad_calls(be):
    x, y = be.zeros((2, 3)), be.zeros((4, 5))
    i = be.zeros((2, 3), dtype="int32")
    z = be.zeros((2, 3), dtype="complex64")
    E = errors
    return {
        "shapes that do not broadcast": (lambda: stator.add(x, y), E.ShapeError),
        "shapes that do not broadcast in place": (lambda: x.__iadd__(be.zeros((5, 2, 3))), E.ShapeError),
        "out of the wrong shape": (lambda: stator.add(x, x, out=y), E.ShapeError),
        "out of a lower kind": (lambda: stator.add(x, x, out=i), E.DTypeError),
        "out that partly overlaps an input": (lambda: stator.add(x[0, :2], x[0, :2], out=x[0, 1:]), ValueError),
        "in place with a higher kind": (lambda: i.__iadd__(x), E.DTypeError),
        "dtype outside the row": (lambda: stator.less(z, z), E.DTypeError),
        "softmax of integers": (lambda: stator.nn.softmax(i), E.DTypeError),
        "unknown dtype": (lambda: be.zeros((2,), dtype="float7"), TypeError),
        "object dtype": (lambda: be.asarray(np.array([object()])), TypeError),
        "strings": (lambda: be.asarray(["a", "b"]), TypeError),
        "ragged lists": (lambda: be.asarray([[1, 2], [3]]), ValueError),
        "numpy operand": (lambda: stator.add(x, np.zeros((2, 3))), TypeError),
        "no number": (lambda: stator.add(x, "1"), TypeError),
        "None": (lambda: stator.exp(None), TypeError),
        "two scalars": (lambda: stator.add(1, 2), TypeError),
        "axis out of range": (lambda: stator.sum(x, axis=2), E.AxisError),
        "axis repeated": (lambda: stator.sum(x, axis=(0, -2)), ValueError),
        "axis of the wrong type": (lambda: stator.sum(x, axis=1.5), TypeError),
        "softmax axis": (lambda: stator.nn.softmax(x, axis=-3), E.AxisError),
        "permutation repeated": (lambda: stator.permute_dims(x, (0, 0)), ValueError),
        "permutation too short": (lambda: stator.permute_dims(x, (0,)), ValueError),
        "reshape to another size": (lambda: stator.reshape(x, (4, 2)), E.ShapeError),
        "reshape with two unknowns": (lambda: stator.reshape(x, (-1, -1)), ValueError),
        "too many indices": (lambda: x[0, 0, 0], IndexError),
        "index out of range": (lambda: x[2], IndexError),
        "slice step zero": (lambda: x[::0], ValueError),
        "index of the wrong type": (lambda: x[1.5], (TypeError, IndexError)),
        "boolean mask": (lambda: x[x < 1], E.UnsupportedError),
        "two ellipses": (lambda: x[..., ...], IndexError),
        "negative size": (lambda: be.zeros((-1,)), ValueError),
        "huge size": (lambda: be.zeros((HUGE, 8)), (E.ShapeError, E.OutOfMemoryError)),
        "more memory than there is": (lambda: be.zeros((1 << 50,)), E.OutOfMemoryError),
        "too many dimensions": (lambda: be.zeros((1,) * 33), E.ShapeError),
        "arange without end": (lambda: be.arange(0, 1, 0), ValueError),
        "value that does not fit": (
            lambda: stator.add(be.zeros((2,), dtype="uint8"), 300),
            (ValueError, OverflowError),
        ),
        "take with a float index": (lambda: stator.take(x, x, axis=0), E.DTypeError),
        "cross entropy shapes": (lambda: stator.nn.cross_entropy(x, i), E.ShapeError),
        "cross entropy reduction": (
            lambda: stator.nn.cross_entropy(x, be.zeros((2,), dtype="int64"), reduction="max"),
            ValueError,
        ),
        "adam lists of two lengths": (lambda: stator.nn.adam_step([x], [], [x], [x], step=1), ValueError),
        "adam step zero": (lambda: stator.nn.adam_step([x], [x], [x], [x], step=0), ValueError),
        "matmul shapes": (lambda: stator.matmul(x, x), E.ShapeError),
        "device name": (lambda: stator.Backend("tpu"), ValueError),
        "device index": (lambda: stator.Backend("cpu:7"), (errors.DeviceUnavailableError, ValueError)),
        "check_indices": (lambda: stator.Backend("cpu", check_indices="often"), ValueError),
        "stream index": (lambda: be.stream(99), (ValueError, IndexError)),
        "length of a scalar": (lambda: len(be.zeros(())), TypeError),
        "truth of many": (lambda: bool(x), (TypeError, ValueError)),
    }


NAMES = [
    "shapes that do not broadcast",
    "shapes that do not broadcast in place",
    "out of the wrong shape",
    "out of a lower kind",
    "out that partly overlaps an input",
    "in place with a higher kind",
    "dtype outside the row",
    "softmax of integers",
    "unknown dtype",
    "object dtype",
    "strings",
    "ragged lists",
    "numpy operand",
    "no number",
    "None",
    "two scalars",
    "axis out of range",
    "axis repeated",
    "axis of the wrong type",
    "softmax axis",
    "permutation repeated",
    "permutation too short",
    "reshape to another size",
    "reshape with two unknowns",
    "too many indices",
    "index out of range",
    "slice step zero",
    "index of the wrong type",
    "boolean mask",
    "two ellipses",
    "negative size",
    "huge size",
    "more memory than there is",
    "too many dimensions",
    "arange without end",
    "value that does not fit",
    "take with a float index",
    "cross entropy shapes",
    "cross entropy reduction",
    "adam lists of two lengths",
    "adam step zero",
    "matmul shapes",
    "device name",
    "device index",
    "check_indices",
    "stream index",
    "length of a scalar",
    "truth of many",
]


@pytest.mark.parametrize("name", NAMES)
def test_bad_input_has_its_type_and_leaves_nothing(be, name):
    calls = bad_calls(be)
    assert set(calls) == set(NAMES)
    call, kind = calls[name]
    gc.collect()
    before = [(r["kind"], r["bytes"]) for r in be.resources()]
    with pytest.raises(kind) as caught:
        call()
    if isinstance(caught.value, errors.StatorError):
        assert caught.value.op
        assert caught.value.remedy
    del caught
    gc.collect()
    assert [(r["kind"], r["bytes"]) for r in be.resources()] == before
    np.testing.assert_array_equal(stator.add(be.asarray([1.0]), 1).to_numpy(), [2.0])


def test_numpy_operands_are_told_about_asarray(be):
    with pytest.raises(TypeError, match="asarray"):
        stator.add(be.zeros((2,)), np.zeros(2))


def test_arrays_of_two_backends_do_not_mix(be):
    with stator.Backend(be.device) as other, pytest.raises(errors.BackendMismatchError, match="add"):
        stator.add(be.zeros((2,)), other.zeros((2,)))
    assert issubclass(errors.BackendMismatchError, ValueError)


def test_arrays_of_a_closed_backend_say_so(be):
    other = stator.Backend(be.device)
    x = other.zeros((3,))
    other.close()
    for call in (
        lambda: x + 1,
        lambda: x.to_numpy(),
        lambda: x.data_ptr,
        lambda: other.zeros((1,)),
        lambda: other.synchronize(),
        lambda: stator.copy(x),
    ):
        with pytest.raises(errors.BackendClosedError):
            call()
    assert x.shape == (3,)
    assert "closed" in repr(x)
    other.close()


def test_out_of_memory_has_its_figures(be):
    with stator.Backend(be.device, memory_limit=1 << 20) as small:
        keep = small.zeros((1 << 15,))
        with pytest.raises(errors.OutOfMemoryError) as caught:
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
    with pytest.raises(errors.DeviceUnavailableError) as caught:
        stator.Backend("cuda")
    assert caught.value.remedy
    assert str(caught.value)


def test_errors_pickle(be):
    for call in (
        lambda: stator.add(be.zeros((2,)), be.zeros((3,))),
        lambda: stator.sum(be.zeros((2,)), axis=5),
        lambda: be.zeros((1 << 50,)),
    ):
        with pytest.raises(errors.StatorError) as caught:
            call()
        again = pickle.loads(pickle.dumps(caught.value))
        assert type(again) is type(caught.value)
        assert (again.op, again.remedy, str(again)) == (caught.value.op, caught.value.remedy, str(caught.value))


def test_the_hierarchy_is_api():
    for child, parents in {
        errors.ShapeError: (errors.StatorError, ValueError),
        errors.AxisError: (errors.ShapeError, IndexError),
        errors.DTypeError: (errors.StatorError, TypeError),
        errors.UnsupportedError: (errors.StatorError, NotImplementedError),
        errors.OutOfMemoryError: (errors.StatorError, MemoryError),
        errors.CudaError: (errors.StatorError,),
        errors.DeviceUnavailableError: (errors.StatorError,),
        errors.BackendClosedError: (errors.StatorError,),
        errors.CaptureError: (errors.StatorError,),
        errors.CompileError: (errors.StatorError,),
        errors.LibraryNotFoundError: (errors.StatorError,),
    }.items():
        assert all(issubclass(child, p) for p in parents)
