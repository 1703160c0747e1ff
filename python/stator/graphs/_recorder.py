"""What a capture notes about the calls in it, so that its graph can be written to a file.

A value is what a call takes or returns: an array, a state of a generator, a part under a condition. Each has a number.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from stator import _random
from stator._array import Array
from stator._backend import Entered, Stream, current_stream
from stator._dtype import DType
from stator._dtype import dtype as as_dtype
from stator._random import Generator, RngState
from stator._sparse import COO, CSC, CSR
from stator._sparse_ops import TwoToFour
from stator.errors import CaptureError, StatorError
from stator.graphs import _graph, _recording
from stator.graphs._graph import GraphPart
from stator.graphs._saved_calls import REFUSED, observed

if TYPE_CHECKING:
    from stator._backend import Backend


class Value:
    """The position of a value in the arguments of a call. A file has its number there."""

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number


class Refused(Exception):
    """What cannot be in a file; the text says what it is."""


def parts_of(value: Any) -> list[Any]:
    """The values in a result, in their order."""
    if isinstance(value, (Array, RngState, GraphPart)):
        return [value]
    if isinstance(value, (CSR, CSC)):
        return [value, value.data, value.indices, value.indptr]
    if isinstance(value, COO):
        return [value, value.data, value.row, value.col]
    if isinstance(value, TwoToFour):
        return [value, value.values, value.positions]
    if isinstance(value, (tuple, list)):
        return [part for item in value for part in parts_of(item)]
    if isinstance(value, dict):
        return [part for item in value.values() for part in parts_of(item)]
    return []


def _view(x: Array) -> tuple[Any, ...]:
    return x.data_ptr, x.shape, x.strides, x.dtype.name


class Recorder:
    """The calls of one capture. It keeps every array alive that they took or made."""

    def __init__(self, backend: Backend, stream: Stream | None = None) -> None:
        self.backend = backend
        self.steps: list[tuple[str, Any, Any, list[int]]] = []  # name, arguments, options, results
        self.values: list[Any] = []
        self.outside: list[int] = []  # arrays that no call made
        self.generators: list[Generator] = []
        self.own_generator: int | None = None  # the number of the backend's
        self.refused: str | None = None  # the first value that no file can have
        self.unknown: list[tuple[int, int]] = []  # calls of the graph that nothing recorded made, as ranges
        self._stream = stream  # that is captured
        self._work = 0, 0
        self._by_object: dict[int, int] = {}
        self._by_view: dict[tuple[Any, ...], int] = {}
        self._by_state: dict[RngState, int] = {}

    def recording(self) -> Entered:
        """Notes the calls of this thread in a block; within the capture."""
        return Entered(partial(_recording.start, self, observed()), partial(_recording.stop, self))

    def begin(self) -> bool:
        """A call begins; whether it belongs to the capture. What was captured since the last one was made by none."""
        assert self._stream is not None
        if not _graph.is_capturing(current_stream(self.backend)):
            return False
        work = _recording.captured_work(self._stream)
        if work != self._work:
            self.unknown.append((self._work[1], work[1]))
            self._work = work
        return True

    def add(self, name: str, args: tuple[Any, ...], options: dict[str, Any], result: Any) -> None:
        """The call has ended."""
        assert self._stream is not None
        self._work = _recording.captured_work(self._stream)
        if self.refused is not None:
            return
        if name in REFUSED:
            self.refused = f"the call of {name} changes the state that launches draw from"
            return
        try:
            if name == "nn.dropout" or name.startswith("random."):
                self.own_generator = self._generator(_random.Generator(self.backend))["generator"]
            step = name, self.encoded(args)["tuple"], {key: self._option(key, options[key]) for key in options}
            self.steps.append((*step, [self._result(value) for value in parts_of(result)]))
        except Refused as error:
            self.refused = f"the call of {name} has {error}"

    def _option(self, key: str, value: Any) -> Any:
        if key != "device" or value is None:
            return self.encoded(value)
        from stator._backend import resolve_backend

        if resolve_backend(value) is not self.backend:
            raise Refused(f"device={value!r}, which is another backend than the graph's")
        return {"backend": True}

    def _result(self, value: Any) -> int:
        if isinstance(value, Array) and value.backend is not self.backend:
            raise Refused("a result of another backend")
        found = self._by_object.get(id(value))
        return self._add(value) if found is None else found

    def _add(self, value: Any) -> int:
        number = len(self.values)
        self.values.append(value)
        self._by_object[id(value)] = number
        if isinstance(value, Array):
            self._by_view[_view(value)] = number
        elif isinstance(value, RngState):
            self._by_state[value] = number
        return number

    def number_of(self, x: Array) -> int | None:
        """The number of an array, or of another that is the same view of the same memory."""
        found = self._by_object.get(id(x))
        return self._by_view.get(_view(x)) if found is None else found

    def _array(self, x: Array) -> Value:
        number = self.number_of(x)
        if number is None:
            if x.backend is not self.backend:
                raise Refused("an array of another backend")
            number = self._add(x)
            self.outside.append(number)
        return Value(number)

    def encoded(self, value: Any) -> Any:
        """The value as the file has it, with a Value where its number will be."""
        if value is None or type(value) in (bool, int, str):
            return value
        for kinds, encode in _ENCODERS:
            if isinstance(value, kinds):
                return encode(self, value)
        if isinstance(value, (type, np.dtype)):
            try:
                return {"dtype": as_dtype(value).name}
            except StatorError:
                pass
        raise Refused(f"an argument of type {type(value).__name__}")

    def _state(self, state: RngState) -> Any:
        number = self._by_state.get(state)
        return {"state": [*state]} if number is None else Value(number)

    def _part(self, part: GraphPart) -> Value:
        return Value(self._by_object[id(part)])

    def _generator(self, generator: Generator) -> dict[str, int]:
        if generator.backend is not self.backend:
            raise Refused("a generator of another backend")
        drawn = _random.drawn_from(generator)
        for i, known in enumerate(self.generators):
            if _random.share_state(known, drawn):
                return {"generator": i}
        self.generators.append(drawn)
        return {"generator": len(self.generators) - 1}

    def _sparse(self, a: CSR | CSC | COO) -> Any:
        if id(a) in self._by_object:
            return Value(self._by_object[id(a)])
        parts = [self._array(x) for x in parts_of(a)[1:]]
        return {"sparse": [type(a).__name__, parts, [*a.shape], a.is_sorted, a.is_coalesced]}

    def _compressed(self, a: TwoToFour) -> Any:
        if id(a) not in self._by_object:
            raise Refused("a TwoToFour that was made before the capture")
        return Value(self._by_object[id(a)])

    def _on_stream(self, stream: Stream) -> Any:
        if stream != current_stream(self.backend):
            raise Refused("a stream that is not the current one")
        return {"stream": True}

    def _on_backend(self, backend: Backend) -> Any:
        if backend is not self.backend:
            raise Refused("another backend")
        return {"backend": True}

    def _tuple(self, values: tuple[Any, ...]) -> Any:
        return {"tuple": [self.encoded(item) for item in values]}

    def _list(self, values: list[Any]) -> Any:
        return [self.encoded(item) for item in values]

    def _dict(self, values: dict[Any, Any]) -> Any:
        return {"dict": [[self.encoded(key), self.encoded(item)] for key, item in values.items()]}

    def _slice(self, value: slice) -> Any:
        return {"slice": [self.encoded(item) for item in (value.start, value.stop, value.step)]}


def _real(value: float) -> Any:
    return float(value) if math.isfinite(value) else {"float": str(float(value))}


def _host(_: Recorder, value: np.ndarray | np.generic) -> Any:
    if value.dtype.kind not in "biufc":
        raise Refused(f"a NumPy array of dtype {value.dtype}")
    kind = "array" if isinstance(value, np.ndarray) else "scalar"
    return {"numpy": [kind, value.dtype.str, [*value.shape], value.tobytes().hex()]}


def _encoders() -> tuple[tuple[Any, Any], ...]:
    from stator._backend import Backend

    return (
        (Array, Recorder._array),
        (RngState, Recorder._state),
        (np.ndarray | np.generic, _host),
        (float, lambda _, x: _real(x)),
        (complex, lambda _, x: {"complex": [_real(x.real), _real(x.imag)]}),
        (int, lambda _, x: int(x)),
        (str, lambda _, x: str(x)),
        (tuple, Recorder._tuple),
        (list, Recorder._list),
        (dict, Recorder._dict),
        (slice, Recorder._slice),
        (range, lambda _, x: {"range": [x.start, x.stop, x.step]}),
        (type(...), lambda _, x: {"ellipsis": True}),
        (DType, lambda _, x: {"dtype": x.name}),
        (Generator, Recorder._generator),
        (CSR | CSC | COO, Recorder._sparse),
        (TwoToFour, Recorder._compressed),
        (GraphPart, Recorder._part),
        (Stream, Recorder._on_stream),
        (Backend, Recorder._on_backend),
    )


_ENCODERS = _encoders()


def unknown_node(recorder: Recorder, nodes: list[_graph.GraphNode]) -> CaptureError | None:
    """The error about captured work that no recorded call made, None where there is none."""
    if not recorder.unknown:
        return None
    first, last = recorder.unknown[0]
    node = nodes[first] if first < last else None
    what = "work of another library" if node is None else f"the {node.kind} {node.name!r}, which is not a call of an op"
    return CaptureError(
        f"The graph has {what}", op="Graph.save", remedy="Capture it apart from what is to be saved: ops, loops, draws."
    )
