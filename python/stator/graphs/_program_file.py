"""The reading side of files of graphs: everything in a file is checked before anything of it is done.

What a file names are only functions of stator, by names of a table; none of its bytes is code.
"""

from __future__ import annotations

import json
import math
import struct
import zipfile
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from stator import _backend, _random
from stator._array import Array
from stator._backend import Entered
from stator._dtype import dtype as as_dtype
from stator._pickling import array_from
from stator._random import Generator, RngState
from stator._sparse import COO, CSC, CSR
from stator.errors import DTypeError, GraphFileError, InvalidValueError, OutOfRangeError, ShapeError, StatorError
from stator.graphs._recorder import Recorder, Refused, parts_of
from stator.graphs._saved_calls import BEGIN, END, calls

if TYPE_CHECKING:
    from stator._backend import Backend

FORMAT = 1
PROGRAM = "program.json"
DEEPEST = 100  # levels of lists and dicts in the text
MOST_OF_RANGES = 2**20  # numbers in the ranges that calls are given
_LOAD = "Backend.graphs.load"
_FIELDS: dict[str, Any] = {
    **{"format": int, "stator": str, "name": str, "inputs": list, "constants": list, "values": int},
    **{"generators": list, "own_generator": (int, type(None)), "arguments": dict, "steps": list},
}
_SPARSE: dict[str, Any] = {"CSR": CSR, "CSC": CSC, "COO": COO}
# What reading a damaged archive, or text that is not as expected, raises.
_DAMAGE = (
    *(zipfile.BadZipFile, struct.error, EOFError, OSError, RuntimeError, NotImplementedError),
    *(KeyError, ValueError, TypeError, IndexError, OverflowError, AttributeError, StatorError),
)


def constant_name(number: int) -> str:
    """The name of a constant's bytes in the archive."""
    return f"constants/{number}"


def corrupt(why: object) -> GraphFileError:
    """The error about a file that is not as it was written."""
    return GraphFileError(f"The file is corrupt: {why}", op=_LOAD, remedy="Save the graph again.")


def is_deep(node: Any) -> bool:
    """Whether a node is nested so deeply that a file cannot have it."""
    level = [node]
    for _ in range(DEEPEST):
        level = [item for node in level for item in _items(node)]
    return bool(level)


def _items(node: Any) -> Iterable[Any]:
    return node if type(node) is list else node.values() if type(node) is dict else ()


def _require(holds: bool, why: str) -> None:
    if not holds:
        raise ValueError(why)


def read(path: Path) -> tuple[dict[str, Any], list[bytes]]:
    """The text of a file and the bytes of its constants. GraphFileError where they are not whole."""
    try:
        size = path.stat().st_size
        file = path.open("rb")
    except (OSError, ValueError) as error:
        raise GraphFileError(f"The file cannot be read: {error}", op=_LOAD, remedy="Give the path of one.") from None
    with file:
        try:
            with zipfile.ZipFile(file) as archive:
                total = sum(info.file_size for info in archive.infolist())
                _require(total <= size, f"members of {total} bytes in a file of {size}")
                text = json.loads(_member(archive, PROGRAM, size))
                _require(not is_deep(text), f"nested deeper than {DEEPEST} levels")
                _check_fields(text)
                return text, [_constant(archive, i, kind, size) for i, kind in enumerate(text["constants"])]
        except GraphFileError:
            raise
        except _DAMAGE as error:
            raise corrupt(error) from None


def _member(archive: zipfile.ZipFile, name: str, most: int) -> bytes:
    info = archive.getinfo(name)
    _require(info.compress_type == zipfile.ZIP_STORED, f"{name} is compressed")
    _require(info.file_size <= most, f"{name} of {info.file_size} bytes in a file of {most}")
    return archive.read(info)


