"""Calls of ops that make, move and index elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import stator
from stator._verify.compare import Answer
from stator._verify.given import Given
from stator._verify.operations import AXIS, DENSE, EVERY, FILLED, ONCE, Operation, register

Function = Callable[..., Any]


def extents(given: Given) -> dict[str, Any]:
    """The keyword arguments of functions that make an array."""
    return {"dtype": given.dtype, "device": given.be}


def count(given: Given) -> int:
    """A number of elements: none, many, or a few."""
    return given.rows * given.columns


def written(given: Given, key: Any, value: Any) -> stator.Array:
    """A dense array after an assignment to a part of it."""
    x = given.dense(given.draw(given.shape))
    x[key] = value
    return x


def view(f: Function, given: Given) -> Any:
    x = given.array() if given.layout != "broadcast" else given.dense(given.draw(given.shape))
    itemsize = stator.dtype(given.dtype).itemsize
    kind = {1: "uint8", 2: "uint16", 4: "uint32", 8: "uint64"}.get(itemsize, given.dtype)
    return f(x, kind) if not given.floating else f(x, given.dtype)


def as_strided(f: Function, given: Given) -> Any:
    x = given.on(given.draw((200,)))
    return f(stator.copy(x), (9, 4), (7, 3), 5)


def asarray(f: Function, given: Given) -> Any:
    made = [f([1, 0, 1], **extents(given)), f(1, **extents(given))]
    return [*made, given.array()]


def data_ptr(_: Function, given: Given) -> Any:
    """That the address is that of an element; it is different on each device."""
    x = given.array()
    return [x.data_ptr % x.itemsize == 0, x.size == 0 or x.data_ptr != 0]


def synchronize(_: Function, given: Given) -> Any:
    x = stator.copy(given.array())
    given.be.synchronize()
    return [x, given.be.stream(0).done()]


def index_get(f: Function, given: Given) -> Any:
    x = given.array()
    rows, columns = given.index(given.rows, (7,)), given.index(given.columns, (7,))
    return [f(x, rows), f(x, (slice(None), columns)), f(x, (rows, columns)), f(x, given.mask())]


def index_put(_: Function, given: Given) -> Any:
    """At different indices, since of equal ones any value may stay."""
    rows, columns = given.places(given.rows, 7), given.places(given.columns, 7)
    return [
        written(given, rows, given.array(shape=(7, given.columns))),
        written(given, (slice(None), columns), given.one),
        written(given, given.mask(), given.one),
    ]


def along(given: Given) -> stator.Array:
    """Different indices along the last axis."""
    return given.on(np.argsort(given.rng.random(given.shape), axis=1), "int64")


def put_along_axis(f: Function, given: Given) -> Any:
    x = given.dense(given.draw(given.shape))
    f(x, along(given), given.array(), axis=1)
    return x


def scatter_add(f: Function, given: Given) -> Any:
    """Of positive numbers, whose sums do not cancel."""
    x = given.dense(given.draw(given.shape, (0.5, 2)))
    index = given.on(given.rng.integers(0, given.columns, given.shape), "int64")
    return f(x, 1, index, given.array((0.5, 2)))


def index_add(f: Function, given: Given) -> Any:
    x = given.dense(given.draw(given.shape, (0.5, 2)))
    index = given.on(given.rng.integers(0, given.rows, (40,)), "int64")
    return f(x, 0, index, given.array((0.5, 2), (40, given.columns)))


def segments(f: Function, given: Given) -> Any:
    index = given.on(given.rng.integers(0, 9, (given.rows,)), "int64")
    bound = 1.0 if given.cell.dtype in ("float16", "bfloat16") else 4 + 2 * (given.rows / 9) ** 0.5
    grows = given.cell.op in ("segment_sum", "segment_mean")
    result = f(given.array((0.5, 2)), index, 10 if grows else 9)
    return Answer(result, bound=bound) if grows and given.floating else result


def add(into: dict[str, Operation]) -> None:
    register(into, EVERY, {"copy": lambda f, g: f(g.array()), "to_numpy": lambda f, g: g.array()})
    register(
        into,
        EVERY,
        {
            "astype": lambda f, g: [f(g.array(), kind) for kind in ("float32", "complex128", "bool")],
            "asarray": asarray,
            "frexp": lambda f, g: tuple(f(g.array(special=True))),
            "itemsize": lambda f, g: g.array().itemsize,
            "data_ptr": data_ptr,
            "synchronize": synchronize,
            "expand_dims": lambda f, g: f(g.array(), axis=0),
            "ravel": lambda f, g: f(g.array()),
            "flip": lambda f, g: f(g.array()),
            "broadcast_to": lambda f, g: f(g.array(), (2, *g.shape)),
            "nonzero": lambda f, g: f(stator.reshape(g.array(), (-1,))),
            "masked_fill": lambda f, g: f(g.array(), g.mask(), g.one),
        },
        wide=False,
    )
    register(
        into,
        AXIS,
        {
            "triu tril": lambda f, g: [f(g.array(), k=k) for k in (-2, 0, 3)],
            "diag": lambda f, g: [f(g.array(), 1), f(g.vector()[:40], -2)],
            "permute_dims": lambda f, g: stator.copy(f(g.array(), (1, 0))),
            "reshape": lambda f, g: f(g.array(), (g.columns, g.rows)),
            "broadcast_arrays": lambda f, g: f(g.array(), g.vector_of(g.columns)),
            "meshgrid": lambda f, g: f(g.vector()[:9], g.vector()[:5]),
            "squeeze": lambda f, g: f(g.array()[:, :1], axis=1),
            "moveaxis": lambda f, g: f(g.array(), 0, 1),
            "matrix_transpose": lambda f, g: stator.copy(f(g.array())),
            "unstack": lambda f, g: f(g.array()[:, :3], axis=1),
            "as_strided": as_strided,
            "view": view,
            "split": lambda f, g: f(g.array(), 5, axis=1),
            "rot90": lambda f, g: stator.copy(f(g.array())),
            "diagonal": lambda f, g: f(g.array()),
            "getitem": lambda f, g: [f(g.array(), (slice(None), slice(None, None, -2))), f(g.array(), (..., 3))],
            "concat": lambda f, g: [f([g.array(), g.array()]), f([g.array(), g.array()], axis=1)],
            "stack": lambda f, g: f([g.array(), g.array()], axis=1),
            "roll": lambda f, g: f(g.array(), 5, axis=1),
            "tile": lambda f, g: f(g.array(), (2, 1)),
            "repeat": lambda f, g: f(g.array(), 2, axis=1),
            "pad": lambda f, g: f(g.array(), 2),
            "take": lambda f, g: f(g.array(), g.index(g.columns, (7,)), axis=1),
            "take_along_axis": lambda f, g: f(g.array(), along(g), axis=1),
            "masked_select masked_fill_backward": lambda f, g: f(g.array(), g.mask()),
            "masked_scatter": lambda f, g: f(g.array(), g.mask(), g.array()),
            "masked_select_backward": lambda f, g: f(g.array(shape=(count(g),)), g.mask()),
            "masked_scatter_backward": lambda f, g: f(g.array(), g.mask(), g.shape),
            "compress": lambda f, g: f(g.mask((g.columns,)), g.array(), axis=1),
            "setitem": lambda f, g: written(g, (slice(None), slice(None, None, 2)), g.array()[:, ::2]),
            "put_along_axis": put_along_axis,
            "scatter": lambda f, g: f(g.array(), 1, along(g), g.array()),
        },
        wide=False,
    )
    register(into, AXIS, {"scatter_add": scatter_add})
    register(into, FILLED, {"index_get": index_get, "index_put": index_put}, wide=False)
    register(into, FILLED, {"index_add": index_add})
    register(into, AXIS, {"segment_sum segment_mean segment_min segment_max": segments})
    register(
        into,
        DENSE,
        {
            "empty": lambda f, g: [(x := f((count(g),), **extents(g))).shape, x.itemsize],  # of any contents
            "zeros": lambda f, g: f((count(g),), **extents(g)),
            "full": lambda f, g: f((count(g),), 1, **extents(g)),
            "arange": lambda f, g: f(min(count(g), 100), **extents(g)),
            "tri": lambda f, g: f(g.rows, g.columns, **extents(g)),
            "eye": lambda f, g: f(g.rows, g.columns, **extents(g)),
            "linspace": lambda f, g: f(0, 9, count(g), **extents(g)),
        },
        wide=False,
    )
    register(
        into,
        ONCE,
        {
            "stream_count": lambda f, g: g.be.stream_count > 0,
            "native": lambda f, g: type(g.be.native).__name__,
        },
        wide=False,
    )
