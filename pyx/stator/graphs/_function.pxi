# Functions whose work is captured: a call that finds a graph launches it. Included by _graph.pyx.

cdef class ArgumentView:
    """A result that lies in the memory of an argument: dtype, shape, strides and the distance in bytes."""
    cdef cpp_array.Array made
    cdef int index  # of the argument
    cdef int64_t distance


cdef ArgumentView view_of_argument(Array result, list arguments, int index):
    cdef ArgumentView out = ArgumentView.__new__(ArgumentView)
    out.distance = distance_of(result.c, (<Array>arguments[index]).c)
    out.made = without_memory(result.c)
    out.index = index
    return out


def placed_results(graph: Graph, results: list[Array], arguments: list[Array]) -> tuple[list[Array], list[Any]]:
    """The arrays that the work made, and for each result its number among these, a view of an argument, or itself."""
    cdef dict first = {}  # the argument that lies in a buffer
    cdef list made = [], places = []
    cdef Array x
    for i, x in enumerate(arguments):
        first.setdefault(buffer_of(x.c), i)
    for x in results:
        index = first.get(buffer_of(x.c))
        if index is not None:
            places.append(view_of_argument(x, arguments, index))
        elif (<Graph>graph).c.owns(x.c):
            places.append(len(made))
            made.append(x)
        else:
            places.append(x)
    return made, places


cdef class Captured:
    """Captured(graph, structure, results, mode)\n--\n
    The graph of one kind of arguments.

    results: for each array of the result its number among those that the work makes, a view of an argument, or an array
    that is the same in each call. mode: "first" until a second capture has shown which addresses are those of
    arguments; "bound" if launches change only these, and "recaptured" if every call has to capture again."""
    cdef readonly Graph graph
    cdef readonly Structure structure
    cdef readonly str mode
    cdef list results
    cdef size_t made  # the number of arrays that the work makes
    cdef int64_t used  # the number of the call that used it last

    def __init__(self, graph: Graph, structure: Structure, results: list[Any], mode: str) -> None:
        self.graph, self.structure, self.results, self.mode = <Graph?>graph, <Structure?>structure, results, mode
        self.made = len([1 for result in results if isinstance(result, int)])

    def result(self, arguments: list[Array], made: list[Array]) -> Any:
        """The result as the function gave it, of the arrays of this call."""
        return self.result_of(arguments, made)

    cdef object result_of(self, list arguments, list made):
        cdef list arrays = made
        cdef Position at = Position(0, 0, 0)
        if self.made != <size_t>len(self.results):
            arrays = [placed(result, arguments, made) for result in self.results]
        return restored(self.structure, arrays, &at)


cdef object placed(object result, list arguments, list made):
    cdef ArgumentView view
    cdef Array base
    if isinstance(result, int):
        return made[result]
    if isinstance(result, ArgumentView):
        view = <ArgumentView>result
        base = <Array>arguments[view.index]
        return wrap_array(base.backend, view_of(base.c, view.made, view.distance))
    return result


# The one backend of the arrays; None if there is none, or more than one.
cdef Backend backend_of(list arrays):
    cdef Array x
    cdef Backend found = None
    for x in arrays:
        if found is None:
            found = x.backend
        elif x.backend is not found:
            return None
    return found


# Makes the structure of a call's arguments the key of its graph: equal for calls that one graph serves.
cdef int become_key(Structure key, Backend backend, cpp.ArraySpan arguments) except -1:
    cpp.add_graph_signature(arguments, key.tags)
    put_address(key.tags, <void*>backend)
    if key.kinds is not None:
        key.keys = (key.keys or []) + key.kinds
    return 0


