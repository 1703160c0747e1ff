"""Files of graphs: what a capture recorded is written as calls of public functions, and read as a function again.

A file is a zip archive without compression: program.json, and the bytes of each constant.
"""

from __future__ import annotations

import json
import secrets
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stator._array import Array
from stator._pickling import bytes_of
from stator._version import __version__
from stator.config._file_paths import file_path
from stator.errors import CaptureError, DTypeError
from stator.graphs import _graph
from stator.graphs._graph import flatten
from stator.graphs._program_file import DEEPEST, FORMAT, PROGRAM, Program, constant_name, is_deep, read
from stator.graphs._recorder import Recorder, Refused, Value, unknown_node
from stator.graphs.graphs import GraphFunction, capture
from stator.programs._arguments import whole

if TYPE_CHECKING:
    from stator._backend import Backend

_SAVE, _LOAD = "Graph.save", "Backend.graphs.load"


def save_function(function: GraphFunction[Any, Any], path: Any, args: Any, kwargs: Any) -> None:
    """What GraphFunction.save does."""
    to = file_path(path, _SAVE)
    backend = function._backend_of(flatten((args, kwargs))[0])
    with capture(backend, None, record=True) as graph:
        result = function._function(*args, **kwargs)
    _write(graph, to, args, kwargs, result, function._name)


def save_graph(graph: _graph.Graph, path: Any, inputs: Any, outputs: Any) -> None:
    """What Graph.save does."""
    for name, given in (("inputs", inputs), ("outputs", outputs)):
        if isinstance(given, Array) or not isinstance(given, Sequence):
            raise DTypeError(f"Got {name} of type {type(given).__name__}", op=_SAVE, remedy="Give a list of arrays.")
        for x in given:
            if not isinstance(x, Array):
                raise DTypeError(f"{name} has a {type(x).__name__}", op=_SAVE, remedy="Give a list of arrays.")
    result = outputs[0] if len(outputs) == 1 else tuple(outputs)
    _write(graph, file_path(path, _SAVE), tuple(inputs), {}, result, "graph")


def load_graph(backend: Backend, path: Any, max_graphs: int, max_bytes: int | None) -> GraphFunction[Any, Any]:
    """What Backend.graphs.load does."""
    whole(max_graphs, _LOAD, "max_graphs", 1)
    if max_bytes is not None:
        whole(max_bytes, _LOAD, "max_bytes")
    text, constants = read(file_path(path, _LOAD))
    program = Program(backend, text, constants)

    def function(*args: Any, **kwargs: Any) -> Any:
        return program.run(args, kwargs)

    function.__name__ = program.name
    return GraphFunction(function, backend, max_graphs, max_bytes, has_out=program.takes_out)


def _write(graph: _graph.Graph, path: Path, args: Any, kwargs: Any, result: Any, name: str) -> None:
    recorder = _graph.recording_of(graph)
    if not isinstance(recorder, Recorder):
        raise CaptureError(
            "The capture was not recorded", op=_SAVE, remedy="Use `with be.capture(record=True) as graph:`."
        )
    error = unknown_node(recorder, graph.nodes)
    if error is not None:
        raise error
    try:
        if recorder.refused is not None:
            raise Refused(recorder.refused)
        text, constants = _described(graph, recorder, args, kwargs, result, name)
    except Refused as refused:
        raise CaptureError(
            f"No file can have this: {refused}", op=_SAVE, remedy="Make it an argument, or capture it apart."
        ) from None
    _store(path, text, constants)


def _described(
    graph: _graph.Graph, recorder: Recorder, args: Any, kwargs: Any, result: Any, name: str
) -> tuple[bytes, list[Array]]:
    """The text of the file, and the constants."""
    inputs = flatten((args, kwargs))[0]
    given = recorder.encoded((args, kwargs))
    _require_plain(given)
    made = recorder.encoded(result)
    places: dict[int, int] = {}
    for i, x in enumerate(inputs):
        if places.setdefault(_number(recorder, x), i) != i:
            raise Refused("one array is two of the arguments")
        if _graph.owns(graph, x):
            raise Refused("an argument was made by the work itself")
    constants = [number for number in recorder.outside if number not in places]
    _require_apart(graph, [recorder.values[n] for n in constants], inputs)
    for number in constants:
        places[number] = len(places)
    for *_, results in recorder.steps:
        for number in results:
            places.setdefault(number, len(places))
    arrays = [recorder.values[n] for n in constants]
    text = {
        "format": FORMAT,
        "stator": __version__,
        "name": name,
        "inputs": [_kind(x) for x in inputs],
        "constants": [_kind(x) for x in arrays],
        "values": len(places),
        "generators": [[*g.get_state()[:2]] for g in recorder.generators],
        "own_generator": recorder.own_generator,
        "arguments": given,
        "steps": [[call, a, k, [places[n] for n in results]] for call, a, k, results in recorder.steps],
        "result": made,
    }
    if is_deep(text):
        raise Refused(f"arguments or results that are nested deeper than {DEEPEST // 2} levels")
    return json.dumps(text, default=lambda value: _placed(value, places)).encode(), arrays


def _require_plain(node: Any) -> None:
    """Arguments are arrays and what can be compared with that of a later call."""
    tags = node.keys() if isinstance(node, dict) else ()
    for tag, what in (("sparse", "sparse matrix"), ("generator", "generator"), ("backend", "backend")):
        if tag in tags:
            raise Refused(f"a {what} is an argument; use it in the work without its being one")
    for item in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        _require_plain(item)


def _placed(value: Any, places: dict[int, int]) -> Any:
    assert isinstance(value, Value)
    return {"value": places[value.number]}


def _number(recorder: Recorder, x: Array) -> int:
    number = recorder.number_of(x)
    assert number is not None  # it was encoded before
    return number


def _kind(x: Array) -> list[Any]:
    return [x.dtype.name, [*x.shape]]


def _require_apart(graph: _graph.Graph, constants: list[Array], inputs: list[Array]) -> None:
    """A constant is a copy in the file, which cannot share memory with anything else."""
    for i, x in enumerate(constants):
        if _graph.owns(graph, x):
            raise Refused(f"an array of shape {x.shape} that no recorded call made lies in the memory of the graph")
        if any(_graph.shares_memory(x, y) for y in (*inputs, *constants[:i]) if x.size and y.size):
            raise Refused(f"an array of shape {x.shape} shares memory with another one; take views of it in the work")


def _store(path: Path, text: bytes, constants: list[Array]) -> None:
    """Writes the file, which is whole or, after an error, the one that was there before."""
    part = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
    try:
        with part.open("xb") as file:
            archive = zipfile.ZipFile(file, "w")
            try:
                archive.writestr(PROGRAM, text)
                for i, x in enumerate(constants):
                    archive.writestr(constant_name(i), bytes_of(x))
                archive.close()
            except BaseException:
                archive.fp = None  # so that nothing completes it, which would raise instead of what went wrong
                raise
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
