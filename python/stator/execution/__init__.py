"""What runs beside the ops: kernels of your own, and graphs. The ways in are methods of Backend."""

from stator.execution._graph import Graph, GraphNode
from stator.execution.graphs import GraphFunction, GraphInfo

__all__ = [
    "Graph",
    "GraphFunction",
    "GraphInfo",
    "GraphNode",
]


def __dir__() -> list[str]:
    return [*__all__]
