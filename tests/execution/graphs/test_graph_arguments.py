"""Arguments of captured work that change between launches."""

import numpy as np


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
