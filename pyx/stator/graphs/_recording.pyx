# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
# cython: annotation_typing=False, freethreading_compatible=True
"""Recording: which public functions a thread calls, with what, and what they return.

While any thread records, the C functions of the public functions are exchanged for ones that ask whether it is this
thread. Otherwise nothing stands between a caller and a function, so that recording costs nothing where it is not used.
"""
from threading import Lock

from stator._array cimport Array, set_redirection
from stator._backend cimport Stream
from stator.cpp cimport graph as cpp
from stator.cpp.backend cimport Stream as CppStream
from stator.cpp.python cimport Py_DECREF, Py_INCREF, PyObject

from stator.errors import UnsupportedError


cdef extern from *:
    """
    #include <array>
    #include <cstring>
    #include <utility>

    namespace {
    using Fast = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*);
    using Tuple = PyObject* (*)(PyObject*, PyObject*, PyObject*);
    using One = PyObject* (*)(PyObject*, PyObject*);
    // How CPython keeps a built-in function and a method of a class. The limited API cannot reach their definitions.
    struct FunctionObject {
      PyObject head;
      PyMethodDef* definition;
    };
    struct MethodObject {
      PyObject head;
      PyObject *type, *name, *qualified_name;
      PyMethodDef* definition;
    };
    struct Exchanged {
      PyMethodDef* definition;
      PyCFunction original, observed;
      bool is_method;
    };
    constexpr int room = 1024;
    std::array<Exchanged, room> exchanged;
    thread_local PyObject* recorder = nullptr;  // of this thread
    thread_local bool within = false;           // a recorded call, whose own calls are not recorded
    PyObject* (*record)(int, PyObject*, PyObject* const*, Py_ssize_t, PyObject*) = nullptr;
    PyObject* (*record_tuple)(int, PyObject*, PyObject*, PyObject*) = nullptr;

    bool records() { return recorder && !within; }
    template <class F>
    F original(int i) {
      return reinterpret_cast<F>(reinterpret_cast<void*>(exchanged[size_t(i)].original));
    }
    // Calls, because each has as many short functions as there is room for.
    __attribute__((noinline)) PyObject* call(int i, PyObject* self, PyObject* const* args, Py_ssize_t count,
                                             PyObject* names) {
      return records() ? record(i, self, args, count, names) : original<Fast>(i)(self, args, count, names);
    }
    __attribute__((noinline)) PyObject* call_tuple(int i, PyObject* self, PyObject* args, PyObject* names) {
      return records() ? record_tuple(i, self, args, names) : original<Tuple>(i)(self, args, names);
    }
    __attribute__((noinline)) PyObject* call_one(int i, PyObject* self, PyObject* value) {
      return records() ? record(i, self, &value, value != nullptr, nullptr) : original<One>(i)(self, value);
    }
    template <int I>
    PyObject* fast(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
      return call(I, self, args, count, names);
    }
    template <int I>
    PyObject* tuple(PyObject* self, PyObject* args, PyObject* names) {
      return call_tuple(I, self, args, names);
    }
    template <int I>
    PyObject* one(PyObject* self, PyObject* value) {
      return call_one(I, self, value);
    }
    struct Entry {
      Fast fast;
      Tuple tuple;
      One one;
    };
    template <int... I>
    constexpr std::array<Entry, sizeof...(I)> entries_of(std::integer_sequence<int, I...>) {
      return {Entry{&fast<I>, &tuple<I>, &one<I>}...};
    }
    constexpr auto entries = entries_of(std::make_integer_sequence<int, room>());

    PyCFunction entry_of(int flags, const Entry& entry) {
      switch (flags) {
        case METH_FASTCALL | METH_KEYWORDS: return reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(entry.fast));
        case METH_VARARGS | METH_KEYWORDS: return reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(entry.tuple));
        case METH_O:
        case METH_NOARGS: return entry.one;
        default: return nullptr;
      }
    }
    bool takes_self(int i) { return exchanged[size_t(i)].is_method; }
    // False where the function is not kept as expected, or takes its arguments in another way.
    bool prepare(int i, PyObject* function, const char* name) {
      Exchanged& out = exchanged[size_t(i)];
      out.is_method = Py_TYPE(function) == &PyMethodDescr_Type;
      if (!out.is_method && !PyCFunction_Check(function)) return false;
      out.definition = out.is_method ? reinterpret_cast<MethodObject*>(function)->definition
                                     : reinterpret_cast<FunctionObject*>(function)->definition;
      if (std::strcmp(out.definition->ml_name, name)) return false;
      out.original = out.definition->ml_meth;
      out.observed = entry_of(out.definition->ml_flags, entries[size_t(i)]);
      return out.observed && (out.is_method || out.original == PyCFunction_GetFunction(function));
    }
    // Other threads may be calling the function now, and take the one or the other.
    void exchange(int count, bool observe) {
      for (int i = 0; i < count; ++i) {
        const Exchanged& one = exchanged[size_t(i)];
        __atomic_store_n(&one.definition->ml_meth, observe ? one.observed : one.original, __ATOMIC_RELEASE);
      }
    }
    }
    """
    int room
    PyObject* recorder
    bint within
    bint records() noexcept
    object (*record)(int, PyObject*, PyObject* const*, Py_ssize_t, PyObject*)
    object (*record_tuple)(int, PyObject*, PyObject*, PyObject*)
    bint prepare(int, object, const char*) noexcept
    void exchange(int, bint) noexcept
    bint takes_self(int) noexcept