cdef class CapturedFunction:
    """CapturedFunction(function, backend, has_out)\n--\n
    The base class of GraphFunction: the graphs that calls are launches of."""
    cdef object function, lock
    cdef Backend backend
    cdef bint has_out  # whether `out` is a parameter of the function
    cdef dict graphs   # Captured by Structure
    cdef int64_t hits, calls

    def __cinit__(self, *args, **kwargs):
        self.graphs = {}
        self.lock = RLock()

    def __init__(self, function: Callable[..., Any], backend: Backend | None, has_out: bool) -> None:
        self.function, self.backend, self.has_out = function, backend, has_out

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the function returns for these arguments."""
        out = None if self.has_out or not kwargs else kwargs.pop("out", None)
        if out is None:
            return self.replay(args, kwargs, [])
        return self.into(out, args, kwargs)

    # As the function, with the results in the arrays of `out`, which has the structure of the result.
    cdef object into(self, object out, tuple args, dict kwargs):
        cdef list outs, results
        cdef Structure wanted, structure
        outs, wanted = flatten(out)
        results, structure = flatten(self.replay(args, kwargs, outs))
        if structure != wanted:
            raise InvalidValueError("out does not have the structure of the result", op=self._name,
                                    remedy="Give the same tuples, lists and dicts.")
        for x, y in zip(outs, results):
            if x is not y and not is_same(x, y):
                self._copy_result(x, y)
        return out

    cdef object replay(self, tuple args, dict kwargs, list outs):
        cdef list arguments = []
        cdef Structure key = Structure.__new__(Structure)
        cdef vector[const cpp_array.Array*] given
        cdef Backend backend
        cdef Captured found
        cdef CppStream on
        add_items(key, args, arguments, 0)
        add_mapping(key, kwargs, arguments, 0)
        backend = backend_of(arguments)
        if backend is None or (backend is not self.backend and self.backend is not None):
            backend = self._backend_of(arguments)
        on = backend.c.stream(0)
        enter(backend, on)
        if cpp.is_capturing(on):
            return self.function(*args, **kwargs)
        pointers(arguments, given, "Graph")
        become_key(key, backend, cpp.ArraySpan(given.data(), given.size()))
        found = self.graph_of(key)
        if found is None or found.mode != "bound":
            self.lock.acquire()
            try:
                found = self.graph_of(key)  # which another thread may have captured meanwhile
                if found is None or found.mode != "bound":
                    self.count_use(found)
                    return self._capture(key, found, backend, arguments, args, kwargs)
            finally:
                self.lock.release()
        self.count_use(found)
        # Those of the results that the work makes: all of them are given, or none.
        if not <size_t>len(outs) == <size_t>len(found.results) == found.made:
            outs = []
        return found.result_of(arguments, launch_with(found.graph, given, outs))

    cdef Captured graph_of(self, Structure key):
        try:
            return self.graphs.get(key)
        except TypeError:
            from stator.graphs.graphs import require_key
            require_key(key, self._name)
            raise

    cdef void count_use(self, Captured found) noexcept:
        self.calls += 1
        if found is not None:
            self.hits += 1
            found.used = self.calls

    def _keep(self, key: Structure, captured: Captured, max_graphs: int, max_bytes: int | None) -> int:
        """Keeps a graph; returns how many of those that were used longest ago are dropped for it."""
        cdef int dropped = 0
        (<Captured?>captured).used = self.calls
        self.graphs[key] = captured
        while len(self.graphs) > 1 and (len(self.graphs) > max_graphs
                                        or (max_bytes is not None and self._nbytes() > max_bytes)):
            del self.graphs[min(self.graphs, key=lambda one: (<Captured>self.graphs[one]).used)]
            dropped += 1
        return dropped

    def _drop(self, key: Structure) -> None:
        """Drops the graph of the key, if there is one."""
        self.graphs.pop(key, None)

    def _figures(self) -> tuple[int, int]:
        """Calls that found a graph, and graphs that are kept. Takes no lock, which a capture holds for long."""
        return self.hits, len(self.graphs)

    def _nbytes(self) -> int:
        """The bytes of memory that the graphs own."""
        self.lock.acquire()
        try:
            return sum([(<Captured>one).graph.c.bytes() for one in self.graphs.values()])
        finally:
            self.lock.release()

    def clear_cache(self) -> None:
        """Drops all graphs; the next calls capture again."""
        self.lock.acquire()
        try:
            self.graphs.clear()
        finally:
            self.lock.release()
