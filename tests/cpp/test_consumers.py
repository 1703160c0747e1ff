"""Projects that use the installed package: CMake's find_package, a Cython cimport, each header by itself."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import requirements

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs/tutorials/cython.md"
INCLUDE = HERE.parents[1] / "csrc/include"
HEADERS = sorted(INCLUDE.glob("stator/**/*.hpp"))


def installed() -> Path:
    """The folder that has lib/ and include/, which in an editable install is not that of the Python sources."""
    from stator import _backend

    return Path(_backend.__file__).resolve().parent


def run(*command: object, **options) -> str:
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def openblas() -> Path:
    scipy_openblas32 = pytest.importorskip("scipy_openblas32")
    return next(Path(scipy_openblas32.get_lib_dir()).glob("libscipy_openblas*.so*"))


@pytest.fixture(scope="module")
def consumer(tmp_path_factory) -> Path:
    """The program of tests/cpp/consumer, linked with the installed library."""
    build = tmp_path_factory.mktemp("consumer")
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    prefix = f"-DCMAKE_PREFIX_PATH={installed()}"
    run("cmake", "-S", HERE / "consumer", "-B", build, "-G", "Ninja", prefix, env=environment)
    run("cmake", "--build", build, env=environment)
    return build / "consumer"


def test_cmake_consumer(consumer):
    lines = run(consumer, env={**os.environ, "STATOR_OPENBLAS": str(openblas())}).splitlines()
    assert lines[0] == "product: 4 5 10 11"
    assert lines[1].startswith("OpenBLAS ")
    assert lines[2] == "live before close: yes"
    assert lines[3] == "live after close: 0"
    assert lines[4].startswith("after close: ")
    assert lines[5] == "outstanding at the end: 0"


@requirements.cuda_target
@pytest.mark.emulates
def test_backends_that_a_program_leaves_open_are_closed_at_its_end(consumer):
    """Those on cuda too, whose library is opened when the first backend on the cpu has been."""
    environment = {**os.environ, "STATOR_EMULATE": "h200:threads=1"}
    command = [consumer.with_name("exit"), "cuda"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "left\n", "")


@pytest.fixture(scope="module")
def toolkit() -> Path:
    """The folder of the CUDA toolkit of the wheels."""
    found = run(sys.executable, HERE.parents[1] / "cmake/find_cuda_wheels.py").strip()
    if not found:
        pytest.skip("there are no wheels of the CUDA toolkit")
    return Path(found.split(";")[0])


OWN_RUNTIME = """
#include <cuda_runtime_api.h>
#include <stator/stator.hpp>
#include <cstdio>

int main() {
  int version = 0, count = 0;
  cudaRuntimeGetVersion(&version);
  cudaGetDeviceCount(&count);
  std::printf("own runtime %d, stator's devices %d\\n", version / 1000, stator::device_count(stator::DeviceType::cuda));
}
"""


@requirements.cuda_target
@pytest.mark.emulates
def test_a_program_with_a_cuda_runtime_of_its_own(tmp_path, toolkit):
    """Its runtime and stator's do not meet: neither exports a symbol."""
    (tmp_path / "main.cpp").write_text(OWN_RUNTIME)
    folder = installed()
    flags = ["-std=c++20", "-I", folder / "include", "-isystem", toolkit / "include"]
    libraries = ["-L", folder / "lib", "-lstator", f"-Wl,-rpath,{folder}/lib", toolkit / "lib/libcudart_static.a"]
    run("g++", *flags, tmp_path / "main.cpp", "-o", tmp_path / "main", *libraries, "-lpthread", "-ldl", "-lrt")
    environment = {**os.environ, "STATOR_EMULATE": "h200:threads=1"}
    assert run(tmp_path / "main", env=environment) == "own runtime 13, stator's devices 1\n"


@pytest.fixture(scope="module")
def calls(consumer) -> list[str]:
    """What tests/cpp/consumer/calls.cpp prints."""
    return run(consumer.with_name("calls")).splitlines()


def test_a_program_s_macros_stay_and_a_bool_is_no_integer(calls):
    assert calls[0] == "bool"


def test_numbers_of_every_type_are_weak_operands(calls):
    assert calls[1:9] == [
        "int64 int8 float16 3",
        "int64 int8 float16 3",
        "int64 int8 float16 3",
        "uint64 int8 float16 3",
        "uint64 int8 float16 3",
        "float64 float64 float16 3",
        "float64 float64 float16 3",
        "complex128 complex128 complex64 3",
    ]


def test_an_operand_keeps_an_array_without_a_name(calls):
    assert calls[9] == "100000 200000"


def test_errors_of_a_program_name_functions_of_cpp(calls):
    assert calls[10:] == [
        "promote: No dtypes were given. Give one or more",
        "Array::to_host: The destination is null. Give memory of nbytes() bytes",
        calls[12],
    ]
    assert calls[12].startswith("linalg::solve: ")


KERNEL = """
#include <stator/dtype.hpp>
using namespace stator;
extern "C" __global__ void convert(const bfloat16* b, const float16* h, const complex64* c, DType dtype, float* out) {
  out[0] = float(b[0]) * 2;
  out[1] = float(h[0]) * 2;
  out[2] = float(bfloat16(float(b[0]) + 1));
  out[3] = float(float16(float(h[0]) + 1));
  out[4] = (c[0] * c[0] / complex64(2)).re;
  out[5] = itemsize(dtype) + 100 * int(in(dtype, dtypes::floats)) + 1000 * int(kind_of(dtype));
}
"""


