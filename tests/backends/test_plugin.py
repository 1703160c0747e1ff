"""examples/plugin, installed as users do, is found, and its arrays do what the backend claims.

The same tests run through stator's own namespace.
"""

import os
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from cases import ARITY, TABLE, bound, case, expected, operands, wide_operands
from reference import ulp_error

from stator.backends import BackendRegistry

PLUGIN = Path(__file__).resolve().parents[2] / "examples/plugin"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder into which the package is installed, without a network. It is built from a copy, beside nothing else."""
    import shutil

    source = shutil.copytree(PLUGIN, tmp_path_factory.mktemp("source") / "plugin")
    target = tmp_path_factory.mktemp("installed")
    options = ["--no-build-isolation", "--no-deps", "--no-index", "--disable-pip-version-check", "--target", target]
    command = [sys.executable, "-m", "pip", "install", "-q", *options, source]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 0, done.stderr
    return target


@pytest.fixture(scope="module")
def registry(folder):
    sys.path.insert(0, str(folder))
    yield BackendRegistry(discover=True)
    sys.path.remove(str(folder))
    for name in [name for name in sys.modules if name.startswith("stator_numpy_example")]:
        del sys.modules[name]


@pytest.fixture(params=["numpy", "cpu"])
def backend(registry, request):
    with registry.create(request.param) as backend:
        yield backend


def claimed():
    """The operations by their names; the package need not be installed to be read."""
    names: dict[str, object] = {}
    exec((PLUGIN / "src/stator_numpy_example/operations.py").read_text(), names)
    return names


CLAIMED = claimed()
ELEMENTWISE, REDUCTIONS, OTHERS = (CLAIMED[group].split() for group in ("ELEMENTWISE", "REDUCTIONS", "OTHERS"))


def test_a_new_process_finds_the_package(folder):
    code = """
from stator.backends import registry
with registry.create("numpy") as be:
    print(registry.list(), registry.default().name != "numpy", type(be.asarray([1])).__name__)
"""
    found = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {"PYTHONPATH": found, "STATOR_DEVICE": "cpu", "PATH": ""}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.stdout == "['cpu', 'cuda', 'numpy'] True ndarray\n", done.stderr


def test_what_is_claimed_is_what_is_tested(registry):
    with registry.create("numpy") as backend:
        assert backend.capabilities()["operations"] == (*ELEMENTWISE, *REDUCTIONS, *OTHERS)
    assert registry.get("numpy").capabilities() == backend.capabilities()
    assert sorted(COMPARED) == sorted(OTHERS)
    assert registry.get_plugin_metadata("numpy").name == "stator-numpy-example"


def on_host(x):
    return np.asarray(x.to_numpy() if hasattr(x, "to_numpy") else x)


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise_operations_match_the_oracles(backend, name):
    entry = next(row for row in TABLE.values() if row["call"] == name and row["shape_class"] in ARITY)
    xp, compared = backend.namespace(), 0
    for dtype in ("float32", "float64", "complex128", "int32", "bool"):
        rounded = dtype in ("int32", "bool") and entry["result"] == "inexact"
        beyond = dtype == "complex128" and name == "logaddexp"  # of real numbers in the array API
        if dtype not in entry["dtypes"] or rounded or beyond:
            continue
        made = operands(np.random.default_rng(zlib.crc32(name.encode())), entry["name"], (40,), dtype, arrays=True)
        with np.errstate(all="ignore"):
            got = on_host(getattr(xp, name)(*[backend.asarray(x) for x in made]))
        want, scale = np.asarray(expected(entry["name"], *made)), case(entry["name"]).scale
        if got.dtype.kind in "biu":
            np.testing.assert_array_equal(got, want)
        else:  # NumPy promises no bound; its own tests have 4 units for most functions
            size = None if scale is None else scale(*wide_operands(entry["name"], *made))
            assert ulp_error(got, want, size) <= max(8, *bound(entry["name"], dtype)), dtype
        compared += 1
    assert compared


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_match_numpy(backend, name):
    x = np.random.default_rng(0).integers(0, 4, (3, 5)).astype("float64")
    got = getattr(backend.namespace(), name)(backend.asarray(x), axis=1)
    np.testing.assert_allclose(on_host(got), getattr(np, name)(x, axis=1), rtol=1e-14)


X = np.random.default_rng(1).normal(size=(4, 4))
SORTED = np.array([1.0, 2.0, 2.0, 5.0])
# By operation: its call with a namespace and a function that makes arrays.
COMPARED = {
    "concat": lambda xp, a: xp.concat([a(X), a(X[:2])]),
    "cumulative_prod": lambda xp, a: xp.cumulative_prod(a(X), axis=0),
    "cumulative_sum": lambda xp, a: xp.cumulative_sum(a(X), axis=1),
    "matmul": lambda xp, a: xp.matmul(a(X), a(X)),
    "matrix_transpose": lambda xp, a: xp.matrix_transpose(a(X)),
    "searchsorted": lambda xp, a: xp.searchsorted(a(SORTED), a(np.array([2.0, 3.0, 0.5]))),
    "sort": lambda xp, a: xp.sort(a(X), axis=0),
    "stack": lambda xp, a: xp.stack([a(X), a(X)], axis=1),
    "unique_values": lambda xp, a: xp.unique_values(a(SORTED)),
}


@pytest.mark.parametrize("name", COMPARED)
def test_other_operations_match_numpy(backend, name):
    call = COMPARED[name]
    np.testing.assert_allclose(on_host(call(backend.namespace(), backend.asarray)), call(np, np.asarray), rtol=1e-13)


def test_a_closed_backend_of_the_package_refuses_new_arrays(registry):
    from stator.errors import BackendClosedError

    backend = registry.create("numpy")
    registry.remove("numpy")
    with pytest.raises(BackendClosedError):
        backend.asarray([1])
    assert registry.discover() == ["numpy"]
