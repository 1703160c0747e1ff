"""The table from operators of ONNX to calls of stator, and what runs a node test of the package onnx by it.

A row is a function: its positional parameters are the inputs of the operator (None where a node leaves one out), its
keyword-only ones the attributes that it reads, with the defaults of the schema. What stator has no word for is raised
as `Without`, with the reason, or stands in the row's `without`, by the name of the attribute; an attribute that changes
no value stands in its `silent`. Any other attribute that a node sets and no parameter reads is a fault of the table.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

import numpy as np
import pytest

import stator

onnx = pytest.importorskip("onnx", reason="the node tests are those of the package onnx")

CASES = "onnx.backend.test.case.node"
TOLERANCES = {r["call"]: r["tolerance"]["float32"] for r in stator.op_table()}
EPS = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52}
DTYPES = {str(d) for d in (*EPS, "bool", "complex64", "complex128")} | {
    f"{u}int{bits}" for u in ("", "u") for bits in (8, 16, 32, 64)
}
NO_TYPE = "a type of elements that stator has not: strings, sequences, optional values, eight and four bits"


# Cases whose results ONNX writes with four digits; the difference is relative to the largest one.
ROUNDED = {"test_averagepool_2d_ceil_last_window_starts_on_pad": 2e-4, "test_gridsample_bicubic": 5e-5}


class Without(Exception):
    """stator has no word for what a node asks, or for one of its results; the text says for what."""


@dataclass
class Row:
    call: Callable[..., Any]
    units: float  # the bound of the difference, in eps of the result's dtype
    each: bool = False  # relative to each result, else to the largest
    host: Iterable[int] = ()  # the inputs that are numbers, such as shapes and axes: they stay NumPy's
    without: dict[str, str] = field(default_factory=dict)
    silent: dict[str, str] = field(default_factory=dict)


ROWS: dict[str, Row] = {}


def row(*operators: str, units: float = 0, host: Iterable[int] = (), without: Any = None, silent: Any = None) -> Any:
    """Enters a function for operators. units: 0 is equality, else relative to the largest result."""

    def enter(call):
        for operator in operators:
            assert operator not in ROWS, operator
            ROWS[operator] = Row(call, units, False, tuple(host), without or {}, silent or {})
        return call

    return enter


def call_plainly(function, /, *inputs):
    return function(*inputs)


def elementwise(names: dict[str, str]) -> None:
    """Enters functions of stator as they are; the bound is that of the op table, and an ulp of the reference's own."""
    for operator, name in names.items():
        call = functools.partial(call_plainly, functools.reduce(getattr, name.split("."), stator))
        ROWS[operator] = Row(call, TOLERANCES[name] and TOLERANCES[name] + 1, True)


def modules() -> list[str]:
    """The modules of the package's cases, each of an operator or a few."""
    return [m.name for m in pkgutil.iter_modules(importlib.import_module(CASES).__path__)]


@functools.lru_cache
def nodes(module: str) -> dict[str, list[Any]]:
    """The node tests that a module of the package's cases defines, by operator; without expanded functions."""
    cases = importlib.import_module(CASES)
    before = len(cases._NodeTestCases)
    with mock.patch.object(cases, "function_testcase_helper", lambda *a, **k: ([], 0)), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # overflow where the expected results are made
        importlib.import_module(f"{CASES}.{module}")
    found: dict[str, list[Any]] = {}
    for case in cases._NodeTestCases[before:]:
        found.setdefault(case.model.graph.node[0].op_type, []).append(case)
    return found


def plain(value):
    """An attribute as Python has it."""
    return value.decode() if isinstance(value, bytes) else value


def attributes(node, version):
    """(what the node sets, all with the schema's defaults)."""
    given = {a.name: plain(onnx.helper.get_attribute_value(a)) for a in node.attribute}
    schema = onnx.defs.get_schema(node.op_type, version, node.domain)
    default = {
        name: plain(onnx.helper.get_attribute_value(a.default_value))
        for name, a in schema.attributes.items()
        if a.default_value.name
    }
    return given, default | given


def array(be, x):
    """An input on the device; a type that stator does not have is a reason to leave the node out."""
    if not isinstance(x, (np.ndarray, np.generic)) or str(x.dtype) not in DTYPES:
        raise Without(NO_TYPE)
    return be.asarray(np.asarray(x))


def run(be, case):
    """Compares the outputs of a node test, and returns why some were not.

    Raises Without where the table says that stator has no word for the node.
    """
    node = case.model.graph.node[0]
    entry = ROWS[node.op_type]
    given, known = attributes(node, case.model.opset_import[0].version)
    if reason := next((entry.without[name] for name in given if name in entry.without), None):
        raise Without(reason)
    parameters = inspect.signature(entry.call).parameters.values()
    read = {p.name for p in parameters if p.kind is p.KEYWORD_ONLY}
    unread = set(given) - read - set(entry.silent)
    assert not unread, f"{case.name}: the row does not read {unread}"
    sources, wanted = case.data_sets[0]
    if any(not isinstance(x, (np.ndarray, np.generic)) for x in wanted):
        raise Without(NO_TYPE)
    values, inputs = iter(sources), []
    for place, name in enumerate(node.input):
        value = next(values) if name else None
        inputs.append(value if value is None or place in entry.host else array(be, value))
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if not any(p.kind is p.VAR_POSITIONAL for p in parameters):
        inputs += [None] * (len(positional) - len(inputs))
    extra = {"outputs": [bool(name) for name in node.output]} if "outputs" in read else {}
    found = entry.call(*inputs, **{name: known.get(name) for name in read - {"outputs"}}, **extra)
    found = list(found) if isinstance(found, (tuple, list)) else [found]
    found = [f for f, name in zip(found, node.output, strict=False) if name]
    assert len(found) == len(wanted), f"{case.name}: {len(found)} results of {len(wanted)}"
    for got, want in zip(found, wanted, strict=True):
        if not isinstance(got, Without):
            compare(got, want, entry, case.name)
    return [str(got) for got in found if isinstance(got, Without)]


def compare(got, want, entry, name):
    got, want = got.to_numpy() if isinstance(got, stator.Array) else np.asarray(got), np.asarray(want)
    assert (got.shape, str(got.dtype)) == (want.shape, str(want.dtype)), name
    if str(want.dtype) not in EPS or not entry.units:
        np.testing.assert_array_equal(got, want, err_msg=name)
        return
    wide, there = got.astype(np.float64), want.astype(np.float64)
    finite = np.isfinite(there)
    np.testing.assert_array_equal(np.where(finite, 0, wide), np.where(finite, 0, there), err_msg=name)
    scale = np.abs(there[finite]) if entry.each else np.abs(there[finite]).max(initial=0)
    error = np.abs(wide[finite] - there[finite])
    assert (error <= max(entry.units * EPS[str(want.dtype)], ROUNDED.get(name, 0)) * scale).all(), (
        f"{name}: {(error / (EPS[str(want.dtype)] * np.maximum(scale, 1e-300))).max():.3g} units"
    )
