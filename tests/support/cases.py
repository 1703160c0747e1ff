"""Facts about each elementwise op beyond the op table: the domains of its inputs, its call, and its oracle."""

from __future__ import annotations

import inputs
import numpy as np
from oracles import precise
from reference import assert_matches, numpy_dtype, widen

import stator
from stator._catalogue.domains import COMPLEX_TOLERANCE, Domain
from stator._catalogue.elementwise import ARITY, called, case, domains
from stator._catalogue.given import function, table

TABLE = table()


def tolerance(name: str) -> tuple[int, int]:
    """The bound of an op in units in the last place, for float32 and float64."""
    bound = TABLE[name]["tolerance"]
    return bound["float32"], bound["float64"]


def bound(name: str, dtype: str) -> tuple[int, int]:
    """The bound of an op for a result dtype."""
    return COMPLEX_TOLERANCE.get(name, tolerance(name)) if dtype.startswith("complex") else tolerance(name)


# SciPy's own errors in float64, in units in the last place, rounded up: the bound for most points there.
# test_special.py checks the bounds of the op table, against mpmath.
SCIPY_ERROR = {"gammaln": 1e4, "digamma": 1e5, "i1": 20, "airy_ai": 200}
SCIPY_ERROR |= dict.fromkeys(["beta", "betaln", "gammainc", "gammaincc"], 1000)
SCIPY_ERROR |= dict.fromkeys(["j0", "j1", "y0", "y1"], 100)


def names(*shape_classes: str) -> list[str]:
    return [n for n, row in TABLE.items() if row["shape_class"] in shape_classes]


ELEMENTWISE = names(*ARITY)


def _whole(dtype: str) -> bool:
    return dtype.startswith(("int", "uint"))


def draw(rng: np.random.Generator, shape: tuple[int, ...], dtype: str, domain: Domain):
    """An operand drawn from a domain; integers go beyond the default domain, to their extremes."""
    if callable(domain):
        return domain(inputs.random(rng, shape, dtype))
    if isinstance(domain, (int, float)):
        return bool(domain) if dtype == "bool" else domain
    if dtype == "bool" or (domain == (-4, 4) and not isinstance(domain, range)):
        return inputs.random(rng, shape, dtype)
    if isinstance(domain, range):
        first = max(domain.start, np.iinfo(dtype).min) if _whole(dtype) else domain.start
        return rng.integers(first, domain.stop, shape).astype(numpy_dtype(dtype))
    if _whole(dtype):
        return draw(rng, shape, dtype, range(int(np.floor(domain[0])), int(np.ceil(domain[1])) + 1))
    return inputs.random(rng, shape, dtype, *((-4, 4) if dtype.startswith("complex") else domain))


def operands(rng: np.random.Generator, name: str, shape, dtype: str, arrays: bool = False) -> list:
    """The operands of an elementwise op, of one shape or one shape each; `arrays`: numbers as arrays too."""
    found = domains(name)
    shapes = shape if isinstance(shape, list) else [shape] * len(found)
    made = [draw(rng, s, dtype, d) for s, d in zip(shapes, found, strict=True)]
    if TABLE[name]["shape_class"] == "select":
        made[0] = inputs.random(rng, shapes[0], "bool")
    made = [np.asarray(x) if isinstance(x, np.generic) else x for x in made]
    if arrays:
        kind = numpy_dtype(dtype)
        made = [x if isinstance(x, np.ndarray) else np.full(s, x, kind) for s, x in zip(shapes, made, strict=True)]
    return made


def promoted(name: str, *dtypes: str) -> str:
    """The dtype that array operands except a condition are converted to."""
    dtypes = dtypes[TABLE[name]["shape_class"] == "select" :]
    return stator.result_type(*dtypes).name if len(dtypes) > 1 else dtypes[0]


