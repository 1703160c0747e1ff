"""After a fault of the device: which calls fail, what they say, and whether a new backend works.

The host target's fault is injected; that of an emulated GPU is a kernel that writes outside of its memory.
"""

import os
import subprocess
import sys

import pytest
import requirements

import stator
from stator import testing
from stator.errors import CudaError

# A backend after a fault, as `be`, with an array `y` made before it; the fault was seen by a call that waits.
FAULT = """
import stator
from stator import errors, testing
be = stator.Backend("cuda")
y = be.ones(4)
kernel = be.compile('extern "C" __global__ void outside(int* p) { p[1 << 28] = 1; }', "outside")
def refused(call):
    try:
        call()
    except errors.CudaError as error:
        return error
    raise AssertionError("the call worked")
def fault():
    kernel.launch(1, 1, y)
"""


def run(program, **environment):
    """The output of a process with an emulated GPU."""
    done = subprocess.run(
        [sys.executable, "-c", FAULT + program],
        env={**os.environ, "STATOR_EMULATE": "h200:threads=1", **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.fixture
def faulted(monkeypatch):
    """A backend of the cpu after a fault, and an array made before it."""
    monkeypatch.setenv("STATOR_SYNC", "1")
    backend = stator.Backend("cpu")
    x = backend.ones(4)
    testing.fault_next_launch(backend)
    with pytest.raises(CudaError):
        x + x
    testing.hold_warnings(True)
    yield backend, x
    backend.close()
    testing.hold_warnings(False)


DEAD = {
    "add": lambda be, x: x + x,
    "matmul": lambda be, x: x @ x,
    "Array.to_numpy": lambda be, x: x.to_numpy(),
    "ones": lambda be, x: be.ones(3),
    "Backend.synchronize": lambda be, x: be.synchronize(),
    "Stream.record": lambda be, x: be.stream(0).record(),
    "Stream.done": lambda be, x: be.stream(0).done(),
}


@pytest.mark.parametrize("name", DEAD)
def test_on_the_cpu_every_call_of_the_backend_says_what_happened_and_what_to_do(faulted, name):
    with pytest.raises(CudaError) as caught:
        DEAD[name](*faulted)
    assert caught.value.op == name
    assert caught.value.name == "cudaErrorLaunchFailure"
    assert "injected fault" in str(caught.value)
    assert caught.value.remedy.endswith("Close the Backend and open a new one")


def test_what_needs_no_device_still_works(faulted):
    backend, x = faulted
    assert (x.shape, x.dtype.name) == ((4,), "float64")
    assert backend.statistics()["kernel_launches"] > 0
    assert backend.memory.stats()["live_bytes"] > 0
    assert backend.telemetry.snapshot()["ops"] == {}
    assert backend.resources()


def test_on_the_cpu_a_new_backend_works_and_nothing_is_leaked(faulted, monkeypatch):
    backend, x = faulted
    with stator.Backend("cpu") as other:
        assert (other.ones(3) + 1).tolist() == [2, 2, 2]
    backend.close()
    del x
    assert backend.resources() == []
    with stator.Backend("cpu") as again:
        assert (again.ones(3) + 1).tolist() == [2, 2, 2]


@requirements.cuda_target
@pytest.mark.emulates
def test_on_a_gpu_the_wait_tells_and_every_later_call_says_the_same():
    lines = run("""
fault()
for call in (be.synchronize, y.to_numpy, lambda: y + y, lambda: be.ones(3), lambda: be.stream(0).record()):
    error = refused(call)
    text = str(error)
    assert "write of 4 bytes outside every allocation" in text and "Kernel.launch" in text, text
    assert error.remedy == "The device faulted: " + text.split("The device faulted: ")[1], error.remedy
    assert error.remedy.endswith("Restart the process, whose CUDA context is lost"), error.remedy
    print(error.op, error.name)
print(y.shape, be.statistics()["kernel_launches"] > 0)
""")
    ops = ("Backend.synchronize", "Array.to_numpy", "add", "ones", "Stream.record")
    assert lines == [*(f"{op} cudaErrorIllegalAddress" for op in ops), "(4,) True"]


@requirements.cuda_target
@pytest.mark.emulates
def test_on_a_gpu_the_context_is_lost_for_the_process_and_the_cpu_is_not():
    """As on hardware, where the driver keeps the device's context in the failed state until the process ends."""
    lines = run("""
fault()
refused(be.synchronize)
be.close()
print(be.closed, be.resources(), testing.outstanding("cuda"))
error = refused(lambda: stator.Backend("cuda"))
print(error.op, error.call, error.remedy)
print((stator.Backend("cpu").ones(3) + 1).tolist())
""")
    nothing = dict.fromkeys(("memory", "pinned", "streams", "events", "contexts", "graphs"), 0)
    assert lines == [
        f"True [] {nothing}",
        "Backend context_create Restart the process, whose CUDA context is lost",
        "[2.0, 2.0, 2.0]",
    ]


@requirements.cuda_target
@pytest.mark.emulates
@pytest.mark.parametrize(("value", "op"), [("0", "Backend.synchronize"), ("1", "Kernel.launch")])
def test_with_stator_sync_the_launch_itself_fails(value, op):
    lines = run(
        """
def both():
    fault()
    be.synchronize()
print(refused(both).op)
""",
        STATOR_SYNC=value,
    )
    assert lines == [op]


@requirements.cuda_target
@pytest.mark.emulates
def test_counters_can_be_read_after_a_fault():
    lines = run("""
be.telemetry.enable(device_time=True)
fault()
refused(be.synchronize)
launch = be.telemetry.snapshot()["ops"]["Kernel.launch"]
be.close()
print(launch["calls"], launch["untimed_dispatches"], testing.outstanding("cuda")["events"])
""")
    assert lines == ["1 1 0"]
