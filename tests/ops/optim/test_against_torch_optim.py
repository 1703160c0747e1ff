"""Several steps of each optimiser, against those of torch in float64."""

import pytest
from torch_rows import assert_close, draw, tensor, torch

import stator

nn, optim = stator.nn, torch.optim

SHAPES, STEPS = [(7,), (3, 5), (300,), ()], 5
DECAYED = {"weight_decay": 0.1, "lr": 0.05}
# The step, torch's class, the names of its states, and the options of both.
RULES = {
    "sgd_step": (optim.SGD, ["momentum_buffer"], [{"lr": 0.1}, {"maximize": True, **DECAYED}]),
    "sgd_step momentum": (
        optim.SGD,
        ["momentum_buffer"],
        [{"momentum": 0.9, "dampening": 0.3, **DECAYED}, {"momentum": 0.8, "nesterov": True, **DECAYED}],
    ),
    "rmsprop_step": (optim.RMSprop, ["square_avg"], [{}, {"alpha": 0.8, "eps": 0.01, **DECAYED}]),
    "rmsprop_step momentum": (optim.RMSprop, ["square_avg", "momentum_buffer"], [{"momentum": 0.9, **DECAYED}]),
    "rmsprop_step centred": (
        optim.RMSprop,
        ["square_avg", "momentum_buffer", "grad_avg"],
        [{"momentum": 0.9, "centered": True, "alpha": 0.5}, {"momentum": 0.9, "centered": True, "eps": 0.1, **DECAYED}],
    ),
    "adagrad_step": (optim.Adagrad, ["sum"], [{}, {"lr_decay": 0.2, "maximize": True, **DECAYED}]),
}
CASES = [(rule, options) for rule, row in RULES.items() for options in row[2]]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("rule", "options"), CASES)
def test_steps(be, rule, options, dtype):
    name, (make, states, _) = rule.split()[0], RULES[rule]
    counted = name in ("adagrad_step", "sgd_step")
    params = [draw(s, dtype, k) for k, s in enumerate(SHAPES)]
    theirs = [torch.nn.Parameter(tensor(p)) for p in params]
    optimiser = make(theirs, **options)
    on = [be.asarray(p) for p in params]
    lists = [[be.zeros(s, dtype=dtype) for s in SHAPES] for _ in states]
    ours = {k: v for k, v in options.items() if k != "centered"}
    for step in range(1, STEPS + 1):
        grads = [draw(s, dtype, 100 * step + k) for k, s in enumerate(SHAPES)]
        for p, g in zip(theirs, grads, strict=True):
            p.grad = tensor(g)
        optimiser.step()
        given = ours | ({"step": step} if counted else {})
        getattr(nn, name)(on, [be.asarray(g) for g in grads], *lists, **given)
    for k, p in enumerate(theirs):
        assert_close(on[k], p, 8 * STEPS, 4, rule)
        for state, group in zip(states, lists, strict=True):
            want = optimiser.state[p].get(state)
            if want is not None:
                assert_close(group[k], want, 8 * STEPS, 16, state)


@pytest.mark.parametrize("limit", [0.5, 100.0])
def test_steps_of_clipped_gradients(be, limit):
    param, grad = draw((300,), seed=1), draw((300,), seed=2)
    there = torch.nn.Parameter(tensor(param))
    there.grad = tensor(grad)
    length = torch.nn.utils.clip_grad_norm_([there], limit)
    optim.SGD([there], lr=0.1).step()
    on, grads = be.asarray(param), [be.asarray(grad)]
    norm, factor = nn.clip_grad_norm(grads, limit)
    nn.sgd_step([on], grads, lr=0.1, grad_factor=factor)
    assert_close(norm, length, 8)
    assert_close(on, there, 8, 4)


ADAMS = {
    "defaults": {},
    "rate": {"lr": 0.1},
    "betas and eps": {"betas": (0.5, 0.8), "eps": 0.01},
    "decay": {"weight_decay": 0.1},
    "maximised": {"weight_decay": 0.1, "maximize": True},
    "AdamW": {"weight_decay": 0.1, "decoupled": True, "lr": 0.05},
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("options", ADAMS.values(), ids=ADAMS)
def test_steps_of_adam(be, options, dtype):
    shapes, steps = [(7,), (3, 5), (300,), ()], 6
    params = [draw(s, dtype, k) for k, s in enumerate(shapes)]
    theirs = [torch.nn.Parameter(tensor(p)) for p in params]
    plain = {k: v for k, v in options.items() if k != "decoupled"}
    optimiser = (torch.optim.AdamW if "decoupled" in options else torch.optim.Adam)(theirs, **plain)
    on = [[be.asarray(p) for p in params], *([be.zeros(s, dtype=dtype) for s in shapes] for _ in range(2))]
    for step in range(1, steps + 1):
        grads = [draw(s, dtype, 100 * step + k) for k, s in enumerate(shapes)]
        for p, g in zip(theirs, grads, strict=True):
            p.grad = tensor(g)
        optimiser.step()
        nn.adam_step(on[0], [be.asarray(g) for g in grads], *on[1:], step=step, **options)
    for k, p in enumerate(theirs):
        state = optimiser.state[p]
        for got, want in zip((group[k] for group in on), (p, state["exp_avg"], state["exp_avg_sq"]), strict=True):
            assert_close(got, want, 8 * steps, 4)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("options", ADAMS.values(), ids=ADAMS)
def test_a_step_of_adam_with_moments_in_float32(be, options, dtype):
    param, grad = draw((300,), dtype), draw((300,), dtype, 1)
    there = torch.nn.Parameter(tensor(param))
    there.grad = tensor(grad)
    plain = {k: v for k, v in options.items() if k != "decoupled"}
    (torch.optim.AdamW if "decoupled" in options else torch.optim.Adam)([there], **plain).step()
    on = [be.asarray(param), be.asarray(grad), be.zeros(300, dtype="float32"), be.zeros(300, dtype="float32")]
    nn.adam_step(*([x] for x in on), step=1, **options)
    assert_close(on[0], there, 1)