cdef list names = []      # of the exchanged functions
cdef list functions = []  # they themselves
cdef int threads = 0      # that record
cdef object lock = Lock()


cdef object observed(int index, tuple args, dict options):
    # The function, which now is not observed, and a note of the call.
    global within
    cdef object to = <object>recorder
    within = True
    try:
        if not to.begin():
            return functions[index](*args, **options)
        result = functions[index](*args, **options)
        to.add(names[index], args, options, result)
        return result
    finally:
        within = False


cdef object record_call(int index, PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords):
    cdef Py_ssize_t i
    cdef list values = [<object>self] if takes_self(index) else []
    values.extend([<object>args[i] for i in range(count)])
    options = {} if keywords == NULL else {k: <object>args[count + i] for i, k in enumerate(<tuple>keywords)}
    return observed(index, tuple(values), options)


cdef object record_tuple_call(int index, PyObject* self, PyObject* args, PyObject* options):
    head = (<object>self,) if takes_self(index) else ()
    return observed(index, head + <tuple>args, {} if options == NULL else dict(<dict>options))


record = record_call
record_tuple = record_tuple_call


cdef object redirected(str name, tuple args, dict options):
    # What an operator does, as a call of the function with the name; NotImplemented where this thread does not record.
    if not records():
        return NotImplemented
    return by_name[name](*args, **options)


cdef dict by_name = {}


cdef int prepare_all(dict table) except -1:
    cdef list found = []
    for name, function in table.items():
        assert len(found) < room, "raise `room` above: there are more functions than it holds"
        if not prepare(len(found), function, function.__name__.encode()):
            raise UnsupportedError(f"{name} cannot be recorded in this version of Python", op="Graph.save",
                                   remedy="Use CPython of a version that stator was tested with.")
        found.append(name)
    by_name.update(table)
    functions.extend(table.values())
    names.extend(found)
    return 0


def start(to: object, table: dict[str, Callable[..., Any]]) -> object:
    """The calls of this thread are given to `to` from now on; returns what had them before, for stop().

    table: the functions that are recorded, by name; only the first one counts.
    """
    global threads, recorder
    previous = None if recorder == NULL else <object>recorder
    lock.acquire()
    try:
        if not names:
            prepare_all(table)
        if threads == 0:
            exchange(len(names), True)
            set_redirection(redirected)
        threads += 1
    finally:
        lock.release()
    Py_INCREF(to)  # until stop() is called in this thread
    recorder = <PyObject*>to
    return previous


def stop(to: object, previous: object = None) -> None:
    """Ends what start() began."""
    global threads, recorder
    if recorder == <PyObject*>to:
        recorder = NULL
        if previous is not None:
            recorder = <PyObject*>previous
        Py_DECREF(to)
    interrupt = acquire_surely()
    try:
        threads -= 1
        if threads == 0:
            set_redirection(NULL)
            exchange(len(names), False)
    finally:
        lock.release()
    if interrupt is not None:
        raise interrupt


# Takes the lock, whatever interrupts that: the interrupt is returned.
cdef object acquire_surely():
    interrupt = None
    while True:
        try:
            lock.acquire()
            return interrupt
        except BaseException as error:
            interrupt = error


def captured_work(stream: Stream) -> tuple[int, int]:
    """How many nodes and calls have been captured on the stream by now."""
    cdef CppStream on = (<Stream?>stream).c
    cdef cpp.CapturedWork found
    with nogil:
        found = cpp.captured_work(on)
    return found.nodes, found.calls


def getitem(x: Array, key: object, /) -> Array:
    """x[key]."""
    return x[key]


def setitem(x: Array, key: object, value: object, /) -> None:
    """x[key] = value."""
    x[key] = value
