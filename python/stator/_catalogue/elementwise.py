"""Functions of each element, whose operands are drawn from the domains of `domains.py`, and gated units."""

from __future__ import annotations

from typing import Any

import numpy as np

from stator._catalogue.domains import CASES, Case, Domain
from stator._catalogue.entry import AXIS, EVERY, Answer, Entry, Function, Given, entries, largest
from stator._catalogue.given import table

ARITY = {"unary": 1, "binary": 2, "ternary": 3, "quaternary": 4, "select": 3}


def case(name: str) -> Case:
    """The inputs of an elementwise op or a reduction."""
    return CASES.get(name, Case())


def domains(name: str) -> tuple[Domain, ...]:
    """The domain of each operand of an elementwise op."""
    c = case(name)
    first = (c.low, c.high) if c.first is None else c.first
    return (first, *(c.then or (first,) * (ARITY[table()[name]["shape_class"]] - 1)))


def operands(given: Given) -> tuple[list[Any], list[Any]]:
    """The operands of an elementwise op and, for its scale, their values on the host."""
    name = given.cell.op
    selects, several = table()[name]["shape_class"] == "select", domains(name)
    made: list[Any] = []
    values: list[Any] = []
    # Operands of different shapes, which broadcasting makes equal.
    shapes = [given.shape, given.shape[1:], (*given.shape[:1], 1)] if given.layout == "broadcast" else [given.shape]
    for k, domain in enumerate(several):
        if isinstance(domain, (int, float)):
            made.append(given.number(domain))
            values.append(domain)
            continue
        select = k == 0 and selects
        x = given.draw(shapes[k % len(shapes)], domain, "bool" if select else None)
        if given.layout == "special" and not select and not isinstance(domain, range):
            x = given.specials(x, case(name).special is True and not case(name).then)
        if given.layout == "broadcast" and len(several) == 1:
            x = np.repeat(x[:1], given.rows, axis=0)
            made.append(given.repeated(x[:1], given.shape))
        else:
            made.append(given.on(x, "bool" if select else None))
        values.append(x)
    return made, values


def elementwise(f: Function, given: Given) -> Any:
    """Calls an elementwise op on operands from its domain."""
    c, (made, values) = case(given.cell.op), operands(given)
    result = called(f, given.cell.op, *made)
    if c.scale is None or not given.floating:
        return result
    wide = np.longdouble if given.cell.dtype == "float64" else np.complex128 if given.complex else np.float64
    with np.errstate(all="ignore"):
        scale = c.scale(*[x.astype(wide) if isinstance(x, np.ndarray) else x for x in values])
    return Answer(result, scale=np.asarray(scale).astype(np.float64))


def called(f: Function, name: str, *made: Any, **options: Any) -> Any:
    """The result of an elementwise op's function for arrays and numbers."""
    c = case(name)
    plain = len(made) - len(c.keywords)
    return f(*made[:plain], **dict(zip(c.keywords, made[plain:], strict=True)), **c.ours, **options)


def frexp(f: Function, given: Given) -> Any:
    return tuple(f(given.array(special=True)))


def gated(f: Function, given: Given) -> Any:
    """Of the halves of one array, and of two; gradients have roots."""
    x, name = given.array(), given.cell.op.removesuffix("_backward")
    even = x[:, : given.columns // 2 * 2]
    backward = name != given.cell.op
    grad = (given.array(),) if backward else ()
    found = [f(*[g[:, : given.columns // 2] for g in grad], even)]
    if name != "glu":
        found.append(f(*grad, x, given.array()))
    return largest(found)


ENTRIES = {
    **{
        name: Entry(elementwise, tuple(x for x in EVERY if x != "special" or case(name).special))
        for name, row in table().items()
        if row["shape_class"] in ARITY
    },
    **entries(EVERY, {"frexp": frexp}, wide=False),
    **entries(AXIS, {"glu glu_backward swiglu swiglu_backward geglu geglu_backward": gated}),
}
