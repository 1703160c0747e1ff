"""A name that is not there says what to use, and stays an AttributeError; nothing shows in dir()."""

import copy
import importlib
import pickle
import subprocess
import sys

import pytest

import stator
from stator._hints import HINTS
from stator.numpy._rows import ROWS

NUMPYS = ["stator.numpy", "stator.numpy.linalg", "stator.numpy.fft", "stator.numpy.random"]
MODULES = [
    *NUMPYS,
    "stator",
    "stator.linalg",
    "stator.random",
    "stator.sparse",
    "stator.fft",
    "stator.nn",
    "stator.special",
]


def module(name):
    return importlib.import_module(name)


@pytest.mark.parametrize(
    ("owner", "name", "hint"),
    [
        ("stator", "concatenate", r"Use concat, or NumPy's, which is stator\.numpy\.concatenate\.$"),
        ("stator", "allclose", r"Use stator\.numpy\.allclose\.$"),
        ("stator.random", "dirichlet", r"Use stator\.numpy\.random\.dirichlet\.$"),
        ("stator.linalg", "norm", r"which is stator\.numpy\.linalg\.norm\.$"),
        ("stator.numpy", "poly1d", "vectors of coefficients.*polyval"),
        ("stator.numpy", "fromregex", r"numpy\.fromregex and asarray"),
        ("stator.numpy", "matrix", "arrays of two axes"),
        ("stator.numpy", "topk", r"Use stator\.topk\.$"),
        ("stator.numpy", "concatenat", "Use concatenate"),
        ("stator.numpy.linalg", "lu_factor", r"Use stator\.linalg\.lu_factor\.$"),
        ("stator.numpy.fft", "fftshft", "Use fftshift"),
        ("stator.numpy.random", "MT19937", "."),
        ("stator.numpy", "qqqqqq", r"'qqqqqq'\.$"),
        ("stator", "cumulative_sums", "Use cumulative_sum"),
        ("stator.linalg", "norm", "Use vector_norm or matrix_norm."),
        ("stator.linalg", "choleski", "Use cholesky"),
        ("stator.random", "randn", "Use normal"),
        ("stator.sparse", "csr_matrix", "Use CSR"),
        ("stator.special", "igamma", "Use gammainc"),
        ("stator", "igammac", "Use special.gammaincc"),
        ("stator", "qqqqqq", r"'qqqqqq'\.$"),
    ],
)
def test_a_missing_name_of_a_module_says_what_to_use(owner, name, hint):
    with pytest.raises(AttributeError, match=hint) as caught:
        getattr(module(owner), name)
    assert (caught.value.name, hasattr(module(owner), name)) == (name, False)


@pytest.mark.parametrize(
    ("name", "hint"),
    [("cpu", r"to_device\('cpu'\)"), ("numpy", "to_numpy"), ("trnspose", "'trnspose'$"), ("qqq", "'qqq'$")],
)
def test_a_missing_attribute_of_an_array_says_what_to_use(be, name, hint):
    x = be.zeros((2,))
    with pytest.raises(AttributeError, match=hint) as caught:
        getattr(x, name)
    assert (caught.value.name, caught.value.obj is x, hasattr(x, name)) == (name, True, False)
    assert name not in dir(x)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    assert str(copy.copy(caught.value)) == str(caught.value)


def test_python_suggests_the_nearest_attribute():
    code = "import stator; stator.zeros(2, device='cpu').trnspose"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "Did you mean: 'transpose'?" in done.stderr


def test_a_class_of_its_own_may_have_what_arrays_have_not(be):
    class Named(stator.Array):
        numpy = "mine"

    x = Named.__new__(Named)
    assert x.numpy == "mine"
    assert "numpy" in dir(x)
    assert "cpu" not in dir(x)


def test_calls_of_methods_make_no_method_objects():
    # Python does without where the class takes attributes as object does.
    assert stator.Array.__getattribute__ is object.__getattribute__
    assert not hasattr(stator.Array, "__getattr__")


def test_errors_of_attributes_that_are_there_pass(be):
    with pytest.raises(stator.errors.MatrixAttributeError, match="Reshape"):
        assert be.zeros(2).mT
    with pytest.raises(AttributeError, match="no attribute '__nothing__'"):
        assert be.zeros(2).__nothing__


def test_private_names_of_modules_get_no_hint():
    with pytest.raises(AttributeError, match=r"no attribute '_concat'$"):
        assert stator._concat


def test_hints_are_for_names_that_are_missing_and_name_what_is_there():
    for owner, table in HINTS.items():
        home = stator.zeros(1, device="cpu") if owner == "Array" else module(owner)
        assert [name for name in table if hasattr(home, name)] == []
        if owner != "Array":
            first = {name: hint.split(",")[0].split(" ")[0].split("(")[0] for name, hint in table.items()}
            words = {n: w for n, w in first.items() if w not in ("nothing:", "the", "x.to_numpy")}
            for name, word in words.items():
                at = stator if owner == "stator" or word.startswith("stator.") else home
                for part in word.removeprefix("stator.").split("."):
                    at = getattr(at, part, None)
                assert at is not None, (owner, name, word)


@pytest.mark.parametrize("name", MODULES)
def test_dir_shows_no_hook(name):
    assert "__getattr__" not in dir(module(name))


def test_every_absent_name_of_numpy_says_why():
    for owner in NUMPYS:
        prefix = owner.removeprefix("stator.numpy").removeprefix(".")
        absent = {n: r.how for n, r in ROWS.items() if r.absent and n.rpartition(".")[0] == prefix and n[0] != "_"}
        for name, how in absent.items():
            with pytest.raises(AttributeError) as caught:
                getattr(module(owner), name.rpartition(".")[2])
            assert str(caught.value).endswith(f" {how}")
    assert len(ROWS) > 500 and sum(row.absent for row in ROWS.values()) > 60


def test_modules_of_stator_numpy_are_found_past_the_hints():
    code = "import stator.numpy as n; from stator.numpy import fft, linalg, random; assert n.fft is fft; print('right')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "right\n", done.stderr
