"""Pages of the Python reference: a page per module, that of the package by families of ops."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterable, Iterator
from types import UnionType
from typing import Any, Union, get_args, get_origin

import facts
from texts import escaped, markdown

import stator
from stator._accessor import Accessor

MODULES = {  # by names of pages: what the page is about
    "linalg": "Decompositions, solvers and functions of matrices.",
    "fft": "Discrete Fourier transforms.",
    "random": "Random numbers.",
    "sparse": "Sparse matrices.",
    "special": "Special functions.",
    "nn": "Layers of neural networks, their gradients, losses and optimisers.",
    "numpy": "NumPy's names.",
    "numpy.linalg": "NumPy's names of linear algebra.",
    "memory": "Buffers, allocators, managed memory, and host memory for fast copies.",
    "streams": "Pools of streams.",
    "programs": "Kernels of your own, and work that the device schedules.",
    "graphs": "Calls that are captured once and launched again.",
    "telemetry": "What calls cost.",
    "hardware": "Devices, what they are and can do.",
    "backends": "Providers of other packages.",
    "config": "What a backend is opened with.",
    "scopes": "Scopes, and objects with a cleanup.",
    "monitor": "What a backend uses.",
    "inspection": "What stator is made of.",
    "errors": "Errors and warnings.",
    "typing": "Types for annotations.",
    "testing": "What tests of programs use.",
}
_FAMILIES = {  # of the package's own functions, in the order in which they are shown
    "creation": "Creation",
    "elementwise": "Elementwise functions",
    "reduce": "Reductions",
    "scan": "Cumulative functions",
    "matmul": "Products",
    "movement": "Shapes and movement",
    "indexing": "Indexing",
    "sort": "Sorting and searching",
    "sets": "Sets",
    "linalg": "Linear algebra",
    "random": "Random numbers",
    "sparse": "Sparse matrices",
    "fft": "Fourier transforms",
    "nn": "Neural networks",
    "core": "Arrays",
}


def signature(function: Any) -> str:
    try:
        found = inspect.signature(function)
    except (TypeError, ValueError):
        return "(...)"
    shown = [p.replace(annotation=inspect.Parameter.empty) for p in found.parameters.values() if p.name != "self"]
    return str(found.replace(parameters=shown, return_annotation=inspect.Signature.empty))


def directive(kind: str, head: str, body: Iterable[str]) -> str:
    """A documented object. The fence is longer than any inside."""
    text = "\n\n".join(part for part in body if part)
    longest = 3
    while "`" * longest in text or ":" * longest in text:
        longest += 1
    fence = ":" * longest
    return f"{fence}{{py:{kind}}} {head}\n\n{text}\n{fence}\n"


def function(module: str, name: str, of: Any) -> str:
    below = f"{module}.{name}".removeprefix("stator.")
    return directive(
        "function", f"{module}.{name}{signature(of)}", [markdown(of.__doc__), "\n".join(facts.lines(below))]
    )


def _methods(of: type, prefix: str = "") -> Iterator[str]:
    fields = getattr(of, "_fields", None)  # of a named tuple, which has nothing else of its own
    for name in fields or dir(of):
        found = inspect.getattr_static(of, name)
        if name.startswith("_") or type(found).__name__ == "MissingAttribute" or not getattr(found, "__doc__", None):
            continue
        value = getattr(of, name, None)
        if isinstance(value, type) and issubclass(value, Accessor):  # what a service does for a backend
            yield directive("attribute", name, [markdown(found.__doc__)])
            yield from _methods(value, f"{name}.")
        elif callable(value):
            yield directive("method", prefix + name + signature(value), [markdown(value.__doc__)])
        else:
            yield directive(
                "attribute",
                prefix + name,
                [markdown(found.__doc__) if hasattr(found, "__get__") and not fields else ""],
            )


def class_(module: str, name: str, of: type) -> str:
    kind = "exception" if issubclass(of, BaseException) else "class"
    inherited = issubclass(of, BaseException) or of.__module__.split(".")[0] != "stator"
    own = [] if inherited else _methods(of)
    head = f"{module}.{name}" + ("" if kind == "exception" else signature(of))
    return directive(kind, head, [markdown(of.__doc__), *own])


def described(module: str, name: str, of: Any) -> str:
    if isinstance(of, type):
        return class_(module, name, of)
    if get_origin(of) in (Union, UnionType):
        return directive("data", f"{module}.{name}", [alias(of)])
    if callable(of):
        return function(module, name, of)
    return directive("data", f"{module}.{name}", [f"Of type {type(of).__name__}."])


def alias(of: Any) -> str:
    """What a name for several types stands for."""
    return "One of " + ", ".join(f"`{getattr(part, '__name__', part)}`" for part in get_args(of)) + "."


def _public(module: Any) -> dict[str, Any]:
    names = [name for name in dir(module) if not name.startswith("_")]
    found = {name: getattr(module, name) for name in names}
    return {name: of for name, of in found.items() if not inspect.ismodule(of)}


def summary(of: Any) -> str:
    text = inspect.getdoc(of) if isinstance(of, type) or callable(of) else ""
    return escaped((text or "").partition("\n")[0])


def overview(module: str, members: dict[str, Any]) -> str:
    """A table of names and what they do."""
    rows = [f"| {{py:obj}}`{name} <{module}.{name}>` | {summary(of)} |" for name, of in members.items()]
    return "\n".join(["| | |", "|---|---|", *rows])


def title_of(name: str, of: Any) -> str:
    """The heading under which a member stands, by its name below stator."""
    op = facts.row(name)
    if op:
        return _FAMILIES.get(op["family"], op["family"].capitalize())
    if isinstance(of, type):
        return "Classes"
    if get_origin(of) in (Union, UnionType):
        return "Types"
    return "Functions" if callable(of) else "Constants"


def grouped(module: str, members: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Members by headings: functions first, classes and constants last."""
    groups: dict[str, dict[str, Any]] = {}
    for name, of in members.items():
        title = title_of(f"{module}.{name}".removeprefix("stator."), of)
        groups.setdefault(title, {})[name] = of
    last = ("Functions", "Classes", "Constants")
    order = sorted(groups, key=lambda title: (last.index(title) + 1 if title in last else 0, title))
    return {title: groups[title] for title in order}


