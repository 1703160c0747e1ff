"""What a launch of a graph costs in calls of the runtime and in bytes."""

import stator
from stator import testing


def calls_of(be, work):
    """The calls of the runtime that the work makes."""
    testing.inject(be)
    try:
        work()
    finally:
        count = testing.lift(be)
    return count


def test_a_launch_is_one_call_however_many_kernels_it_runs(be):
    x = be.zeros(16)
    with be.capture() as graph:
        y = x
        for _ in range(100):
            y = y + 1
    graph.launch()
    be.synchronize()
    assert calls_of(be, graph.launch) == 1
    assert y.tolist() == [100] * 16


def test_a_call_with_other_arguments_is_one_call_and_copies_nothing(be):
    f = be.graph(lambda a, b: stator.sum(a * b) + 1)
    made, values = [], []
    for value in (1, 2, 3, 4):
        a, b = be.full((64, 64), float(value)), be.ones((64, 64))
        be.synchronize()
        with be.telemetry.measure() as m:
            count = calls_of(be, lambda a=a, b=b: made.append(f(a, b)))
        values.append(float(made.pop()))
    total = m.difference["total"]
    assert values == [4097, 8193, 12289, 16385]
    assert count == 1 and total["graph_launches"] == 1 and total["kernel_launches"] == 0
    assert total["h2d_bytes"] == total["d2h_bytes"] == 0 and total["synchronisations"] == 0
