"""What runs beside the ops: kernels of your own, and graphs. The ways in are methods of Backend."""

from stator.execution._graph import Graph, GraphNode
from stator.execution._program import Kernel, KernelAttributes, KernelParameter
from stator.execution._steps import Step
from stator.execution.cooperative import CooperativeConfig, CooperativeReport
from stator.execution.diagnostics import Diagnostics, DiagnosticsReport
from stator.execution.graphs import GraphFunction, GraphInfo
from stator.execution.programs import KernelDescriptor, ProgramCacheInfo
from stator.execution.sequences import LaunchSequence, SequenceFuture, SequenceTimes
from stator.execution.telemetry import Telemetry
from stator.execution.work_queue import WorkQueue, WorkQueueReport

__all__ = [
    "CooperativeConfig",
    "CooperativeReport",
    "Diagnostics",
    "DiagnosticsReport",
    "Graph",
    "GraphFunction",
    "GraphInfo",
    "GraphNode",
    "Kernel",
    "KernelAttributes",
    "KernelDescriptor",
    "KernelParameter",
    "LaunchSequence",
    "ProgramCacheInfo",
    "SequenceFuture",
    "SequenceTimes",
    "Step",
    "Telemetry",
    "WorkQueue",
    "WorkQueueReport",
]


def __dir__() -> list[str]:
    return [*__all__]
