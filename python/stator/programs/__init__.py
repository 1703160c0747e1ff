"""Kernels of your own, and what schedules them. Each part is loaded on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stator._namespace import on_first_use

if TYPE_CHECKING:
    from stator.programs._program import Kernel, KernelAttributes, KernelParameter
    from stator.programs._steps import Step
    from stator.programs.cooperative import CooperativeConfig, CooperativeReport
    from stator.programs.diagnostics import Diagnostics, DiagnosticsReport
    from stator.programs.programs import KernelDescriptor, ProgramCacheInfo
    from stator.programs.sequences import LaunchSequence, SequenceFuture, SequenceTimes
    from stator.programs.work_queue import WorkQueue, WorkQueueReport

__all__ = [
    "CooperativeConfig",
    "CooperativeReport",
    "Diagnostics",
    "DiagnosticsReport",
    "Kernel",
    "KernelAttributes",
    "KernelDescriptor",
    "KernelParameter",
    "LaunchSequence",
    "ProgramCacheInfo",
    "SequenceFuture",
    "SequenceTimes",
    "Step",
    "WorkQueue",
    "WorkQueueReport",
]

__getattr__ = on_first_use(
    __name__,
    {
        "CooperativeConfig": "cooperative",
        "CooperativeReport": "cooperative",
        "Diagnostics": "diagnostics",
        "DiagnosticsReport": "diagnostics",
        "Kernel": "_program",
        "KernelAttributes": "_program",
        "KernelDescriptor": "programs",
        "KernelParameter": "_program",
        "LaunchSequence": "sequences",
        "ProgramCacheInfo": "programs",
        "SequenceFuture": "sequences",
        "SequenceTimes": "sequences",
        "Step": "_steps",
        "WorkQueue": "work_queue",
        "WorkQueueReport": "work_queue",
    },
)


def __dir__() -> list[str]:
    return [*__all__]
