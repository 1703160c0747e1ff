"""Where the values of a configuration come from, in the order in which they hold.

Keywords, then the configuration given to Backend, then variables of the environment, then the TOML file that the
variable STATOR_CONFIG names, then the defaults. Of each field the first source that says something is read, and no
other.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from stator.config._config import BackendConfig
from stator.config._fields import FIELDS, Value, check_arena, check_together, checked
from stator.config._problems import Problem, nearest, raise_all, shown, unknown

FILE_VARIABLE = "STATOR_CONFIG"
TABLE = "backend"
VARIABLES = {field.variable: name for name, field in FIELDS.items()}
# Of other parts, so that they are not taken for misspelt ones, and looked up.
OTHERS = {
    f"STATOR_{name}"
    for name in ("CACHE_DIR", "CACHE_SIZE", "CHECK", "CONFIG", "EMULATE", "EMULATE_RECORD", "EMULATOR_ISA", "HOST_ISA")
}
OTHERS |= {f"STATOR_{name}" for name in ("HOST_MODE", "OPENBLAS", "REQUIRE_DEVICE", "SYNC", "UNITS")}
KNOWN = OTHERS | set(VARIABLES)
NEAR = 0.9  # of difflib: a letter left out or exchanged


def read_toml(path: str | os.PathLike[str], where: str, problems: list[Problem]) -> dict[str, Any]:
    """The table [backend] of a file; empty, and a problem more, where there is none."""
    try:
        import tomllib  # only where there is a file

        with open(os.fspath(path), "rb") as file:  # not the number of an open one
            table = tomllib.load(file).get(TABLE)
    except (OSError, RecursionError, TypeError, ValueError) as error:  # nested more deeply than Python can call
        problems.append(Problem(where, str(path), f"it cannot be read: {error}", "Give the path of a TOML file."))
        return {}
    if not isinstance(table, dict):
        rule = f"the file has no table [{TABLE}]"
        problems.append(Problem(where, str(path), rule, f"Put the fields below a line [{TABLE}]."))
        return {}
    return table


def misspelt(environment: Mapping[str, str]) -> list[Problem]:
    """Variables that are nearly one of the configuration's. Others may belong to a program."""
    strange = {n: v for n, v in environment.items() if n.startswith("STATOR_") and n not in KNOWN}
    return [unknown(n, v, VARIABLES, "variable", n) for n, v in strange.items() if nearest(n, VARIABLES, NEAR)]


def of_variables(environment: Mapping[str, str]) -> dict[str, Any]:
    """The values of variables, by field."""
    problems = misspelt(environment)
    texts = {name: environment[variable] for variable, name in VARIABLES.items() if environment.get(variable)}
    found = {name: checked(name, text, problems, FIELDS[name].variable) for name, text in texts.items()}
    raise_all(problems, "BackendConfig.from_environment")
    return found


def resolve(config: BackendConfig | None, keywords: Mapping[str, object]) -> BackendConfig:
    """The configuration of all sources, where every field that has a default is set. Used by Backend."""
    problems = misspelt(os.environ)
    problems += [unknown(name, value, FIELDS, "keyword") for name, value in keywords.items() if name not in FIELDS]
    if not isinstance(config, BackendConfig | None):
        rule = f"it is of type {type(config).__name__}"
        problems.append(Problem("config", shown(config), rule, "Give a stator.BackendConfig."))
        config = None
    file = os.environ.get(FILE_VARIABLE)
    table = read_toml(file, FILE_VARIABLE, problems) if file else {}
    strange = {name: value for name, value in table.items() if name not in FIELDS}
    problems += [unknown(name, value, FIELDS, "field", file or "") for name, value in strange.items()]
    values: dict[str, Value | None] = {}
    for name, field in FIELDS.items():
        if (given := keywords.get(name)) is not None:
            values[name] = checked(name, given, problems)
        elif config is not None and (said := getattr(config, name)) is not None:
            values[name] = said
        elif text := os.environ.get(field.variable):
            values[name] = checked(name, text, problems, field.variable)
        elif name in table:
            values[name] = checked(name, table[name], problems, file or "")
        else:
            values[name] = field.default
    check_together(values, problems)
    check_arena(values, problems)
    raise_all(problems, "Backend")
    return BackendConfig(**values)  # type: ignore[arg-type]


def origins() -> dict[str, str]:
    """Of each field that a variable or the TOML file sets, which one: what Backend() without arguments reads."""
    file = os.environ.get(FILE_VARIABLE)
    table = read_toml(file, FILE_VARIABLE, []) if file else {}
    found = {name: file for name in FIELDS if name in table and file}
    return found | {name: field.variable for name, field in FIELDS.items() if os.environ.get(field.variable)}


def default_device() -> str:
    """The device of the TOML file that STATOR_CONFIG names, else "auto"."""
    return str(resolve(None, {}).device)
