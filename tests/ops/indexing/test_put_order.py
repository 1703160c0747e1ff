"""Several values set at one element: the last stays, on cpu and on every target of a deterministic backend."""

import os
from unittest import mock

import numpy as np
import pytest

import stator


@pytest.fixture(scope="module", params=["fast", "checked"])
def det(request, device):
    mode = request.param
    if mode == "checked" and device != "cpu":
        pytest.skip("a target of the cpu")
    with mock.patch.dict(os.environ, STATOR_HOST_MODE=mode):
        backend = stator.Backend(device, deterministic=True)
    assert device != "cpu" or (mode == "checked") == (backend.kernels == "host_checked")
    with backend:
        yield backend


RNG = np.random.default_rng(0)
ROWS, COLUMNS = RNG.integers(-7, 7, 500), RNG.integers(0, 5, 500)
MASK = RNG.random(7) < 0.6
WHOLE = slice(None)


def same(x):
    return x


# Shape, the view that is written, the index, the values' shape.
CASES = {
    "one axis": ((7, 5), same, ROWS, (500, 5)),
    "another axis": ((7, 5), same, (WHOLE, COLUMNS), (7, 500)),
    "two axes": ((7, 5), same, (ROWS, COLUMNS), (500,)),
    "a mask and an integer": ((7, 5), same, (MASK, 3), (int(MASK.sum()),)),
    "a view": ((9, 14), lambda x: x[1:8, ::-2], ROWS, (500, 7)),
    "a transpose": ((5, 7), lambda x: x.T, ROWS, (500, 5)),
    "values that repeat": ((7, 5), same, (ROWS, COLUMNS), (1,)),
    "large": ((3, 4000), same, ROWS % 3, (500, 4000)),
}


def on(be, key):
    if isinstance(key, tuple):
        return tuple(on(be, k) for k in key)
    return be.asarray(key) if isinstance(key, np.ndarray) else key


def check(be, case, dtype):
    shape, view, key, values_shape = CASES[case]
    values = np.arange(np.prod(values_shape)).reshape(values_shape).astype(dtype)
    if dtype == "complex128":
        values *= 1 + 2j
    want, got = np.zeros(shape, dtype), be.zeros(shape, dtype=dtype)
    view(want)[key] = values
    view(got)[on(be, key)] = be.asarray(values)
    np.testing.assert_array_equal(got.to_numpy(), want)


@pytest.mark.parametrize("dtype", ["int8", "float32", "complex128"])
@pytest.mark.parametrize("case", [c for c in CASES if c != "large"])
def test_the_last_value_stays(det, case, dtype):
    check(det, case, dtype)


@pytest.mark.parametrize("case", CASES)
def test_the_last_value_stays_without_being_asked_on_cpu(cpu, case):
    check(cpu, case, "float32")


def test_scatter_and_put_along_axis_keep_the_last(det):
    index = RNG.integers(0, 6, (4, 300))
    values = np.arange(1200.0).reshape(4, 300)
    want = np.zeros((4, 6))
    np.put_along_axis(want, index, values, 1)
    got = stator.scatter(det.zeros((4, 6)), 1, det.asarray(index), det.asarray(values))
    np.testing.assert_array_equal(got.to_numpy(), want)
    target = det.zeros((4, 6))
    stator.put_along_axis(target, det.asarray(index), det.asarray(values), axis=1)
    np.testing.assert_array_equal(target.to_numpy(), want)


def test_scatter_takes_the_choice_per_call(be):
    index, values = RNG.integers(0, 3, 5000), np.arange(5000.0)
    want = np.zeros(3)
    want[index] = values
    got = stator.scatter(be.zeros((3,)), 0, be.asarray(index), be.asarray(values), deterministic=True)
    np.testing.assert_array_equal(got.to_numpy(), want)


def test_order_costs_launches_only_where_values_can_meet(det):
    x, index = det.zeros((7, 5)), det.asarray(ROWS)
    ordered = 1 if det.kernels.startswith("host_v") else 3

    def launches(key, value):
        before = det.statistics()["kernel_launches"]
        x[key] = value
        return det.statistics()["kernel_launches"] - before

    assert launches(index, det.ones((500, 5))) == ordered
    assert launches(index, 2.0) == 1
    assert launches(det.asarray(MASK), 3.0) == 1


def test_an_index_outside_is_reported_once_and_dropped(det):
    x, index = det.zeros((4,)), det.asarray([1, 9, 1])
    x[index] = det.asarray([5.0, 6.0, 7.0])
    with pytest.raises(IndexError, match="9"):
        det.synchronize()
    det.synchronize()
    assert x.to_numpy().tolist() == [0, 7, 0, 0]
