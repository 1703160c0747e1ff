"""The output of each command of `python -m stator`."""

import argparse
import io
import json
import subprocess
import sys

import pytest
from rich.console import Console

import stator
from stator import __main__, _libraries, _table


def printed(capsys, *arguments):
    assert __main__.main(list(arguments)) == 0
    return capsys.readouterr().out


def test_info_names_devices_and_remedies(capsys, monkeypatch):
    _libraries.register()
    missing = {"name": "cufft", "path": "", "found": False, "remedy": 'pip install "stator[cuda]"', "substitute": "x"}
    monkeypatch.setattr(_table, "libraries", lambda opened: [missing])
    text = printed(capsys, "info")
    assert stator.__version__ in text
    assert "cpu" in text
    assert 'pip install "stator[cuda]"' in text  # the brackets must not be read as markup


def test_info_says_what_each_device_can_do(capsys):
    cpu = json.loads(printed(capsys, "info", "--json"))["devices"][0]
    assert cpu["memory_free"] > 0
    assert cpu["precision_modes"] == [
        str(mode) for mode in stator.Backend("cpu").devices.capabilities().precision_modes
    ]
    assert cpu["cooperative_launch"] in (True, False, None)
    assert "not known" in printed(capsys, "info")


def test_info_says_what_sets_each_field_of_the_configuration(capsys, monkeypatch, tmp_path):
    file = tmp_path / "stator.toml"
    file.write_text('[backend]\nmemory_limit = "1 GiB"\npool_policy = "none"\n')
    monkeypatch.setenv("STATOR_CONFIG", str(file))
    monkeypatch.setenv("STATOR_POOL_POLICY", "caching")
    found = json.loads(printed(capsys, "info", "--json"))["configuration"]
    assert found["memory_limit"] == {"value": 2**30, "source": str(file)}
    assert found["pool_policy"] == {"value": "caching", "source": "STATOR_POOL_POLICY"}
    assert found["deterministic"] == {"value": False, "source": "default"}
    text = printed(capsys, "info")
    assert str(file) in text
    assert "STATOR_POOL_POLICY" in text
    assert "deterministic" not in text


@pytest.mark.parametrize("cuda", [False, True])
def test_info_names_what_stands_in_for_a_missing_library(capsys, monkeypatch, cuda):
    _libraries.register()
    build, found = _table.build() | {"cuda": cuda}, _table.libraries(False)
    for library in found:
        library["found"] = library["name"] != "cufft"
    monkeypatch.setattr(_table, "build", lambda: build)
    monkeypatch.setattr(_table, "libraries", lambda opened: found)
    lines = [line for line in printed(capsys, "info").splitlines() if line.startswith("without ")]
    assert [line.split(",")[0] for line in lines] == ["without cufft"] * cuda
    assert all("slower" in line for line in lines)


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


def names(capsys, *arguments):
    return [entry["call"] for entry in json.loads(printed(capsys, "ops", *arguments, "--json"))]


def test_ops_are_filtered_by_name_family_and_dtype(capsys):
    assert names(capsys) == [entry["call"] for entry in stator.op_table()]
    assert {"cumulative_sum", "logcumsumexp"} < set(names(capsys, "CUM"))
    assert set(names(capsys, "cum*")) < set(names(capsys, "cum")) and "logcumsumexp" not in names(capsys, "cum*")
    assert "linalg.vector_norm" in names(capsys, "vector_norm", "--family", "reduce")
    scans = names(capsys, "--family", "scan")
    real = names(capsys, "--family", "scan", "--dtype", "complex64")
    assert "cumulative_max" in scans and "cumulative_max" not in real and "cumulative_sum" in real


def test_ops_without_a_match_says_so(capsys):
    assert __main__.main(["ops", "no such op"]) == 1
    out, error = capsys.readouterr()
    assert out == "" and "No op" in error
    with pytest.raises(SystemExit):
        __main__.main(["ops", "--family", "nothing"])


def ops_at(width, pattern=""):
    """The lines of `ops PATTERN` on a console of some columns."""
    written = io.StringIO()
    arguments = argparse.Namespace(filter=pattern, family=None, dtype=None, json=False)
    assert __main__.show_ops(arguments, Console(file=written, width=width)) == 0
    return written.getvalue().splitlines()


@pytest.mark.parametrize("width", [24, 40, 80, 81, 100, 120, 121, 160, 240, 300])
def test_the_table_of_ops_fits_the_terminal(width):
    rows = [line for line in ops_at(width, "poly") if line[:1] in "┏┡├└│┃"]
    assert len(rows) > 10
    assert {len(row) for row in rows} == {len(rows[0])} and len(rows[0]) <= width
    assert {row[-1] for row in rows} <= set("┓┃┩┤┘│")


def test_a_narrow_terminal_keeps_names_whole_and_names_what_is_left_out():
    text = "\n".join(ops_at(80))
    assert [entry["call"] for entry in stator.op_table() if f"│ {entry['call']} " not in text] == []
    assert "dtypes" in text and "--json" in text
    assert "--json" not in "\n".join(ops_at(300, "poly"))


def test_version(capsys):
    with pytest.raises(SystemExit) as ended:
        __main__.main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"stator {stator.__version__}\n"


@pytest.mark.parametrize("missing", ["gpu", "cpu:3", "cuda:99"])
def test_demo_on_a_device_that_is_not_there_is_one_line_without_the_data_set(missing):
    script = "import sys; from stator import __main__; status = __main__.main(sys.argv[1:])\n"
    script += "assert not any(name.split('.')[0] == 'sklearn' for name in sys.modules); sys.exit(status)"
    command = [sys.executable, "-c", script, "demo", "--device", missing]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert missing in line and ("Devices are" in line or "not available" in line or "does not exist" in line)


def test_demo_names_the_device_that_it_uses(capsys, monkeypatch):
    pytest.importorskip("sklearn")
    from stator import demo

    quick = demo.Hyperparameters(hidden=8, batch=512, epochs=1)
    monkeypatch.setattr(demo, "Hyperparameters", lambda: quick)
    assert __main__.main(["demo", "--device", "auto"]) == 0
    out, error = capsys.readouterr()
    expected = "cuda:0" if stator.is_available("cuda") else "cpu"
    assert f"training on {expected} " in error and "epoch 1/1  loss " in error and "nan" not in error
    assert expected in out
