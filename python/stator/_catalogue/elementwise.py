"""Functions of each element, whose operands are drawn from the domains of `domains.py`, and gated units."""

from __future__ import annotations

from typing import Any

import numpy as np

from stator._catalogue.domains import CASES, Case, Values
from stator._catalogue.entry import AXIS, EVERY, Answer, Entry, Function, Given, entries, largest
from stator._catalogue.given import table

ARITY = {"unary": 1, "binary": 2, "ternary": 3, "quaternary": 4, "select": 3}


def operands(given: Given, shape_class: str, case: Case) -> tuple[list[Any], list[Any]]:
    """The operands of an elementwise op and, for its scale, their values on the host."""
    first = (case.low, case.high) if case.first is None else case.first
    domains = (first, *(case.then or (first,) * (ARITY[shape_class] - 1)))
    made: list[Any] = []
    values: list[Any] = []
    # Operands of different shapes, which broadcasting makes equal.
    shapes = [given.shape, given.shape[1:], (*given.shape[:1], 1)] if given.layout == "broadcast" else [given.shape]
    for k, domain in enumerate(domains):
        if isinstance(domain, (int, float)):
            made.append(given.number(domain))
            values.append(domain)
            continue
        select = k == 0 and shape_class == "select"
        x = given.draw(shapes[k % len(shapes)], domain, "bool" if select else None)
        if given.layout == "special" and not select and not isinstance(domain, range):
            x = given.specials(x, case.special is True and not case.then)
        if given.layout == "broadcast" and len(domains) == 1:
            x = np.repeat(x[:1], given.rows, axis=0)
            made.append(given.repeated(x[:1], given.shape))
        else:
            made.append(given.on(x, "bool" if select else None))
        values.append(x)
    return made, values


def elementwise(f: Function, given: Given) -> Any:
    """Calls an elementwise op on operands from its domain."""
    case = CASES.get(given.cell.op, Case())
    made, values = operands(given, table()[given.cell.op]["shape_class"], case)
    plain = len(made) - len(case.keywords)
    keywords = dict(zip(case.keywords, made[plain:], strict=True))
    result = f(*made[:plain], **keywords, **case.ours)
    if case.scale is None or not given.floating:
        return result
    return Answer(result, scale=_scale(case, values, given))


def _scale(case: Case, values: list[Values], given: Given) -> Values:
    wide = np.longdouble if given.cell.dtype == "float64" else np.complex128 if given.complex else np.float64
    assert case.scale is not None
    with np.errstate(all="ignore"):
        found = case.scale(*[x.astype(wide) if isinstance(x, np.ndarray) else x for x in values])
    return np.asarray(found).astype(np.float64)


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
        name: Entry(elementwise, tuple(x for x in EVERY if x != "special" or CASES.get(name, Case()).special))
        for name, row in table().items()
        if row["shape_class"] in ARITY
    },
    **entries(EVERY, {"frexp": frexp}, wide=False),
    **entries(AXIS, {"glu glu_backward swiglu swiglu_backward geglu geglu_backward": gated}),
}
