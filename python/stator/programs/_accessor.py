"""Backend.programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stator._accessor import Accessor
from stator.programs._arguments import flag
from stator.programs._disk_cache import disk_cache
from stator.programs.programs import cache_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from stator._array import Array
    from stator._backend import Stream
    from stator._typing import StreamLike
    from stator.programs import (
        CooperativeConfig,
        CooperativeReport,
        Diagnostics,
        Kernel,
        KernelDescriptor,
        LaunchSequence,
        ProgramCacheInfo,
        WorkQueue,
    )


class ProgramAccessor(Accessor):
    """User kernels of a backend, as Backend.programs: the cache of programs, and what schedules launches."""

    __slots__ = ()

    def create_kernel(self, descriptor: KernelDescriptor) -> Kernel:
        """As compile(), of one kernel that a stator.programs.KernelDescriptor describes."""
        from stator.programs.programs import create_kernel

        return create_kernel(self._backend, descriptor)

    def info(self) -> ProgramCacheInfo:
        """Figures of the caches that compile() uses, of loaded programs and of code on disk. Does not synchronise.

        The folder on disk is shared by the processes of a user: STATOR_CACHE_DIR names it, by default ~/.cache/stator,
        and STATOR_CACHE_SIZE its limit, by default 1 GiB.

        >>> info = be.programs.info()
        >>> info.hits, info.disk_hits, info.seconds_saved
        (0, 0, 0.0)
        """
        return cache_of(self._backend).info()

    def clear_cache(self, *, on_disk: bool = False) -> None:
        """Drops the loaded programs that compile() keeps; kernels in use stay loaded. Does not synchronise.

        on_disk: removes also the code in the folder on disk, which the processes of the user share; they compile it
        again when they need it. Raises: DTypeError for an on_disk that is not a bool.

        >>> be.programs.clear_cache()
        >>> be.programs.info().programs
        0
        """
        op = "Backend.programs.clear_cache"
        remove_files = flag(on_disk, op, "on_disk")
        cache_of(self._backend).clear()
        if remove_files and (files := disk_cache(op)):
            files.clear()

    def supports_cooperative(self) -> bool:
        """Whether kernels can be launched with all blocks resident, so that the grid may synchronise.

        False on the cpu, which runs no user kernels. Does not synchronise.
        """
        from stator.programs.cooperative import is_supported

        return is_supported(self._backend)

    def suggest_cooperative(self, kernel: Kernel, elements: int, shared: int = 0) -> CooperativeConfig:
        """Blocks and threads for a cooperative launch of a kernel that loops over elements; does not synchronise.

        kernel: of this backend. elements: how many there are, at least 1. shared: bytes of dynamic shared memory. The
        threads are those of kernel.suggest_block(), and the blocks as many as have elements and are resident at once.
        Raises: InvalidValueError where the shared memory leaves room for no block, UnsupportedError without support.

        >>> config = be.programs.suggest_cooperative(kernel, x.size)  # doctest: +SKIP
        >>> number = be.programs.launch_cooperative(kernel, config, x, x.size)  # doctest: +SKIP
        >>> be.programs.finish_cooperative(number).milliseconds  # doctest: +SKIP
        """
        from stator.programs.cooperative import suggest_config

        return suggest_config(self._backend, kernel, elements, shared)

    def launch_cooperative(
        self,
        kernel: Kernel,
        config: tuple[int | tuple[int, ...], int | tuple[int, ...]],
        *args: object,
        shared: int = 0,
        stream: Stream | None = None,
    ) -> int:
        """Launches a kernel with all blocks resident, and returns a number for finish_cooperative().

        config: blocks, and threads of a block, each as a number or (x, y, z). args, shared, stream: as for
        Kernel.launch. Asynchronous. A grid of which some blocks would have to wait is refused, never split. What is
        not finished is released with the backend.
        Raises: InvalidValueError with the limit, by how much it is exceeded and what to change; UnsupportedError
        without support; what Kernel.launch raises.
        """
        from stator.programs.cooperative import launch

        return launch(self._backend, kernel, config, args, shared, stream)

    def finish_cooperative(self, launched: int) -> CooperativeReport:
        """Waits for a launch by its number, and returns milliseconds, occupancy, blocks and threads.

        Raises: InvalidValueError for a number that is unknown or was finished already; errors of the kernel, after
        which the number is finished too.
        """
        from stator.programs.cooperative import finish

        return finish(self._backend, launched)

    def batched(
        self,
        kernel: Kernel | Callable[..., None],
        problems: Sequence[Any],
        *args: object,
        blocks: int = 1,
        block: int | tuple[int, ...] | None = None,
        shared: int = 0,
        stream: Stream | None = None,
    ) -> list[Any]:
        """Solves many small problems of different sizes in one launch of a kernel, and returns their arrays.

        problems: a list of tuples of arrays, each of any shape, also empty, and from the device or the host; or of
        arrays, where each problem has one. All problems have as many arrays, of the same dtypes. The first arrays of
        all problems are copied to one array one after another, so are the second ones, and so on. The kernel gets

            (const long long* offsets, T0* first, T1* second, ..., args...)

        and is launched once, with the grid (problems, blocks). The problem blockIdx.x has of the j-th array the
        elements from offsets[j * (gridDim.x + 1) + blockIdx.x] up to the next offset. block: threads of a block, by
        default kernel.suggest_block(). shared, stream: as for Kernel.launch. The kernel writes into the copies, which
        are returned as views in the form of `problems`, while the arrays of the problems stay as they are: results are
        arrays of a problem too.

        On any device the kernel may also be a function, which is called with the arrays of each problem and args,
        writes into these arrays, and returns nothing. blocks, block and shared have no meaning for it.

        Asynchronous; host arrays and offsets are one copy to the device for each position in the tuple.
        Raises: InvalidValueError and DTypeError for problems that do not have the same arrays, what Kernel.launch
        raises.

        >>> def centre(x):
        ...     x[...] = x - x.mean()
        >>> [x.to_numpy().tolist() for x in be.programs.batched(centre, [be.asarray([1.0, 3.0]), be.asarray([5.0])])]
        [[-1.0, 1.0], [0.0]]
        """
        from stator.programs.batches import batched

        return batched(self._backend, kernel, problems, args, blocks, block, shared, stream)

    def diagnostics(self, capacity: int, dtype: Any) -> Diagnostics:
        """Room on the device for records that kernels append, and the host reads in one copy.

        capacity: how many records are kept, at least 1; those that find no room are counted. dtype: of a record, a
        NumPy dtype of numbers or a structured one (align=True lays fields out as C++ does). A kernel includes
        <stator/diagnostics.hpp> and takes a stator::Diagnostics<Record>, for which it is given the `array`:
        push(record) appends from any thread. read() returns the records and how many were lost, clear() forgets them,
        and append() adds records from the host, on any device. Asynchronous.
        Raises: InvalidValueError, DTypeError, OutOfMemoryError.

        >>> found = be.programs.diagnostics(100, "float32")
        >>> kernel.launch(grid, block, x, found.array)  # doctest: +SKIP
        >>> found.append([1.5, 2.5])
        2
        >>> found.read()
        DiagnosticsReport(records=array([1.5, 2.5], dtype=float32), lost=0)
        """
        from stator.programs.diagnostics import Diagnostics

        return Diagnostics(self._backend, capacity, dtype)

    def work_queue(
        self,
        kernel: Kernel | Callable[..., object],
        capacity: int,
        *args: object,
        item: Any,
        blocks: int | None = None,
        block: int | tuple[int, ...] | None = None,
        shared: int = 0,
        polls: int = 1000,
        stream: Stream | None = None,
    ) -> WorkQueue:
        """A queue whose items a kernel works on while the host puts more: put(item), and finish() for what it did.

        capacity: items that wait or are being worked on, at least 1. item: their dtype, a NumPy dtype of numbers or a
        structured one (align=True lays fields out as C++ does). A kernel includes <stator/work_queue.hpp>; its
        parameters are a stator::WorkQueue<Item> and what takes args, and each block calls take(item) until it is false.
        blocks: of a launch, by default as many as are resident at once, and at most capacity. block: threads of a
        block, by default kernel.suggest_block(). shared: bytes of dynamic shared memory. stream: of the launches, by
        default the current one.

        The items are in page-locked memory, which the blocks read. The kernel stays on the device while there are
        items, and leaves when each block has found nothing `polls` times; put() launches it again, so nothing waits for
        it longer than that. It runs when something waits for it where the device is emulated. Items are taken in the
        order in which they are put, and blocks work on several at a time.

        On any device the kernel may also be a function, which is called with a NumPy array of items, and args, when the
        queue is full and at the end. blocks, block, shared, polls and stream have no meaning for it.

        Does not synchronise. Raises: DTypeError for a kernel without a queue, and for args that do not fit it;
        InvalidValueError; OutOfMemoryError.

        >>> seen = []
        >>> with be.programs.work_queue(lambda items: seen.extend(items.tolist()), 2, item="int32") as queue:
        ...     for i in range(3):
        ...         queue.put(i)
        >>> seen, queue.finish().launches
        ([0, 1, 2], 2)
        """
        from stator.programs.work_queue import work_queue

        return work_queue(self._backend, kernel, capacity, args, item, blocks, block, shared, polls, stream)

    def sequence(
        self,
        *,
        grid: int | tuple[int, ...] | Array | None = None,
        block: int | tuple[int, ...] | None = None,
        stream: StreamLike | None = None,
    ) -> LaunchSequence:
        """Uploads, steps and reads that are written down once and run as often as wanted, with one fence.

        grid, block: of launches that have none of their own. stream: on which everything runs, by default the current
        one. The result's upload(), static(), prefix(), repeat() and read() describe the work; run(), submit(),
        run_borrowed(), run_into() and run_timed() do it. Steps are launches of kernels, or on any device functions of
        arrays that work in place. The repeated part is captured once: a repetition is one call of the runtime. Does not
        synchronise. Raises: DTypeError, BackendMismatchError.

        >>> x, out = be.zeros(3), numpy.empty(3)
        >>> def halve(x):
        ...     x *= 0.5
        >>> work = be.programs.sequence().upload(x, numpy.array([8.0, 16.0, 24.0])).repeat(3, (halve, x)).read(x, out)
        >>> work.run()
        [array([1., 2., 3.])]
        >>> work.repeat(0).submit().result()
        [array([ 8., 16., 24.])]
        """
        from stator.programs.sequences import sequence

        return sequence(self._backend, grid, block, stream)
