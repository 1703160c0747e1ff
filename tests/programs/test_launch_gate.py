"""One gate before every way to launch a kernel: what it refuses is refused everywhere with the same text."""

import struct

import pytest

import stator
from stator.backends.traits import adapt
from stator.errors import BackendClosedError, BackendMismatchError, DTypeError, InvalidValueError
from stator.programs import KernelDescriptor, Step

SOURCE = "__global__ void fill(float* x, int value) { x[threadIdx.x] = value; }"
QUEUE = """#include <stator/work_queue.hpp>
__global__ void fill(stator::WorkQueue<int> queue, float* x, int value) {
  int item;
  while (queue.take(item)) x[item] = value;
}"""
BATCHED = "__global__ void fill(const long long* offsets, float* y, float* x, int value) { x[0] = value; }"


def launch(be, grid, block, args):
    be.compile(SOURCE, "fill").launch(grid, block, *args)


def on_a_stream(be, grid, block, args):
    side = be.stream(1)
    side.wait(be.current_stream.record())
    be.compile(SOURCE, "fill").launch(grid, block, *args, stream=side)
    be.current_stream.wait(side.record())


def cooperative(be, grid, block, args):
    be.compile(SOURCE, "fill").launch(grid, block, *args, cooperative=True)


def with_a_grid_of_the_device(be, grid, block, args):
    be.compile(SOURCE, "fill").launch(be.full(1, grid, dtype="int32"), block, *args)


def launch_cooperative(be, grid, block, args):
    be.programs.finish_cooperative(be.programs.launch_cooperative(be.compile(SOURCE, "fill"), (grid, block), *args))


def execute_kernel(be, grid, block, args):
    kernel = be.programs.create_kernel(KernelDescriptor("fill", SOURCE))
    uniform = b"".join(struct.pack("i", value) for value in args[1:])
    adapt(be).execute_kernel(kernel, args[:1], uniform, (block,), (grid,))


def in_a_capture(be, grid, block, args):
    kernel = be.compile(SOURCE, "fill")
    with be.capture() as graph:
        kernel.launch(grid, block, *args)
    graph.launch()


def in_a_function(be, grid, block, args):
    be.graph(lambda: launch(be, grid, block, args))()


def batched(be, grid, block, args):
    be.programs.batched(be.compile(BATCHED, "fill"), [(be.ones(1, dtype="float32"),)], *args, blocks=grid, block=block)


def work_queue(be, grid, block, args):
    kernel = be.compile(QUEUE, "fill")
    with be.programs.work_queue(kernel, 4, *args, item="int32", blocks=grid, block=block) as queue:
        queue.put(0)


def sequence(run):
    def way(be, grid, block, args):
        steps = be.programs.sequence().prefix((be.compile(SOURCE, "fill"), grid, block, *args))
        run(steps)

    return way


def repeated(be, grid, block, args):
    be.programs.sequence(grid=grid, block=block).repeat(2, Step(be.compile(SOURCE, "fill"), *args)).run()


WAYS = {
    "Kernel.launch": launch,
    "a stream": on_a_stream,
    "cooperative=": cooperative,
    "a grid of the device": with_a_grid_of_the_device,
    "launch_cooperative": launch_cooperative,
    "execute_kernel": execute_kernel,
    "a capture": in_a_capture,
    "stator.graph": in_a_function,
    "batched": batched,
    "work_queue": work_queue,
    "run": sequence(lambda s: s.run()),
    "run_borrowed": sequence(lambda s: s.run_borrowed()),
    "run_into": sequence(lambda s: s.run_into([])),
    "run_timed": sequence(lambda s: s.run_timed()),
    "submit": sequence(lambda s: s.submit().result()),
    "repeat": repeated,
}


OWN = {"a grid of the device": 1, "batched": 2, "work_queue": 1}  # kernels of stator that run before the gate


def launches(be):
    return be.statistics()["kernel_launches"]


@pytest.mark.parametrize("name", WAYS)
def test_every_way_to_launch_has_the_same_gate(cuda, name):
    way = WAYS[name]
    x = cuda.zeros(2, dtype="float32")
    small = x[:1]
    with stator.Backend("cuda") as other:
        foreign = other.zeros(1, dtype="float32")
        refused = (
            (2048, (small, 5), InvalidValueError, "2048 threads, 1024 above the limit of 1024"),
            (1, (small,), DTypeError, r"\d arguments, and has \d parameters|uniform_data has 0 bytes"),
            (1, (cuda.zeros(1, dtype="int32"), 5), DTypeError, "array of int32"),
            (1, (cuda.zeros((2, 2), dtype="float32")[:, 0], 5), InvalidValueError, "not contiguous"),
            (1, (foreign, 5), BackendMismatchError, "array of another backend"),
        )
        for block, args, error, text in refused:
            before = launches(cuda)
            with pytest.raises(error, match=text):
                way(cuda, 1, block, args)
            assert launches(cuda) - before == OWN.get(name, 0)
        assert foreign.tolist() == [0]
        del foreign, args, refused
    assert x.tolist() == [0, 0]
    way(cuda, 1, 1, (small, 5))
    assert x.tolist() == [5, 0]
    del small


def test_a_closed_backend_is_refused_by_every_way(device):
    if device != "cuda":
        pytest.skip("about kernels")
    with stator.Backend("cuda") as be:
        x = be.zeros(1, dtype="float32")
    for way in WAYS.values():
        with pytest.raises(BackendClosedError):
            way(be, 1, 1, (x, 5))
