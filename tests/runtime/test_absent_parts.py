"""When the cuda target is opened, and the errors where it, its driver, the emulator or the doubles are not there."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import requirements

import stator
from stator import _backend

pytestmark = [requirements.cuda_target, pytest.mark.emulates]

PLAIN = {name: value for name, value in os.environ.items() if name != "STATOR_EMULATE"}
DRIVER = """
#include <stdlib.h>
int cuDriverGetVersion(int* version) { *version = atoi(getenv("DRIVER_VERSION")); return 0; }
int cuInit(unsigned flags) { return 100; }
int cuGetErrorString(int code, const char** text) { *text = "no device"; return 0; }
"""
REASON = """
import stator
from stator import _backend
there, reason = _backend.available("cuda")
assert not there
print(reason)
"""


def written(program, environment, *options):
    """What the program writes to stdout."""
    command = [sys.executable, *options, "-c", program]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    """A folder with a driver that has a version and no device."""
    folder = tmp_path_factory.mktemp("driver")
    (folder / "driver.c").write_text(DRIVER)
    command = ["g++", "-xc", "-shared", "-fPIC", "-o", folder / "libcuda.so.1", folder / "driver.c"]
    subprocess.run(command, check=True)
    return folder


@pytest.mark.parametrize(
    ("version", "visible", "said"),
    [
        ("11040", None, "the NVIDIA driver is too old: it supports CUDA 11.4, and this build needs 1"),
        ("99000", None, "the NVIDIA driver (CUDA 99.0) sees no device"),
        ("99000", "7", "CUDA_VISIBLE_DEVICES='7' leaves no device visible"),
    ],
)
def test_a_driver_without_a_usable_device_says_why(driver, version, visible, said):
    environment = {**PLAIN, "LD_LIBRARY_PATH": str(driver), "DRIVER_VERSION": version}
    environment.pop("CUDA_VISIBLE_DEVICES", None)
    if visible is not None:
        environment["CUDA_VISIBLE_DEVICES"] = visible
    assert said in written(REASON, environment)


@pytest.fixture
def without(tmp_path):
    """A function that gives the environment and options for a stator whose `lib` lacks a file."""

    def make(name):
        package = tmp_path / "stator"
        (package / "lib").mkdir(parents=True)
        for source in (Path(_backend.__file__).parent, Path(stator.__file__).parent):
            for path in source.rglob("*"):
                place = package / path.relative_to(source)
                if path.is_file() and not {"lib", "__pycache__"} & {*place.relative_to(package).parts}:
                    place.parent.mkdir(exist_ok=True, parents=True)
                    if not place.exists():
                        place.symlink_to(path)
        for path in (Path(_backend.__file__).parent / "lib").iterdir():
            if path.name != name:
                (package / "lib" / path.name).symlink_to(path)
        found = os.pathsep.join([str(tmp_path), *sys.path])
        return {**PLAIN, "STATOR_EMULATE": "h200:threads=1", "PYTHONPATH": found}, "-S"

    return make


def test_an_import_and_a_cpu_backend_open_no_library_of_cuda():
    program = """
import stator
with stator.Backend("cpu") as be, be.use():
    float(stator.matmul(be.ones((40, 40)), be.ones((40, 40))).sum())
print([line.split()[-1] for line in open("/proc/self/maps") if "cuda" in line.rpartition("/")[2]])
"""
    assert written(program, PLAIN).strip() == "[]"


def test_the_cuda_target_opens_within_a_tenth_of_a_second():
    program = """
import time
from stator import _backend
start = time.process_time()
_backend.emulated("cuda")
print(time.process_time() - start, any("libstator_cuda.so" in line for line in open("/proc/self/maps")))
"""
    runs = [written(program, PLAIN).split() for _ in range(3)]
    assert {opened for _, opened in runs} == {"True"}
    assert min(float(seconds) for seconds, _ in runs) < 0.1


UNAVAILABLE = """
import stator
try:
    stator.Backend("cuda")
except stator.errors.DeviceUnavailableError as error:
    print(error)
print(stator.Backend("cpu").device)
"""


def test_a_cuda_target_that_is_absent_is_a_typed_error(without):
    message, device = written(UNAVAILABLE, *without("libstator_cuda.so")).splitlines()
    assert "libstator_cuda.so: cannot open shared object file" in message
    assert device == "cpu"


def test_a_cuda_target_of_another_version_is_refused(without, tmp_path):
    environment, option = without("libstator_cuda.so")
    (tmp_path / "other.c").write_text(
        'const char** stator_cuda_runtime() { static const char* v = "0.0.0"; return &v; }'
    )
    library = tmp_path / "stator/lib/libstator_cuda.so"
    subprocess.run(["g++", "-xc", "-shared", "-fPIC", "-o", library, tmp_path / "other.c"], check=True)
    message, _ = written(UNAVAILABLE, environment, option).splitlines()
    assert "is of another version of stator" in message


def test_an_emulator_that_is_absent_is_a_typed_error(without):
    program = """
import stator
try:
    stator.Backend("cuda")
except stator.errors.DeviceUnavailableError as error:
    print(error)
"""
    message = written(program, *without("libstator_emulator.so"))
    assert "STATOR_EMULATE=h200:threads=1, and the emulator could not be opened" in message


def test_doubles_that_are_absent_are_a_typed_error(without):
    program = """
import stator
with stator.Backend("cuda") as be, be.use():
    x = be.ones((40, 40))
    for call in (lambda: x @ x, lambda: stator.linalg.cholesky(x)):
        try:
            call()
        except stator.errors.LibraryNotFoundError as error:
            print(error)
    print(float(x.sum()))
"""
    product, factor, total = written(program, *without("libstator_vendor.so")).splitlines()
    assert "the double of cublas could not be opened" in product.lower()
    assert "the double of cu" in factor.lower()
    assert "STATOR_EMULATE" in product
    assert float(total) == 1600
