"""Steps of optimisers against their formulas in wide NumPy, for every pair of dtypes, option and layout."""

import inputs
import numpy as np
import oracles
import pytest
from cases import tolerance
from reference import numpy_dtype, widen

import stator

nn = stator.nn

PAIRS = [*((d, d) for d in inputs.FLOATS), ("float16", "float32"), ("bfloat16", "float32")]
SHAPES = [(7,), (3, 5), (0,), (6,), (5000,), ()]
BETAS = {"betas": (0.8, 0.95)}
PLAIN = {"beta1": 0.8, "beta2": 0.95}
# For each rule: how many states, options for stator, and those for the formula where they differ.
RULES = {
    "sgd_step": (1, {"lr": 0.1, "step": 3}, None),
    "sgd_step momentum": (1, {"lr": 0.1, "step": 3, "momentum": 0.9, "dampening": 0.2, "weight_decay": 0.1}, None),
    "sgd_step first": (1, {"lr": 0.1, "step": 1, "momentum": 0.9, "dampening": 0.2, "maximize": True}, None),
    "sgd_step nesterov": (1, {"lr": 0.1, "step": 3, "momentum": 0.9, "nesterov": True}, None),
    "rmsprop_step": (3, {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.1, "alpha": 0.9}, None),
    "rmsprop_step up": (3, {"lr": 0.1, "maximize": True}, None),
    "adagrad_step": (1, {"lr": 0.1, "step": 4, "lr_decay": 0.3, "weight_decay": 0.1}, None),
    "adagrad_step up": (1, {"lr": 0.1, "step": 1, "maximize": True}, None),
    "adam_step": (2, {"lr": 0.1, "step": 4, "eps": 1e-8, "weight_decay": 0.1, **BETAS}, PLAIN),
    "adam_step decoupled": (
        2,
        {"lr": 0.1, "step": 4, "eps": 1e-8, "weight_decay": 0.1, "decoupled": True, **BETAS},
        PLAIN,
    ),
    "lamb_step": (2, {"lr": 0.1, "step": 4, "eps": 1e-6, "weight_decay": 0.1, **BETAS}, PLAIN),
    "lamb_step up": (2, {"lr": 0.1, "step": 1, "eps": 1e-6, "maximize": True, **BETAS}, PLAIN),
    "lion_step": (1, {"lr": 0.01, "weight_decay": 0.1, **BETAS}, PLAIN),
    "lion_step up": (1, {"lr": 0.01, "maximize": True, **BETAS}, PLAIN),
}


def drawn(shapes, dtype, seed, low=-2, high=2):
    return [inputs.random(np.random.default_rng(seed + k), s, dtype, low, high) for k, s in enumerate(shapes)]


def operands(rule, dtype, state, shapes=SHAPES):
    """Parameters, gradients and states; those that are squares exceed the squares of means."""
    count = RULES[rule][0]
    ranges = {"lion_step": [(-2, 2)], "rmsprop_step": [(1, 2), (-2, 2), (-0.5, 0.5)]}
    ranges = ranges.get(rule.split()[0], [(1, 2)] * count)
    return [
        drawn(shapes, dtype, 0),
        drawn(shapes, dtype, 50),
        *(drawn(shapes, state, 100 * k + 100, *r) for k, r in enumerate(ranges)),
    ]


def step(rule, lists, **more):
    name, options = rule.split()[0], RULES[rule][1]
    return getattr(nn, name)(*lists, **(options | more))


def expected(rule, tensors):
    """The formula on one tensor: (param, states...)."""
    _, options, other = RULES[rule]
    options = {k: v for k, v in options.items() if k != "betas"} | (other or {})
    return getattr(oracles, rule.split()[0])(*tensors, **options)


def close(got, want, name):
    got = got.to_numpy()
    eps = float(np.finfo(got.dtype).eps) if got.dtype.kind == "f" else 2.0**-7
    bound = 4 * max(tolerance(name)) * eps
    np.testing.assert_allclose(widen(got), np.asarray(want), rtol=bound, atol=bound)


def check(rule, on, hosts, places):
    name = rule.split()[0]
    for k in places:
        wanted = expected(rule, [widen(x[k]) for x in hosts])
        for got, want in zip([on[0][k], *(x[k] for x in on[2:])], wanted, strict=True):
            close(got, want, name)
        np.testing.assert_array_equal(on[1][k].to_numpy(), hosts[1][k])


@pytest.mark.parametrize(("dtype", "state"), PAIRS)
@pytest.mark.parametrize("rule", RULES)
def test_a_step_matches_its_formula(be, rule, dtype, state):
    hosts = operands(rule, dtype, state)
    on = [[be.asarray(x) for x in group] for group in hosts]
    before = be.statistics()["kernel_launches"]
    assert step(rule, on) is None
    assert be.statistics()["kernel_launches"] == before + (2 if "lamb" in rule else 1)
    check(rule, on, hosts, range(len(SHAPES)))


