"""stator.graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar, overload

from stator.graphs.graphs import GraphFunction

P = ParamSpec("P")
R = TypeVar("R")


@overload
def graph(
    function: Callable[P, R], /, *, max_graphs: int = 64, max_bytes: int | None = None
) -> GraphFunction[P, R]: ...
@overload
def graph(*, max_graphs: int = 64, max_bytes: int | None = None) -> Callable[[Callable[P, R]], GraphFunction[P, R]]: ...
def graph(
    function: Callable[P, R] | None = None, /, *, max_graphs: int = 64, max_bytes: int | None = None
) -> GraphFunction[P, R] | Callable[[Callable[P, R]], GraphFunction[P, R]]:
    """Captures a function once for each kind of arguments, and launches a graph from then on.

    The graph depends on dtypes, shapes, strides and alignment of the arrays among the arguments, also in tuples, lists
    and dicts, and on all other arguments, which can be hashed. The first two calls of each kind run the function to
    capture its work; what it does beside calling stator, such as printing, happens only then. Results are new arrays at
    every call. Arrays that it uses without their being arguments are read at each launch, and stay alive. Where a
    library of CUDA was given the address of an argument, each call captures again, and updates the graph. Inside a
    capture the function runs inline. max_graphs, max_bytes: what is kept; the graphs that were used longest ago are
    dropped (`f.cache_info()`).

    >>> @stator.graph
    ... def step(x):
    ...     return x * 2 + 1
    >>> step(stator.ones(3)).tolist()
    [3.0, 3.0, 3.0]
    """
    if function is None:
        return lambda given: GraphFunction(given, None, max_graphs, max_bytes)
    return GraphFunction(function, None, max_graphs, max_bytes)
