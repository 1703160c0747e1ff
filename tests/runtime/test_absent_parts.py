"""What the cuda target says of a missing driver, and of an emulator or doubles that are not there."""

import os
import subprocess
import sys
import sysconfig
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
        found = os.pathsep.join([str(tmp_path), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")])
        return {**PLAIN, "STATOR_EMULATE": "h200:threads=1", "PYTHONPATH": found}, "-S"

    return make


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
