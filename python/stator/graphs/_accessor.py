"""Backend.graphs."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast

from stator._accessor import Accessor
from stator.graphs.graphs import cache_of, stream_of

if TYPE_CHECKING:
    from stator._array import Array
    from stator._typing import StreamLike
    from stator.graphs import Graph, GraphFunction

R = TypeVar("R")
C = TypeVar("C")


class GraphAccessor(Accessor):
    """Graphs of a backend, as Backend.graphs: loops and branches, captures, saved graphs, and a cache of graphs."""

    __slots__ = ()

    def prepare(self, ops: Sequence[str] | None = None) -> None:
        """Loads and makes what first calls of ops would, so that these, captured or not, need no more than others.

        ops: names of ops as they are called, such as "matmul" and "linalg.solve", or of families, such as "fft" (see
        stator.op_table()); None for all. On cuda the kernels are loaded, which for all of them takes a moment and
        memory of the device; where the build has no machine code for the GPU, the driver compiles them now. A kernel
        that is loaded later may wait for kernels that run, and so for ever for one that waits for it. Libraries are
        opened, and for the current stream their handles, workspaces and scratch memory are made; on the cpu the workers
        start. What depends on shapes is made by the calls: results, and plans of transforms and products. A missing
        library is LibraryNotFoundError where a named op cannot do without it. InvalidValueError for unknown names,
        CaptureError while the stream is captured. Synchronises.

        >>> be.graphs.prepare(["matmul", "linalg.solve", "fft"])
        """
        from stator.programs._prepare import prepare

        prepare(self._backend, ops)

    def load(
        self, path: str | os.PathLike[str], *, max_graphs: int = 64, max_bytes: int | None = None
    ) -> GraphFunction[..., Any]:
        """The function in a file that GraphFunction.save or Graph.save wrote, on whatever device.

        Its arguments have the shapes and dtypes of those that it was saved with, in the same tuples, lists and dicts,
        and all other arguments are equal to those then; else ShapeError, DTypeError or InvalidValueError. It is
        captured as by graph(), which has max_graphs and max_bytes. A named tuple is returned as a tuple. Nothing but
        functions of stator runs, whatever the file has in it. GraphFileError for a file that is corrupt. Asynchronous,
        except that indices of sparse matrices in the file are checked.

        >>> be.graph(lambda x: stator.sum(x * 2)).save(path, be.ones(3))
        >>> be.graphs.load(path)(be.full(3, 4.0)).item()
        24.0
        """
        from stator.graphs.graph_files import load_graph

        return load_graph(self._backend, path, max_graphs, max_bytes)

    def while_loop(
        self, cond: Callable[[C], Array], body: Callable[[C], C], carry: C, *, limit: int | None = None
    ) -> C:
        """Runs `carry = body(carry)` on the device for as long as cond(carry) is true, and returns the last carry.

        carry: an array, or nested tuples, lists and dicts of arrays; a round keeps their shapes and dtypes. cond
        returns one bool, as an array. Both are called once, to capture their work, so that a round costs no call and
        nothing is read back. Within a capture the loop becomes a part of the graph. Asynchronous: where the condition
        is still true after `limit` rounds the loop ends, and the next call that synchronises raises LoopLimitError.

        >>> be.graphs.while_loop(lambda x: x < 100, lambda x: x * 2, be.asarray(3)).item()
        192
        """
        from stator.graphs.loops import while_loop

        return cast("C", while_loop(self._backend, cond, body, carry, limit))

    def cond(self, condition: Array, then: Callable[..., R], otherwise: Callable[..., R], *operands: Any) -> R:
        """then(*operands) where the condition, one bool, is true on the device, else otherwise(*operands).

        Both return arrays of the same shapes and dtypes, as one array or in the same nested tuples, lists and dicts.
        Both are called, to capture their work; one of them runs. Within a capture the branches become parts of the
        graph. Asynchronous.

        >>> x = be.asarray([3.0, -4.0])
        >>> be.graphs.cond(stator.sum(x) > 0, lambda x: x, lambda x: -x, x).tolist()
        [-3.0, 4.0]
        """
        from stator.graphs.loops import cond

        return cast("R", cond(self._backend, condition, then, otherwise, operands))

    @property
    def is_capturing(self) -> bool:
        """Whether the current stream is being captured."""
        from stator.graphs._graph import is_capturing

        return is_capturing(stream_of(self._backend, None, "Backend.graphs.is_capturing"))

    def begin_capture(self, stream: StreamLike | None = None) -> None:
        """Begins a capture, as capture() does, which end_capture() ends."""
        cache_of(self._backend).begin(self._backend, stream)

    def end_capture(self) -> Graph:
        """The graph of what was captured since begin_capture(). CaptureError where none was begun."""
        return cache_of(self._backend).end()

    def get_or_create(self, key: Hashable, creator: Callable[[], Graph]) -> Graph:
        """The graph that is kept for the key; where there is none, what the creator returns.

        Raises: BackendClosedError, and then the creator is not called; BackendMismatchError for a graph of another
        backend; InvalidValueError for a key that cannot be hashed; DTypeError for what is not a graph.
        """
        return cache_of(self._backend).get(self._backend, key, creator)

    def clear_cache(self) -> None:
        """Drops the graphs that get_or_create() keeps."""
        cache_of(self._backend).clear()
