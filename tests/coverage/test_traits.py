"""traits.tsv lists the methods of the traits of backends that libraries define, with our calls. Needs no device."""

import csv
from collections import Counter
from functools import reduce
from pathlib import Path

import pytest

import stator
import stator.backends.traits

COLUMNS = ["trait", "method", "call", "reason"]

with (Path(__file__).parent / "traits.tsv").open(newline="") as file:
    reader = csv.DictReader(file, delimiter="\t")
    ROWS = list(reader)
    HEADER = reader.fieldnames


def method(row):
    return f"{row['trait']}.{row['method']}"


def member(of, name):
    """An attribute; of a dataclass also a field without a default."""
    return getattr(of, "__dataclass_fields__", {}).get(name) or getattr(of, name)


def test_rows_are_of_four_columns_and_unique():
    assert HEADER == COLUMNS
    assert ROWS
    assert not [method(row) for row in ROWS if None in row or None in row.values()]
    assert not [name for name, count in Counter(map(method, ROWS)).items() if count > 1]


def test_every_row_has_either_a_call_or_a_reason():
    assert not [method(row) for row in ROWS if bool(row["call"]) == bool(row["reason"])]


def test_reasons_are_sentences():
    reasons = {method(row): row["reason"] for row in ROWS if row["reason"]}
    assert not {name: text for name, text in reasons.items() if not text[0].isupper() or text[-1] != "."}


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
