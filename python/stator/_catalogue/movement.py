"""Views, and arrays of elements in other positions."""

from __future__ import annotations

from typing import Any

import stator
from stator._catalogue.entry import AXIS, EVERY, Function, Given, entries


def view(f: Function, given: Given) -> Any:
    x = given.array() if given.layout != "broadcast" else given.dense(given.draw(given.shape))
    itemsize = stator.dtype(given.dtype).itemsize
    kind = {1: "uint8", 2: "uint16", 4: "uint32", 8: "uint64"}.get(itemsize, given.dtype)
    return f(x, kind) if not given.floating else f(x, given.dtype)


def as_strided(f: Function, given: Given) -> Any:
    x = given.on(given.draw((200,)))
    return f(stator.copy(x), (9, 4), (7, 3), 5)


ENTRIES = {
    **entries(
        EVERY,
        {
            "expand_dims": lambda f, g: f(g.array(), axis=0),
            "flip": lambda f, g: f(g.array()),
            "broadcast_to": lambda f, g: f(g.array(), (2, *g.shape)),
        },
        wide=False,
    ),
    **entries(EVERY, {"ravel": lambda f, g: f(g.array())}, wide=False, copies=True),
    **entries(AXIS, {"reshape": lambda f, g: f(g.array(), (g.columns, g.rows))}, wide=False, copies=True),
    **entries(
        AXIS,
        {
            "permute_dims": lambda f, g: stator.copy(f(g.array(), (1, 0))),
            "broadcast_arrays": lambda f, g: f(g.array(), g.vector_of(g.columns)),
            "meshgrid": lambda f, g: f(g.vector()[:9], g.vector()[:5]),
            "squeeze": lambda f, g: f(g.array()[:, :1], axis=1),
            "moveaxis": lambda f, g: f(g.array(), 0, 1),
            "matrix_transpose rot90": lambda f, g: stator.copy(f(g.array())),
            "unstack": lambda f, g: f(g.array()[:, :3], axis=1),
            "as_strided": as_strided,
            "view": view,
            "split": lambda f, g: f(g.array(), 5, axis=1),
            "diagonal": lambda f, g: f(g.array()),
            "concat": lambda f, g: [f([g.array(), g.array()]), f([g.array(), g.array()], axis=1)],
            "stack": lambda f, g: f([g.array(), g.array()], axis=1),
            "roll": lambda f, g: f(g.array(), 5, axis=1),
            "tile": lambda f, g: f(g.array(), (2, 1)),
            "repeat": lambda f, g: f(g.array(), 2, axis=1),
            "pad": lambda f, g: f(g.array(), 2),
        },
        wide=False,
    ),
}
