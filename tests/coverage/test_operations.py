"""operations.tsv lists the operations that array libraries ask of stator, with their calls. Needs no device."""

import importlib.util
import json
from collections import Counter
from pathlib import Path

# Imported from its path, since a package on PyPI has the same name.
SPEC = importlib.util.spec_from_file_location("coverage_tool", Path(__file__).parents[2] / "tools" / "coverage.py")
tool = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(tool)

OPERATIONS = tool.operations()
PRESENT = [o for o in OPERATIONS if o.call is not None]
PLANNED = [o for o in OPERATIONS if o.call is None]
FAMILIES = {"core": 15, "dense": 105, "libraries": 34, "movement": 41, "nn": 23}
# The calls of planned operations, where they differ from the operation's name by more than underscores.
OTHER_NAMES: dict[str, str] = {}


def plain(name):
    return name.replace("_", "").lower()


def namespaces(family):
    """The namespaces in which the present operations of the family are."""
    return {o.call.rpartition(".")[0] for o in PRESENT if o.family == family}


def functions(namespace):
    """The callables of a namespace: names without underscores, and dotted names."""
    home = tool.resolve(namespace) if namespace else tool.stator
    return {plain(n): f"{namespace}.{n}".lstrip(".") for n in dir(home) if callable(getattr(home, n))}


def test_names_are_unique():
    counts = Counter(o.operation for o in OPERATIONS)
    assert not [name for name, count in counts.items() if count > 1]


def test_every_family_is_whole():
    assert Counter(o.family for o in OPERATIONS) == FAMILIES


def test_every_call_exists():
    assert PRESENT
    assert not [o for o in PRESENT if not tool.exists(o.call)]


def test_every_operation_present_has_a_case():
    tested = tool.cases()
    assert not [o.operation for o in PRESENT if o.operation not in tested]


def test_every_case_is_of_an_operation_present():
    present = {o.operation for o in PRESENT}
    assert not [name for name in tool.cases() if name not in present]


def test_planned_operations_are_not_there_yet():
    """An operation that has become present must be listed in operations.tsv with its call, and gets a case."""
    there = []
    for o in PLANNED:
        names = {plain(o.operation), plain(OTHER_NAMES.get(o.operation, o.operation))}
        for namespace in namespaces(o.family):
            found = functions(namespace)
            there += [f"{o.operation}: {found[n]}" for n in names & found.keys()]
    assert not there


def test_other_names_are_of_planned_operations():
    assert OTHER_NAMES.keys() <= {o.operation for o in PLANNED}


def test_json_has_an_entry_an_operation(capsys):
    assert tool.main(["--json"]) == 0
    entries = json.loads(capsys.readouterr().out)
    assert isinstance(entries, list)
    assert [(e["operation"], e["call"], e["family"]) for e in entries] == OPERATIONS
    assert all(e.keys() == {"operation", "call", "family", "tested"} for e in entries)
    assert not [e for e in entries if e["call"] is None and e["tested"] is not False]
    assert {e["operation"] for e in entries if e["tested"]} == tool.cases() & {o.operation for o in PRESENT}


def test_the_table_counts_every_operation(capsys):
    assert tool.main([]) == 0
    out = capsys.readouterr().out
    assert f"{len(OPERATIONS)} operations" in out
    assert all(family in out for family in FAMILIES)