@pytest.mark.parametrize(("dtype", "state"), PAIRS)
@pytest.mark.parametrize("rule", [r for r in RULES if " " not in r or "momentum" in r])
def test_a_step_of_many_tensors_is_one_launch(be, rule, dtype, state):
    hosts = operands(rule, dtype, state, [(3,)] * 70)
    on = [[be.asarray(x) for x in group] for group in hosts]
    before = be.statistics()["kernel_launches"]
    step(rule, on)
    assert be.statistics()["kernel_launches"] == before + (2 if "lamb" in rule else 1)
    check(rule, on, hosts, (0, 1, 35, 69))


@pytest.mark.parametrize("rule", ["adam_step", "lamb_step"])
def test_a_step_of_more_tensors_than_a_launch_has(be, rule):
    hosts = operands(rule, "float32", "float32", [(3,)] * 510)
    on = [[be.asarray(x) for x in group] for group in hosts]
    step(rule, on)
    check(rule, on, hosts, (0, 499, 500, 509))


@pytest.mark.parametrize("rule", RULES)
def test_a_step_takes_any_layout(be, rule):
    hosts = operands(rule, "float32", "float32", [(5, 6), (4, 8)])
    views = [lambda x: x.T, lambda x: x[:, ::2]]
    memory = [[be.asarray(np.repeat(x, 2, 1) if k else x.T.copy()) for k, x in enumerate(group)] for group in hosts]
    on = [[views[k](x) for k, x in enumerate(group)] for group in memory]
    step(rule, on)
    check(rule, on, hosts, (0, 1))
    between = memory[0][1].to_numpy()[:, 1::2]
    np.testing.assert_array_equal(between, hosts[0][1])


