"""Arguments of captured work that change between launches."""

import numpy as np
import pytest

from stator.errors import DTypeError, InvalidValueError, ShapeError
from stator.graphs import _graph


def test_zeros_that_a_graph_makes_go_where_out_says(be):
    f = be.graph(lambda x: (be.zeros((1000,)), x + 1))
    for value in range(5):
        out = be.full((1000,), 7.0), be.full((1000,), 8.0)
        f(be.full((1000,), float(value)), out=out)
        assert [x.tolist() for x in out] == [[0] * 1000, [value + 1] * 1000]


def test_a_graph_within_another_draws_the_numbers_of_its_time(be):
    be.random.seed(7)
    eager = [be.random.normal(size=6).to_numpy() for _ in range(3)]
    be.random.seed(7)
    with be.capture() as inner:
        x = be.random.normal(size=6)
    for expected in eager[:2]:
        inner.launch()
        np.testing.assert_array_equal(x.to_numpy(), expected)
    with be.capture() as outer:
        inner.launch()
        y = x + 0
    outer.launch()
    np.testing.assert_array_equal(y.to_numpy(), eager[2])


# What C++ and other bindings call. The functions of Backend.graph look a graph up by the kind of its arguments.
def bound(be, work, *arguments):
    with be.capture() as graph:
        result = work(*arguments)
    assert _graph.bind(graph, list(arguments), [] if result is None else [result])
    return graph


@pytest.mark.parametrize(
    ("error", "other"),
    [
        (DTypeError, lambda be: be.ones((4, 6), dtype="float32")),
        (DTypeError, lambda be: be.ones((4, 6), dtype="int64")),
        (ShapeError, lambda be: be.ones((4, 5))),
        (ShapeError, lambda be: be.ones((6, 4))),
        (ShapeError, lambda be: be.ones(24)),
        (InvalidValueError, lambda be: be.ones((6, 4)).T),
        (InvalidValueError, lambda be: be.ones((4, 12))[:, ::2]),
        (InvalidValueError, lambda be: be.ones(25)[1:].reshape((4, 6))),
    ],
)
def test_a_launch_refuses_arguments_of_another_kind(be, error, other):
    graph = bound(be, lambda x: x * 2 + 1, be.ones((4, 6)))
    with pytest.raises(error, match="Argument 0"):
        _graph.launch(graph, [other(be)])
    with pytest.raises(InvalidValueError, match="2 arguments"):
        _graph.launch(graph, [be.ones((4, 6))] * 2)
    assert _graph.launch(graph, [be.full((4, 6), 3.0)])[0].tolist() == [[7.0] * 6] * 4


def test_a_launch_takes_other_strides_of_axes_of_one_element(be):
    graph = bound(be, lambda x: x * 2 + 1, be.ones((1, 6)))
    rows = be.full((2, 12), 3.0)[::2, :6]
    assert rows.strides != (6, 1)
    assert _graph.launch(graph, [rows])[0].tolist() == [[7.0] * 6]


def add_to(x, y):
    x += y


def test_a_launch_refuses_arguments_that_share_memory_where_they_did_not(be):
    graph = bound(be, add_to, be.ones(64), be.ones(64))
    x = be.ones(128)
    with pytest.raises(InvalidValueError, match="Arguments 0 and 1 share memory, and did not"):
        _graph.launch(graph, [x[:64], x[:64]])
    with pytest.raises(InvalidValueError, match="Arguments 0 and 1 share memory, and did not"):
        _graph.launch(graph, [x[8:72], x[:64]])
    _graph.launch(graph, [x[:64], x[64:]])
    assert x.tolist() == [2.0] * 64 + [1.0] * 64
    only_read = bound(be, lambda a, b: a + b, be.ones(64), be.ones(64))
    assert _graph.launch(only_read, [x[:64], x[:64]])[0].tolist() == [4.0] * 64


def test_a_launch_refuses_arguments_that_share_no_memory_where_they_did(be):
    x, y = be.ones(128), be.ones(128)
    graph = bound(be, add_to, x[:64], x[:64])
    with pytest.raises(InvalidValueError, match="do not share memory as they did"):
        _graph.launch(graph, [x[:64], y[:64]])
    _graph.launch(graph, [y[64:], y[64:]])
    assert y.tolist() == [1.0] * 64 + [2.0] * 64
