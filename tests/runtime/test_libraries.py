"""The paths at which vendor libraries are searched, and the choice of the host target."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import stator
from stator import _libraries, _table
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
    assert found == ["/conda/lib/libcublas.so.13", "/toolkit/lib64/libcublas.so.13"]
    assert list(_libraries.candidates("scipy_openblas32", "lib/libscipy_openblas.so")) == []


def test_the_wheel_comes_first(nowhere, monkeypatch):
    wheel = SimpleNamespace(submodule_search_locations=["/wheel"])
    monkeypatch.setattr(_libraries, "find_spec", lambda _: wheel)
    monkeypatch.setenv("CUDA_HOME", "/toolkit")
    found = list(_libraries.candidates("nvidia", "cu13/lib/libcublas.so.13"))
    assert found == ["/wheel/cu13/lib/libcublas.so.13", "/toolkit/lib64/libcublas.so.13"]


OPENBLAS = Path(next(_libraries.candidates("scipy_openblas32", "lib/libscipy_openblas.so")))


def test_openblas_is_where_its_wheel_says():
    assert OPENBLAS.is_file()
    wheel_files = {library["name"]: library["wheel_file"] for library in _table.libraries(False)}
    assert wheel_files["openblas"] == "scipy_openblas32/lib/libscipy_openblas.so"


@pytest.mark.parametrize("loaded", [False, True], ids=["registered", "loaded"])
def test_a_loaded_copy_comes_before_a_registered_path(tmp_path, loaded):
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "libscipy_openblas.so").write_bytes(OPENBLAS.read_bytes())
    script = f"""
import ctypes
from stator import _table
if {loaded}: ctypes.CDLL({str(tmp_path / "first/libscipy_openblas.so")!r})
_table.set_library_path("openblas", {str(tmp_path / "second/libscipy_openblas.so")!r})
print(next(found["path"] for found in _table.libraries(True) if found["name"] == "openblas"))
"""
    environment = {name: value for name, value in os.environ.items() if name != "STATOR_OPENBLAS"}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(tmp_path / ("first" if loaded else "second") / "libscipy_openblas.so")


def test_a_level_of_the_host_column_that_was_not_built(monkeypatch):
    monkeypatch.setenv("STATOR_HOST_ISA", "v9")
    with pytest.raises(InvalidValueError, match="STATOR_HOST_ISA=v9"):
        stator.Backend("cpu")
    monkeypatch.delenv("STATOR_HOST_ISA")
    stator.Backend("cpu").close()


EXHAUSTED = """
import os, resource, sys
import stator
from stator import _libraries
if sys.argv[1] == "kernels":
    _libraries.register()
backend = stator.Backend("cpu") if sys.argv[1] == "openblas" else None
if backend: x = backend.ones((64, 64), dtype="float32")
sys.path.insert(0, "/")  # a folder that Python has not listed yet
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
files = []
try:
    while True:
        files.append(os.open("/", os.O_RDONLY))
except OSError:
    pass
try:
    stator.matmul(x, x) if backend else stator.Backend("cpu")
except stator.errors.LibraryNotFoundError as error:
    refused = error
for file in files:
    os.close(file)
print(refused)
backend = backend or stator.Backend("cpu")
x = backend.ones((64, 64), dtype="float32")
print(float(stator.sum(stator.matmul(x, x))))
"""


@pytest.mark.parametrize("library", ["packages", "kernels", "openblas"])
def test_exhausted_file_handles_are_named_and_the_next_call_works(library):
    done = subprocess.run([sys.executable, "-c", EXHAUSTED, library], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    text, result = done.stdout.splitlines()
    assert "no file handle is left" in text and "EMFILE" in text
    assert "ulimit -n" in text and "Reinstall" not in text
    assert float(result) == 64.0**3


def test_a_warning_of_the_loader_is_python_s(tmp_path):
    """Two versions of nvrtc in one process, as two small shared objects."""
    for major in (12, 13):
        source = tmp_path / f"nvrtc{major}.c"
        source.write_text("int nvrtcVersion(int* major, int* minor) { *major = 13; *minor = 0; return 0; }\n")
        library = tmp_path / f"libnvrtc.so.{major}"
        subprocess.run(["g++", "-shared", "-x", "c", source, "-o", library, f"-Wl,-soname,{library.name}"], check=True)
    script = f"""
import ctypes, warnings
import stator
from stator import _table
ctypes.CDLL({str(tmp_path / "libnvrtc.so.12")!r})
with stator.Backend("cpu") as be, warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    _table.set_library_path("nvrtc", {str(tmp_path / "libnvrtc.so.13")!r})
    _table.libraries(True)
    be.synchronize()
    be.synchronize()
    print([(w.category.__name__, str(w.message)) for w in seen])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    ((category, text),) = eval(done.stdout)
    assert category == "RuntimeWarning" and "two majors of nvrtc" in text
    assert done.stderr == ""


def test_required_libraries_are_an_option_and_a_variable(monkeypatch):
    assert stator.Backend("cpu").options["require_libraries"] is False
    monkeypatch.setenv("STATOR_REQUIRE_LIBRARIES", "1")
    assert stator.Backend("cpu").options["require_libraries"] is True
    assert stator.Backend("cpu", require_libraries=False).options["require_libraries"] is False
    monkeypatch.setenv("STATOR_REQUIRE_LIBRARIES", "yes")
    with pytest.raises(InvalidValueError, match="STATOR_REQUIRE_LIBRARIES=yes"):
        stator.Backend("cpu")
