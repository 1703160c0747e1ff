"""An error that a kernel has found names the op of the kernel, whatever call raises it."""

import numpy as np
import pytest

import stator
from stator.errors import OutOfRangeError

CALLS = {
    "Backend.ones": lambda be, x: be.ones(3),
    "Backend.full": lambda be, x: be.full((3,), 2.0),
    "Backend.zeros": lambda be, x: be.zeros(3),
    "ones": lambda be, x: stator.ones(3, device=be),
    "full_like": lambda be, x: stator.full_like(x, 2.0),
    "ones_like": lambda be, x: stator.ones_like(x),
    "full of an array": lambda be, x: be.full((3,), x[0]),
    "Array.fill": lambda be, x: x.fill(1.0),
    "Array.clip": lambda be, x: x.clip(0.0, 1.0),
    "Array.trace": lambda be, x: stator.reshape(x, (3, 1)).trace(),
    "sparse.eye": lambda be, x: stator.sparse.eye(3, device=be),
    "numpy.ones": lambda be, x: stator.numpy.ones(3),
    "add": lambda be, x: x + 1,
}


@pytest.mark.parametrize("call", CALLS)
def test_the_error_of_an_earlier_take_is_that_of_take(be, call):
    x = be.ones(3)
    stator.take(x, be.asarray(np.array([7])))
    while not be.current_stream.done():
        pass
    with pytest.raises(OutOfRangeError, match="Index 7") as seen:
        CALLS[call](be, x)
        be.synchronize()
    assert seen.value.op == "take"


def test_an_error_of_the_call_itself_has_its_name(be):
    with pytest.raises(stator.errors.DTypeError) as seen:
        be.ones(3, dtype="no dtype")
    assert seen.value.op == "ones"