def result_dtype(name: str, *dtypes: str) -> str:
    """The dtype that the op's result rule gives for array operands."""
    common, rule = promoted(name, *dtypes), TABLE[name]["result"]
    whole = common == "bool" or _whole(common)
    if rule == "boolean":
        return "bool"
    if rule == "index":
        return "int64"
    if rule == "inexact" or (rule == "real" and whole and TABLE[name]["shape_class"] == "reduce"):
        return "float64" if whole else common
    if rule == "real":
        return {"complex64": "float32", "complex128": "float64"}.get(common, common)
    if rule == "accumulate":
        if common == "bool" or common.startswith("int"):
            return "int64"
        return "uint64" if common.startswith("uint") else common
    return common


def wide_operands(name: str, *arrays) -> list:
    """The operands in the precision in which the oracle is computed; numbers stay as they are."""
    common = promoted(name, *[a.dtype.name for a in arrays if isinstance(a, np.ndarray)])
    target = numpy_dtype(common)
    if TABLE[name]["result"] == "inexact" and (common == "bool" or _whole(common)):
        target = np.dtype("float64")
    # An exact op rounds once: its reference is computed in the dtype itself, or in float32 for halves, unless it is of
    # the dtype's own numbers.
    own = np.float32 if target.name in ("float16", "bfloat16") and name != "nextafter" else target
    exact, select = tolerance(name) == (0, 0), TABLE[name]["shape_class"] == "select"
    return [
        a
        if not isinstance(a, np.ndarray) or (select and k == 0)
        else a.astype(target).astype(own)
        if exact
        else widen(a.astype(target))
        for k, a in enumerate(arrays)
    ]


def _narrow(x):
    """Converts from extended precision to double."""
    kinds = {"longdouble": np.float64, "clongdouble": np.complex128}
    return x.astype(kinds.get(type(x.dtype.type(0)).__name__, x.dtype)) if isinstance(x, np.ndarray) else x


def expected(name: str, *arrays, **kwargs) -> np.ndarray:
    """The oracle's result: on widened floats, or for integers in the op's own arithmetic, which wraps."""
    wide, oracle = wide_operands(name, *arrays), precise(TABLE[name]["oracle"])
    with np.errstate(all="ignore"):
        try:
            return oracle(*wide, **kwargs)
        except TypeError:  # most of SciPy's functions have no wider type than float64
            return oracle(*[_narrow(x) for x in wide], **kwargs)


def invoke(name: str, *operands, **options):
    """Calls the op's function on arrays and numbers."""
    return called(function(name), name, *operands, **options)


def assert_close(got: np.ndarray, name: str, made: list, what: str = "") -> None:
    """Asserts that got equals the oracle's result within the op's bound."""
    want, scale = expected(name, *made), case(name).scale
    if np.shape(want) != got.shape:  # a reference that ignores an operand has another shape
        want = np.broadcast_to(want, got.shape)
    size = None
    if scale is not None and got.dtype.kind not in "biu":
        with np.errstate(all="ignore"):
            size = scale(*wide_operands(name, *made))
    limit = bound(name, promoted(name, *[x.dtype.name for x in made if isinstance(x, np.ndarray)]))
    if TABLE[name]["call"].startswith("special."):
        limit = (limit[0], limit[1] + SCIPY_ERROR.get(name, 8))
    assert_matches(got, want, limit, f"{name} {what}", size, made)


def check(be, name: str, made: list, what: str = "", **options):
    """Runs an elementwise op on operands, arrays in their own layout or numbers, and checks it. Returns the result."""
    got = invoke(name, *[inputs.on_device(be, x) if isinstance(x, np.ndarray) else x for x in made], **options)
    dtypes = [x.dtype.name for x in made if isinstance(x, np.ndarray)]
    assert got.dtype.name == options.get("dtype", result_dtype(name, *dtypes)), f"{name} {what}"
    assert_close(got.to_numpy(), name, made, f"{what} {' '.join(dtypes)}")
    return got
