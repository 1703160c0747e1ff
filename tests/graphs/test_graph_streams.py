"""Graphs beside other work: what outlives a call, such as a workspace, serves one order of work."""

import emulated
import numpy as np
import pytest
import requirements

import stator

PRELUDE = """
import numpy as np, stator
be = stator.Backend("cuda")
main, side = be.stream(0), be.stream(1)
values = np.random.default_rng(0).normal(size=(40, 40))
a = be.asarray(values)
c = a.astype("complex64")
be.synchronize()
"""


def passes(program, emulate="h200:threads=1"):
    assert emulated.run(PRELUDE + program + "be.close()\nprint('passed')\n", emulate) == "passed\n"


def test_a_graph_keeps_its_shared_memory_when_a_launch_needs_less(be):
    rows = 132  # as many blocks as an H200 has multiprocessors, so that rows of these lengths are kept in shared memory
    long, short = 36_000, 30_000
    arguments = [be.zeros((rows, long), dtype="float16") for _ in range(4)]
    softmax = be.graph(lambda x: stator.nn.softmax(x))
    for x in arguments[:3]:
        softmax(x)
    stator.nn.softmax(be.zeros((rows, short), dtype="float16"))
    np.testing.assert_allclose(softmax(arguments[3]).to_numpy(), 1 / long, rtol=2e-3)


@pytest.mark.emulates
@requirements.cuda_target
@pytest.mark.parametrize(
    "product",
    ["a @ a", "c @ c", "stator.fft.fft(a)"],
    ids=["cublasLt", "cublas", "fft"],
)
def test_a_joined_stream_multiplies_beside_a_graph(product):
    passes(f"""
work = lambda: {product}
with side:
    expected = work().to_numpy()
be.synchronize()
with be.capture() as graph:
    side.wait(main.record())
    with side:
        captured = work()
    main.wait(side.record())
with side:
    eager = work()
assert not side.done()  # one kernel of the product runs, and the graph before the next one
graph.launch()
main.synchronize()
side.synchronize()
np.testing.assert_array_equal(eager.to_numpy(), expected)
np.testing.assert_array_equal(captured.to_numpy(), expected)
""")


@pytest.mark.emulates
@requirements.cuda_target
def test_a_graph_in_another_one_follows_the_streams_that_share_its_workspaces():
    passes(
        """
with be.capture() as inner:
    side.wait(main.record())
    with side:
        first = a @ a
    second = a @ a
    main.wait(side.record())
with be.capture() as outer:
    side.wait(main.record())
    with side:
        third = a @ a
    inner.launch()
    fourth = a @ a
    main.wait(side.record())
for _ in range(20):
    outer.launch()
be.synchronize()
for x in (first, second, third, fourth):
    np.testing.assert_allclose(x.to_numpy(), values @ values)
""",
        "h200:threads=1:seed=3",
    )


def test_a_graph_in_a_joined_stream_of_another_one_is_ordered_with_it(be):
    side, main = be.stream(1), be.stream(0)
    x = be.ones((30, 30))
    be.synchronize()
    with be.capture() as inner:
        y = x @ x
    with be.capture() as outer:
        side.wait(main.record())
        inner.launch(stream=side)
        with side:
            z = y + 1
        w = x @ x
        main.wait(side.record())
    for _ in range(3):
        outer.launch()
    assert float(stator.sum(z)) == 31 * 900 and float(stator.sum(w)) == 30 * 900