def module_page(name: str, about: str) -> str:
    full = f"stator.{name}"
    module = importlib.import_module(full)
    groups = grouped(full, _public(module))
    members = {of: found for group in groups.values() for of, found in group.items()}
    # A module of types has its documentation on one page, since types have none of their own.
    text = markdown(inspect.cleandoc(module.__doc__ or "").partition("\n\n")[2]) if name == "typing" else ""
    parts = [f"# {full}", about, f"```{{py:module}} {full}\n```", text, overview(full, members)]
    for title, group in groups.items():
        parts += [f"## {title}"] if len(groups) > 1 else []
        parts += [described(full, of, found) for of, found in group.items()]
    return "\n\n".join(parts)


def package_pages() -> dict[str, str]:
    """A page per heading of the package's own members."""
    found = {}
    for title, group in grouped("stator", _public(stator)).items():
        parts = [f"# {title}", "```{py:currentmodule} stator\n```", overview("stator", group)]
        parts += [described("stator", name, of) for name, of in group.items()]
        found[title.lower().replace(" ", "_")] = "\n\n".join(parts)
    return found


def listing(names: Iterable[str], modules: Iterable[str]) -> str:
    first, second = "\n".join(sorted(names)), "\n".join(modules)
    return f"""# Reference

Every public name. Functions that are ops say which dtypes they take, whether their bits repeat, how many kernels they
launch, whether they wait, and what they are compared with in the tests.

```{{toctree}}
:caption: stator
:maxdepth: 1

{first}
```

```{{toctree}}
:caption: Modules
:maxdepth: 1

{second}
```

```{{toctree}}
:caption: C++
:maxdepth: 1

cpp/index
```
"""


def pages() -> dict[str, str]:
    """Markdown by names of pages."""
    package = package_pages()
    modules = {name.replace(".", "_"): module_page(name, about) for name, about in MODULES.items()}
    return {**package, **modules, "index": listing(package, modules)}