def _check_fields(text: Any) -> None:
    _require(isinstance(text, dict), "no program")
    form, version = text.get("format"), text.get("stator")
    if form != FORMAT or type(form) is not int:
        raise GraphFileError(
            f"Format {form!r:.40}, written by stator {version!r:.40}; this version reads {FORMAT}",
            op=_LOAD,
            remedy="Save the graph with the version of stator that reads it.",
        )
    for name, kind in _FIELDS.items():
        _require(name in text and isinstance(text[name], kind) and not isinstance(text[name], bool), f"no {name}")
    _require("result" in text, "no result")


def _shape_of(kind: Any) -> tuple[Any, tuple[int, ...]]:
    """The dtype and the shape of an entry of inputs or constants."""
    name, shape = kind
    _require(type(name) is str and type(shape) is list and len(shape) <= 32, f"the kind {kind!r:.80}")
    _require(all(type(n) is int and 0 <= n < 2**63 for n in shape), f"the shape {shape!r:.80}")
    return as_dtype(name), tuple(shape)


def _constant(archive: zipfile.ZipFile, number: int, kind: Any, most: int) -> bytes:
    dtype, shape = _shape_of(kind)
    raw = _member(archive, constant_name(number), most)
    _require(len(raw) == math.prod(shape) * dtype.itemsize, f"{len(raw)} bytes for {dtype} of shape {shape}")
    return raw


