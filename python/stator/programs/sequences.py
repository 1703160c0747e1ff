"""Sequences: uploads, steps and reads that are written down once and run as often as wanted, with one fence."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from threading import RLock
from typing import TYPE_CHECKING, Any, NamedTuple

from stator import _backend
from stator._backend import Entered, current_stream
from stator.errors import BackendClosedError, CaptureError, DTypeError, InvalidValueError, StatorError, renamed
from stator.graphs import _graph
from stator.graphs.graphs import capture
from stator.programs._arguments import array_of, whole
from stator.programs._in_flight import InFlight, Use, use_of
from stator.programs._steps import Bound, bind
from stator.scopes._outside import outside
from stator.transfers import _transfers

if TYPE_CHECKING:
    from typing import Self

    from stator._array import Array
    from stator._backend import Backend, Event, Stream
    from stator._typing import StreamLike
    from stator.graphs._graph import Graph
    from stator.programs._steps import Extent


class SequenceTimes(NamedTuple):
    """Nanoseconds of a run, as LaunchSequence.run_timed() returns them.

    wall_ns: of the call. enqueue_ns: until all work was enqueued, with the checks, and the capture in the first run.
    wait_ns: from there to the end. device_ns: from the first upload to the last read, between events on the stream;
    None on the cpu, which has no clock of its own.
    """

    wall_ns: int
    device_ns: int | None
    enqueue_ns: int
    wait_ns: int


class SequenceFuture(Future[list[Any]]):
    """The end of a run that LaunchSequence.submit() began: a concurrent.futures.Future, which asyncio can await.

    result() gives the outputs, or raises what the run raised. It cannot be cancelled: the device is at work already.
    """

    def __await__(self) -> Generator[Any, None, list[Any]]:
        """`await future` waits on another thread, so that the event loop goes on."""
        import asyncio

        return asyncio.wrap_future(self).__await__()


@dataclass(slots=True)
class _Range:
    """Bytes of an array, and where they are on the host; None after a static parameter was uploaded."""

    array: Array
    offset: int
    nbytes: int
    host: Any


@contextmanager
def _named(op: str, where: str = "") -> Iterator[None]:
    """Gives errors the name of the function that was called, and the part of the sequence."""
    try:
        yield
    except StatorError as error:
        if where:
            error.cause = f"{where}: {error.cause}"
        raise renamed(error, op) from None


class _Run:
    """A run: what it uses until it ends, and its work once that was enqueued. Thread-safe from then on.

    It has begun nothing when it is made, so that its maker can undo what it begins.
    """

    def __init__(self, backend: Backend, stream: Stream) -> None:
        self._in_flight, self._stream = InFlight.of(backend), stream
        self._uses: list[Use] = []
        self._entered = False  # work may have been enqueued
        self._lent: Any = None  # memory of the host that may be used until the end
        self._reads: _transfers.PendingReads | None = None
        self.outputs: list[Any] = []

    def enter(self, uses: list[Use], op: str) -> None:
        """InFlightError where a run that has not ended uses the same memory."""
        self._uses = uses
        self._in_flight.enter(uses, op)
        self._entered = True

    def enqueued(self, reads: _transfers.PendingReads, lent: Any, outputs: list[Any]) -> None:
        """All of its work is on the stream, and these are the last of it."""
        self._reads, self._lent, self.outputs = reads, lent, outputs

    @property
    def end(self) -> Event:
        """The event after all of its work."""
        assert self._reads is not None
        return self._reads.event

    def finish(self) -> list[Any]:
        """Waits, and returns the outputs."""
        assert self._reads is not None
        self._reads.finish()
        self._leave()
        return self.outputs

    def abandon(self) -> None:
        """After an error: waits, so that nothing uses memory of the host any more, and ends."""
        if self._entered:
            with suppress(StatorError):
                self._stream.synchronize()
        self._leave()

    def _leave(self) -> None:
        self._in_flight.leave(self._uses)
        self._reads = self._lent = None

    def complete(self, future: SequenceFuture) -> None:
        """Waits, and ends the future."""
        try:
            outputs = self.finish()
        except BaseException as error:
            self.abandon()
            future.set_exception(error)
        else:
            future.set_result(outputs)


class LaunchSequence:
    """Uploads, a prefix, a part that is repeated, and reads, made by Backend.programs.sequence(). Thread-safe.

    The methods that describe it return the sequence. Those that run it first check everything: that the backend is
    open and the stream is not being captured, that arrays are of the backend and alive, ranges inside them, outputs
    writable and of the right size, arguments fit their kernels, and no other run that has not ended uses the same
    memory (InFlightError names the array). What is refused has touched nothing. Then follow the uploads, the prefix,
    the repetitions and the reads on the stream of the sequence, and one wait.

    The repeated part is captured when it first runs, and each repetition launches the graph: one call of the runtime,
    however many steps there are. A function is called once for that. Where a step cannot be captured, the steps are
    called in each repetition, and `capture_error` says why. Arrays that functions use without their being arguments are
    not guarded.
    """

    def __init__(
        self, backend: Backend, grid: Extent | None, block: int | tuple[int, ...] | None, stream: Stream
    ) -> None:
        self._backend, self._grid, self._block, self._stream = backend, grid, block, stream
        self._statics: list[_Range] = []
        self._uploads: list[_Range] = []
        self._reads: list[_Range] = []
        self._prefix: list[Bound] = []
        self._repeated: list[Bound] = []
        self._count = 0
        self._graph: Graph | None = None
        self._capture_error: CaptureError | None = None
        self._lock = RLock()

    def upload(self, array: Array, host: object, offset: int = 0) -> Self:
        """Copies memory of the host into an array at the beginning of every run.

        host: a NumPy array of the array's dtype or of bytes, or an object with a contiguous buffer, which each run
        reads again. offset: in bytes. Uploads happen in their order, and those that follow each other in memory of the
        device are one copy. Raises: DTypeError, InvalidValueError, BackendMismatchError.
        """
        added = self._range("LaunchSequence.upload", array, host, offset, None, False)
        with self._lock:
            self._uploads.append(added)
        return self

    def static(self, array: Array, host: object, offset: int = 0) -> Self:
        """As upload(), but only by the next run, for what steps only read. A second call uploads again."""
        added = self._range("LaunchSequence.static", array, host, offset, None, False)
        place = array.data_ptr + added.offset, added.nbytes
        with self._lock:
            others = [s for s in self._statics if (s.array.data_ptr + s.offset, s.nbytes) != place]
            self._statics = [*others, added]
        return self

    def read(self, array: Array, out: object, offset: int = 0, nbytes: int | None = None) -> Self:
        """Copies bytes of an array into memory of the host at the end of every run.

        out: as for upload(), writable, of nbytes bytes. offset, nbytes: in bytes; by default to the end of the array.
        Raises: DTypeError, InvalidValueError, BackendMismatchError.
        """
        added = self._range("LaunchSequence.read", array, out, offset, nbytes, True)
        with self._lock:
            self._reads.append(added)
        return self

    def prefix(self, *steps: Any) -> Self:
        """Adds steps that run once, before the repetitions.

        A step is (kernel, grid, block, *args), where None stands for the sequence's grid or block; (function, *args),
        whose function writes into the arrays that it is given and returns nothing; a function without arguments; or a
        Step. Raises: DTypeError, InvalidValueError, BackendMismatchError.
        """
        with self._lock:
            self._prefix += self._bind("LaunchSequence.prefix", "the prefix", len(self._prefix), steps)
        return self

    def repeat(self, n: int, *steps: Any) -> Self:
        """Sets how often steps, as those of prefix(), are repeated; n may be 0. Without steps, the previous ones stay.

        With 0 repetitions the steps' arrays are not checked. Raises: DTypeError, InvalidValueError,
        BackendMismatchError.
        """
        op = "LaunchSequence.repeat"
        count, bound = whole(n, op, "n"), self._bind(op, "the repeated part", 0, steps)
        with self._lock:
            self._count = count
            if bound:
                self._repeated = bound
                self._graph = self._capture_error = None
        return self

    def run(self) -> list[Any]:
        """Runs the sequence, waits, and returns the outputs of read(), in their order.

        Raises: see the class; errors of the work, after which nothing of the run is under way.
        """
        return self._run("LaunchSequence.run")

    def run_borrowed(self) -> list[Any]:
        """As run(), but with no copy of stator's between: the device reads uploads, and writes outputs, where they are.

        The memory of the host is lent until the call returns, also by an error; it must not be changed until then,
        which is not checked. Copies from and to page-locked memory (stator.memory.pinned_empty) overlap with work; of
        other memory the driver copies what it must.
        """
        return self._run("LaunchSequence.run_borrowed", lent=True)

    def run_into(self, outputs: list[Any] | tuple[Any, ...]) -> list[Any]:
        """As run(), into other outputs than those of read(), as many and of the same sizes."""
        return self._run("LaunchSequence.run_into", outputs)

    def run_timed(self) -> SequenceTimes:
        """As run(), and returns how long it took."""
        start = time.perf_counter_ns()
        first: list[Event] = []
        run = _Run(self._backend, self._stream)
        try:
            self._begin(run, "LaunchSequence.run_timed", before=lambda: first.append(self._stream.record()))
            enqueued = time.perf_counter_ns()
            last = run.end
            run.finish()
        except BaseException:
            run.abandon()
            raise
        end = time.perf_counter_ns()
        on_cpu = self._backend.device_name == "cpu"
        device = None if on_cpu else round(1e6 * last.milliseconds_since(first[0]))
        return SequenceTimes(end - start, device, enqueued - start, end - enqueued)

    def submit(self) -> SequenceFuture:
        """Enqueues a run, and returns a future with the outputs, which `await` takes too. Does not wait for the device.

        Memory that is uploaded has been read on return; that of the outputs is written until the future is done.
        Steps that cannot be captured may wait, and then this waits. After Backend.close() the future raises
        BackendClosedError. Raises what is found before the run began; the rest is the future's.
        """
        future = SequenceFuture()
        run = _Run(self._backend, self._stream)
        try:
            self._begin(run, "LaunchSequence.submit", waits=False)
            future.set_running_or_notify_cancel()
            InFlight.of(self._backend).start(run.complete, future)
            return future
        except BaseException:
            run.abandon()
            raise

    @property
    def graph(self) -> Graph | None:
        """The captured repeated part; None before a run, and where it cannot be captured."""
        return self._graph

    @property
    def capture_error(self) -> CaptureError | None:
        """Why the repeated part cannot be captured; None where it can, and before a run."""
        return self._capture_error

    def __repr__(self) -> str:
        return (
            f"<stator.programs.LaunchSequence of {len(self._uploads) + len(self._statics)} uploads, "
            f"{len(self._prefix)} steps, {self._count} times {len(self._repeated)} steps, {len(self._reads)} reads>"
        )

    def _range(self, op: str, array: object, host: object, offset: object, nbytes: int | None, to_host: bool) -> _Range:
        """A range after its checks."""
        x = array_of(self._backend, array, op, "array")
        start = whole(offset, op, "offset")
        with _named(op):
            raw = _transfers.host_bytes(host, x, to_host, op)
            size = int(raw.size)
            if to_host:
                size = max(0, x.nbytes - start) if nbytes is None else whole(nbytes, op, "nbytes")
            made = _Range(x, start, size, host)
            _transfers.check_ranges(self._backend, [self._triple(made, op, host, to_host)], to_host, op)
        return made

    def _triple(self, of: _Range, op: str, host: object, to_host: bool) -> tuple[Array, int, Any]:
        """The range as _transfers takes it."""
        raw = _transfers.host_bytes(host, of.array, to_host, op)
        if raw.size != of.nbytes:
            raise InvalidValueError(
                f"The host has {raw.size} bytes for {of.nbytes} of the array",
                op=op,
                remedy="Give memory of that size.",
            )
        return of.array, of.offset, raw

    def _bind(self, op: str, part: str, first: int, steps: tuple[Any, ...]) -> list[Bound]:
        """The steps after the checks that need no device."""
        bound = []
        for i, given in enumerate(steps, first):
            name = f"Step {i} of {part}"
            with _named(op, name):
                bound.append(bind(self._backend, given, name, op, self._grid, self._block))
        return bound

    def _checked(self, op: str, outputs: list[Any]) -> tuple[list[Any], list[Any], list[Use]]:
        """The gate before every run: the ranges that it writes and reads, and what it uses."""
        if self._backend.closed:
            raise BackendClosedError("The backend is closed", op=op, remedy="Open another one, with arrays of its own.")
        if _graph.is_capturing(self._stream):
            raise CaptureError(
                "The stream of the sequence is being captured, and runs wait",
                op=op,
                remedy="Run it before the capture, or after it.",
            )
        steps = [*self._prefix, *(self._repeated if self._count else ())]
        sources = [*((r, "static parameter") for r in self._statics), *((r, "upload") for r in self._uploads)]
        writes, reads, uses = [], [], []
        for i, (r, name) in enumerate(sources):
            where = f"The {name} {i if name[0] == 's' else i - len(self._statics)}"
            with _named(op, where):
                if r.host is not None:
                    writes.append(self._triple(r, op, r.host, False))
                uses.append(use_of(where, r.array))
        for i, (r, out) in enumerate(zip(self._reads, outputs, strict=True)):
            with _named(op, f"The read {i}"):
                reads.append(self._triple(r, op, out, True))
                uses.append(use_of(f"The array of the read {i}", r.array))
                at = reads[-1][2].ctypes.data
                uses.append(Use(f"The output of the read {i}", at, at + r.nbytes))
        for bound in steps:
            with _named(op, bound.name):
                bound.check()
                uses += [use_of(f"An array of {bound.name[:1].lower()}{bound.name[1:]}", x) for x in bound.arrays]
        with _named(op):
            _transfers.check_ranges(self._backend, writes, False, op)
            _transfers.check_ranges(self._backend, reads, True, op)
        return writes, reads, uses

    def _run(self, op: str, outputs: object = None, lent: bool = False) -> list[Any]:
        """A run from its checks to its end."""
        run = _Run(self._backend, self._stream)
        try:
            self._begin(run, op, outputs, lent)
            return run.finish()
        except BaseException:
            run.abandon()
            raise

    def _begin(
        self,
        run: _Run,
        op: str,
        outputs: object = None,
        lent: bool = False,
        waits: bool = True,
        before: Callable[[], None] | None = None,
    ) -> None:
        """Checks and enqueues a run. waits: whether the caller's call lasts as long as the run."""
        with self._lock:
            given = [r.host for r in self._reads] if outputs is None else _outputs(outputs, len(self._reads), op)
            writes, reads, uses = self._checked(op, given)
            lent = lent or (waits and self._backend.device_name == "cpu")  # where memory between would be a copy more
            run.enter(uses, op)
            run.enqueued(self._enqueue(writes, reads, lent, before), writes, given)

    def _enqueue(
        self, writes: list[Any], reads: list[Any], lent: bool, before: Callable[[], None] | None
    ) -> _transfers.PendingReads:
        """The work of a run. The capture comes first, so that what it raises has touched nothing either."""
        graph = self._captured() if self._count and self._repeated else None
        if before is not None:
            before()
        _transfers.write(self._backend, writes, self._stream, lent)
        for static in self._statics:
            static.host = None
        with Entered(partial(_backend.add_stream, self._stream), _backend.remove_stream):
            for bound in self._prefix:
                bound.enqueue(self._stream)
            for _ in range(self._count if self._repeated else 0):
                if graph is not None:
                    graph.launch(stream=self._stream)
                    continue
                for bound in self._repeated:
                    bound.enqueue(self._stream)
        return _transfers.begin_reads(self._backend, reads, self._stream, lent)

    def _captured(self) -> Graph | None:
        """The graph of the repeated part, which is captured once; None where it cannot be."""
        if self._graph is None and self._capture_error is None:
            try:
                with outside(), capture(self._backend, self._stream) as graph:
                    for bound in self._repeated:
                        bound.enqueue(self._stream)
            except CaptureError as error:
                # Without the frames, which would keep the arrays of the steps alive.
                error.__context__ = error.__cause__ = None
                self._capture_error = error.with_traceback(None)
            else:
                self._graph = graph
        return self._graph


def _outputs(outputs: object, count: int, op: str) -> list[Any]:
    """Outputs in place of those of read()."""
    if not isinstance(outputs, (list, tuple)):
        raise DTypeError(f"Got outputs of type {type(outputs).__name__}", op=op, remedy="Give a list.")
    if len(outputs) != count:
        raise InvalidValueError(
            f"{len(outputs)} outputs for {count} reads", op=op, remedy="Give one for each read, in their order."
        )
    return list(outputs)


def sequence(
    backend: Backend, grid: Extent | None, block: int | tuple[int, ...] | None, stream: StreamLike | None
) -> LaunchSequence:
    """What Backend.programs.sequence does."""
    with _named("Backend.programs.sequence"):
        on = current_stream(backend) if stream is None else backend.stream(stream)
    return LaunchSequence(backend, grid, block, on)