@pytest.mark.parametrize(("dtype", "state"), PAIRS)
@pytest.mark.parametrize("rule", ["sgd_step momentum", "rmsprop_step", "adagrad_step", "adam_step", "lion_step"])
def test_a_step_takes_arrays_that_begin_anywhere(be, rule, dtype, state):
    hosts = operands(rule, dtype, state, [(64,)] * 2)
    starts = [[start // x.itemsize for start, x in zip((8, 16), group, strict=True)] for group in hosts]
    on = [
        [be.asarray(np.pad(x, (s, 0)))[s:] for s, x in zip(*pair, strict=True)]
        for pair in zip(starts, hosts, strict=True)
    ]
    step(rule, on)
    check(rule, on, hosts, range(2))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("rule", [r for r in RULES if " " not in r])
def test_halves_are_the_roundings_of_their_masters(be, rule, dtype):
    shapes = [(7,), (5000,)]
    hosts = operands(rule, dtype, "float32", shapes)
    exact = drawn(shapes, "float32", 900)
    on = [[be.asarray(x) for x in group] for group in hosts]
    masters = [be.asarray(x) for x in exact]
    step(rule, on, masters=masters)
    for k in range(2):
        wanted = expected(rule, [widen(exact[k]), *(widen(x[k]) for x in hosts[1:])])
        close(masters[k], wanted[0], rule.split()[0])
        np.testing.assert_array_equal(on[0][k].to_numpy(), masters[k].to_numpy().astype(numpy_dtype(dtype)))


def test_masters_are_enough_without_states(be):
    param, master = be.ones((3,), dtype="float16"), be.ones((3,), dtype="float32")
    nn.sgd_step([param], [be.ones((3,), dtype="float16")], lr=1e-4, masters=[master])
    np.testing.assert_allclose(master.to_numpy(), 1 - 1e-4, rtol=1e-6)
    np.testing.assert_array_equal(param.to_numpy(), 1)


@pytest.mark.parametrize("rule", RULES)
def test_numbers_of_the_device_give_the_bits_of_numbers_of_the_host(be, rule):
    hosts = operands(rule, "float32", "float32")
    sides = [[[be.asarray(x) for x in group] for group in hosts] for _ in range(2)]
    options = RULES[rule][1]
    step(rule, sides[0], grad_scale=4.0, grad_factor=0.5)
    numbers = {k: be.asarray(np.array(options[k])) for k in ("lr", "step") if k in options}
    scale, factor = (be.asarray(np.array(x, np.float32)) for x in (4, 0.5))
    step(rule, sides[1], grad_scale=scale, grad_factor=factor, found_inf=be.zeros((), dtype="bool"), **numbers)
    for one, other in zip(*sides, strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(a.to_numpy(), b.to_numpy())


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
def test_a_step_count_of_the_device_has_any_of_four_dtypes(be, dtype):
    hosts = operands("adam_step", "float64", "float64", [(9,)])
    on = [[be.asarray(x) for x in group] for group in hosts]
    step("adam_step", on, step=be.full((), 4, dtype=dtype))
    check("adam_step", on, hosts, [0])


@pytest.mark.parametrize("rule", RULES)
def test_gradients_are_divided_by_the_scale_and_multiplied_by_the_factor(be, rule):
    hosts = operands(rule, "float64", "float64")
    on = [[be.asarray(x) for x in group] for group in hosts]
    on[1] = [x * 12 for x in on[1]]
    step(rule, on, grad_scale=24.0, grad_factor=2.0)
    for k in range(len(SHAPES)):
        wanted = expected(rule, [widen(x[k]) for x in hosts])
        for got, want in zip([on[0][k], *(x[k] for x in on[2:])], wanted, strict=True):
            close(got, want, rule.split()[0])


@pytest.mark.parametrize("rule", RULES)
def test_a_step_is_skipped_where_a_gradient_is_not_finite(be, rule):
    hosts = operands(rule, "float32", "float32")
    on = [[be.asarray(x) for x in group] for group in hosts]
    on[1][1][0, 0] = float("inf")
    step(rule, on, found_inf=nn.has_inf_nan(on[1]))
    for group, host in zip([on[0], *on[2:]], [hosts[0], *hosts[2:]], strict=True):
        for got, want in zip(group, host, strict=True):
            np.testing.assert_array_equal(got.to_numpy(), want)


@pytest.mark.parametrize("rule", [r for r in RULES if " " not in r])
def test_a_captured_step_is_replayed_with_the_numbers_of_the_device(be, rule):
    """The count of steps grows and the rate falls inside of the graph, as in eager steps on a copy."""
    hosts = operands(rule, "float32", "float32", [(40,), (3, 5)])
    sides = [[[be.asarray(x) for x in group] for group in hosts] for _ in range(2)]
    counted = "step" in RULES[rule][1]

    def numbers():
        return {"lr": be.full((), 0.1, dtype="float32")} | ({"step": be.zeros((), dtype="int64")} if counted else {})

    def advance(lists, given):
        if counted:
            given["step"][...] = given["step"] + 1
        _, factor = nn.clip_grad_norm(lists[1], 1.0)
        step(rule, lists, grad_factor=factor, found_inf=nn.has_inf_nan(lists[1]), **given)
        given["lr"][...] = given["lr"] * 0.5

    eager, captured = numbers(), numbers()
    for _ in range(3):
        advance(sides[0], eager)
    be.synchronize()
    with be.capture() as graph:
        advance(sides[1], captured)
    for _ in range(3):
        graph.launch()
    be.synchronize()
    for one, other in zip(*sides, strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(a.to_numpy(), b.to_numpy())
    assert not np.array_equal(sides[0][0][0].to_numpy(), hosts[0][0])


def test_lists_without_tensors_do_nothing(be):
    nn.sgd_step([], [])
    nn.adam_step([], [], [], [], step=1)
    before = be.statistics()["kernel_launches"]
    nn.lamb_step(*([be.zeros((0,))] for _ in range(4)), step=1)
    assert be.statistics()["kernel_launches"] == before


@pytest.mark.parametrize(
    "dtype, state, scale",
    [("float32", "float32", 1e25), ("bfloat16", "float32", 2.0**80), ("float64", "float64", 1e200)],
)
@pytest.mark.parametrize("size", [7, 40_000])
def test_lamb_follows_lengths_whose_squares_leave_the_range(be, size, dtype, state, scale):
    """A tensor moves by a part of its own length, whatever that is; weight decay makes the step as long as it."""
    host = inputs.random(np.random.default_rng(0), (size,), "float64", 0.5, 2)
    for decay, factors in ((0.0, (scale, 1 / scale)), (0.5, (scale,))):
        for factor in factors:
            param = be.asarray(host * factor).astype(dtype)
            start, master = widen(param.to_numpy()).astype(np.float64) / factor, param.astype(state, copy=True)
            means, squares = (be.zeros((size,), dtype=state) for _ in range(2))
            options = {} if dtype == state else {"masters": [master]}
            grad = be.ones((size,), dtype=dtype)
            nn.lamb_step([param], [grad], [means], [squares], step=1, lr=0.25, weight_decay=decay, **options)
            got = widen((param if dtype == state else master).to_numpy()) / factor
            want = start - 0.25 * (start if decay else np.linalg.norm(start) / np.sqrt(size))
            np.testing.assert_allclose(got, want, rtol=1e-5)


def test_lamb_takes_whole_steps_where_a_length_is_zero(be):
    param, m, v = be.zeros((3,)), be.zeros((3,)), be.zeros((3,))
    nn.lamb_step([param], [be.ones((3,))], [m], [v], step=1, lr=0.1)
    np.testing.assert_allclose(param.to_numpy(), -0.1, rtol=1e-5)
