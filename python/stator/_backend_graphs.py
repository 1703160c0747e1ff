"""The methods of Backend for graphs. What they do is in stator.graphs.graphs, which the first call loads."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast, overload

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from stator._array import Array
    from stator._typing import StreamLike
    from stator.backend import Backend
    from stator.graphs import Graph, GraphFunction
    from stator.graphs.graphs import GraphCache

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C")


@overload
def graph(
    function: Callable[P, R], /, *, max_graphs: int = 64, max_bytes: int | None = None
) -> GraphFunction[P, R]: ...
@overload
def graph(*, max_graphs: int = 64, max_bytes: int | None = None) -> Callable[[Callable[P, R]], GraphFunction[P, R]]: ...
def graph(
    function: Callable[P, R] | None = None, /, *, max_graphs: int = 64, max_bytes: int | None = None
) -> GraphFunction[P, R] | Callable[[Callable[P, R]], GraphFunction[P, R]]:
    """Captures a function once for each kind of arguments, and launches a graph from then on.

    The graph depends on dtypes, shapes, strides and alignment of the arrays among the arguments, also in tuples, lists
    and dicts, and on all other arguments, which can be hashed. The first two calls of each kind run the function to
    capture its work; what it does beside calling stator, such as printing, happens only then. Results are new arrays at
    every call. Arrays that it uses without their being arguments are read at each launch, and stay alive. Where a
    library of CUDA was given the address of an argument, each call captures again, and updates the graph. Inside a
    capture the function runs inline. max_graphs, max_bytes: what is kept; the graphs that were used longest ago are
    dropped (`f.cache_info()`).

    >>> @stator.graph
    ... def step(x):
    ...     return x * 2 + 1
    >>> step(stator.ones(3)).tolist()
    [3.0, 3.0, 3.0]
    """
    from stator.graphs.graphs import GraphFunction

    if function is None:
        return lambda given: GraphFunction(given, None, max_graphs, max_bytes)
    return GraphFunction(function, None, max_graphs, max_bytes)


class BackendGraphs:
    """A base class of Backend."""

    _cache_of_graphs: GraphCache | None = None

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

        >>> be.prepare(["matmul", "linalg.solve", "fft"])
        """
        from stator.programs._prepare import prepare

        prepare(self._as_backend(), ops)

    def capture(self, *, stream: StreamLike | None = None, record: bool = False) -> AbstractContextManager[Graph]:
        """Captures the work of a `with` block into a graph, instead of running it.

        Arrays that the block makes get their values when the graph is launched, and new ones at every launch; the
        arrays that it uses are kept alive, and their values are read at every launch. The stream, by default the
        current one, is current in the block, and captured only for this thread: other threads use it as before.
        Streams that wait for its events are captured too. What needs values on the host raises CaptureError, and so
        does an op whose entry in the op table says not_capturable. record: the calls of stator's functions are noted
        for Graph.save, which keeps every array alive that they make.

        >>> x = be.ones(3)
        >>> with be.capture() as graph:
        ...     y = x + 1
        >>> graph.launch()
        >>> y.tolist()
        [2.0, 2.0, 2.0]
        """
        from stator.graphs.graphs import capture

        return capture(self._as_backend(), stream, (), record)

    def load_graph(
        self, path: str | os.PathLike[str], *, max_graphs: int = 64, max_bytes: int | None = None
    ) -> GraphFunction[..., Any]:
        """The function in a file that GraphFunction.save or Graph.save wrote, on whatever device.

        Its arguments have the shapes and dtypes of those that it was saved with, in the same tuples, lists and dicts,
        and all other arguments are equal to those then; else ShapeError, DTypeError or InvalidValueError. It is
        captured as by graph(), which has max_graphs and max_bytes. A named tuple is returned as a tuple. Nothing but
        functions of stator runs, whatever the file has in it. GraphFileError for a file that is corrupt. Asynchronous,
        except that indices of sparse matrices in the file are checked.

        >>> be.graph(lambda x: stator.sum(x * 2)).save(path, be.ones(3))
        >>> be.load_graph(path)(be.full(3, 4.0)).item()
        24.0
        """
        from stator.graphs.graph_files import load_graph

        return load_graph(self._as_backend(), path, max_graphs, max_bytes)

    def graph(
        self, function: Callable[P, R], /, *, max_graphs: int = 64, max_bytes: int | None = None
    ) -> GraphFunction[P, R]:
        """As stator.graph, for arrays of this backend."""
        from stator.graphs.graphs import GraphFunction

        return GraphFunction(function, self._as_backend(), max_graphs, max_bytes)

    def while_loop(
        self, cond: Callable[[C], Array], body: Callable[[C], C], carry: C, *, limit: int | None = None
    ) -> C:
        """Runs `carry = body(carry)` on the device for as long as cond(carry) is true, and returns the last carry.

        carry: an array, or nested tuples, lists and dicts of arrays; a round keeps their shapes and dtypes. cond
        returns one bool, as an array. Both are called once, to capture their work, so that a round costs no call and
        nothing is read back. Within a capture the loop becomes a part of the graph. Asynchronous: where the condition
        is still true after `limit` rounds the loop ends, and the next call that synchronises raises LoopLimitError.

        >>> be.while_loop(lambda x: x < 100, lambda x: x * 2, be.asarray(3)).item()
        192
        """
        from stator.graphs.loops import while_loop

        return cast("C", while_loop(self._as_backend(), cond, body, carry, limit))

    def cond(self, condition: Array, then: Callable[..., R], otherwise: Callable[..., R], *operands: Any) -> R:
        """then(*operands) where the condition, one bool, is true on the device, else otherwise(*operands).

        Both return arrays of the same shapes and dtypes, as one array or in the same nested tuples, lists and dicts.
        Both are called, to capture their work; one of them runs. Within a capture the branches become parts of the
        graph. Asynchronous.

        >>> x = be.asarray([3.0, -4.0])
        >>> be.cond(stator.sum(x) > 0, lambda x: x, lambda x: -x, x).tolist()
        [-3.0, 4.0]
        """
        from stator.graphs.loops import cond

        return cast("R", cond(self._as_backend(), condition, then, otherwise, operands))

    @property
    def is_capturing(self) -> bool:
        """Whether the current stream is being captured."""
        from stator.graphs._graph import is_capturing

        return is_capturing(self._as_backend().current_stream)

    def is_capturing_graph(self) -> bool:
        """As is_capturing."""
        return self.is_capturing

    def begin_graph_capture(self, stream: StreamLike | None = None) -> None:
        """Begins a capture, as capture() does, which end_graph_capture() ends."""
        self._graphs.begin(self._as_backend(), stream)

    def end_graph_capture(self) -> Graph:
        """The graph of what was captured since begin_graph_capture(). CaptureError where none was begun."""
        return self._graphs.end()

    def launch_graph(self, graph: Graph, stream: StreamLike | None = None) -> None:
        """As Graph.launch()."""
        from stator.graphs.graphs import launch_graph

        launch_graph(graph, stream)

    def get_or_create_graph(self, key: Hashable, creator: Callable[[], Graph]) -> Graph:
        """The graph that is kept for the key; where there is none, what the creator returns."""
        return self._graphs.get(key, creator)

    def clear_graph_cache(self) -> None:
        """Drops what get_or_create_graph() and the methods that end in _graph keep."""
        self._graphs.clear()

    def elementwise_add_f32_graph(self, a: Array, b: Array) -> Array:
        """a + b of float32 arrays, by a graph for each shape."""
        return self._graphs.add(a, b)

    def matmul_f32_graph(self, a: Array, b: Array) -> Array:
        """a @ b of float32 arrays, by a graph for each shape."""
        return self._graphs.matmul(a, b)

    @property
    def _graphs(self) -> GraphCache:
        """The graphs of the backend, made at first use."""
        if self._cache_of_graphs is None:
            from stator.graphs.graphs import GraphCache

            self._cache_of_graphs = GraphCache(self._as_backend())
        return self._cache_of_graphs

    def _as_backend(self) -> Backend:
        return cast("Backend", self)
