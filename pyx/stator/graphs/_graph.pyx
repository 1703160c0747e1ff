# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
# cython: annotation_typing=False, freethreading_compatible=True
"""Graphs: work that is captured from a stream once and launched as often as wanted."""
from collections import namedtuple
from dataclasses import fields
from decimal import Decimal
from threading import RLock

import numpy as np

cimport cython
from libc.stdint cimport int64_t, uint64_t, uintptr_t
from libc.string cimport memcpy

from stator._array cimport Array, as_array, wrap_array
from stator._backend cimport Backend, Stream, as_backend, enter, enter_stream
from stator._convert cimport to_int, wrong_type
from stator._random cimport CapturedDraws, draws_in
from stator.cpp cimport array as cpp_array
from stator.cpp.backend cimport Stream as CppStream
from stator.cpp.error cimport translate_exception
from stator.cpp.random cimport State
from stator.cpp.std cimport decoded, string, vector

from stator._backend import add_stream, remove_stream
from stator._random import begin_draws, end_draws
from stator.errors import CaptureError, InvalidValueError

include "_structure.pxi"

# One captured call: its kind ("kernel", "copy", "fill", "library", "graph", "loop", "branch", "end"), the name of the
# kernel or function, and the op that made it.
GraphNode = namedtuple("GraphNode", ("kind", "name", "op"), module="stator.graphs._graph")


cdef int pointers(list arrays, vector[const cpp_array.Array*]& out, str op) except -1:
    out.reserve(len(arrays))
    for x in arrays:
        if not isinstance(x, Array):
            raise wrong_type(x, op, "arguments", "arrays")
        out.push_back(&(<Array>x).c)
    return 0


cdef Graph checked(object value, str op):
    if not isinstance(value, Graph):
        raise wrong_type(value, op, "graph", "a Graph")
    if not (<Graph>value).captured:
        raise CaptureError("The graph has not been captured", op=op, remedy="Leave the capture's with-block first.")
    return <Graph>value


# The states that a launch draws from. Those of several threads draw one after the other, each what follows the other
# one's; in a capture they take their part of what the graph around draws.
cdef int draw_anew(Graph graph, const CppStream& on, vector[State]& states) except -1:
    cdef CapturedDraws draws, outer
    cdef State* state
    for draws in graph.draws:
        outer = draws_in(draws.generator, on)
        state = draws.generator.real_state() if outer is None else &outer.state
        draws.generator.lock.acquire()
        try:
            states.push_back(state[0])
            if draws.state.seed == draws.first.seed:
                state.counter += draws.state.counter - draws.first.counter
            else:  # the work sets another seed
                state[0] = draws.state
        finally:
            draws.generator.lock.release()
    return 0


