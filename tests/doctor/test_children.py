"""The processes that ask the driver and import stator, with drivers made for the test."""

import os
import re
from pathlib import Path

import pytest
from broken_environments.healthy import compiled, healthy

from stator._doctor import children
from stator._doctor.facts import Device
from stator._doctor.probes import variables
from stator._doctor.probes.cpu import NEEDED

# Two devices of a driver, which marks a file in the folder MARKS when it is asked for a context.
DRIVER = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int context(const char* name) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", getenv("MARKS"), name);
  fclose(fopen(path, "w"));
  return 0;
}
int cuInit(unsigned flags) { return getenv("CUDA_VISIBLE_DEVICES") ? 100 : 0; }
int cuDriverGetVersion(int* version) { *version = 13020; return 0; }
int cuDeviceGetCount(int* count) { *count = 2; return 0; }
int cuDeviceGet(int* device, int index) { *device = index; return 0; }
int cuDeviceGetName(char* name, int length, int device) { snprintf(name, length, "device %d", device); return 0; }
int cuDeviceGetAttribute(int* value, int attribute, int device) {
  *value = attribute == 75 ? 9 + device : attribute == 20 ? 3 * device : 0;
  return 0;
}
int cuDeviceGetUuid_v2(unsigned char* uuid, int device) { memset(uuid, 0xa0 + device, 16); return 0; }
int cuDevicePrimaryCtxRetain(void** made, int device) { return context("retain"); }
int cuCtxCreate_v2(void** made, unsigned flags, int device) { return context("create"); }
int cuCtxSetCurrent(void* current) { return context("current"); }
"""
DEVICES = (
    Device("device 0", (9, 0), 0, "GPU-a0a0a0a0-a0a0-a0a0-a0a0-a0a0a0a0a0a0"),
    Device("device 1", (10, 0), 3, "GPU-a1a1a1a1-a1a1-a1a1-a1a1-a1a1a1a1a1a1"),
)
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder of the driver's library."""
    made = tmp_path_factory.mktemp("driver")
    compiled(made / "libcuda.so.1", DRIVER)
    return made


def environment(folder, **variables):
    return {**os.environ, "LD_LIBRARY_PATH": str(folder), "MARKS": str(folder), **variables}


def test_the_driver_is_asked_for_its_devices_and_for_no_context(folder):
    found = children.ask_driver(environment(folder))
    assert found.path == f"{folder}/libcuda.so.1"
    assert (found.failure, found.error, found.init, found.version) == ("", "", 0, 13020)
    assert found.devices == DEVICES
    assert [path.name for path in folder.iterdir()] == ["libcuda.so.1"]


def test_hidden_devices_are_seen_without_the_variable(folder, tmp_path):
    env = healthy(tmp_path)
    del env.driver, env.driver_of_all
    env.variables = environment(folder, CUDA_VISIBLE_DEVICES="5")
    assert (env.driver.init, env.driver.devices) == (100, ())
    assert env.driver_of_all.devices == DEVICES


def test_without_a_driver_the_linker_says_why(tmp_path):
    (tmp_path / "libcuda.so.1").write_text("not a library")
    found = children.ask_driver(environment(tmp_path))
    assert found.path is None and found.devices == ()
    assert "libcuda.so.1" in found.error and "file too short" in found.error


@pytest.mark.parametrize(
    ("body", "seconds", "failure"),
    [("__builtin_trap();", 600, "it was ended by SIGILL"), ("for (;;) pause();", 1, "it did not end in 1 seconds")],
)
def test_a_driver_that_crashes_or_hangs_ends_its_process_alone(tmp_path, body, seconds, failure):
    source = "#include <unistd.h>\nint cuDriverGetVersion(int* v) { return 0; }\n"
    compiled(tmp_path / "libcuda.so.1", source + f"int cuInit(unsigned flags) {{ {body} return 0; }}")
    assert failure in children.ask_driver(environment(tmp_path), seconds=seconds).failure


def test_a_process_that_cannot_be_started_is_a_failure(monkeypatch):
    monkeypatch.setattr(children.sys, "executable", "/nowhere/python")
    assert "it could not be started" in children.ask_driver({}).failure


def read_variables():
    """The variables that C++ and Python ask for by name."""
    rx = re.compile(
        r"""(?:getenv|setting|flag_of_environment|environ\.get)\("(STATOR_\w+)"|variable = "(STATOR_\w+)\""""
    )
    files = [p for room in ("csrc", "python", "pyx", "tests") for p in (ROOT / room).rglob("*.[cphx]*")]
    texts = [path.read_text() for path in files if path.suffix in (".cpp", ".hpp", ".py", ".pyx")]
    return {name for text in texts for match in rx.findall(text) for name in match if name}


def test_every_variable_that_stator_reads_is_known():
    from stator.config import _sources

    read = read_variables()
    assert len(read) > 8
    assert read <= variables.KNOWN | set(_sources.VARIABLES) | {_sources.FILE_VARIABLE}
    assert read >= variables.KNOWN


def test_the_instructions_of_a_level_are_those_that_the_library_asks_for():
    text = (ROOT / "csrc/core/target.cpp").read_text()
    asked = re.findall(r'__builtin_cpu_supports\("([\w.]+)"\)', text)
    assert sorted(asked) == sorted(word.replace("_", ".") for words in NEEDED.values() for word in words)
