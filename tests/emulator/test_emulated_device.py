"""STATOR_EMULATE: the cuda target on devices of software, in processes of their own."""

import os
import subprocess
import sys

import pytest
import requirements

pytestmark = [requirements.cuda_target, pytest.mark.emulates]


def run(program, emulate=None):
    environment = {k: v for k, v in os.environ.items() if k != "STATOR_EMULATE"}
    if emulate is not None:
        environment["STATOR_EMULATE"] = emulate
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_kernels_of_the_cuda_target_run():
    program = """
import numpy as np
import stator
values = np.linspace(-3, 3, 1000, dtype=np.float32)
with stator.Backend("cuda") as be, be.use():
    got = stator.exp(stator.asarray(values)).to_numpy()
np.testing.assert_allclose(got, np.exp(values), rtol=1e-6)
print("equal")
"""
    assert run(program, "h200:threads=1") == "equal\n"


def test_the_device_says_that_it_is_emulated():
    command = [sys.executable, "-m", "stator", "info"]
    environment = {**os.environ, "STATOR_EMULATE": "h200,a100", "COLUMNS": "200"}
    text = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    assert "NVIDIA H200 (emulated)" in text
    assert "NVIDIA A100-SXM4-80GB (emulated)" in text


def test_auto_takes_no_emulated_device():
    assert run("import stator; print(stator.Backend('auto').device)", "h200") == "cpu\n"


@pytest.mark.parametrize("text", ["h300", "h200:fast", "h200,,a100"])
def test_a_description_that_is_not_understood_is_a_typed_error(text):
    program = """
import stator
try:
    stator.Backend("cuda")
except stator.errors.DeviceUnavailableError as error:
    print(error)
"""
    message = run(program, text)
    assert f"STATOR_EMULATE={text}" in message
    assert "h200" in message.split("are", 1)[1] or "seed=N" in message


def test_a_report_names_the_op_whose_work_it_is_about():
    program = """
import stator
with stator.Backend("cuda") as be:
    try:
        stator.sinh(be.empty((8,), dtype="float32")).to_numpy()
    except stator.errors.CudaError as error:
        print(error)
"""
    message = run(program, "h200:threads=1")
    assert "sinh: uninitialised: A read of global memory" in message


def test_without_the_variable_no_emulator_is_mapped():
    program = """
import stator
stator.is_available("cuda")
with stator.Backend("cpu") as be, be.use():
    stator.asarray([1.0]).to_numpy()
print("libstator_emulator" in open("/proc/self/maps").read())
"""
    assert run(program) == "False\n"


def test_a_child_of_fork_uses_the_device_that_its_parent_did_not():
    program = """
import os
import stator
child = os.fork()
if child == 0:
    with stator.Backend("cuda") as be:
        print(be.asarray([1.0, 2.0]).sum().item(), flush=True)
    os._exit(0)
os.waitpid(child, 0)
with stator.Backend("cuda") as be:
    print(be.asarray([2.0, 2.0]).sum().item())
"""
    assert run(program, "h200:threads=1") == "3.0\n4.0\n"


def test_a_child_of_fork_is_told_why_it_cannot_use_its_parents_device():
    program = """
import os
import stator
stator.Backend("cuda").close()
child = os.fork()
if child == 0:
    try:
        stator.Backend("cuda")
    except stator.errors.DeviceUnavailableError as error:
        print(error, flush=True)
    os._exit(0)
os.waitpid(child, 0)
"""
    message = run(program, "h200:threads=1")
    assert "fork" in message
    assert "spawn" in message


KERNEL = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out) {{
  .reg .pred %p; .reg .b32 %r; .reg .b64 %d;
  ld.param.u64 %d, [out];
  mov.u32 %r, %tid.x;
  setp.ge.u32 %p, %r, 16;
{body}
}}
"""


@pytest.mark.parametrize(
    ("option", "body", "report"),
    [
        (
            "budget=100000",
            "again: red.global.add.u32 [%d], 1; bra again;",
            "endless: The launch executed more than 100000",
        ),
        ("strict", "@%p ret; bar.sync 0; ret;", "divergent barrier"),
    ],
)
def test_options_find_what_takes_long_or_is_no_fault_without_them(option, body, report):
    program = f"""
import stator
with stator.Backend("cuda") as be:
    kernel = be.compile({KERNEL.format(body=body)!r}, "k")
    try:
        kernel.launch(1, 32, be.zeros((64,), dtype="int32"))
        be.synchronize()
    except stator.errors.CudaError as error:
        print(error)
"""
    assert report in run(program, f"h200:threads=1:{option}")
