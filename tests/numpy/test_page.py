"""The page of names is fresh, and as many names are present as it promises."""

import importlib.util
import inspect
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import stator
import stator.numpy as snp
from stator.numpy._rows import ROWS

ROOT = Path(__file__).resolve().parents[2]
ON_2_4 = pytest.mark.skipif(not np.__version__.startswith("2.4."), reason="the page is for NumPy 2.4")


def tool():
    spec = importlib.util.spec_from_file_location("numpy_names_tool", ROOT / "tools/numpy_names.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@ON_2_4
def test_the_page_is_fresh():
    made = tool().page()
    assert made == (ROOT / "docs/numpy_names.md").read_text(), "run python tools/numpy_names.py"


@ON_2_4
def test_most_functions_are_present():
    counts = tool().counted("")
    assert sum(counts.values()) == 390
    assert counts["same"] + counts["differs"] >= 340


def test_the_namespace_is_the_table():
    assert sorted(dir(snp)) == sorted(snp.__all__)
    assert [n for n in snp.__all__ if not hasattr(snp, n)] == []
    assert [n for n, row in ROWS.items() if not row.absent and "." not in n and getattr(snp, n) is not row.value] == []


def test_rows_are_sentences():
    texts = {name: row.how for name, row in ROWS.items() if row.how != "same"}
    starts = {name: text.split("=")[0] for name, text in texts.items()}
    assert [n for n, start in starts.items() if not (start[0].isupper() or start.split()[0].isidentifier())] == []
    assert [n for n, text in texts.items() if len(text) < 8 or "|" in text] == []


# What stator has no use for: subclasses, memory layouts and unchecked casts.
WITHOUT_EFFECT = {"subok", "like", "casting", "order", "device", "signature", "kwargs", "object", "dtype", "ndmax"}


def functions():
    for name, row in ROWS.items():
        numpys = getattr(np, name, None) if "." not in name else None
        if inspect.isfunction(row.value) and callable(numpys) and row.value is not numpys:
            try:
                yield name, inspect.signature(row.value), inspect.signature(numpys)
            except (TypeError, ValueError):
                continue


def test_parameters_have_numpys_names_and_places():
    """Positional parameters are NumPy's in its order, and no keyword is missing but those without effect here."""
    wrong = {}
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    for name, ours, theirs in functions():
        if any(p.kind in variadic for p in [*ours.parameters.values(), *theirs.parameters.values()]):
            continue
        missing = set(theirs.parameters) - set(ours.parameters) - WITHOUT_EFFECT

        def places(signature):
            return [p.name for p in signature.parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]

        wanted = [p for p in places(theirs) if p not in WITHOUT_EFFECT]
        found = [p for p in places(ours) if p not in WITHOUT_EFFECT]
        if missing or found[: len(wanted)] != wanted:
            wrong[name] = (wanted, found)
    assert wrong == {}


def test_every_function_says_in_a_sentence_what_it_does():
    lines = {n: (inspect.getdoc(r.value) or "").split("\n")[0] for n, r in ROWS.items() if callable(r.value)}
    assert [n for n, line in lines.items() if not line] == []
    own = {n: line for n, line in lines.items() if "stator" in (getattr(ROWS[n].value, "__module__", None) or "")}
    assert [n for n, line in own.items() if not line.endswith((".", ":")) or len(line) > 120] == []


def test_import_of_stator_does_not_load_it():
    code = "import sys, stator; assert 'stator.numpy' not in sys.modules; stator.numpy.arange(3); print('loaded')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "loaded\n", done.stderr


def test_dtypes_are_taken_in_numpys_spellings(be):
    for spelling in ("f4", "float32", np.float32, np.dtype("f4"), stator.float32, snp.float32, "single"):
        assert snp.zeros(2, spelling).dtype == stator.float32
    assert snp.zeros(2, int).dtype == stator.int64
    with pytest.raises(TypeError):
        snp.zeros(2, "M8[s]")