@requirements.cuda_target
@pytest.mark.emulates
def test_a_kernel_of_another_project_converts_halves(tmp_path):
    """Functions that nvcc takes to be the host's would be compiled to nothing, without a word in a system header."""
    if not shutil.which("nvcc"):
        pytest.skip("there is no nvcc")
    (tmp_path / "kernel.cu").write_text(KERNEL)
    command = ["nvcc", "-std=c++20", "-ptx", "-arch=compute_80", "-isystem", installed() / "include", "kernel.cu"]
    run(*command, cwd=tmp_path)
    program = """
import numpy as np, stator
be = stator.Backend("cuda")
b, h, c = be.full(1, 1.5, dtype="bfloat16"), be.full(1, 1.5, dtype="float16"), be.full(1, 3 + 1j, dtype="complex64")
out = be.zeros(6, dtype="float32")
kernel = be.compile(open("kernel.ptx").read(), "convert")
kernel.launch(1, 1, b, h, c, np.uint8(9), out)
print(out.tolist())
"""
    environment = {**os.environ, "STATOR_EMULATE": "h200:threads=1"}
    printed = run(sys.executable, "-c", program, cwd=tmp_path, env=environment)
    assert printed == "[3.0, 3.0, 2.5, 2.5, 4.0, 3102.0]\n"


def site_packages(folder: Path, *folders: str) -> dict[str, str]:
    """An environment of the consumer with stator in a site-packages of its own, and OpenBLAS in some folders.

    OpenBLAS that a folder does not have is a file that cannot be opened.
    """
    library = folder / "stator/lib"
    library.mkdir(parents=True)
    for path in (installed() / "lib").glob("*.so"):
        (library / path.name).symlink_to(path)
    files = {
        "variable": folder / "elsewhere/libopenblas.so.0",
        "beside": folder / "scipy_openblas32/lib/libscipy_openblas.so",
        "system": folder / "system/libopenblas.so.0",
    }
    (folder / "system").mkdir()
    (folder / "system/libscipy_openblas.so").write_text("no shared object")
    for place, path in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if place in folders:
            path.symlink_to(openblas())
        elif place == "system":
            path.write_text("no shared object")
    environment = {**os.environ, "LD_LIBRARY_PATH": f"{library}:{folder / 'system'}"}
    environment["STATOR_OPENBLAS"] = str(files["variable"]) if "variable" in folders else ""
    return environment


@pytest.mark.parametrize(
    ("folders", "taken"),
    [
        (("variable", "beside", "system"), "elsewhere/libopenblas.so.0"),
        (("beside", "system"), "scipy_openblas32/lib/libscipy_openblas.so"),
        (("system",), "system/libopenblas.so.0"),
    ],
)
def test_openblas_is_taken_from_the_first_place_that_has_it(consumer, tmp_path, folders, taken):
    lines = run(consumer, env=site_packages(tmp_path, *folders)).splitlines()
    assert lines[0] == "product: 4 5 10 11"
    assert lines[1].endswith(f": {tmp_path / taken}")


def test_missing_openblas_is_reported_with_the_places_and_the_remedy(consumer, tmp_path):
    done = subprocess.run([consumer], env=site_packages(tmp_path), capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "STATOR_OPENBLAS is not set" in done.stderr
    for place in (tmp_path / "scipy_openblas32/lib/libscipy_openblas.so", tmp_path / "system/libopenblas.so.0"):
        assert f"{place}: " in done.stderr
    assert "pip install scipy-openblas32" in done.stderr


def test_a_path_of_the_environment_that_cannot_be_opened_is_an_error(consumer, tmp_path):
    environment = site_packages(tmp_path, "beside", "system") | {"STATOR_OPENBLAS": str(tmp_path / "nothing.so")}
    done = subprocess.run([consumer], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert f"STATOR_OPENBLAS={tmp_path / 'nothing.so'} could not be opened" in done.stderr


def test_cython_consumer(tmp_path):
    """The module shares libstator with Python, so it sees the resources that Python made."""
    project = shutil.copytree(HERE / "cython_consumer", tmp_path / "project")
    run(sys.executable, "setup.py", "build_ext", "--build-lib", tmp_path, cwd=project)
    session = tmp_path / "session.txt"
    session.write_text(re.search(r"^```pycon\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)[1])
    script = (
        "import doctest, stator, cython_consumer\n"
        "with stator.Backend('cpu') as be:\n"
        "    x = be.zeros((4, 8), dtype='float32')\n"
        "    assert cython_consumer.size(x) == 32\n"
        "    assert cython_consumer.live(be) == len(be.resources()) > 0\n"
        "    for call in (cython_consumer.size, cython_consumer.live, cython_consumer.copied):\n"
        "        try:\n"
        "            call(None)\n"
        "        except TypeError:\n"
        "            continue\n"
        "        raise AssertionError(call)\n"
        f"failed, run = doctest.testfile({str(session)!r}, module_relative=False)\n"
        "assert run == 5 and not failed\n"
    )
    run(sys.executable, "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{script}")


def test_installed_headers_are_the_tree_s():
    include = installed() / "include"
    assert sorted(p.relative_to(include) for p in include.glob("stator/**/*.hpp")) == [
        p.relative_to(INCLUDE) for p in HEADERS
    ]


@pytest.mark.parametrize("header", [p.relative_to(INCLUDE) for p in HEADERS], ids=str)
def test_header_compiles_alone(header):
    unit = f"#include <{header}>\n#include <{header}>\n"
    run(
        "g++",
        "-std=c++20",
        "-Wall",
        "-Wextra",
        "-Wconversion",
        "-Wsign-conversion",
        "-Wshadow",
        "-Werror",
        "-fsyntax-only",
        "-I",
        installed() / "include",
        "-x",
        "c++",
        "-",
        input=unit,
    )
