"""Properties of arrays and backends."""

from __future__ import annotations

from typing import Any

import stator
from stator._catalogue.entry import EVERY, ONCE, Function, Given, entries


def data_ptr(f: Function, given: Given) -> Any:
    """That the address is that of an element; it is different on each device."""
    x = given.array()
    address = f(x)
    return [address % x.itemsize == 0, x.size == 0 or address != 0]


def synchronize(f: Function, given: Given) -> Any:
    x = stator.copy(given.array())
    f(given.be)
    return [x, given.be.stream(0).done()]


ENTRIES = {
    **entries(
        EVERY,
        {"itemsize": lambda f, g: f(g.array()), "data_ptr": data_ptr, "synchronize": synchronize},
        wide=False,
    ),
    **entries(
        ONCE,
        {"stream_count": lambda f, g: f(g.be.streams) > 0, "native": lambda f, g: type(f(g.be)).__name__},
        wide=False,
    ),
}
