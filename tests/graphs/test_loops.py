"""Loops and branches that run on the device."""

import numpy as np
import pytest

import stator
from stator.errors import CaptureError, DTypeError, InvalidValueError, LoopLimitError, ShapeError


def test_a_loop_runs_until_its_condition_is_false(be):
    assert be.graphs.while_loop(lambda x: x < 100, lambda x: x * 2, be.asarray(3)).item() == 192
    assert be.graphs.while_loop(lambda x: x < 0, lambda x: x * 2, be.asarray(3)).item() == 3


def test_a_round_may_exchange_its_arrays(be):
    a, b = be.graphs.while_loop(lambda c: c[1] < 1000, lambda c: (c[1], c[0] + c[1]), (be.asarray(0), be.asarray(1)))
    assert (a.item(), b.item()) == (987, 1597)
    _, a, b = be.graphs.while_loop(
        lambda c: c[0] < 3, lambda c: (c[0] + 1, c[2], c[1]), (be.asarray(0), be.asarray([1, 2]), be.asarray([8, 9]))
    )
    assert (a.tolist(), b.tolist()) == ([8, 9], [1, 2])
    rolled = be.graphs.while_loop(
        lambda c: c["i"] < 3,
        lambda c: {"i": c["i"] + 1, "x": c["x"][::-1]},
        {"i": be.asarray(0), "x": be.asarray([1, 2, 3])},
    )
    assert rolled["x"].tolist() == [3, 2, 1]


def test_what_a_loop_is_given_stays_as_it_is(be):
    x, step = be.asarray([1.0, 2.0]), be.asarray([0.5, 0.25])
    y = be.graphs.while_loop(lambda y: stator.max(y) < 10, lambda y: y + step, x)
    assert x.tolist() == [1, 2] and y.tolist() == [10, 6.5]


def test_large_arrays_go_round_too(be):
    y = be.graphs.while_loop(lambda c: stator.max(c) < 5, lambda c: c + 1, be.zeros(300_000, dtype="float32"))
    assert float(stator.min(y)) == 5 == float(stator.max(y))


def test_temporary_memory_of_a_round_does_not_touch_what_is_used_by_the_next(be):
    x = be.asarray(np.arange(64.0))

    def rounds(x):
        base = x * 2  # freed by Python while the body is captured, read in every round
        held = [base]

        def body(c):
            i, y = c
            y = y + held[0]
            held.clear()
            held.append(base)
            return i + 1, stator.sqrt(stator.square(y))

        return be.graphs.while_loop(lambda c: c[0] < 4, body, (be.asarray(0), x))[1]

    np.testing.assert_array_equal(rounds(x).to_numpy(), np.arange(64.0) * 9)


def test_a_loop_within_a_loop(be):
    def body(c):
        i, total = c
        inner = be.graphs.while_loop(lambda d: d[0] < i, lambda d: (d[0] + 1, d[1] + 1), (stator.zeros_like(i), total))
        return i + 1, inner[1]

    i, total = be.graphs.while_loop(lambda c: c[0] < 6, body, (be.asarray(0), be.asarray(0)))
    assert (i.item(), total.item()) == (6, 0 + 1 + 2 + 3 + 4 + 5)


def test_a_loop_that_does_not_end_is_an_error_at_its_limit_and_the_stream_works_on(be):
    x = be.graphs.while_loop(lambda x: x < 1e9, lambda x: x + 1, be.asarray(0.0), limit=10)
    with pytest.raises(LoopLimitError, match="after 10 rounds"):
        x.item()
    assert x.item() == 10
    assert be.graphs.while_loop(lambda x: x < 10, lambda x: x + 1, be.asarray(0.0), limit=10).item() == 10
    with pytest.raises(InvalidValueError, match="limit=-1"):
        be.graphs.while_loop(lambda x: x < 10, lambda x: x + 1, be.asarray(0.0), limit=-1)
    assert not be.graphs.is_capturing


@pytest.mark.parametrize("flag", [True, False])
def test_one_of_two_branches_runs(be, flag):
    x = be.asarray([3.0, -4.0])
    condition = stator.sum(x) < 0 if flag else stator.sum(x) > 0
    assert be.graphs.cond(condition, lambda x: x * 10, lambda x: -x, x).tolist() == ([30, -40] if flag else [-3, 4])


def test_a_branch_within_a_loop(be):
    def collatz(c):
        n, steps = c
        return be.graphs.cond(n % 2 == 0, lambda n: n // 2, lambda n: 3 * n + 1, n), steps + 1

    n, steps = be.graphs.while_loop(lambda c: c[0] != 1, collatz, (be.asarray(27), be.asarray(0)), limit=1000)
    assert (n.item(), steps.item()) == (1, 111)


def test_a_graph_with_a_loop_starts_anew_at_every_launch(be):
    start = be.asarray(1.0)
    with be.capture() as graph:
        y = be.graphs.while_loop(lambda x: x < 50, lambda x: x * 3, start)
    kinds = [node.kind for node in graph.nodes]
    assert kinds.count("loop") == 1 and kinds.count("end") == 1
    for value, expected in ((1.0, 81.0), (2.0, 54.0), (60.0, 60.0), (1.0, 81.0)):
        start[...] = value
        graph.launch()
        assert y.item() == expected


def test_a_function_with_a_loop_is_captured_as_others_are(be):
    f = be.graph(lambda x: be.graphs.while_loop(lambda y: stator.max(y) < 50, lambda y: y * 2, x))
    for value in (1.0, 3.0, 5.0, 70.0):
        x = be.full((4,), value)
        expected = value
        while expected < 50:
            expected *= 2
        assert f(x).tolist() == [expected] * 4
        assert x.tolist() == [value] * 4


def test_what_is_no_condition_and_rounds_of_other_kinds_are_refused(be):
    x = be.zeros(3)
    with pytest.raises(DTypeError, match="one bool"):
        be.graphs.while_loop(lambda x: x < 1, lambda x: x + 1, x)
    with pytest.raises(DTypeError, match="one bool"):
        be.graphs.cond(True, lambda: x, lambda: x)
    with pytest.raises(ShapeError, match="Array 0"):
        be.graphs.while_loop(lambda x: stator.all(x < 1), lambda x: x[:2], x)
    with pytest.raises(DTypeError, match="Array 0"):
        be.graphs.while_loop(lambda x: stator.all(x < 1), lambda x: stator.astype(x, "float32"), x)
    with pytest.raises(InvalidValueError, match="structure"):
        be.graphs.while_loop(lambda x: stator.all(x < 1), lambda x: (x, x), x)
    with pytest.raises(InvalidValueError, match="no array"):
        be.graphs.while_loop(lambda x: x, lambda x: x, 3)
    with pytest.raises(CaptureError, match="same in every round"):
        be.graphs.while_loop(lambda x: stator.all(x < 1), lambda x: x + be.random.uniform(size=3), x)
    with be.capture() as graph:
        drawn = be.random.uniform(size=3)
    with pytest.raises(CaptureError, match="same in every round"):
        be.graphs.while_loop(lambda x: stator.all(x < 1), lambda x: (graph.launch(), x + drawn)[1], x)
    assert not be.graphs.is_capturing and (x + 1).tolist() == [1, 1, 1]
