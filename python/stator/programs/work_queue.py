"""A queue of items that a kernel, or a function, works on while the host puts more."""

from __future__ import annotations

import struct
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from threading import RLock
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from stator._backend import current_stream, device_properties, emulated
from stator._creation import zeros
from stator.errors import DTypeError, InvalidValueError, QueueFullError, StatorError
from stator.memory import pinned_empty
from stator.programs._arguments import function_of, kernel_of, record_type, records_of, under_name, whole
from stator.programs._program import Kernel

if TYPE_CHECKING:
    from typing import Self

    from stator._array import Array
    from stator._backend import Backend, Event, Stream

_OP = "Backend.programs.work_queue"
_LAYOUT = struct.Struct("<QQQQIIQ")  # of stator::WorkQueue, in stator/work_queue.hpp
_NONE = 2**64 - 1


class WorkQueueReport(NamedTuple):
    """What a queue did.

    items: that were worked on. launches: of the kernel, or calls of the function. blocks: of a launch; 0 of a function.
    polls: how often a block found no item. milliseconds: of the launches together, between events on their
    stream; of the calls by the clock.
    """

    items: int
    launches: int
    blocks: int
    polls: int
    milliseconds: float


class Calls:
    """The items of a queue whose worker is a function: it is called when there is no room, and at the end."""

    pause = 0.0

    def __init__(self, function: Callable[..., object], capacity: int, item: np.dtype[Any], args: tuple[object, ...]):
        self._function, self._args = function, args
        self._slots = np.zeros(capacity, item)
        self._waiting = self._items = self._calls = 0
        self._seconds = 0.0

    def has_room(self) -> bool:
        return self._waiting < self._slots.size

    def push(self, record: np.ndarray[Any, Any]) -> None:
        self._slots[self._waiting] = record
        self._waiting += 1

    def advance(self) -> None:
        """Works on what is there. Items count as taken also where the function fails."""
        items = self._slots[: self._waiting].copy()
        self._items += self._waiting
        self._calls += 1
        self._waiting = 0
        start = time.perf_counter()
        try:
            self._function(items, *self._args)
        finally:
            self._seconds += time.perf_counter() - start

    def drain(self) -> WorkQueueReport:
        while self._waiting:  # the function may put items too
            self.advance()
        return WorkQueueReport(self._items, self._calls, 0, 0, 1e3 * self._seconds)

    def abandon(self) -> None:
        self._waiting = 0


