"""Ranges of NVTX: a tool, which is a shared object that the environment names, sees one per call."""

import os
import shutil
import subprocess
import sys

import pytest
from requirements import cuda_target

from stator.errors import UnsupportedError

pytestmark = cuda_target  # NVTX's headers come with CUDA's

# The interface of tools: the table of callbacks of the domains (module 5), of which 4 pushes, 5 pops and 12 makes one.
TOOL = r"""
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
typedef void (*Function)(void);
struct Callbacks { size_t size; int (*table)(int module, Function*** out, unsigned* size); };
struct Attributes { uint16_t version, size; uint32_t category; int32_t color_type; uint32_t color; int32_t payload_type;
                    int32_t reserved; uint64_t payload; int32_t message_type; const char* message; };
static void* create(const char* name) { printf("domain %s\n", name); fflush(stdout); return (void*)1; }
static int push(void* domain, const struct Attributes* a) { printf("push %s\n", a->message); fflush(stdout); return 0; }
static int pop(void* domain) { printf("pop\n"); fflush(stdout); return 0; }
int InitializeInjectionNvtx2(const void* (*get)(uint32_t)) {
  const struct Callbacks* callbacks = (const struct Callbacks*)get(1);
  Function** table; unsigned size;
  if (!callbacks || !callbacks->table(5, &table, &size)) return 0;
  *table[4] = (Function)push; *table[5] = (Function)pop; *table[12] = (Function)create;
  return 1;
}
"""
PROGRAM = """
import stator
with stator.Backend({device!r}) as be:
    x = be.ones(3)
    be.telemetry.enable()
    y = x + x
    print("enable", flush=True)
    be.telemetry.enable(nvtx=True)
    y = x + x
    try:
        x + be.ones((2, 2))
    except stator.errors.ShapeError:
        pass
    be.telemetry.disable()
    print("disable", flush=True)
    y.sum()
"""


def test_a_tool_sees_a_range_for_each_call(device, tmp_path):
    compiler = shutil.which("g++")
    if not compiler:
        pytest.skip("needs g++, which the C++ tests need too")
    (tmp_path / "tool.c").write_text(TOOL)
    command = [compiler, "-xc", "-shared", "-fPIC", "-w", "-o", tmp_path / "tool.so", tmp_path / "tool.c"]
    subprocess.run(command, check=True)
    environment = {**os.environ, "NVTX_INJECTION64_PATH": str(tmp_path / "tool.so")}
    program = [sys.executable, "-c", PROGRAM.format(device=device)]
    done = subprocess.run(program, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[:2] == ["enable", "domain stator"]
    assert lines[2:] == ["push add", "pop", "push full", "pop", "push add", "pop", "disable"]


def test_without_a_tool_the_remedy_is_told(be):
    """And nothing has changed."""
    with pytest.raises(UnsupportedError, match=r"nsys profile") as caught:
        be.telemetry.enable(nvtx=True)
    assert "NVTX_INJECTION64_PATH" in caught.value.remedy
    assert not be.telemetry.enabled
    assert (be.ones(3) + 1).tolist() == [2, 2, 2]
