"""The methods of Backend that say what calls cost. What they do is in stator.telemetry, which the first call
loads."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal, cast

from stator.errors import DTypeError, InvalidValueError

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from stator.backend import Backend
    from stator.telemetry import Telemetry

REPORTS = (None, "warn", "error")


class BackendTelemetry:
    """A base class of Backend."""

    @property
    def telemetry(self) -> Telemetry:
        """Counters of calls, launches, bytes, waits and times, per op. Off until `telemetry.enable()`.

        >>> be.telemetry.enable()
        >>> y = be.ones(3) + 1
        >>> be.telemetry.snapshot()["ops"]["add"]["kernel_launches"]
        1
        >>> be.telemetry.disable()
        """
        from stator.telemetry import Telemetry

        return Telemetry(self._measured())

    def profile(self, path: str | os.PathLike[str]) -> AbstractContextManager[None]:
        """Writes a trace of the calls of a `with` block, which ui.perfetto.dev and chrome://tracing show.

        A JSON file: the calls of each thread, and their work in each stream of the device. Synchronises at both ends
        of the block. Holds the first 1,048,576 calls; otherData says how many more there were. OSError where the file
        cannot be written, InvalidValueError inside another profile.

        >>> with be.profile(path):
        ...     y = be.ones(3) + 1
        >>> with open(path) as file:
        ...     "add" in file.read()
        True
        """
        from stator.telemetry import Profile

        try:
            found = os.fspath(path)
        except TypeError:
            raise DTypeError(
                f"Got path={type(path).__name__}", op="Backend.profile", remedy="Give the path of a file."
            ) from None
        return Profile(self._measured(), found)

    def sync_debug(self, mode: Literal["warn", "error"] | None) -> AbstractContextManager[None]:
        """Reports calls that make the host wait for the device: as a RuntimeWarning, an error, or not at all (None).

        It holds from the call on, in every thread; as a `with` statement, until its end. "error" raises
        SynchronizationError before the call waits. close() waits in any case. On the cpu small results are read without
        waiting, but a call that would wait on a GPU is reported all the same. Not seen is what a vendor library waits
        for by itself, as cuSPARSE does in sparse.spgemm.

        >>> x = be.ones(3)
        >>> with be.sync_debug("error"):
        ...     y = x + x
        >>> y.tolist()
        [2.0, 2.0, 2.0]
        """
        from stator.telemetry._telemetry import SyncDebug

        if mode is not None and not isinstance(mode, str):
            raise DTypeError(
                f"Got mode={type(mode).__name__}", op="Backend.sync_debug", remedy='Give "warn", "error" or None.'
            )
        if mode not in REPORTS:
            raise InvalidValueError(f"mode={mode!r}", op="Backend.sync_debug", remedy='Give "warn", "error" or None.')
        reports = SyncDebug(self._measured())
        try:
            reports.begin(REPORTS.index(mode))
            return reports
        except BaseException:  # an interrupt, which leaves nothing begun
            reports.end()
            raise

    def _measured(self) -> Backend:
        return cast("Backend", self)
