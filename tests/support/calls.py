"""The first call of each op's entry in the catalogue, with its operands: what launches as the op table states."""

import inspect
from functools import partial

from stator._catalogue import entries
from stator._catalogue.entry import first_call
from stator._catalogue.given import Cell, Given, table

DTYPES = ("float32", "int32", "complex64", "bool")
# The dtype for which the op table counts the launches, where it is not the first of these that the op takes.
TRANSFORMS = [f"{form}fft{axes}" for form in ("", "i", "ir") for axes in ("", "2", "n")]
COUNTED = {"nonzero": "bool", "hfft": "complex64", **dict.fromkeys(TRANSFORMS, "complex64")}


def call(be, name, layout="contiguous", dtype=None, **options):
    """A call of an op as a function without parameters. options: keyword arguments, if the op has them."""
    dtype = dtype or COUNTED.get(name) or next(d for d in DTYPES if d in table()[name]["dtypes"])
    with be.use():
        made = first_call(entries()[name], Given(be, Cell(name, dtype, layout), 0, 1024, laid=True))
    known = _parameters(made.func) & options.keys()
    return partial(made, **{key: options[key] for key in known})


def _parameters(function):
    try:
        return inspect.signature(function).parameters.keys()
    except ValueError:  # slots of classes, such as Array.__getitem__
        return set()


def both(be, name):
    """The call on contiguous operands and on transposed ones; the latter is None where it copies them first.

    Factorisations are not checked, which waits for the device.
    """
    free = not entries()[name].copies and "transposed" in entries()[name].layouts
    return call(be, name, check=False), call(be, name, "transposed", check=False) if free else None
