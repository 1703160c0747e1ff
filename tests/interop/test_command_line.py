"""The output of each command of `python -m stator`."""

import json

import pytest

import stator
from stator import __main__, _table


def printed(capsys, *arguments):
    assert __main__.main(list(arguments)) == 0
    return capsys.readouterr().out


def test_info_names_devices_and_remedies(capsys, monkeypatch):
    missing = {"name": "cufft", "path": "", "found": False, "remedy": 'pip install "stator[cuda]"'}
    monkeypatch.setattr(_table, "libraries", lambda opened: [missing])
    text = printed(capsys, "info")
    assert stator.__version__ in text
    assert "cpu" in text
    assert 'pip install "stator[cuda]"' in text  # the brackets must not be read as markup


@pytest.mark.parametrize(("command", "key"), [("info", "devices"), ("ops", "call")])
def test_json_is_one_object(capsys, command, key):
    found = json.loads(printed(capsys, command, "--json"))
    assert key in (found[0] if isinstance(found, list) else found)


def test_ops_lists_every_row(capsys):
    assert f"{len(stator.op_table())} ops" in printed(capsys, "ops")


def test_names_are_whole_where_there_is_no_terminal(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    text = printed(capsys, "ops")
    assert [row["call"] for row in stator.op_table() if row["call"] not in text] == []