class Program:
    """The calls of a file. run() makes them again."""

    def __init__(self, backend: Backend, text: dict[str, Any], constants: list[bytes]) -> None:
        self._backend = backend
        self.name = text["name"]
        try:
            self._inputs = [_shape_of(kind) for kind in text["inputs"]]
            kinds = [_shape_of(kind) for kind in text["constants"]]
            self._generators = [self._generator(state) for state in text["generators"]]
            own = text["own_generator"]
            _require(own is None or 0 <= own < len(self._generators), f"generator {own}")
            self._own = None if own is None else self._generators[own]
            self._arguments, self._steps, self._result = text["arguments"], text["steps"], text["result"]
            self._matrices: dict[str, Any] = {}
            self._constants: list[Any] = [None] * len(kinds)
            self._check(text["values"])
        except _DAMAGE as error:
            raise corrupt(error) from None
        self._constants = [
            array_from(raw, dtype, shape, backend) for raw, (dtype, shape) in zip(constants, kinds, strict=True)
        ]
        self._make_matrices()

    @property
    def takes_out(self) -> bool:
        """Whether the function had an argument out of its own."""
        return any(key == "out" for key, _ in self._arguments["tuple"][1]["dict"])

    def _generator(self, state: Any) -> Generator:
        seed, counter = state
        _require(type(seed) is int and type(counter) is int, f"the state {state!r:.80}")
        out = Generator(self._backend, seed=0)
        out.set_state(RngState(seed, counter, 0, self._backend.device_name))
        return out

    def _check(self, count: int) -> None:
        """Whether every number is that of a value which is there by then, and every name is one of the table."""
        known = [None] * (len(self._inputs) + len(self._constants))
        args, kwargs = self._arguments["tuple"]
        _require(type(args["tuple"]) is list and type(kwargs["dict"]) is list, "the arguments")
        seen: list[int] = []
        _numbers(self._arguments, seen)
        _require(sorted(seen) == [*range(len(self._inputs))], "the arguments are not the inputs")
        self._read(self._arguments, known, False)
        parts: list[int] = []
        for name, arguments, options, results in self._steps:
            _require(type(name) is str and name in calls(), f"no function {name!r:.80}")
            _require(type(arguments) is list and type(options) is dict, f"the arguments of {name}")
            self._read(arguments, known, False)
            for option in options.values():
                self._read(option, known, False)
            for number in results:
                _require(type(number) is int and 0 <= number <= len(known), f"value {number!r:.80} of {name}")
                if number == len(known):
                    known.append(None)
            if name == BEGIN:
                _require(len(results) == 1, "a part of the work that has no number")
                parts.append(results[0])
            elif name == END:
                _require(bool(parts) and arguments[0] == {"value": parts.pop()}, "the end of another part of the work")
        _require(not parts, "a part of the work has no end")
        ranges = sum(_in_ranges([*arguments, *options.values()]) for _, arguments, options, _ in self._steps)
        _require(ranges <= MOST_OF_RANGES, f"ranges of {ranges} numbers")
        _require(len(known) == count, f"{len(known)} values instead of {count}")
        self._read(self._result, known, False)
        self._unused = self._last_uses()

    def _last_uses(self) -> list[list[int]]:
        """For each call the values that no later one uses, so that their memory serves what follows."""
        kept: list[int] = []
        _numbers(self._result, kept)
        known = set(kept)
        unused: list[list[int]] = []
        for _, arguments, options, results in reversed(self._steps):
            used = [*results]
            _numbers([*arguments, *options.values()], used)
            unused.append([number for number in dict.fromkeys(used) if number not in known])
            known.update(used)
        return unused[::-1]

    def _read(self, node: Any, values: list[Any], make: bool) -> Any:
        """What a node stands for. Without `make` the values are not there yet, and only the form is checked."""
        if node is None or type(node) in (bool, int, float, str):
            return node
        if type(node) is list:
            return [self._read(item, values, make) for item in node]
        ((tag, given),) = node.items()
        if tag == "value":
            _require(type(given) is int and 0 <= given < len(values), f"value {given!r:.80} of {len(values)}")
            return values[given]
        if tag == "generator":
            _require(type(given) is int and 0 <= given < len(self._generators), f"generator {given!r:.80}")
            return self._generators[given]
        if tag == "sparse":
            return self._sparse(given, values, make)
        if tag == "backend":
            return self._backend
        if tag == "stream":
            return _backend.current_stream(self._backend)
        if tag == "tuple":
            _require(type(given) is list, "a tuple that is not a list")
            return tuple(self._read(given, values, make))
        if tag == "dict":
            return {
                self._read(key, [], make): self._read(item, values, make) for key, item in given
            }  # no arrays as keys
        return _LITERALS[tag](given)

    def _sparse(self, given: Any, values: list[Any], make: bool) -> Any:
        """A matrix of its parts. One of constants is made once, and checked, when the file is read."""
        kind, parts, shape, in_order, coalesced = given
        arrays = self._read(parts, values, make)
        key = json.dumps(given)
        first = len(self._inputs)
        _require(kind in _SPARSE and len(arrays) == 3, f"a matrix {kind!r:.80}")
        if not make:
            if all(first <= part["value"] < first + len(self._constants) for part in parts):
                self._matrices[key] = None
            return None
        found = self._matrices.get(key)
        flags = {"is_sorted": in_order, "is_coalesced": coalesced}
        return _SPARSE[kind](*arrays, tuple(shape), **flags) if found is None else found

    def _make_matrices(self) -> None:
        values = [*([None] * len(self._inputs)), *self._constants]
        try:
            for key in self._matrices:
                self._matrices[key] = self._sparse(json.loads(key), values, True).check()
        except (DTypeError, InvalidValueError, OutOfRangeError, ShapeError, TypeError) as error:
            raise corrupt(error) from None

    def run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Makes the calls again. The arguments have the shapes and dtypes of those that the file was saved with."""
        given: list[Array] = []
        self._match(self._arguments["tuple"][0], args, "argument ", given)
        self._match(self._arguments["tuple"][1], kwargs, "argument ", given)
        values = [*given, *self._constants]
        substitute = partial(_random.substitute, _random.Generator(self._backend))
        with (
            Entered(partial(substitute, self._own), substitute),
            _backend.use_backend(self._backend),
        ):
            for step, unused in zip(self._steps, self._unused, strict=True):
                self._repeat(step, values)
                for number in unused:
                    values[number] = None
            return self._read(self._result, values, True)

    def _repeat(self, step: Any, values: list[Any]) -> None:
        name, arguments, options, results = step
        try:
            given = self._read(arguments, values, True)
            result = calls()[name](*given, **{key: self._read(item, values, True) for key, item in options.items()})
        except StatorError:
            raise
        except (TypeError, ValueError, KeyError, IndexError, AttributeError) as error:
            raise corrupt(f"{name}: {error}") from None
        made = parts_of(result)
        if len(made) != len(results):
            raise corrupt(f"{name} has {len(made)} results instead of {len(results)}")
        for number, value in zip(results, made, strict=True):
            if number == len(values):
                values.append(value)
            else:
                values[number] = value

    def _match(self, node: Any, value: Any, where: str, out: list[Array]) -> None:
        """Compares an argument with the one that the file was saved with; arrays are added to the list."""
        if type(node) is dict and "value" in node:
            self._match_array(self._inputs[node["value"]], value, where)
            out.append(value)
            return
        expected: dict[Any, Any] = {}
        if type(node) is dict and "dict" in node and isinstance(value, dict):
            expected = {self._read(key, [], True): item for key, item in node["dict"]}
        elif type(node) is dict and "tuple" in node and isinstance(value, tuple):
            expected, value = dict(enumerate(node["tuple"])), dict(enumerate(value))
        elif type(node) is list and type(value) is list:
            expected, value = dict(enumerate(node)), dict(enumerate(value))
        else:
            if not self._is(node, value):
                raise InvalidValueError(
                    f"{where} is {value!r:.80}, and was {self._read(node, [], True)!r:.80} when the graph was saved",
                    op=self.name,
                    remedy="Give the same value; only arrays may differ.",
                )
            return
        if expected.keys() != value.keys():
            raise InvalidValueError(
                f"{where}{[*value]} where the graph was saved with {[*expected]}",
                op=self.name,
                remedy="Give as many arguments, by position or by name as then.",
            )
        for key, item in expected.items():
            self._match(item, value[key], f"{where}[{key!r}]", out)

    def _is(self, node: Any, value: Any) -> bool:
        try:
            return json.dumps(Recorder(self._backend).encoded(value)) == json.dumps(node)
        except (Refused, TypeError):  # a value that no file has, or an array
            return False

    def _match_array(self, kind: tuple[Any, tuple[int, ...]], x: Any, where: str) -> None:
        dtype, shape = kind
        if not isinstance(x, Array):
            raise DTypeError(f"{where} is of type {type(x).__name__}", op=self.name, remedy="Give an array.")
        if x.shape != shape:
            raise ShapeError(
                f"{where} has shape {x.shape}, and had {shape} when the graph was saved",
                op=self.name,
                remedy="Save a graph for this shape too.",
            )
        if x.dtype != dtype:
            raise DTypeError(
                f"{where} has dtype {x.dtype}, and had {dtype} when the graph was saved",
                op=self.name,
                remedy="Convert it with astype().",
            )


def _numbers(node: Any, out: list[int]) -> None:
    """The numbers of the values in a node."""
    for item in _items(node):
        if type(node) is dict and "value" in node:
            out.append(item)
        else:
            _numbers(item, out)


def _in_ranges(node: Any) -> int:
    """How many numbers there are in the ranges of a node."""
    if type(node) is dict and "range" in node:
        return len(range(*node["range"]))
    return sum(_in_ranges(item) for item in _items(node))


def _number(given: Any) -> float:
    return float(given["float"]) if type(given) is dict else float(given)


def _numpy(given: Any) -> Any:
    kind, name, shape, text = given
    dtype = np.dtype(name)
    _require(dtype.kind in "biufc" and kind in ("array", "scalar"), f"the dtype {name!r:.80}")
    values = np.frombuffer(bytes.fromhex(text), dtype).reshape(shape)
    return values if kind == "array" else values[()]


_LITERALS: dict[str, Any] = {
    "slice": lambda given: slice(*given),
    "range": lambda given: range(*given),
    "ellipsis": lambda given: ...,
    "dtype": as_dtype,
    "float": float,
    "complex": lambda given: complex(_number(given[0]), _number(given[1])),
    "numpy": _numpy,
    "state": lambda given: RngState(*given),
}
