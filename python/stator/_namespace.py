"""The names of modules: functions generated from the op table, and those that are loaded on first use."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

from stator._elementwise import functions as elementwise
from stator._reduce import functions as reductions

FUNCTIONS: dict[str, Callable[..., Any]] = {**elementwise, **reductions}


def table_functions(prefix: str) -> dict[str, Callable[..., Any]]:
    """Names and functions of a module, given by its prefix: "", "nn.", "special." or "linalg."."""
    names = {call: call.removeprefix(prefix) for call in FUNCTIONS if call.startswith(prefix)}
    return {name: FUNCTIONS[call] for call, name in names.items() if "." not in name}


def missing(module: str, names: list[str]) -> Callable[[str], Any]:
    """The __getattr__ of a module: an AttributeError that says what to use instead of the name."""

    def __getattr__(name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"module {module!r} has no attribute {name!r}", name=name)
        from stator._hints import MissingAttributeError

        raise MissingAttributeError(module, name, lambda: names)

    return __getattr__


def on_first_use(package: str, modules: dict[str, str]) -> Callable[[str], Any]:
    """The __getattr__ of a package: it takes each name from its module when the name is first used."""

    def __getattr__(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name)
        found = getattr(import_module(f"{package}.{modules[name]}"), name)
        setattr(sys.modules[package], name, found)
        return found

    return __getattr__
