"""What help() shows: a sentence for every public function, made from the op table where the function is, and examples
that run."""

import doctest
import inspect
from pathlib import Path

import numpy as np
import pytest

import stator
from tests.guide.documented import docstrings, number

ROOT = Path(__file__).resolve().parents[2]
NAMESPACES = {
    "": stator,
    **{f"{name}.": getattr(stator, name) for name in ("fft", "linalg", "nn", "random", "sparse", "special")},
}
FUNCTIONS = {
    f"{prefix}{name}": value
    for prefix, module in NAMESPACES.items()
    for name, value in vars(module).items()
    if not name.startswith("_") and callable(value) and not isinstance(value, type)
}


def first_line(name):
    """Of the documentation, after the signature that Cython embeds."""
    lines = [line for line in inspect.getdoc(FUNCTIONS[name]).splitlines() if line]
    return lines[1] if "(" in lines[0].split(" ")[0] and " -> " in lines[0] else lines[0]


def test_every_first_line_is_a_sentence():
    assert len(FUNCTIONS) > 350
    lines = {name: first_line(name) for name in FUNCTIONS}
    assert not {name: line for name, line in lines.items() if len(line) > 100 or not line.endswith((".", ":"))}


def test_functions_of_the_table_show_its_summary():
    """Variants (gelu_tanh of nn.gelu) and what is bound by hand have documentation of their own."""
    by_hand = {"nn.gelu", "nn.gelu_backward", "clip", "nan_to_num"}
    kinds = {"unary", "binary", "ternary", "quaternary", "select", "reduce"}
    rows = [
        row
        for row in stator.op_table()
        if row["shape_class"] in kinds and row["call"].rpartition(".")[2] == row["name"] and row["call"] not in by_hand
    ]
    assert len(rows) > 160
    assert not [row["name"] for row in rows if first_line(row["call"]) != row["summary"] + "."]


EXAMPLES = docstrings()


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_in_docstrings_run(be, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shown = []
    with stator.Backend(be.device_name) as fresh, fresh.use():
        known = {"be": fresh, "numpy": np, "stator": stator, "path": str(tmp_path / "file")}
        example = doctest.DocTestParser().get_doctest(EXAMPLES[name], known, name, None, None)
        assert example.examples
        doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS).run(example, out=shown.append)
    assert not shown, "".join(shown)


def test_every_example_of_the_sources_is_in_a_public_docstring():
    """Else nothing would run it: there is no other list of them."""
    known = {line.strip() for text in EXAMPLES.values() for line in text.splitlines()}
    sources = [*(ROOT / "python").rglob("*.py"), *(ROOT / "python").rglob("*.pyi"), *(ROOT / "pyx").rglob("*.pyx")]
    lines = {line.strip(): path.name for path in sources for line in path.read_text().splitlines()}
    assert not {line: name for line, name in lines.items() if line.startswith(">>> ") and line not in known}
    assert sum(map(number, EXAMPLES.values())) > 450


# Functions of stator.nn from these modules have an example each.
SHOWN = ("attention", "convolution", "embedding", "losses", "nn", "norm", "norm_batch", "observers", "optim", "pooling")
SHOWN += ("pooling_adaptive", "quantization", "recurrent", "recurrent_cells", "resampling")


def test_every_layer_has_an_example():
    modules = {f"stator.nn._{name}" for name in SHOWN}
    layers = [f for f in map(stator.nn.__dict__.get, stator.nn.__all__) if getattr(f, "__module__", None) in modules]
    layers = [f for f in layers if not hasattr(f, "_fields")]
    assert len(layers) > 130
    assert not [layer.__name__ for layer in layers if ">>>" not in layer.__doc__]
