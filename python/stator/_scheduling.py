"""The methods of Backend that schedule work on the device. What they do is in stator.execution."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    import numpy as np

    from stator._array import Array
    from stator._backend import Stream
    from stator.backend import Backend
    from stator.execution import CooperativeConfig, CooperativeReport, Kernel


def is_cooperative_groups_supported(self: Backend) -> bool:
    """Whether kernels can be launched with all blocks resident, so that the grid may synchronise.

    False on the cpu, which runs no kernels of users. Does not synchronise.
    """
    from stator.execution._program import has_cooperative_launch

    return has_cooperative_launch(self)


def suggest_cooperative_config(self: Backend, kernel: Kernel, elements: int, shared: int = 0) -> CooperativeConfig:
    """Blocks and threads for a cooperative launch of a kernel that loops over elements; does not synchronise.

    kernel: of this backend. elements: how many there are, at least 1. shared: bytes of dynamic shared memory. The
    threads are those of kernel.suggest_block(), and the blocks as many as have elements and are resident at once.
    Raises: InvalidValueError where the shared memory leaves room for no block, UnsupportedError without support.

    >>> config = be.suggest_cooperative_config(kernel, x.size)  # doctest: +SKIP
    >>> number = be.launch_cooperative_kernel(kernel, config, x, x.size)  # doctest: +SKIP
    >>> be.finish_cooperative_kernel(number).milliseconds  # doctest: +SKIP
    """
    from stator.execution.cooperative import suggest_config

    return suggest_config(self, kernel, elements, shared)


def launch_cooperative_kernel(
    self: Backend,
    kernel: Kernel,
    config: tuple[int | tuple[int, ...], int | tuple[int, ...]],
    *args: object,
    shared: int = 0,
    stream: Stream | None = None,
) -> int:
    """Launches a kernel with all blocks resident, and returns a number for finish_cooperative_kernel().

    config: blocks, and threads of a block, each as a number or (x, y, z). args, shared, stream: as for
    Kernel.launch. Asynchronous. A grid of which some blocks would have to wait is refused, never split. What is
    not finished is released with the backend.
    Raises: InvalidValueError with the limit, by how much it is exceeded and what to change; UnsupportedError
    without support; what Kernel.launch raises.
    """
    from stator.execution.cooperative import launch

    return launch(self, kernel, config, args, shared, stream)


def finish_cooperative_kernel(self: Backend, launched: int) -> CooperativeReport:
    """Waits for a launch by its number, and returns milliseconds, occupancy, blocks and threads.

    Raises: InvalidValueError for a number that is unknown or was finished already; errors of the kernel.
    """
    from stator.execution.cooperative import finish

    return finish(self, launched)


def read_selected(self: Backend, x: Array, mask: Array | Sequence[object]) -> np.ndarray[Any, Any]:
    """The entries of an array for which a mask is true, as a NumPy array of shape (selected, ...). Synchronises.

    x: an Array of any dtype. mask: bools of the shape of the first axes of x, as an Array or from the host; mostly of
    one axis. The device compacts the entries; then their number is copied, and of the entries exactly those that were
    selected: statistics()["d2h_bytes"] grows by 8 and by the bytes of the result.
    Raises: ShapeError for a mask of another shape, DTypeError for one that is not of bools, HostCopyError inside
    forbid_host_copies().

    >>> x = be.asarray([[1, 2], [3, 4], [5, 6]])
    >>> be.read_selected(x, x[:, 0] > 2)
    array([[3, 4],
           [5, 6]])
    """
    from stator.execution.selection import read_selected

    return read_selected(self, x, mask)
