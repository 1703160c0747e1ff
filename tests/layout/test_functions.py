"""Functions of C++ take few parameters and are short, or have phases."""

import re

import pytest

from tests.layout.cpp_functions import functions
from tests.layout.test_layout import name, under

MOST_PARAMETERS = 7
MOST_LINES = 80
MOST_LINES_OF_A_PHASE = 40
# Functions whose parameters others decide: doubles of vendor calls, what nvcc calls, kernels and launchers.
VENDORS = "csrc/emulator/vendor/"
OTHERS = re.compile(r"__(real|wrap)_\w+")
KERNEL = re.compile(r"\bSTATOR_KERNEL")
# Files with functions that are still to be changed. Take a file out with its last one; none is added.
WIDE = {
    "csrc/kernels/attention/matrix.cuh",
    "csrc/kernels/attention/tiles.cuh",
    "csrc/kernels/elementwise/strided.cuh",
    "csrc/kernels/fft/signals.cuh",
    "csrc/kernels/indexing/accumulate.cu",
    "csrc/kernels/indexing/index_arrays.cuh",
    "csrc/kernels/linalg/qr.cu",
    "csrc/kernels/linalg/reflector.cuh",
    "csrc/kernels/linalg/small.cuh",
    "csrc/kernels/losses/nll_loss.cu",
    "csrc/kernels/matmul/integer_product.cu",
    "csrc/kernels/nn/softmax_columns.cuh",
    "csrc/kernels/nn/softmax_rows.cuh",
    "csrc/kernels/norm/row_threads.cuh",
    "csrc/kernels/pooling/pool_backward.cu",
    "csrc/kernels/pooling/rows.cuh",
    "csrc/kernels/quantization/affine.cu",
    "csrc/kernels/reduce/columns.cuh",
    "csrc/kernels/reduce/rows.cuh",
    "csrc/kernels/resampling/interpolate.cu",
    "csrc/kernels/sets/histogram.cu",
    "csrc/kernels/sort/host.cuh",
    "csrc/kernels/sort/radix.cu",
    "csrc/kernels/sort/split.cu",
    "csrc/kernels/sparse/product.cu",
}


SOURCES = {name(path): path.read_text() for path in under("csrc", suffixes=(".cpp", ".hpp", ".cu", ".cuh"))}
FUNCTIONS = {file: functions(source) for file, source in SOURCES.items()}


def launchers() -> set[str]:
    return {word for source in SOURCES.values() for word in re.findall(r"^STATOR_LAUNCHER\(\w+, (\w+)\)", source, re.M)}


def test_functions_take_few_parameters():
    exempt = launchers()
    wide = {
        (file, f.name)
        for file, found in FUNCTIONS.items()
        if not file.startswith(VENDORS)
        for f in found
        if f.parameters > MOST_PARAMETERS
        and not (
            KERNEL.search(f.head) or OTHERS.fullmatch(f.name) or (file.startswith("csrc/kernels/") and f.name in exempt)
        )
    }
    assert not {(file, function) for file, function in wide if file not in WIDE}
    assert not WIDE - {file for file, _ in wide}, "finished: take these files out of WIDE"


def test_long_functions_have_phases():
    long = {
        (file, f.name)
        for file, found in FUNCTIONS.items()
        for f in found
        if f.lines > MOST_LINES and f.unbroken > MOST_LINES_OF_A_PHASE
    }
    assert not long


@pytest.mark.parametrize(
    ("source", "name", "parameters"),
    [
        ("void f();", "f", 0),
        ("void f(void);", "f", 0),
        ("int f(int a, std::map<int, int> b = {1, 2}) { return g(a, b, 3); }", "f", 2),
        ("template <class T, int n> T f(T (&a)[n], F<T(int, int)> call) { return a[0]; }", "f", 2),
        ("struct S { S(int a, int b) : a_(a), b_{b} {} };", "S", 2),
        ("class C : public B { public: int f(int a, int b) const override { if (a) g(b); } };", "f", 2),
        ("bool operator()(const T& a, const T& b) const { return a < b; }", "operator__", 2),
        ('extern "C" { int f(const char* text = "a, b", char c = \',\'); }', "f", 2),
        ("auto f(int a /* b, c */, int b) -> std::pair<int, int>;", "f", 2),
        ("#define F(a, b, c) \\\n  g(a, b, c)\nvoid f(int a);", "f", 1),
    ],
)
def test_a_function_is_found_with_its_parameters(source, name, parameters):
    assert [(f.name, f.parameters) for f in functions(source)] == [(name, parameters)]


def test_values_and_calls_are_no_functions():
    assert functions('const int a = f(1, 2); int b[] = {g(1), 2}; static_assert(f(1), "no"); using F = int;') == []


def test_lines_are_counted_without_tables_and_in_phases():
    table = "  static const double table[] = {\n      1, 2,\n      -3.5e-1, 4,\n  };\n"
    source = "int f() {\n" + table + "  // the sum\n  return 1;\n}\n"
    (f,) = functions(source)
    assert (f.line, f.lines, f.unbroken) == (1, 6, 3)
