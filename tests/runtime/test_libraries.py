"""Where the vendor libraries are looked for."""

from pathlib import Path

import pytest

from stator import _libraries


@pytest.fixture
def nowhere(monkeypatch):
    """No wheel, no conda environment, no toolkit."""
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


def test_the_wheel_comes_first(monkeypatch):
    monkeypatch.setenv("CUDA_HOME", "/toolkit")
    first = next(_libraries.candidates("scipy_openblas32", "lib/libscipy_openblas.so"))
    assert first.is_file()
