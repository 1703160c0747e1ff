"""The examples in the documentation of what schedules work."""

import doctest

import numpy as np

from stator import _scheduling


def test_examples_show_what_happens(be):
    result = doctest.testmod(_scheduling, extraglobs={"be": be, "numpy": np})
    assert result.failed == 0 and result.attempted >= 12
