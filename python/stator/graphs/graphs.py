"""Graphs: `Backend.capture`, and functions that are captured once for each kind of arguments.

A graph is a list of launches with their arguments. Launching it costs one call, however many there are.
"""

from __future__ import annotations

import functools
import inspect
import os
import weakref
from collections.abc import Callable, Hashable, Iterable, Sequence
from threading import RLock, local
from types import MethodType
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, ParamSpec, TypeVar

from stator._array import Array
from stator._backend import current_stream
from stator._shared import kept
from stator.errors import (
    BackendMismatchError,
    CaptureError,
    DTypeError,
    InvalidValueError,
    ShapeError,
    StatorError,
    require_open,
)
from stator.graphs import _graph
from stator.graphs._graph import Capture, Captured, CapturedFunction, Graph, Structure, flatten
from stator.programs._arguments import flag, under_name, whole
from stator.scopes._outside import belong, outside

if TYPE_CHECKING:
    from stator._backend import Backend, Stream
    from stator._typing import StreamLike

P = ParamSpec("P")
R = TypeVar("R")


def _parameters(function: Callable[..., Any]) -> Iterable[str]:
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):  # some functions of C have none
        return ()


def callable_of(function: object, op: str, name: str) -> Callable[..., Any]:
    """The function, whose work is captured. A class is none, since calling it makes a value."""
    if isinstance(function, type) or not callable(function):
        raise DTypeError(f"Got {name} of type {type(function).__name__}", op=op, remedy="Give a function.")
    return function


def stream_of(backend: Backend, stream: StreamLike | None, op: str) -> Stream:
    try:
        return current_stream(backend) if stream is None else backend.stream(stream)
    except StatorError as error:
        raise under_name(error, op) from None


def capture(backend: Backend, stream: StreamLike | None, fresh: Sequence[int] = (), record: bool = False) -> Capture:
    """What Backend.capture does."""
    on = stream_of(backend, stream, "Backend.capture")
    if not flag(record, "Backend.capture", "record"):
        return _graph.new_capture(backend, on, fresh)
    from stator.graphs._recorder import Recorder

    recorder = Recorder(backend, on)
    return _graph.new_capture(backend, on, fresh, recorder, recorder.recording())


class GraphCache:
    """The graphs of a backend by key, and the capture that begin() began. Thread-safe."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._graphs: dict[Hashable, Graph] = {}
        self._begun = local()  # `capture`: the one that this thread began

    def begin(self, backend: Backend, stream: StreamLike | None) -> None:
        """What Backend.graphs.begin_capture does."""
        made = capture(backend, stream_of(backend, stream, "Backend.graphs.begin_capture"))
        try:
            made.__enter__()
            self._begun.capture = made
        except StatorError as error:
            raise under_name(error, "Backend.graphs.begin_capture") from None
        except BaseException:
            if getattr(self._begun, "capture", None) is made:
                self._begun.capture = None
            made.cancel()
            raise

    def end(self) -> Graph:
        """What Backend.graphs.end_capture does."""
        made: Capture | None = getattr(self._begun, "capture", None)
        if made is None:
            raise CaptureError(
                "No capture was begun in this thread",
                op="Backend.graphs.end_capture",
                remedy="Call begin_capture() first.",
            )
        self._begun.capture = None
        try:
            made.__exit__(None, None, None)
        except StatorError as error:
            raise under_name(error, "Backend.graphs.end_capture") from None
        return made.graph

    def get(self, backend: Backend, key: Hashable, creator: Callable[[], Graph]) -> Graph:
        """What Backend.graphs.get_or_create does."""
        op = "Backend.graphs.get_or_create"
        require_open(backend, op)
        require_key(key, op)
        with self._lock:
            if key not in self._graphs:
                with outside():
                    made = callable_of(creator, op, "creator")()
                if not isinstance(made, Graph):
                    raise DTypeError(
                        f"The creator returned {type(made).__name__}",
                        op=op,
                        remedy="Return a stator.graphs.Graph.",
                    )
                if made.backend is not backend:
                    raise BackendMismatchError(
                        "The creator returned a graph of another backend",
                        op=op,
                        remedy="Capture the graph with this backend.",
                    )
                self._graphs[key] = made
            return self._graphs[key]

    def clear(self) -> None:
        """What Backend.graphs.clear_cache does."""
        with self._lock:
            self._graphs.clear()


def cache_of(backend: Backend) -> GraphCache:
    """The backend's graphs by key, made at first use."""
    return kept(backend, "_graphs", GraphCache)


def require_key(key: object, op: str) -> None:
    """InvalidValueError for what cannot be a key."""
    try:
        hash(key)
    except TypeError as error:
        raise InvalidValueError(
            f"An argument cannot be a key: {error}", op=op, remedy="Give arrays, and other values that can be hashed."
        ) from None


class GraphInfo(NamedTuple):
    """Figures of a function that is captured: calls that found a graph, captures, graphs that were dropped, those that
    are kept, the bytes of memory that these own, and the limits.

    Where captures grow with every call, the work cannot be given other arguments, and each call captures it again.
    """

    hits: int
    captures: int
    evictions: int
    graphs: int
    nbytes: int
    max_graphs: int
    max_bytes: int | None


