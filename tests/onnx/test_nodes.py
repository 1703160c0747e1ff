"""The node tests of ONNX, run by calls of stator: what other implementations of the operators are held to.

The counts of what ran and of what was left out, by reason, are in the summary that pytest prints.
"""

import collections

import pytest

from tests.onnx.table import ROWS, Without, modules, nodes, run

# isort: off
from tests.onnx import rows_arrays, rows_elements, rows_layers  # noqa: F401 rows enter themselves
from tests.onnx import rows_quantization, rows_recurrent  # noqa: F401
# isort: on

# Modules of onnx.backend.test.case.node that are not loaded, by the reason.
LEFT_OUT = {
    "layers that stator lacks": """
        causal_conv_with_state deformconv flexattention linear_attention nonmaxsuppression roialign rotaryembedding
        tensorscatter tfidfvectorizer""",
    "graphs, sequences, strings, images and trees": """
        ai_onnx_ml if_ image_decoder loop optionalgetelement optionalhaselement regex_full_match scan sequence_map
        sequenceinsert splittosequence string_concat string_split stringnormalizer""",
    "nothing is computed": """
        _image_decoder_data constant constantofshape shape size""",
    "as cast, or without conversion": """
        bitcast castlike""",
    "random draws of another generator, and tables of sound": """
        bernoulli melweightmatrix""",
    "Fourier transforms and windows, which tests/ops/fft compares with NumPy and SciPy": """
        blackmanwindow dft hammingwindow hannwindow stft""",
}
NAMES = {name for names in LEFT_OUT.values() for name in names.split()}
MODULES = modules()


def test_modules_that_are_left_out_exist(record_property):
    assert set(MODULES) >= NAMES
    counts = {f"ONNX, operators left out: {reason}": len(names.split()) for reason, names in LEFT_OUT.items()}
    record_property("counts", counts)


@pytest.mark.parametrize("module", [m for m in MODULES if m not in NAMES])
def test_operators_give_what_onnx_expects(be, module, record_property):
    counts, failures = collections.Counter(), []
    for operator, cases in nodes(module).items():
        assert operator in ROWS, f"{operator}: enter a row, or the module with a reason in LEFT_OUT"
        for case in cases:
            try:
                counts.update(f"ONNX, not compared: {operator}: {reason}" for reason in run(be, case))
                counts["ONNX, nodes that ran"] += 1
            except Without as reason:
                counts[f"ONNX, left out: {operator}: {reason}"] += 1
            except Exception as error:
                failures.append(f"{case.name}: {type(error).__name__}: {error}")
    assert not failures, "\n".join(failures)
    record_property("counts", dict(counts))
