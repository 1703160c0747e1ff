"""traits.tsv lists the methods of the traits of backends that libraries define, with our calls. Needs no device."""

import ast
import csv
from collections import Counter
from functools import cache, reduce
from pathlib import Path

import pytest

import stator
import stator.backends.traits

COLUMNS = ["trait", "method", "call", "test", "planned", "reason"]
TOP = Path(__file__).parents[2]

with (Path(__file__).parent / "traits.tsv").open(newline="") as file:
    reader = csv.DictReader(file, delimiter="\t")
    ROWS = list(reader)
    HEADER = reader.fieldnames


def method(row):
    return f"{row['trait']}.{row['method']}"


def member(of, name):
    """An attribute; of a dataclass also a field without a default."""
    return getattr(of, "__dataclass_fields__", {}).get(name) or getattr(of, name)


def test_rows_are_of_six_columns_and_unique():
    assert HEADER == COLUMNS
    assert ROWS
    assert not [method(row) for row in ROWS if None in row or None in row.values()]
    assert not [name for name, count in Counter(map(method, ROWS)).items() if count > 1]


@cache
def functions_of(file):
    """The test functions of a file below the top of the repository."""
    path = TOP / file
    return {node.name for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef)}


def test_every_row_has_a_call_a_plan_or_a_reason():
    assert not [method(row) for row in ROWS if bool(row["reason"]) == bool(row["call"] or row["planned"])]


@pytest.mark.parametrize("column", ["planned", "reason"])
def test_texts_are_sentences(column):
    texts = {method(row): row[column] for row in ROWS if row[column]}
    assert not {name: text for name, text in texts.items() if not text[0].isupper() or text[-1] != "."}


def test_a_test_belongs_to_a_call_and_exists():
    named = [(row["call"], *row["test"].split("::")) for row in ROWS if row["test"]]
    assert named
    assert not [found for found in named if not found[0] or len(found) != 3]
    assert not [file for _, file, _ in named if not (TOP / file).is_file()]
    assert not [f"{file}::{name}" for _, file, name in named if name not in functions_of(file)]


@pytest.mark.parametrize("trait", dict.fromkeys(row["trait"] for row in ROWS))
def test_every_call_resolves(trait):
    missing = []
    for row in ROWS:
        if row["trait"] == trait and row["call"]:
            try:
                reduce(member, row["call"].split("."), stator)
            except AttributeError:
                missing.append(f"{method(row)}: stator.{row['call']}")
    assert not missing