cdef class Graph:
    """Graph()\n--\n
    Captured work of one backend, made by Backend.capture(). It owns the memory that its work uses in between, and keeps
    alive the arrays that the work reads and writes."""

    def __init__(self) -> None:
        raise TypeError("Graph has no constructor. Use Backend.capture().")

    def __dealloc__(self):
        cpp.release_later(self.c)

    def launch(self, *, stream: StreamLike | None = None) -> None:
        """Enqueues the captured work, which reads and writes the arrays of the capture. Asynchronous.

        stream: where it runs; None is the current stream. Every launch draws new random numbers. CaptureError inside
        the capture's `with` block, BackendMismatchError for a stream of another backend.
        """
        cdef Graph graph = checked(self, "Graph.launch")
        cdef CppStream on
        cdef vector[State] states
        enter_stream(graph.backend, stream, on, "Graph.launch")
        draw_anew(graph, on, states)
        with nogil:
            graph.c.launch(on, cpp.StateSpan(states.data(), states.size()))

    def save(self, path: str | PathLike[str], *, inputs: Sequence[Array] = (),
             outputs: Sequence[Array] = ()) -> None:
        """Writes a recorded graph to a file, which Backend.graphs.load reads in any process as a function.

        inputs: arrays that the work uses, which become the function's arguments; others are constants, whose current
        values are in the file. outputs: the arrays that the function returns. Synchronises. CaptureError unless the
        capture had record=True, and for work that a file cannot have, such as a user kernel.

        >>> x = be.ones(3)
        >>> with be.capture(record=True) as graph:
        ...     y = x * 2
        >>> graph.save(path, inputs=[x], outputs=[y])
        >>> be.graphs.load(path)(be.full(3, 4.0)).tolist()
        [8.0, 8.0, 8.0]
        """
        from stator.graphs.graph_files import save_graph
        save_graph(checked(self, "Graph.save"), path, inputs, outputs)

    def replay(self, *, stream: StreamLike | None = None) -> None:
        """As launch(), under PyTorch's name."""
        self.launch(stream=stream)

    @property
    def nodes(self) -> list[GraphNode]:
        """The captured calls in their order: kind ("kernel", "copy", ...), name, and the op that made it."""
        cdef vector[cpp.GraphNode] found = checked(self, "Graph.nodes").c.nodes()
        return [GraphNode(decoded(found[i].kind), decoded(found[i].name), decoded(found[i].op))
                for i in range(found.size())]

    def to_dot(self) -> str:
        """The graph in Graphviz's language DOT: a node for each call, an edge for each dependency through memory.

        A branch or a loop has a node for its begin and one for its end, with its calls between them.
        """
        cdef vector[cpp.GraphNode] found = checked(self, "Graph.to_dot").c.nodes()
        cdef size_t i, k
        lines, writer, readers, parts = ["digraph graph {", "  node [shape=box];"], {}, {}, []
        for i in range(found.size()):
            kind, name = decoded(found[i].kind), decoded(found[i].name)
            lines.append(f'  n{i} [label="{name}"];' if kind == "kernel" else f'  n{i} [label="{kind}: {name}"];')
            before = set()
            for k in range(found[i].reads.size()):
                place = <uintptr_t>found[i].reads[k]
                before.update(writer.get(place, ()))
                readers.setdefault(place, []).append(i)
            for k in range(found[i].writes.size()):
                place = <uintptr_t>found[i].writes[k]
                before.update(writer.get(place, ()), readers.pop(place, ()))
                writer[place] = (i,)
            if kind == "end":
                before.update(range(parts.pop(), i))
            elif parts:
                before.add(parts[-1])
            if kind in ("loop", "branch"):
                parts.append(i)
            lines += [f"  n{at} -> n{i};" for at in sorted(before - {i})]
        return "\n".join([*lines, "}", ""])

    @property
    def nbytes(self) -> int:
        """The bytes of memory that the graph owns."""
        return checked(self, "Graph.nbytes").c.bytes()

    def __len__(self) -> int:
        return checked(self, "Graph.__len__").c.size()

    def __repr__(self) -> str:
        if not self.captured:
            return "<stator.graphs.Graph, not captured>"
        return f"<stator.graphs.Graph of {len(self)} calls on {self.backend.device_name}>"


def recording_of(graph: Graph) -> object:
    """The recorder of the capture, None where there was none."""
    return (<Graph?>graph).recording


