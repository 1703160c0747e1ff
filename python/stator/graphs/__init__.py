"""Graphs: captured calls that one call launches again. Each part is loaded on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stator._namespace import on_first_use

if TYPE_CHECKING:
    from stator.graphs._graph import Graph, GraphNode
    from stator.graphs.graphs import GraphFunction, GraphInfo

__all__ = [
    "Graph",
    "GraphFunction",
    "GraphInfo",
    "GraphNode",
]

__getattr__ = on_first_use(
    __name__,
    {
        "Graph": "_graph",
        "GraphFunction": "graphs",
        "GraphInfo": "graphs",
        "GraphNode": "_graph",
    },
)


def __dir__() -> list[str]:
    return [*__all__]
