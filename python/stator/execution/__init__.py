"""What runs beside the ops: kernels of your own. The ways in are methods of Backend."""

from stator.execution._program import Kernel, KernelAttributes, KernelParameter
from stator.execution.programs import KernelDescriptor, ProgramCacheInfo

__all__ = ["Kernel", "KernelAttributes", "KernelDescriptor", "KernelParameter", "ProgramCacheInfo"]


def __dir__() -> list[str]:
    return [*__all__]
