"""Random numbers in graphs: each launch draws what the same calls would."""

import threading

import numpy as np
import pytest

import stator

LAWS = {
    "uniform": lambda g, be: g.uniform(size=70),
    "normal": lambda g, be: g.normal(size=9, dtype="float32"),
    "exponential": lambda g, be: g.exponential(size=(3, 5)),
    "gamma": lambda g, be: g.gamma(0.7, size=40),
    "poisson": lambda g, be: g.poisson(3.0, size=40),
    "many events": lambda g, be: g.poisson(300.0, size=40),
    "bernoulli": lambda g, be: g.bernoulli(0.3, size=40),
    "integers": lambda g, be: g.integers(0, 1000, size=40, dtype="int16"),
    "wide integers": lambda g, be: g.integers(-(2**62), 2**62, size=40),
    "few elements": lambda g, be: g.permutation(20),
    "many elements": lambda g, be: g.permutation(1000),
    "without replacement": lambda g, be: g.choice(300, size=30, replace=False),
    "dropout": lambda g, be: stator.nn.dropout(be.ones(50), 0.5, rng=g)[0],
}


# Of arrays on the device, as numbers of the host would be copied, which no graph can.
GIVEN = {
    "rows": (lambda g, x: g.permutation(x), lambda be: be.arange(600)),
    "choice": (lambda g, p: g.choice(4, size=30, p=p), lambda be: be.asarray([0.1, 0.2, 0.3, 0.4])),
    "multinomial": (lambda g, p: g.multinomial(50, p, size=6), lambda be: be.asarray([0.1, 0.2, 0.3, 0.4])),
    "keys": (lambda g, p: g.choice(4, size=3, replace=False, p=p), lambda be: be.asarray([0.1, 0.2, 0.3, 0.4])),
}


@pytest.mark.parametrize("law", [*LAWS, *GIVEN])
def test_each_launch_draws_what_the_calls_would(be, law):
    if law in GIVEN:
        of_array, make = GIVEN[law]
        given = make(be)
        check_launches(be, lambda g, _: of_array(g, given))
    else:
        check_launches(be, LAWS[law])


def check_launches(be, draw):
    eager, replayed = (stator.random.Generator(be, seed=11) for _ in range(2))
    with be.capture() as graph:
        first = draw(replayed, be)
        then = replayed.uniform(size=5)
    for _ in range(3):
        expected = [draw(eager, be).to_numpy(), eager.uniform(size=5).to_numpy()]
        graph.launch()
        np.testing.assert_array_equal(first.to_numpy(), expected[0])
        np.testing.assert_array_equal(then.to_numpy(), expected[1])
    assert replayed.get_state() == eager.get_state()


def test_calls_between_launches_advance_the_graphs_draws(be):
    eager, generator = (stator.random.Generator(be, seed=3) for _ in range(2))
    with be.capture() as graph:
        y = generator.normal(size=7)
    for round_ in range(4):
        if round_ % 2:
            np.testing.assert_array_equal(generator.uniform(size=3).to_numpy(), eager.uniform(size=3).to_numpy())
        if round_ == 3:
            generator.seed(9)
            eager.seed(9)
        graph.launch()
        np.testing.assert_array_equal(y.to_numpy(), eager.normal(size=7).to_numpy())


def test_a_launch_after_another_is_one_call(be):
    generator = stator.random.Generator(be, seed=3)
    with be.capture() as graph:
        kept = [generator.normal(size=7) for _ in range(5)]
    graph.launch()

    def calls():
        before = be.statistics()["calls"]
        graph.launch()
        after = be.statistics()["calls"]
        return {name: after[name] - before[name] for name in after if after[name] != before[name]}

    assert calls() == {"graph_launch": 1}
    generator.uniform(size=2)
    assert calls() == {"graph_launch": 1, "launch": 1}
    assert calls() == {"graph_launch": 1}
    del kept


