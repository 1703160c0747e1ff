"""Convolutions. Errors count in the last place of the sum of the terms' magnitudes, since terms cancel."""

from __future__ import annotations

from functools import partial
from typing import Any

import stator
from stator._catalogue.entry import FILLED, Answer, Function, Given, entries
from stator._catalogue.given import download

# Eight channels of an odd number of rows or columns, so that tiles have ends.
CHANNELS, ROWS = 8, 10


def shapes(given: Given, axes: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """x and a weight; where x is large, more samples have the elements."""
    extent = {1: (35,), 2: (5, 7), 3: (3, 4, 3)}[axes]
    samples = 40 if given.large else 2
    return (samples, CHANNELS, *extent), (ROWS, CHANNELS, *(3,) * axes)


def summed(f: Function, *operands: stator.Array, **options: Any) -> list[Answer]:
    """Results of sums of products, whose terms' magnitudes sum up to the results for magnitudes."""
    found = f(*operands, **options)
    most = f(*[stator.abs(x) for x in operands], **options)
    pairs = zip(found, most, strict=True) if isinstance(found, tuple) else [(found, most)]
    return [Answer(one, download(scale)) for one, scale in pairs]


def convolution(axes: int, transposed: bool, backward: bool, f: Function, given: Given) -> Any:
    """In one group, and in groups of one channel."""
    wide, weight = shapes(given, axes)
    narrow = (wide[0], ROWS, *wide[2:])
    x, y = (narrow, wide) if transposed else (wide, narrow)
    single = (wide[0], CHANNELS, *wide[2:])
    found = []
    for operand, by, result, groups in ((x, weight, y, 1), (single, (CHANNELS, 1, *(3,) * axes), single, CHANNELS)):
        operands = [given.array(shape=operand), given.array(shape=by)]
        if backward:
            found += summed(f, given.array(shape=result), *operands, padding=1, groups=groups)
        else:
            bias = given.dense(given.draw((result[1],)))
            found += summed(f, *operands, bias, padding=1, groups=groups)
    return found


def windows(f: Function, given: Given) -> Any:
    x = given.array(shape=(given.rows // 5 + 1, 3, 5, given.columns // 5))
    return [f(x, 3), f(x, (2, 3), stride=(1, 2), padding=1)]


def images(f: Function, given: Given) -> Any:
    x = given.array(shape=(given.rows // 5 + 1, 18, 25))
    return summed(lambda columns: f(columns, 7, 3), x)


CONVOLUTIONS = entries(
    FILLED,
    {
        f"conv{'_transpose' * transposed}{axes}d{'_backward' * backward}": partial(
            convolution, axes, transposed, backward
        )
        for transposed in (False, True)
        for axes in (1, 2, 3)
        for backward in (False, True)
    },
)
ENTRIES = CONVOLUTIONS | entries(FILLED, {"unfold": windows, "fold": images}, copies=True)
