# stator/graphs/graph.hpp
from libc.stdint cimport int64_t, uint64_t
from libcpp cimport bool as cbool

from stator.cpp.array cimport Array
from stator.cpp.backend cimport Backend, Stream
from stator.cpp.error cimport translate_exception
from stator.cpp.random cimport State
from stator.cpp.std cimport string, vector


cdef extern from "stator/graphs/graph.hpp" namespace "stator" nogil:
    cdef cppclass GraphNode:
        string kind, name, op
        vector[const void*] reads, writes

    cdef cppclass ArraySpan "std::span<const stator::Array* const>":
        ArraySpan(const Array* const*, size_t)

    cdef cppclass NumberSpan "std::span<const int>":
        NumberSpan(const int*, size_t)

    cdef cppclass StateSpan "std::span<const stator::random::State>":
        StateSpan(const State*, size_t)

    cdef cppclass CountSpan "std::span<const uint64_t>":
        CountSpan(const uint64_t*, size_t)

    void add_state(const Stream&, const State&) except +translate_exception
    void begin_capture(const Stream&, NumberSpan) except +translate_exception
    void drop_capture(const Stream&) noexcept
    cbool is_capturing(const Stream&) noexcept

    cdef cppclass CapturedWork:
        size_t nodes, calls

    CapturedWork captured_work(const Stream&) except +translate_exception
    void add_graph_signature(ArraySpan, string&) except +translate_exception

    cdef cppclass GraphPart:
        GraphPart()

    GraphPart begin_branch(const Array&, const Stream&) except +translate_exception
    GraphPart begin_loop(const Array&, int64_t, const Stream&) except +translate_exception
    void end_part(const GraphPart&, const Array&, const Stream&) except +translate_exception

    cdef cppclass Graph:
        Graph()
        void launch(const Stream&, StateSpan) except +translate_exception
        cbool bind(ArraySpan, ArraySpan) except +translate_exception
        vector[int] shared_outputs(ArraySpan) except +translate_exception
        vector[Array] launch_with "launch"(ArraySpan, ArraySpan, const Stream&, StateSpan) except +translate_exception
        cbool settle(const Graph&) except +translate_exception
        void replace(const Graph&) except +translate_exception
        cbool owns(const Array&) except +translate_exception
        size_t size() except +translate_exception
        size_t bytes() except +translate_exception
        vector[GraphNode] nodes() except +translate_exception

    void release_later "stator::interop::release_later"(Graph&) noexcept
    Graph end_capture "stator::Graph::end"(const Stream&, CountSpan) except +translate_exception
