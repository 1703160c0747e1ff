"""Arrays of which two elements are the same memory are read, and never written: every way to write refuses them."""

import numpy as np
import pytest

import stator
from stator import errors

nn = stator.nn
snp = stator.numpy


def repeated(be):
    return stator.broadcast_to(be.ones(3), (4, 3))


def add_to(x):
    x += 1


def put(x, key, value):
    x[key] = value


WRITES = {
    "out of one operand": lambda be, x: stator.exp(be.ones((4, 3)), out=x),
    "out of two operands": lambda be, x: stator.add(be.ones((4, 3)), x, out=x),
    "out of a reduction": lambda be, x: stator.sum(be.ones((2, 4, 3)), axis=0, out=x),
    "out of a product": lambda be, x: stator.matmul(be.ones((4, 2)), be.ones((2, 3)), out=x),
    "out of a scan": lambda be, x: stator.cumulative_sum(be.ones((4, 3)), axis=0, out=x),
    "out of relu": lambda be, x: nn.relu(be.ones((4, 3)), out=x),
    "out of take": lambda be, x: stator.take(be.ones((4, 3)), be.asarray([3, 2, 1, 0]), axis=0, out=x),
    "out of concat": lambda be, x: stator.concat([be.ones((2, 3)), be.ones((2, 3))], out=x),
    "in place": lambda be, x: add_to(x),
    "a number": lambda be, x: put(x, ..., 0),
    "an array": lambda be, x: put(x, ..., be.ones((4, 3))),
    "a slice": lambda be, x: put(x, slice(1, 3), 0),
    "array indices": lambda be, x: put(x, be.asarray([0, 2]), 0.0),
    "a mask": lambda be, x: put(x, be.ones((4, 3), dtype="bool"), 0.0),
    "along an axis": lambda be, x: stator.put_along_axis(x, be.zeros((1, 3), dtype="int64"), 0.0, axis=0),
    "copyto": lambda be, x: snp.copyto(x, be.ones((4, 3))),
    "fill": lambda be, x: snp.asarray(x).fill(0),
    "statistics": lambda be, x: nn.update_running_stats(x[:, 0], be.ones(4), be.ones(4), be.ones(4), count=2),
}


@pytest.mark.parametrize("way", WRITES)
def test_elements_that_repeat_are_not_written(be, way):
    x = repeated(be)
    with pytest.raises(errors.InvalidValueError, match=r"same memory.*shape \(\d.*, strides \(0") as caught:
        WRITES[way](be, x)
    assert "Copy" in caught.value.remedy
    np.testing.assert_array_equal(x.to_numpy(), 1)


@pytest.mark.parametrize("place", [0, 2, 3], ids=["param", "first moment", "second moment"])
def test_steps_refuse_repeated_elements(be, place):
    lists = [[be.ones((4, 3))] for _ in range(4)]
    lists[place] = [repeated(be)]
    with pytest.raises(errors.InvalidValueError, match=r"Tensor 0: .* same memory"):
        nn.adam_step(*lists, step=1)
    assert all((x.to_numpy() == 1).all() for one in lists for x in one)


def test_a_gradient_may_repeat_elements(be):
    param = be.ones((4, 3))
    nn.sgd_step([param], [repeated(be)], lr=0.5)
    np.testing.assert_array_equal(param.to_numpy(), 0.5)


STRIDES = {
    "windows": ((4, 3), (1, 1), True),
    "windows of two steps": ((4, 3), (2, 1), True),
    "rows": ((4, 3), (3, 1), False),
    "turned": ((3, 4), (1, 3), False),
    "interleaved": ((2, 3), (3, 2), False),
    "meeting far away": ((3, 4), (6, 4), True),
    "backwards": ((2, 3), (-3, 1), False),
}


@pytest.mark.parametrize("case", STRIDES)
def test_views_whose_elements_meet_are_refused_and_others_written(cpu, case):
    shape, steps, meets = STRIDES[case]
    memory = np.zeros(40)
    host = np.lib.stride_tricks.as_strided(memory[20:], shape, [8 * s for s in steps])
    x = cpu.asarray(host, copy=False)
    if meets:
        with pytest.raises(errors.InvalidValueError, match="same memory"):
            x[...] = 1
    else:
        x[...] = 1
    cpu.synchronize()
    assert memory.sum() == (0 if meets else host.size)
