"""What help() shows: a sentence for every public function, made from the op table where the function is."""

import doctest
import inspect

import numpy as np
import pytest

import stator

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


EXAMPLES = [
    stator.Backend.stream_pool,
    stator.Backend.write_ranges,
    stator.Array.copy_from,
    stator.Backend.telemetry.fget,
    stator.Backend.profile,
    stator.Backend.sync_debug,
    stator.Backend.load_graph,
    stator.execution.Graph.save,
    stator.execution.GraphFunction.save,
    stator.execution.Telemetry.enable,
    stator.execution.Telemetry.measure,
    stator.execution.Telemetry.to_prometheus,
    stator.BackendConfig,
    stator.BackendConfig.merge,
    stator.BackendBuilder,
    stator.Backend.resource_usage,
    stator.Backend.set_resource_limits,
    stator.Backend.top,
]


@pytest.mark.parametrize("method", EXAMPLES, ids=lambda method: method.__name__)
def test_examples_in_docstrings_run(be, method, tmp_path):
    text = inspect.getdoc(method)
    known = {"numpy": np, "stator": stator, "path": str(tmp_path / "file")}
    with stator.Backend(be.device_name) as fresh:
        example = doctest.DocTestParser().get_doctest(text, {"be": fresh, **known}, method.__name__, None, None)
        assert example.examples
        doctest.DocTestRunner(verbose=False).run(example, out=(shown := []).append)
    assert not shown, "".join(shown)


# Functions of stator.nn from these modules have an example each.
SHOWN = ("attention", "convolution", "embedding", "losses", "nn", "norm", "norm_batch", "observers", "optim", "pooling")
SHOWN += ("pooling_adaptive", "quantization", "recurrent", "recurrent_cells", "resampling")


def test_every_layer_has_an_example_that_runs(be):
    modules = {f"stator.nn._{name}" for name in SHOWN}
    layers = [f for f in map(stator.nn.__dict__.get, stator.nn.__all__) if getattr(f, "__module__", None) in modules]
    layers = [f for f in layers if not hasattr(f, "_fields")]
    assert len(layers) > 130
    missing, shown = [], []
    for layer in layers:
        text = inspect.getdoc(layer)
        known = {"be": be, "numpy": np, "stator": stator}
        example = doctest.DocTestParser().get_doctest(text, known, layer.__name__, None, None)
        missing += [layer.__name__] * (not example.examples)
        doctest.DocTestRunner(verbose=False).run(example, out=shown.append)
    assert not missing
    assert not shown, "".join(shown)