@cython.auto_pickle(False)
@cython.no_gc_clear
cdef class Capture:
    """Capture()\n--\n
    What Backend.capture() returns: a `with` block whose work becomes a graph."""
    cdef Stream on
    cdef readonly Graph graph
    cdef list fresh
    cdef object recording  # a block in which the calls are noted, or None
    cdef bint used, begun, draws, current, records

    def __init__(self) -> None:
        raise TypeError("Capture has no constructor. Use Backend.capture().")

    def __enter__(self) -> Graph:
        cdef vector[int] numbers
        if self.used:
            raise CaptureError("The capture was entered before", op="Backend.capture",
                               remedy="Call capture() again.")
        for number in self.fresh:
            numbers.push_back(number)
        with nogil:
            cpp.begin_capture(self.on.c, cpp.NumberSpan(numbers.data(), numbers.size()))
        self.used = self.begun = True
        try:
            begin_draws(self.graph.backend)
            self.draws = True
            add_stream(self.on)
            self.current = True
            if self.recording is not None:
                self.recording.__enter__()
                self.records = True
        except BaseException:
            self.drop()
            raise
        return self.graph

    # Ends all but the capture itself: the draws.
    cdef list leave(self):
        if self.records:
            self.records = False
            self.recording.__exit__(None, None, None)
        if self.current:
            self.current = False
            remove_stream(self.on)
        if self.draws:
            self.draws = False
            return end_draws(self.graph.backend)
        return []

    cdef object drop(self):
        try:
            self.leave()
        finally:
            try:
                self.leave()  # what an interrupt has left
            finally:
                if self.begun:
                    self.begun = False
                    with nogil:
                        cpp.drop_capture(self.on.c)

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        cdef list made
        if not self.begun:
            return
        if kind is not None:
            self.drop()
            return
        try:
            if self.records:
                self.graph.recording.begin()  # what was captured since the last call was recorded
            made = self.leave()
            end_capture(self.on, self.graph, made)
            self.begun = False
        except BaseException:
            self.drop()
            raise

    def cancel(self) -> None:
        """Ends the capture without a graph; does nothing once it has ended."""
        if self.begun:
            self.drop()

    def __dealloc__(self):
        self.cancel()


def new_capture(backend: Backend, stream: Stream, fresh: Sequence[int] = (), recorder: object = None,
                recording: object = None) -> Capture:
    """A capture that has not begun. recorder: of the calls in it, for Graph.save; recording: the block that does so."""
    cdef Capture out = Capture.__new__(Capture)
    out.on = <Stream?>stream
    out.recording = recording
    out.fresh = list(fresh)
    out.graph = Graph.__new__(Graph)
    out.graph.recording = recorder
    out.graph.backend = as_backend(backend, "Backend.capture")
    out.graph.draws = []
    return out


cdef int end_capture(Stream stream, Graph graph, list made) except -1:
    cdef CapturedDraws one
    cdef vector[uint64_t] drawn
    for one in made:
        drawn.push_back(one.state.counter - one.first.counter if one.state.seed == one.first.seed else 0)
    with nogil:
        graph.c = cpp.end_capture(stream.c, cpp.CountSpan(drawn.data(), drawn.size()))
    graph.draws = made
    graph.captured = True
    return 0


def is_capturing(stream: Stream) -> bool:
    """Whether the stream is being captured."""
    return cpp.is_capturing((<Stream?>stream).c)


def shared_outputs(graph: Graph, results: list[Array]) -> list[int]:
    """The allocations of results that had been used for something else."""
    cdef vector[const cpp_array.Array*] made
    pointers(results, made, "Graph")
    return (<Graph>graph).c.shared_outputs(cpp.ArraySpan(made.data(), made.size()))


def bind(graph: Graph, arguments: list[Array], results: list[Array]) -> bool:
    """Whether launches can be given other arguments, and make new results."""
    cdef vector[const cpp_array.Array*] given, made
    pointers(arguments, given, "Graph")
    pointers(results, made, "Graph")
    return (<Graph>graph).c.bind(cpp.ArraySpan(given.data(), given.size()), cpp.ArraySpan(made.data(), made.size()))


def settle(graph: Graph, earlier: Graph) -> bool:
    """Whether launches can change the arguments, as an earlier capture with other ones shows."""
    return (<Graph>graph).c.settle((<Graph>earlier).c)


def replace(graph: Graph, previous: Graph) -> None:
    """Takes over the executable of a graph that differs only in arguments."""
    (<Graph>graph).c.replace((<Graph>previous).c)


