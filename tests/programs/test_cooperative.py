"""Cooperative launches: the grid that is suggested, the report, and what is refused. Indirect launches."""

import gc

import numpy as np
import pytest

import stator
from stator.errors import (
    BackendClosedError,
    BackendMismatchError,
    DTypeError,
    HostCopyError,
    InvalidValueError,
)
from stator.programs import CooperativeConfig

SOURCE = """#include <cooperative_groups.h>
__global__ void centre(float* x, float* sum, int n) {
  extern __shared__ float unused[];
  auto grid = cooperative_groups::this_grid();
  for (int i = grid.thread_rank(); i < n; i += grid.size()) atomicAdd(sum, x[i]);
  grid.sync();
  for (int i = grid.thread_rank(); i < n; i += grid.size()) x[i] -= *sum / n;
}
__global__ void count_blocks(int* out) {
  if (threadIdx.x == 0) atomicAdd(out, 1 + 100 * gridDim.y + 10000 * gridDim.z);
}
"""


@pytest.fixture
def centre(cuda):
    return cuda.compile(SOURCE, "centre")


def values(backend, n=1000):
    return backend.arange(n, dtype="float32"), backend.zeros(1, dtype="float32")


def test_the_grid_that_is_suggested_is_resident_and_no_larger_than_the_work(cuda, centre):
    few = cuda.programs.suggest_cooperative(centre, 1000)
    assert few == CooperativeConfig(-(-1000 // centre.suggest_block()), centre.suggest_block())
    for shared in (0, 100_000):
        blocks, threads = cuda.programs.suggest_cooperative(centre, 10**12, shared)
        assert blocks == centre.occupancy(threads, shared=shared) * cuda.devices.properties()["multiprocessors"]
    x, total = values(cuda)
    with pytest.raises(InvalidValueError, match=rf"1 above the limit of {blocks}. Launch at most {blocks}") as seen:
        cuda.programs.launch_cooperative(centre, (blocks + 1, threads), x, total, 1000, shared=100_000)
    assert seen.value.op == "Backend.programs.launch_cooperative"
    assert float(total[0]) == 0


def test_a_cooperative_kernel_runs_and_reports(cuda, centre):
    assert cuda.programs.supports_cooperative()
    x, total = values(cuda)
    config = cuda.programs.suggest_cooperative(centre, x.size)
    number = cuda.programs.launch_cooperative(centre, config, x, total, 1000)
    with cuda.stream(1):
        apart = values(cuda)
    other = cuda.programs.launch_cooperative(centre, ((2, 3), (16, 2, 2)), *apart, 1000, stream=cuda.stream(1))
    assert number != other
    report = cuda.programs.finish_cooperative(number)
    assert report[1:] == (centre.occupancy(config.threads), *config)
    assert report.milliseconds >= 0
    assert cuda.programs.finish_cooperative(other)[2:] == (6, 64)
    np.testing.assert_array_equal(x.to_numpy(), np.arange(1000) - np.float32(499.5))
    for unknown in (number, 10**9):
        with pytest.raises(InvalidValueError, match="once"):
            cuda.programs.finish_cooperative(unknown)


def test_a_launch_that_is_not_finished_leaks_nothing(centre):
    with stator.Backend("cuda") as backend:
        kernel = backend.compile(SOURCE, "centre")
        number = backend.programs.launch_cooperative(kernel, (2, 32), *values(backend), 1000)
    gc.collect()
    assert not backend.resources()
    for call in (
        lambda: backend.programs.finish_cooperative(number),
        lambda: backend.programs.launch_cooperative(kernel, (2, 32)),
        backend.programs.supports_cooperative,
    ):
        with pytest.raises(BackendClosedError) as seen:
            call()
        assert seen.value.op.startswith("Backend.")


def test_a_refused_launch_is_no_launch(cuda, centre):
    x, total = values(cuda)
    for config, args, error, text in (
        ((1, 32), (x, total), DTypeError, "2 arguments, and has 3"),
        ((0, 32), (x, total, 1), InvalidValueError, "Every axis"),
        ((1, 2048), (x, total, 1), InvalidValueError, "1024 above the limit"),
        ([1, 32], (x, total, 1), DTypeError, "config of type list"),
        ((1, 32, 1), (x, total, 1), DTypeError, r"a tuple \(blocks, threads\)"),
        ((cuda.ones(1, dtype="int32"), 32), (x, total, 1), DTypeError, "config of type Array"),
    ):
        with pytest.raises(error, match=text):
            cuda.programs.launch_cooperative(centre, config, *args)
    assert not [r for r in cuda.resources() if r["kind"] == "event"]
    with pytest.raises(InvalidValueError, match="room for no block"):
        cuda.programs.suggest_cooperative(centre, 1, 2**30)
    with pytest.raises(InvalidValueError, match="elements=0"):
        cuda.programs.suggest_cooperative(centre, 0)
    with stator.Backend("cuda") as other, pytest.raises(BackendMismatchError):
        other.programs.launch_cooperative(centre, (1, 32), x, total, 1)


def test_the_cpu_has_no_cooperative_launch(cpu):
    assert not cpu.programs.supports_cooperative()
    assert not cpu.devices.capabilities().grid_sync
    with pytest.raises(DTypeError, match="kernel of type function"):
        cpu.programs.launch_cooperative(lambda: None, (1, 1))
    with pytest.raises(InvalidValueError, match="launched=3"):
        cpu.programs.finish_cooperative(3)


@pytest.mark.parametrize(("extents", "result"), [([5], 5 * 10101), ([2, 3], 6 * 10301), ([2, 1, 2], 4 * 20101)])
@pytest.mark.parametrize("dtype", ["int32", "uint32"])
def test_an_indirect_launch_reads_its_grid_back_and_nothing_else(cuda, extents, result, dtype):
    kernel, out = cuda.compile(SOURCE, "count_blocks"), cuda.zeros(1, dtype="int32")
    grid = cuda.asarray(extents, dtype=dtype) * 1
    before = cuda.statistics()["d2h_bytes"]
    kernel.launch(grid, 32, out)
    assert cuda.statistics()["d2h_bytes"] - before == 4 * len(extents) <= 12
    assert int(out[0]) == result


def test_an_indirect_grid_without_blocks_launches_nothing(cuda):
    kernel, out = cuda.compile(SOURCE, "count_blocks"), cuda.zeros(1, dtype="int32")
    grid = cuda.asarray([3, 0], dtype="int32")
    before = cuda.statistics()["kernel_launches"]
    kernel.launch(grid, 32, out)
    assert cuda.statistics()["kernel_launches"] == before


def test_an_indirect_launch_obeys_the_limits_and_the_order_of_streams(cuda):
    kernel, out = cuda.compile(SOURCE, "count_blocks"), cuda.zeros(1, dtype="int32")
    for grid, error, text in (
        (cuda.asarray([1]), DTypeError, "int64"),
        (cuda.zeros(0, dtype="int32"), InvalidValueError, "one to three"),
        (cuda.ones(4, dtype="int32"), InvalidValueError, "one to three"),
        (cuda.ones((1, 1), dtype="int32"), InvalidValueError, "one to three"),
        (cuda.asarray([-1], dtype="int32"), InvalidValueError, "from 1 to"),
        (cuda.asarray([1, 70000], dtype="int32"), InvalidValueError, "4465 above the limit of 65535"),
    ):
        with pytest.raises(error, match=text) as seen:
            kernel.launch(grid, 32, out)
        assert seen.value.op == "Kernel.launch"
    grid = cuda.asarray(7, dtype="int32")
    with pytest.raises(HostCopyError) as seen, cuda.forbid_host_copies():
        kernel.launch(grid, 32, out)
    assert seen.value.op == "Kernel.launch"
    with stator.Backend("cuda") as other, pytest.raises(BackendMismatchError):
        kernel.launch(other.ones(1, dtype="int32"), 32, out)
    kernel.launch(grid, 32, out)
    assert int(out[0]) == 7 * 10101