_functions: weakref.WeakSet[GraphFunction[Any, Any]] = weakref.WeakSet()  # for totals()


def totals() -> tuple[int, int, int]:
    """Hits, captures and graphs of all functions that are alive."""
    figures = [(*f._figures(), f._captures) for f in list(_functions)]
    return sum(hits for hits, _, _ in figures), sum(c for _, _, c in figures), sum(n for _, n, _ in figures)


class GraphFunction(CapturedFunction, Generic[P, R]):
    """A function whose work is captured once for each kind of arguments, and launched as a graph from then on.

    Made by stator.graph and Backend.graph, which say what it does.
    """

    def __init__(
        self,
        function: Callable[P, R],
        backend: Backend | None,
        max_graphs: int,
        max_bytes: int | None,
        has_out: bool | None = None,
    ) -> None:
        op = "graph" if backend is None else "Backend.graph"
        self._function: Callable[P, R] = callable_of(function, op, "function")
        functools.update_wrapper(self, function)
        super().__init__(function, backend, "out" in _parameters(function) if has_out is None else has_out)
        self._backend = backend
        self._max_graphs = whole(max_graphs, op, "max_graphs", 1)
        self._max_bytes = None if max_bytes is None else whole(max_bytes, op, "max_bytes")
        self._captures = self._evictions = 0
        _functions.add(self)

    if TYPE_CHECKING:

        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...

    @property
    def _name(self) -> str:
        return getattr(self, "__name__", "graph")

    def _backend_of(self, arguments: list[Array]) -> Backend:
        from stator._backend import resolve_backend

        found: dict[int, Backend] = {id(x.backend): x.backend for x in arguments}
        if self._backend is not None:
            found[id(self._backend)] = self._backend
        if len(found) > 1:
            raise BackendMismatchError(
                "Arrays of two backends",
                op=self._name,
                remedy="Move one with to_device(), or make both with one Backend.",
            )
        return next(iter(found.values())) if found else resolve_backend(None)

    def _copy_result(self, to: Array, x: Array) -> None:
        """Copies a result to an array of its shape and dtype."""
        if to.shape != x.shape:
            raise ShapeError(
                f"out has shape {to.shape}, the result has {x.shape}",
                op=self._name,
                remedy="Give an array of the result's shape.",
            )
        if to.dtype != x.dtype:
            raise DTypeError(
                f"out has dtype {to.dtype}, the result has {x.dtype}",
                op=self._name,
                remedy="Give an array of the result's dtype.",
            )
        to[...] = x

    def _capture(
        self, key: Structure, before: Captured | None, backend: Backend, arguments: list[Array], args: Any, kwargs: Any
    ) -> Any:
        """Captures the function for these arguments, launches the graph, and keeps it."""
        fresh: list[int] = []
        stream = current_stream(backend)
        while True:
            with outside() as scopes, capture(backend, stream, fresh) as graph:
                results, structure = flatten(self._function(*args, **kwargs))
            self._captures += 1
            made, places = _graph.placed_results(graph, results, arguments)
            shared = _graph.shared_outputs(graph, made)
            if not shared or set(shared) <= set(fresh):
                break
            fresh.extend(shared)
        mode = "first" if _graph.bind(graph, arguments, made) else "recaptured"
        try:
            if before is not None:
                alike = before.mode == mode == "first" and before.structure == structure
                mode = "bound" if alike and _graph.settle(graph, before.graph) else "recaptured"
                _graph.replace(graph, before.graph)
            graph.launch(stream=stream)
            captured = Captured(graph, structure, places, mode)
            self._evictions += self._keep(key, captured, self._max_graphs, self._max_bytes)
        except BaseException:
            self._drop(key)  # the previous graph may have been replaced
            raise
        belong(made, scopes, backend)
        return captured.result(arguments, made)

    def save(self, path: str | os.PathLike[str], *args: P.args, **kwargs: P.kwargs) -> None:
        """Writes the work to a file, for arguments like these, which Backend.graphs.load reads in any process.

        The function runs once, to record the calls of stator's functions; nothing runs on the device. Arrays that are
        not arguments are constants, whose values are in the file; generators go on from the state that they have now.
        Synchronises. CaptureError for what no file can have, such as a kernel of your own.

        >>> be.graph(lambda x: x * 2).save(path, be.ones(3))
        >>> be.graphs.load(path)(be.full(3, 4.0)).tolist()
        [8.0, 8.0, 8.0]
        """
        from stator.graphs.graph_files import save_function

        save_function(self, path, args, kwargs)

    def cache_info(self) -> GraphInfo:
        """The figures of the graphs of this function."""
        hits, graphs = self._figures()
        return GraphInfo(
            hits, self._captures, self._evictions, graphs, self._nbytes(), self._max_graphs, self._max_bytes
        )

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<stator.graph of {self._name}>"