def test_a_launch_after_another_is_one_call_of_cuda(be):
    if be.device.type == "cpu":
        return
    from tests.support.runtime_calls import recorded

    generator = stator.random.Generator(be, seed=3)
    with be.capture() as graph:
        kept = [generator.normal(size=7) for _ in range(5)]
    graph.launch()
    calls = recorded("graph.executable_set_kernel"), recorded("launch"), recorded("graph.launch")
    with calls[0] as changed, calls[1] as others, calls[2] as launched:
        graph.launch()
    assert len(launched) == 1 and changed == others == []
    del kept


def test_two_generators_in_one_graph(be):
    eager = [stator.random.Generator(be, seed=seed) for seed in (1, 2)]
    own = [stator.random.Generator(be, seed=seed) for seed in (1, 2)]
    with be.capture() as graph:
        made = [own[i].uniform(size=4) for i in (0, 1, 0)]
    for _ in range(3):
        graph.launch()
        expected = [eager[i].uniform(size=4) for i in (0, 1, 0)]
        for x, y in zip(made, expected, strict=True):
            np.testing.assert_array_equal(x.to_numpy(), y.to_numpy())


def test_a_graph_within_a_graph_draws_in_the_order_of_the_calls(be):
    eager, generator = (stator.random.Generator(be, seed=5) for _ in range(2))
    with be.capture() as inner:
        middle = generator.uniform(size=6)
    with be.capture() as outer:
        first = generator.uniform(size=3)
        inner.launch()
        second = middle + 0
        inner.launch()
        last = generator.uniform(size=3)
    for launched in range(3):
        outer.launch()
        for x, size in ((first, 3), (second, 6), (middle, 6), (last, 3)):
            np.testing.assert_array_equal(x.to_numpy(), eager.uniform(size=size).to_numpy())
        if launched:  # by itself too
            inner.launch()
            np.testing.assert_array_equal(middle.to_numpy(), eager.uniform(size=6).to_numpy())
    assert generator.get_state() == eager.get_state()


def test_a_function_draws_anew_at_every_call(be):
    eager, generator = (stator.random.Generator(be, seed=8) for _ in range(2))
    f = be.graph(lambda x: x + generator.normal(size=4))
    x = be.zeros(4)
    for _ in range(5):
        np.testing.assert_array_equal(f(x).to_numpy(), eager.normal(size=4).to_numpy())


def test_the_gradient_of_dropout_has_the_mask_of_its_launch(be):
    x = be.ones(200)
    with be.capture() as graph:
        y, state = stator.nn.dropout(x, 0.5)
        gradient = stator.nn.dropout_backward(x, 0.5, state)
    masks = set()
    for _ in range(3):
        graph.launch()
        assert y.tolist() == gradient.tolist()
        masks.add(tuple(y.tolist()))
    assert len(masks) == 3


def test_a_seed_within_a_capture_holds_for_every_launch(be):
    eager, generator = (stator.random.Generator(be, seed=5) for _ in range(2))
    with be.capture() as graph:
        first = generator.uniform(size=3)
        generator.seed(21)
        second = generator.uniform(size=3)
    for _ in range(3):
        graph.launch()
        np.testing.assert_array_equal(first.to_numpy(), eager.uniform(size=3).to_numpy())
        eager.seed(21)
        np.testing.assert_array_equal(second.to_numpy(), eager.uniform(size=3).to_numpy())
    assert generator.get_state() == eager.get_state()


def test_launches_in_several_streams_follow_each_other(be):
    eager, generator = (stator.random.Generator(be, seed=5) for _ in range(2))
    with be.capture() as graph:
        y = generator.uniform(size=3)
    for number in (0, 1, 2, 1, 0):
        graph.launch(stream=be.stream(number))
        be.synchronize()
        np.testing.assert_array_equal(y.to_numpy(), eager.uniform(size=3).to_numpy())


