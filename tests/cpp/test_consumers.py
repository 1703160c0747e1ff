"""Projects that use the installed package: CMake's find_package, a Cython cimport, each header by itself."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
HEADERS = sorted((HERE.parents[1] / "csrc/include/stator").glob("*.hpp"))


def installed() -> Path:
    """The folder that has lib/ and include/, which in an editable install is not that of the Python sources."""
    from stator import _backend

    return Path(_backend.__file__).resolve().parent


def run(*command: object, **options) -> str:
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def openblas() -> list[str]:
    scipy_openblas32 = pytest.importorskip("scipy_openblas32")
    folder = Path(scipy_openblas32.get_lib_dir())
    return [str(next(folder.glob("libscipy_openblas*.so*")))]


def test_cmake_consumer(tmp_path):
    scripts = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}"}
    run(
        "cmake",
        "-S",
        HERE / "consumer",
        "-B",
        tmp_path,
        "-G",
        "Ninja",
        f"-DCMAKE_PREFIX_PATH={installed()}",
        env=environment,
    )
    run("cmake", "--build", tmp_path, env=environment)
    lines = run(tmp_path / "consumer", *openblas()).splitlines()
    assert lines[0] == "product: 4 5 10 11"
    assert lines[1] == "live before close: yes"
    assert lines[2] == "live after close: 0"
    assert lines[3].startswith("after close: ")
    assert lines[4] == "outstanding at the end: 0"


def test_cython_consumer(tmp_path):
    """The module shares libstator with Python, so it sees the resources that Python made."""
    project = shutil.copytree(HERE / "cython_consumer", tmp_path / "project")
    run(sys.executable, "setup.py", "build_ext", "--build-lib", tmp_path, cwd=project)
    script = (
        "import stator, cython_consumer\n"
        "with stator.Backend('cpu') as be:\n"
        "    x = be.zeros((4, 8), dtype='float32')\n"
        "    assert cython_consumer.size(x) == 32\n"
        "    assert cython_consumer.live(be) == len(be.resources()) > 0\n"
    )
    run(sys.executable, "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{script}")


def test_installed_headers_are_the_tree_s():
    assert sorted(p.name for p in (installed() / "include/stator").glob("*.hpp")) == [p.name for p in HEADERS]


@pytest.mark.parametrize("header", HEADERS, ids=lambda p: p.stem)
def test_header_compiles_alone(header):
    unit = f"#include <stator/{header.name}>\n#include <stator/{header.name}>\n"
    run(
        "g++",
        "-std=c++20",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-fsyntax-only",
        "-I",
        installed() / "include",
        "-x",
        "c++",
        "-",
        input=unit,
    )
