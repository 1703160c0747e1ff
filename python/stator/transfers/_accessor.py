"""Backend.transfers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stator._accessor import Accessor

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    import numpy as np

    from stator._array import Array
    from stator._typing import ArrayLike, StreamLike


class TransferAccessor(Accessor):
    """Copies between arrays of a backend and the host, as Backend.transfers."""

    __slots__ = ()

    def read_selected(self, x: Array, mask: ArrayLike) -> np.ndarray[Any, Any]:
        """The entries of an array for which a mask is true, as a NumPy array of shape (selected, ...). Synchronises.

        x: an Array of any dtype. mask: bools of the shape of the first axes of x, as an Array or from the host; mostly
        of one axis. The device compacts the entries; then their number is copied, and of the entries exactly those that
        were selected: statistics()["d2h_bytes"] grows by 8 and by the bytes of the result.
        Raises: ShapeError for a mask of another shape, DTypeError for one that is not of bools, HostCopyError inside
        forbid_host_copies().

        >>> x = be.asarray([[1, 2], [3, 4], [5, 6]])
        >>> be.transfers.read_selected(x, x[:, 0] > 2)
        array([[3, 4],
               [5, 6]])
        """
        from stator.programs.selection import read_selected

        return read_selected(self._backend, x, mask)

    def write_ranges(self, ranges: Sequence[tuple[Array, int, object]], *, stream: StreamLike | None = None) -> None:
        """Copies many pieces of host memory into arrays: (array, offset in bytes, host). Asynchronous on cuda.

        What follows each other in memory of the device is one copy. host: as for Array.copy_from, read on return. Of
        more than 256 MiB the call waits for earlier copies.

        >>> x = be.zeros(6, dtype="uint8")
        >>> be.transfers.write_ranges([(x, 0, bytes([1, 2])), (x, 4, bytes([3]))])
        >>> x.tolist()
        [1, 2, 0, 0, 3, 0]
        """
        from stator.transfers._transfers import write_ranges

        write_ranges(self._backend, ranges, stream)

    def read_ranges(self, ranges: Sequence[tuple[Array, int, object]], *, stream: StreamLike | None = None) -> None:
        """Copies many pieces of arrays into host memory: (array, offset in bytes, host). Synchronises once.

        What follows each other in memory of the device is one copy.
        """
        from stator.transfers._transfers import read_ranges

        read_ranges(self._backend, ranges, stream)