def test_launches_of_several_threads_draw_each_number_once(be):
    generator = stator.random.Generator(be, seed=5)
    total = be.zeros(4)
    with be.capture() as graph:
        total += generator.uniform(size=4)
    threads = [threading.Thread(target=lambda: [graph.launch() for _ in range(5)]) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    eager = stator.random.Generator(be, seed=5)
    expected = sum(eager.uniform(size=4).to_numpy() for _ in range(15))
    np.testing.assert_allclose(total.to_numpy(), expected, rtol=1e-14)


def test_a_launch_that_fails_leaves_the_next_one_right(be):
    generator = stator.random.Generator(be, seed=5)
    with be.capture() as graph:
        y = generator.uniform(size=3)
    for at in range(3):
        generator.seed(at)
        stator.testing.inject(be, fail_at=at)
        try:
            graph.launch()
        except stator.errors.StatorError:
            pass
        finally:
            stator.testing.lift(be)
        generator.seed(7)
        graph.launch()
        expected = stator.random.Generator(be, seed=7).uniform(size=3)
        np.testing.assert_array_equal(y.to_numpy(), expected.to_numpy())


def test_a_graph_that_ran_within_another_draws_from_the_state_that_it_is_given(be):
    generator = stator.random.Generator(be, seed=5)
    with be.capture() as inner:
        y = generator.uniform(size=6)
    with be.capture() as outer:
        inner.launch()
    inner.launch()
    state = generator.get_state()
    expected = generator.uniform(size=6).to_numpy()
    outer.launch()  # leaves another state in the memory of the inner one
    generator.set_state(state)
    inner.launch()
    np.testing.assert_array_equal(y.to_numpy(), expected)


# What gives memory back before the first draw, which the draws' own memory must not be.
TEMPORARIES = {
    "an expression": lambda be, x: x * 2 - 1,
    "a loop": lambda be, x: be.graphs.while_loop(lambda c: stator.sum(c) < 50, lambda c: c * 3 + 1, x),
    "a branch": lambda be, x: be.graphs.cond(stator.sum(x) > 0, lambda x: x * 2 - 1, lambda x: x + 1, x),
    "a function": lambda be, x: be.graph(lambda x: x * 2 - 1)(x),
}


@pytest.mark.parametrize("temporaries", TEMPORARIES)
@pytest.mark.parametrize("size", [1, 3, 64])
def test_a_draw_behind_freed_temporaries_is_another_one_at_every_launch(be, size, temporaries):
    eager, generator = (stator.random.Generator(be, seed=5) for _ in range(2))
    eager_child, child = (g.spawn(1)[0] for g in (eager, generator))
    x, before = be.ones(size), TEMPORARIES[temporaries]
    with be.capture() as graph:
        y = before(be, x)
        drawn = generator.uniform(size=size)
        after = before(be, drawn)
        more = child.uniform(size=2)
    for _ in range(3):
        graph.launch()
        expected = eager.uniform(size=size).to_numpy()
        np.testing.assert_array_equal(drawn.to_numpy(), expected)
        np.testing.assert_array_equal(more.to_numpy(), eager_child.uniform(size=2).to_numpy())
    assert y.shape == after.shape == (size,)


def test_a_function_with_temporaries_before_its_draws_draws_anew(be):
    eager, generator = (stator.random.Generator(be, seed=8) for _ in range(2))
    f = be.graph(lambda x: (x * 2 - 1) + generator.normal(size=3) * (x + 1))
    x = be.zeros(3)
    for _ in range(5):
        np.testing.assert_array_equal(f(x).to_numpy(), eager.normal(size=3).to_numpy() - 1)


def test_dropout_behind_temporaries_has_another_mask_at_every_launch(be):
    x = be.ones(64)
    with be.capture() as graph:
        y, _ = stator.nn.dropout(x * 2 - 1, 0.5)
    masks = {tuple(y.tolist()) for _ in range(4) if graph.launch() is None}
    assert len(masks) == 4


def test_a_repeated_part_with_temporaries_before_its_draws_draws_anew(be):
    eager, generator = (stator.random.Generator(be, seed=8) for _ in range(2))
    x, total = be.ones(3), be.zeros(3)

    def step():
        total[...] = total + (x * 2 - 1) * generator.uniform(size=3)

    be.programs.sequence().repeat(4, (step,)).run()
    expected = sum(eager.uniform(size=3).to_numpy() for _ in range(4))
    np.testing.assert_allclose(total.to_numpy(), expected, rtol=1e-14)
