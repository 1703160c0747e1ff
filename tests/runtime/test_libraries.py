"""The paths at which vendor libraries are searched, and the choice of the host target."""

from pathlib import Path
from types import SimpleNamespace

import pytest

import stator
from stator import _libraries
from stator.errors import InvalidValueError


@pytest.fixture
def nowhere(monkeypatch):
    """An environment without wheels, conda and a toolkit."""
    monkeypatch.setattr(_libraries, "find_spec", lambda _: None)
    for variable in ("CONDA_PREFIX", "CUDA_HOME", "CUDA_PATH"):
        monkeypatch.delenv(variable, raising=False)


def test_nothing_is_installed(nowhere):
    assert list(_libraries.candidates("nvidia", "cu13/lib/libcublas.so.13")) == []


def test_conda_comes_before_the_toolkit(nowhere, monkeypatch):
    monkeypatch.setenv("CUDA_HOME", "/toolkit")
    monkeypatch.setenv("CONDA_PREFIX", "/conda")
    found = list(_libraries.candidates("nvidia", "cu13/lib/libcublas.so.13"))
    assert found == [Path("/conda/lib/libcublas.so.13"), Path("/toolkit/lib64/libcublas.so.13")]
    assert list(_libraries.candidates("scipy_openblas32", "lib/libscipy_openblas.so")) == []


def test_the_wheel_comes_first(nowhere, monkeypatch):
    wheel = SimpleNamespace(submodule_search_locations=["/wheel"])
    monkeypatch.setattr(_libraries, "find_spec", lambda _: wheel)
    monkeypatch.setenv("CUDA_HOME", "/toolkit")
    found = list(_libraries.candidates("nvidia", "cu13/lib/libcublas.so.13"))
    assert found == [Path("/wheel/cu13/lib/libcublas.so.13"), Path("/toolkit/lib64/libcublas.so.13")]


def test_openblas_is_where_its_wheel_says():
    assert next(_libraries.candidates("scipy_openblas32", "lib/libscipy_openblas.so")).is_file()


def test_a_level_of_the_host_column_that_was_not_built(monkeypatch):
    monkeypatch.setenv("STATOR_HOST_ISA", "v9")
    with pytest.raises(InvalidValueError, match="STATOR_HOST_ISA=v9"):
        stator.Backend("cpu")
    monkeypatch.delenv("STATOR_HOST_ISA")
    stator.Backend("cpu").close()
