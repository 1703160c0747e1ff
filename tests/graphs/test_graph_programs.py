"""User kernels in captured work."""

import gc

SOURCE = "__global__ void add_one(float* x, int n) { if (threadIdx.x < n) x[threadIdx.x] += 1; }"


def test_a_graph_owns_the_arrays_that_its_kernels_use(cuda):
    x = cuda.zeros(4, dtype="float32")
    kernel = cuda.compile(SOURCE, "add_one")
    with cuda.capture() as graph:
        kernel.launch(1, 32, x, 4)
    del x
    gc.collect()
    others = [cuda.zeros(4, dtype="float32") for _ in range(3)]  # one would be given the memory that the graph uses
    graph.launch()
    assert [other.tolist() for other in others] == [[0] * 4] * 3


def test_a_graph_keeps_the_programs_of_its_kernels(cuda):
    x = cuda.zeros(4, dtype="float32")
    kernel = cuda.compile(SOURCE, "add_one")
    with cuda.capture() as graph:
        kernel.launch(1, 32, x, 4)
    del kernel
    cuda.programs.clear_cache()
    gc.collect()
    assert "program" in [r["kind"] for r in cuda.resources()]
    graph.launch()
    assert x.tolist() == [1] * 4
    del graph
    gc.collect()
    assert "program" not in [r["kind"] for r in cuda.resources()]