cdef list launch_with(Graph graph, const vector[const cpp_array.Array*]& given, list outs):
    cdef vector[const cpp_array.Array*] taken
    cdef vector[cpp_array.Array] made
    cdef vector[State] states
    cdef CppStream on
    cdef size_t i
    pointers(outs, taken, "Graph.launch")
    enter(graph.backend, on)
    draw_anew(graph, on, states)
    with nogil:
        made = graph.c.launch_with(cpp.ArraySpan(given.data(), given.size()),
                                   cpp.ArraySpan(taken.data(), taken.size()), on,
                                   cpp.StateSpan(states.data(), states.size()))
    return [wrap_array(graph.backend, made[i]) for i in range(made.size())]


def launch(graph: Graph, arguments: list[Array], outs: Sequence[Array] = ()) -> list[Array]:
    """Launches with other arguments on the current stream; the results, which are `outs` unless that is empty."""
    cdef vector[const cpp_array.Array*] given
    pointers(arguments, given, "Graph.launch")
    return launch_with(<Graph?>graph, given, list(outs))


cdef extern from *:
    """
    namespace {
    size_t buffer_of(const stator::Array& a) { return reinterpret_cast<size_t>(a.buffer().get()); }
    int64_t distance_of(const stator::Array& a, const stator::Array& b) {
      return static_cast<const char*>(a.data_ptr()) - static_cast<const char*>(b.data_ptr());
    }
    stator::Array without_memory(const stator::Array& a) { return {{}, a.dtype(), a.shape(), a.strides(), 0}; }
    stator::Array view_of(const stator::Array& base, const stator::Array& like, int64_t distance) {
      const int64_t bytes = base.offset() * stator::itemsize(base.dtype()) + distance;
      return {base.buffer(), like.dtype(), like.shape(), like.strides(), bytes / stator::itemsize(like.dtype())};
    }
    }
    """
    size_t buffer_of(const cpp_array.Array&)
    int64_t distance_of(const cpp_array.Array&, const cpp_array.Array&) except +translate_exception
    cpp_array.Array without_memory(const cpp_array.Array&) except +translate_exception
    cpp_array.Array view_of(const cpp_array.Array&, const cpp_array.Array&, int64_t) except +translate_exception


include "_function.pxi"


def owns(graph: Graph, array: Array) -> bool:
    """Whether the graph's work made the array."""
    return (<Graph>graph).c.owns((<Array?>array).c)


cdef class GraphPart:
    """A part of captured work that runs under a condition."""
    cdef cpp.GraphPart c
    cdef CppStream on


def begin_part(condition: Array, limit: int | None, stream: Stream) -> GraphPart:
    """Begins a loop, or a branch where there is no limit."""
    cdef GraphPart part = GraphPart.__new__(GraphPart)
    cdef Array given = as_array(condition, "Backend.graphs.cond" if limit is None else "Backend.graphs.while_loop")
    cdef int64_t rounds = 0 if limit is None else to_int(limit, "Backend.graphs.while_loop", "limit")
    cdef bint repeats = limit is not None
    part.on = (<Stream?>stream).c
    with nogil:
        if repeats:
            part.c = cpp.begin_loop(given.c, rounds, part.on)
        else:
            part.c = cpp.begin_branch(given.c, part.on)
    return part


def end_part(part: GraphPart, condition: Array) -> None:
    """Ends it. The condition says whether there is another round."""
    cdef GraphPart of = <GraphPart?>part
    cdef Array given = as_array(condition, "Backend.graphs.while_loop")
    with nogil:
        cpp.end_part(of.c, given.c, of.on)


def shares_memory(a: Array, b: Array) -> bool:
    """Whether the arrays lie in one buffer."""
    return buffer_of((<Array?>a).c) == buffer_of((<Array?>b).c)


def is_same(a: Array, b: Array) -> bool:
    """Whether the arrays are one view of one memory."""
    cdef Array x = <Array?>a, y = <Array?>b
    return (shares_memory(x, y) and distance_of(x.c, y.c) == 0 and x.shape == y.shape and x.strides == y.strides
            and x.dtype == y.dtype)
