"""The calls that a file of a graph can have, by name: those of the op table, operators as such, and parts of loops."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import BuiltinFunctionType
from typing import Any

from stator import fft, linalg, nn, random, sparse, special
from stator._array import Array
from stator._package import root
from stator._random import Generator
from stator._table import rows as op_table
from stator.graphs import _graph, _recording

BEGIN, END = "Backend.begin_part", "Backend.end_part"  # of a loop or a branch

_MODULES = {"": root(), "nn": nn, "linalg": linalg, "fft": fft, "random": random, "special": special, "sparse": sparse}
# Functions that are not entries of the op table, since entries of it do their work.
_MORE = (
    *("empty_like", "full_like", "ones", "ones_like", "zeros_like"),
    *(f"sparse.{name}" for name in ("compress", "coo_from_dense", "csc_from_dense", "eye", "matmul")),
)
_ARRAY = (
    *("astype", "reshape", "view", "sum", "prod", "mean", "max", "min", "any", "all", "std", "var", "argmax", "argmin"),
    *("conj", "conjugate", "clip", "cumprod", "cumsum", "squeeze", "searchsorted"),
)
_SPARSE = ("astype", "sum", "diagonal", "toarray", "to_dense", "to_csr", "to_csc", "to_coo", "with_data")
_DRAWS = (
    *("uniform", "normal", "exponential", "gamma", "poisson", "bernoulli", "integers", "permutation", "choice"),
    *("multinomial", "get_state"),
)
# What changes the state that launches draw from, which the file has only one of.
REFUSED = ("Generator.seed", "Generator.set_state", "Generator.spawn", "random.set_state", "random.spawn")


def _method(kind: type, name: str) -> Any:
    return next(vars(base)[name] for base in kind.__mro__ if name in vars(base))


def _methods() -> dict[str, Any]:
    found = {f"Array.{name}": _method(Array, name) for name in _ARRAY}
    found |= {f"Generator.{name}": _method(Generator, name) for name in _DRAWS}
    kinds = (*sparse.CSR.__mro__[1:3], sparse.CSR, sparse.CSC, sparse.COO, sparse.TwoToFour)
    return found | {f"{k.__name__}.{n}": vars(k)[n] for k in kinds for n in _SPARSE if n in vars(k)}


def _function(call: str) -> Any:
    """The function of that name, None for methods and for what is written in Python, whose own calls are recorded."""
    prefix, _, name = call.rpartition(".")
    found = getattr(_MODULES[prefix], name, None) if prefix in _MODULES else None
    return found if isinstance(found, BuiltinFunctionType) else None


@functools.cache
def calls() -> dict[str, Callable[..., Any]]:
    """What a name in a file stands for."""
    names = dict.fromkeys([*(row["call"] for row in op_table()), *_MORE])
    found = {name: _function(name) for name in names}
    found |= _methods()
    found |= {"Array.__getitem__": _recording.getitem, "Array.__setitem__": _recording.setitem}
    found |= {BEGIN: _graph.begin_part, END: _graph.end_part}
    return {name: function for name, function in found.items() if function is not None and name not in REFUSED}


@functools.cache
def observed() -> dict[str, Callable[..., Any]]:
    """What is recorded: each function under one name, and what is refused."""
    refused = {name: _function(name) or _method(Generator, name.rpartition(".")[2]) for name in REFUSED}
    known: set[int] = set()
    found = {}
    for name, function in {**calls(), **refused}.items():
        if id(function) not in known:  # linalg.matmul is matmul
            known.add(id(function))
            found[name] = function
    return found
