"""Each call of the runtime fails once below what schedules work: the error is typed, and nothing is leaked.

And what kernels of earlier calls found is not blamed on the call that waits.
"""

import gc

import numpy as np
import pytest

import stator
from stator.errors import LoopLimitError, OutOfRangeError, StatorError

SOURCE = """
__global__ void add(float* x, int n) { if (threadIdx.x < n) x[threadIdx.x] += 1; }
__global__ void add_each(const long long* offsets, float* x) {
  for (int i = offsets[blockIdx.x]; i < offsets[blockIdx.x + 1]; ++i) if (threadIdx.x == 0) x[i] += 1;
}
"""


def cooperative(be):
    kernel = be.compile(SOURCE, "add")
    x = be.zeros(4, dtype="float32")
    report = be.programs.finish_cooperative(be.programs.launch_cooperative(kernel, (1, 32), x, 4))
    return x.to_numpy().tolist() == [1] * 4 and report.threads == 32


def indirect(be):
    x = be.zeros(4, dtype="float32")
    be.compile(SOURCE, "add").launch(be.ones(1, dtype="int32"), 32, x, 4)
    return x.to_numpy().tolist() == [1] * 4


def selection(be):
    x = be.arange(5)
    return be.transfers.read_selected(x, x > 2).tolist() == [3, 4]


def batches(be):
    x = be.arange(3, dtype="float32")
    a, b = be.programs.batched(be.compile(SOURCE, "add_each"), [x, np.ones(2, "float32")])
    return a.to_numpy().tolist() == [1, 2, 3] and b.to_numpy().tolist() == [2, 2]


def diagnostics(be):
    found = be.programs.diagnostics(2, "i4")
    found.append([1, 2, 3])
    return found.read().records.tolist() == [1, 2]


@pytest.mark.parametrize("work", [cooperative, indirect, selection, batches, diagnostics])
def test_a_failing_call_is_an_error_and_the_next_attempt_works(cuda, work):
    assert work(cuda)
    for at in range(100):
        stator.testing.inject(cuda, fail_at=at)
        try:
            done = work(cuda)
        except StatorError:
            done = None
        finally:
            calls = stator.testing.lift(cuda)
        gc.collect()
        cuda.synchronize()
        assert not [r for r in cuda.resources() if r["kind"] in ("buffer", "event", "pinned")]
        if calls <= at:
            break
    assert done and at > 3
    assert work(cuda)


WAITS = {
    "read_selected": lambda be, x, found: be.transfers.read_selected(x, [True, False, True]),
    "Diagnostics.read": lambda be, x, found: found.read(),
    "Diagnostics.append": lambda be, x, found: found.append([1.0]),
    "batched": lambda be, x, found: [be.programs.batched(lambda x: None, [x, x]), be.synchronize()],
}


@pytest.mark.parametrize("wait", WAITS.values(), ids=WAITS)
def test_an_error_of_an_earlier_call_keeps_its_name(be, wait):
    x, found = be.ones(3), be.programs.diagnostics(3, "float32")
    stator.take(x, be.asarray([7]), axis=0)
    with pytest.raises(OutOfRangeError) as seen:
        wait(be, x, found)
    assert seen.value.op == "take"
    be.graphs.while_loop(lambda n: n > 0, lambda n: n + 1, be.asarray(1), limit=2)
    with pytest.raises(LoopLimitError) as seen:
        wait(be, x, found)
    assert seen.value.op == "Backend.graphs.while_loop"
    wait(be, x, found)
