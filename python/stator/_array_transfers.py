"""Methods of Array that copy bytes from and to memory of the host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stator._array import Array
from stator.errors import StatorError, renamed

if TYPE_CHECKING:
    from stator._typing import StreamLike


def _of_the_array(error: StatorError, called: str, op: str) -> StatorError:
    """The error under the name of the method; faults of earlier work, which the copy reports, keep theirs."""
    return renamed(error, op) if error.op == called else error


def copy_from(self: Array, host: object, /, *, offset: int = 0, stream: StreamLike | None = None) -> None:
    """Copies memory of the host into the array, from `offset` bytes on. Asynchronous on cuda.

    host: a NumPy array of the dtype or of uint8, or another object with a contiguous buffer, such as bytes; it has been
    read on return. The array is contiguous.

    >>> x = be.zeros(4, dtype="int32")
    >>> x.copy_from(numpy.array([7, 8], dtype="int32"), offset=4)
    >>> x.tolist()
    [0, 7, 8, 0]
    """
    from stator.transfers import _transfers

    try:
        _transfers.copy_from(self, host, offset, stream)
    except StatorError as error:
        raise _of_the_array(error, "Backend.transfers.write_ranges", "Array.copy_from") from None


def copy_to(self: Array, host: object, /, *, offset: int = 0, stream: StreamLike | None = None) -> None:
    """Copies the array's bytes from `offset` on into memory of the host, as much as that has. Synchronises.

    `await asyncio.to_thread(x.copy_to, host)` lets the event loop go on, and uses the same current stream.
    """
    from stator.transfers import _transfers

    try:
        _transfers.copy_to(self, host, offset, stream)
    except StatorError as error:
        raise _of_the_array(error, "Backend.transfers.read_ranges", "Array.copy_to") from None
