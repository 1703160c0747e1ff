"""How each op is called: the registry of the verification, from the op table where that says enough."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np

import stator
from stator._verify.domains import CASES, Case, Values
from stator._verify.given import FLOATING, LAYOUTS, STRIDED, Given

ARITY = {"unary": 1, "binary": 2, "ternary": 3, "quaternary": 4, "select": 3}

# The layouts that ops are called with: all; those of ops that need an axis; of ops that need an element too; of ops
# without an operand whose layout is free.
EVERY = LAYOUTS
AXIS = (*STRIDED, "empty", "large")
FILLED = (*STRIDED, "large")
DENSE = ("contiguous", "empty", "large")
ONCE = ("contiguous",)

Call = Callable[[Given], Any]


@dataclass(frozen=True)
class Operation:
    """The call of an op on the operands of a Given, and the layouts in which it is called.

    wide: whether the call on wider operands gives a reference for the narrow result.
    """

    call: Call
    layouts: tuple[str, ...]
    wide: bool = True


@cache
def table() -> dict[str, dict[str, Any]]:
    """The entries of the op table by name."""
    return {row["name"]: row for row in stator.op_table()}


def function(entry: dict[str, Any]) -> Callable[..., Any]:
    """The Python function of an op, as it is found now; for a method, the function of its class."""
    target: Any = stator
    for part in entry["call"].split("."):
        target = getattr(target, part)
    found: Callable[..., Any] = target
    return found


def register(
    into: dict[str, Operation],
    layouts: Sequence[str],
    calls: dict[str, Callable[[Callable[..., Any], Given], Any]],
    *,
    wide: bool = True,
) -> None:
    """Adds calls of (the op's function, operands), by names with spaces between them."""
    entries = table()
    for names, call in calls.items():
        for name in names.split():
            entry = entries[name]

            def called(given: Given, call: Any = call, entry: dict[str, Any] = entry) -> Any:
                return call(function(entry), given)

            into[name] = Operation(called, tuple(layouts), wide)


def elementwise_operands(given: Given, entry: dict[str, Any], case: Case) -> tuple[list[Any], list[Any]]:
    """The operands of an elementwise op and, for its scale, their values on the host."""
    first = (case.low, case.high) if case.first is None else case.first
    domains = (first, *(case.then or (first,) * (ARITY[entry["shape_class"]] - 1)))
    operands: list[Any] = []
    values: list[Any] = []
    # Operands of different shapes, which broadcasting makes equal.
    shapes = [given.shape, given.shape[1:], (*given.shape[:1], 1)] if given.layout == "broadcast" else [given.shape]
    for k, domain in enumerate(domains):
        if isinstance(domain, (int, float)):
            operands.append(bool(domain) if given.cell.dtype == "bool" else domain)
            values.append(domain)
            continue
        select = k == 0 and entry["shape_class"] == "select"
        x = given.draw(shapes[k % len(shapes)], domain, "bool" if select else None)
        if given.layout == "special" and not select and not isinstance(domain, range):
            x = given.specials(x, case.special is True and not case.then)
        if given.layout == "broadcast" and len(domains) == 1:
            x = np.repeat(x[:1], given.rows, axis=0)
            operands.append(given.repeated(x[:1], given.shape))
        else:
            operands.append(given.on(x, "bool" if select else None))
        values.append(x)
    return operands, values


def elementwise(entry: dict[str, Any], given: Given) -> Any:
    """Calls an elementwise op on operands from its domain."""
    from stator._verify.compare import Answer

    case = CASES.get(entry["name"], Case())
    operands, values = elementwise_operands(given, entry, case)
    plain = len(operands) - len(case.keywords)
    keywords = dict(zip(case.keywords, operands[plain:], strict=True))
    result = function(entry)(*operands[:plain], **keywords, **case.ours)
    if case.scale is None or not given.floating:
        return result
    return Answer(result, scale=_scale(case, values, given))


def _scale(case: Case, values: list[Values], given: Given) -> Values:
    wide = np.longdouble if given.cell.dtype == "float64" else np.complex128 if given.complex else np.float64
    assert case.scale is not None
    with np.errstate(all="ignore"):
        found = case.scale(*[x.astype(wide) if isinstance(x, np.ndarray) else x for x in values])
    return np.asarray(found).astype(np.float64)


def _elementwise_operation(entry: dict[str, Any]) -> Operation:
    case = CASES.get(entry["name"], Case())
    skipped = set() if case.special else {"special"}
    return Operation(partial(elementwise, entry), tuple(x for x in EVERY if x not in skipped))


@cache
def operations() -> dict[str, Operation]:
    """The operation of each op of the table that has one; a test asserts that none is missing."""
    from stator._verify import (
        convolutions,
        families,
        layers,
        linear_algebra,
        losses,
        movement,
        norms,
        pooling,
        quantization,
        recurrent,
        reductions,
        searches,
        sparse,
    )

    found = {name: _elementwise_operation(entry) for name, entry in table().items() if entry["shape_class"] in ARITY}
    modules = (reductions, movement, searches, linear_algebra, sparse, families, norms, losses, layers)
    for module in (*modules, convolutions, pooling, quantization, recurrent):
        module.add(found)
    return found


def layouts_of(name: str, dtype: str) -> tuple[str, ...]:
    """The layouts of an op in a dtype: special values are those of real floats."""
    special = dtype in FLOATING and not dtype.startswith("complex")
    return tuple(x for x in operations()[name].layouts if special or x != "special")
