"""Backend.streams."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, overload

from stator import _backend
from stator._accessor import Accessor
from stator.errors import DTypeError, OutOfRangeError

if TYPE_CHECKING:
    from stator._backend import Stream
    from stator._typing import StreamLike
    from stator.streams import StreamPool


class StreamAccessor(Accessor):
    """The streams of a backend, as Backend.streams: a sequence, of which the first is the default stream.

    An index is an integer, from the end where it is negative, or a slice, which gives a tuple. OutOfRangeError, an
    IndexError, beyond them.

    >>> be.streams[0].index, len(be.streams) == be.options["stream_pool_size"]
    (0, True)
    """

    __slots__ = ()

    def __len__(self) -> int:
        return _backend.stream_count(self._backend)

    @overload
    def __getitem__(self, index: int) -> Stream: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Stream, ...]: ...
    def __getitem__(self, index: int | slice) -> Stream | tuple[Stream, ...]:
        op, count = "Backend.streams.__getitem__", len(self)
        try:
            found = range(count)[index]
        except IndexError:
            remedy = f"Pass an index from {-count} to {count - 1}."
            raise OutOfRangeError(f"index={index}", op=op, remedy=remedy) from None
        except TypeError:
            cause = f"Got index={index!r} of type {type(index).__name__}"
            raise DTypeError(cause, op=op, remedy="Pass an integer or a slice.") from None
        return self._backend.stream(found) if isinstance(found, int) else tuple(map(self._backend.stream, found))

    def __iter__(self) -> Iterator[Stream]:
        return map(self._backend.stream, range(len(self)))

    @property
    def current(self) -> Stream:
        """The stream that ops use: that of the innermost `with stream:`, else stream 0. As Backend.current_stream."""
        return _backend.current_stream(self._backend)

    @property
    def priority_range(self) -> tuple[int, int]:
        """The least and the greatest priority of streams; the greatest is the lower number."""
        return _backend.priority_range(self._backend)

    def pool(self, count: int, /, *, priority: int = 0) -> StreamPool:
        """The streams after the default one, in turn.

        count: 1 to 7. priority: of them all, see stream(). Pools may share streams. InvalidValueError where the backend
        has fewer streams that have the priority or were not used yet.

        >>> pool = be.streams.pool(2)
        >>> [pool.next().index for _ in range(3)]
        [1, 2, 1]
        """
        from stator.streams import StreamPool

        return StreamPool(_backend.pool_streams(self._backend, count, priority))

    def external(self, stream: StreamLike, /) -> Stream:
        """The stream of another library, an object with __cuda_stream__, as one of this backend. On cuda.

        It is not destroyed, and the object is kept until Stream.close(), or until the backend has closed; both wait for
        it. The same one gives the same Stream. InvalidValueError beyond 31 - len(streams) of them in a backend's life,
        BackendMismatchError for a stream of another device. A handle that is not a stream cannot be distinguished from
        one: CUDA follows it, and the process ends.
        """
        return _backend.external_stream(self._backend, stream)
