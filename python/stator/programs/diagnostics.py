"""Records that kernels append to memory of the device, read back together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from stator._array import Array
from stator._creation import zeros
from stator.errors import DTypeError, InvalidValueError, StatorError
from stator.programs._arguments import record_type, records_of, under_name, whole

if TYPE_CHECKING:
    from stator._backend import Backend

# What stator/diagnostics.hpp has in front of the records.
_HEADER = np.dtype(
    [("pushed", "u8"), ("capacity", "u8"), ("record_bytes", "u4"), ("other_bytes", "u4"), ("rest", "u8")]
)


class DiagnosticsReport(NamedTuple):
    """The records in the order in which they were appended, and how many found no room."""

    records: np.ndarray[Any, Any]
    lost: int


class Diagnostics:
    """Room for records of a fixed size that kernels append, made by Backend.programs.diagnostics().

    Not thread-safe. After an error its records and counts are as they were.
    """

    backend: Backend
    capacity: int
    dtype: np.dtype[Any]
    #: The argument for a parameter stator::Diagnostics<Record> of a kernel.
    array: Array

    def __init__(self, backend: Backend, capacity: int, dtype: Any) -> None:
        op = "Backend.programs.diagnostics"
        self.backend = backend
        self.capacity = whole(capacity, op, "capacity", 1)
        self.dtype = record_type(dtype, op)
        nbytes = _HEADER.itemsize + self.capacity * self.dtype.itemsize
        try:
            if nbytes >= 2**63:
                raise InvalidValueError(f"{nbytes} bytes", op=op, remedy="Make room for fewer records.")
            self.array = zeros(nbytes, dtype="uint8", device=backend)
            self.clear()
        except StatorError as error:
            raise under_name(error, op) from None

    def __len__(self) -> int:
        return self.capacity

    def clear(self) -> None:
        """Forgets all records, after the work of the current stream. Asynchronous."""
        self._write_header(0)

    def append(self, records: Any) -> int:
        """Appends records from the host, after what kernels appended; returns how many found room. Synchronises.

        records: one, or several as an array, which the dtype can hold. For programs that run no kernel of their own,
        as on the cpu.
        """
        op = "Diagnostics.append"
        given = np.ascontiguousarray(records_of(records, self.dtype, op).reshape(-1))
        try:
            header = self._read(0)[0]
            pushed = int(header["pushed"])
            kept = given[: max(0, self.capacity - pushed)]
            if kept.size:
                offset = _HEADER.itemsize + pushed * self.dtype.itemsize
                self.array.copy_from(kept.view("u1"), offset=offset)
            self._write_header(pushed + given.size, header["other_bytes"])
        except StatorError as error:
            raise under_name(error, op) from None
        return kept.size

    def read(self) -> DiagnosticsReport:
        """All records, in one copy of the whole memory to the host. Synchronises.

        Raises: DTypeError where a kernel's records have another size; HostCopyError inside forbid_host_copies().
        """
        op = "Diagnostics.read"
        try:
            header, body = self._read(self.capacity)
        except StatorError as error:
            raise under_name(error, op) from None
        if header["other_bytes"]:
            raise DTypeError(
                f"A kernel appended records of {header['other_bytes']} bytes, and the dtype has {self.dtype.itemsize}",
                op=op,
                remedy="Let dtype and structure agree: numpy.dtype(..., align=True) lays fields out as C++ does.",
            )
        pushed = int(header["pushed"])
        kept = min(pushed, self.capacity)
        return DiagnosticsReport(body[: kept * self.dtype.itemsize].view(self.dtype), pushed - kept)

    def _read(self, records: int) -> tuple[Any, np.ndarray[Any, Any]]:
        """The header, and the bytes of `records` records."""
        raw = np.empty(_HEADER.itemsize + records * self.dtype.itemsize, "u1")
        self.array.copy_to(raw)
        return raw[: _HEADER.itemsize].view(_HEADER)[0], raw[_HEADER.itemsize :]

    def _write_header(self, pushed: int, other_bytes: int = 0) -> None:
        header = np.array([(pushed, self.capacity, self.dtype.itemsize, other_bytes, 0)], _HEADER)
        self.array.copy_from(header.view("u1"))