class Ring:
    """The items of a queue whose worker is a kernel, in page-locked memory that its blocks read.

    A launch ends when its blocks have found nothing for a while, so that no call that waits for the device waits for
    the next item. After each item that is put there is a launch that has not begun, or one is made: at most two are
    under way, since the second one begins when the first has ended.
    """

    pause = 50e-6  # seconds between polls of a full ring

    def __init__(
        self,
        backend: Backend,
        kernel: Kernel,
        capacity: int,
        item: np.dtype[Any],
        args: tuple[object, ...],
        blocks: int | None,
        block: int | tuple[int, ...] | None,
        shared: int,
        polls: int,
        stream: Stream | None,
    ):
        first = kernel.parameters[0] if kernel.parameters else None
        if first is None or first.size != _LAYOUT.size or first.kind != "bytes":
            raise DTypeError(
                f"{kernel!r} takes no queue",
                op=_OP,
                remedy="Include <stator/work_queue.hpp> and let its first parameter be a stator::WorkQueue<Item>.",
            )
        self._stream = current_stream(backend) if stream is None else backend.stream(stream)
        self._kernel, self._args, self._shared = kernel, args, shared
        self._block = kernel.suggest_block(shared=shared) if block is None else block
        if blocks is None:
            resident = kernel.occupancy(self._block, shared=shared) * device_properties(backend)["multiprocessors"]
            blocks = max(1, min(capacity, resident))
        self._blocks = blocks
        self._capacity, self._item = capacity, item
        words = 2 + capacity + blocks
        start = -(-8 * words // 16) * 16
        memory = pinned_empty(start + capacity * item.itemsize, "uint8", device=backend)
        memory[:] = 0
        self._words = memory[: 8 * words].view("u8")
        self._slots = memory[start:].view(item)
        with self._stream:
            self._claimed: Array = zeros(1, dtype="uint64", device=backend)
        # Nothing is put while an emulated kernel runs.
        self._polls = 0 if emulated("cuda") else polls
        self._put = self._launches = 0
        self._owed = False  # an item may have no launch after it
        self._running: deque[tuple[Event, Event]] = deque()
        self._milliseconds = 0.0
        self._launch()

    def has_room(self) -> bool:
        if not self._is_free():
            self._follow()  # which is what runs work on an emulated device
        self._check_items()
        return self._is_free()

    def push(self, record: np.ndarray[Any, Any]) -> None:
        self._slots[self._put % self._capacity] = record
        self._owed = True
        self._put += 1
        self._words[0] = self._put  # after the item: x86 keeps the order of stores
        self._follow()

    def advance(self) -> None:
        """Sees to it that there will be room."""
        self._follow()
        if not self._running and not self._is_free():
            raise self._left()

    def drain(self) -> WorkQueueReport:
        self._follow()
        while self._running:
            self._running[0][1].synchronize()
            self._retire()
        self._check_items()
        last = np.arange(max(0, self._put - self._capacity), self._put)
        if (self._words[2 + last % self._capacity] != last + 1).any():
            raise self._left()
        polls = int(self._words[2 + self._capacity :].sum())
        return WorkQueueReport(self._put, self._launches, self._blocks, polls, self._milliseconds)

    def abandon(self) -> None:
        """Waits for the launches, whose memory is released after it."""
        for _, end in self._running:
            with suppress(StatorError):
                end.synchronize()
        self._running.clear()

    def _is_free(self) -> bool:
        """Whether the slot of the next item is."""
        return int(self._words[2 + self._put % self._capacity]) == max(0, self._put - self._capacity + 1)

    def _check_items(self) -> None:
        if self._words[1]:
            raise DTypeError(
                f"The kernel's items have {self._words[1]} bytes, and the queue's {self._item.itemsize}",
                op="WorkQueue",
                remedy="Let item and structure agree: numpy.dtype(..., align=True) lays fields out as C++ does.",
            )

    def _left(self) -> StatorError:
        return InvalidValueError(
            f"{self._kernel!r} left an item",
            op="WorkQueue",
            remedy="Let each block return only when take() is false.",
        )

    def _follow(self) -> None:
        """Sees to it that a launch begins after now if an item may need it."""
        while self._running and self._running[0][1].done():
            self._retire()
        if self._owed and len(self._running) < 2:
            self._launch()
        self._owed = False

    def _retire(self) -> None:
        start, end = self._running[0]
        self._milliseconds += end.milliseconds_since(start)
        self._running.popleft()

    def _launch(self) -> None:
        words, slots = self._words.ctypes.data, self._slots.ctypes.data
        queue = _LAYOUT.pack(
            words, slots, self._claimed.data_ptr, self._capacity, self._item.itemsize, self._polls, _NONE
        )
        start = self._stream.record()
        self._kernel.launch(self._blocks, self._block, queue, *self._args, shared=self._shared, stream=self._stream)
        self._launches += 1
        try:
            end = self._stream.record()
        except StatorError:
            with suppress(StatorError):
                self._stream.synchronize()  # no event says when the launch has left the memory
            raise
        self._running.append((start, end))


class WorkQueue:
    """A queue of items, made by Backend.programs.work_queue(). Thread-safe; `with queue:` finishes it at the end."""

    def __init__(self, worker: Calls | Ring, capacity: int, item: np.dtype[Any]) -> None:
        self._worker: Calls | Ring | None = worker
        self.capacity = capacity
        self.item = item
        self._report: WorkQueueReport | None = None
        self._lock = RLock()

    def put(self, item: object, block: bool = True, timeout: float | None = None) -> None:
        """Puts an item into the queue. Waits for room where there is none.

        item: a number, or for a structured dtype a tuple of its fields. block: whether to wait. timeout: for how many
        seconds, None without a limit. The worker begins on its own; the arrays that it writes are ready after finish().
        A function works inside the call that finds no room, and may itself put items.
        Raises: QueueFullError, which is also a queue.Full; DTypeError for what the dtype cannot hold; InvalidValueError
        after finish(), and where a block of the kernel left an item; errors of the device, after which the item
        is in the queue.
        """
        op = "WorkQueue.put"
        record = records_of(item, self.item, op)
        if record.ndim:
            raise DTypeError(f"The item has the shape {record.shape}", op=op, remedy="Pass one item per call.")
        if timeout is not None and (not isinstance(timeout, (int, float)) or not timeout >= 0):
            raise InvalidValueError(f"timeout={timeout!r}", op=op, remedy="Give seconds, or None.")
        if not isinstance(block, (bool, np.bool_)):
            raise DTypeError(f"Got block of type {type(block).__name__}", op=op, remedy="Give True or False.")
        deadline = None if timeout is None else time.monotonic() + timeout
        while (pause := self._try(record, block and (deadline is None or time.monotonic() < deadline))) is not None:
            time.sleep(pause)

    def _try(self, record: np.ndarray[Any, Any], wait: bool) -> float | None:
        """None when the item is in the queue, else the seconds until the next attempt."""
        op = "WorkQueue.put"
        with self._lock:
            worker = self._worker
            if worker is None:
                raise InvalidValueError("The queue is finished", op=op, remedy="Make another one.")
            if worker.has_room():
                worker.push(record)
                return None
            if not wait:
                raise QueueFullError(
                    f"All {self.capacity} slots are taken", op=op, remedy="Wait, or make a larger queue."
                )
            worker.advance()
            return worker.pause

    def finish(self) -> WorkQueueReport:
        """Waits until all items are done, and returns what the queue did; then it takes no more. Synchronises.

        Called again it returns the same. Raises: DTypeError where the kernel's items have another size;
        InvalidValueError where a block left an item; errors of the device.
        """
        with self._lock:
            if self._worker is not None:
                self._report = self._worker.drain()
                self._worker = None
            assert self._report is not None
            return self._report

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.finish()

    def __del__(self) -> None:
        worker = getattr(self, "_worker", None)
        if worker is not None:
            worker.abandon()


def work_queue(
    backend: Backend,
    kernel: Kernel | Callable[..., object],
    capacity: int,
    args: tuple[object, ...],
    item: Any,
    blocks: int | None,
    block: int | tuple[int, ...] | None,
    shared: int,
    polls: int,
    stream: Stream | None,
) -> WorkQueue:
    """What Backend.programs.work_queue does."""
    room = whole(capacity, _OP, "capacity", 1)
    dtype = record_type(item, _OP, "item")
    whole(shared, _OP, "shared")
    if whole(polls, _OP, "polls") >= 2**32:
        raise InvalidValueError(f"polls={polls}", op=_OP, remedy="Give a number below 2**32.")
    if blocks is not None:
        blocks = whole(blocks, _OP, "blocks", 1)
    if room * (dtype.itemsize + 8) >= 2**62:
        raise InvalidValueError(f"capacity={room}", op=_OP, remedy="Make room for fewer items.")
    if not isinstance(kernel, Kernel):
        try:
            return WorkQueue(Calls(function_of(kernel, _OP), room, dtype, args), room, dtype)
        except MemoryError as error:
            raise InvalidValueError(f"capacity={room}: {error}", op=_OP, remedy="Make room for fewer items.") from None
    kernel_of(backend, kernel, _OP)
    try:
        worker = Ring(backend, kernel, room, dtype, args, blocks, block, shared, polls, stream)
    except StatorError as error:
        raise under_name(error, _OP) from None
    return WorkQueue(worker, room, dtype)
