"""stator.typing: its names can be evaluated, and cost nothing where they are not used."""

import array
import subprocess
import sys
from typing import get_args, get_type_hints

import numpy as np
import pytest

import stator
from stator import typing


def test_stator_is_imported_without_its_types():
    code = "import sys, stator; print([n for n in ('stator.typing', 'stator._typing') if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=100)
    assert done.stdout.strip() == "[]"


def test_annotations_are_evaluated():
    def function(x: typing.ArrayLike, dtype: typing.DTypeLike, device: typing.DeviceLike) -> typing.StreamLike: ...

    hints = get_type_hints(function)
    assert stator.Array in get_args(hints["x"]) and complex in get_args(hints["x"])
    assert set(get_args(hints["dtype"])) >= {stator.DType, str}
    assert set(get_args(hints["device"])) == {stator.Backend.__base__, stator.Device, str, type(None)}
    assert hints["return"] is typing.StreamLike


@pytest.mark.parametrize(
    "value", [np.ones(1), np.float64(1), [np.ones(())], (1.0,), array.array("d", [1.0]), memoryview(b"\1")]
)
def test_asarray_takes_what_array_like_is(be, value):
    assert be.asarray(value).reshape(-1).tolist() == [1.0]


def test_asarray_refuses_what_array_like_is_not(be):
    for value in (None, {1}, {"a": 1}, object(), iter([1]), "a"):
        with pytest.raises(stator.errors.DTypeError):
            be.asarray(value)
