"""The cases of data movement and of random numbers."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import stator

from .cases import Other, Others, Plan
from .inputs import CORE, SHAPES, SIDES, Arrays, Pool, arrays, nothing
from .table import numpy_dtype


def _set(x: Any, value: Any) -> Any:
    x[:, ::2] = value[:, ::2]
    return x


def _draws(name: str, *parameters: Any) -> Any:
    """The case of a distribution that NumPy's generator has under the same name."""

    def case(be: stator.Backend, p: Plan) -> Other:
        law = getattr(np.random.default_rng(0), name)
        return Other(
            nothing,
            lambda: getattr(stator.random, name)(*parameters, size=SHAPES[p.size], dtype=p.dtype, device=be),
            lambda: law(*parameters, size=SHAPES[p.size]).astype(numpy_dtype(p.dtype), copy=False),
            random=True,
        )

    return case


def _square(name: str, be: stator.Backend, p: Plan) -> Other:
    return Other(
        nothing,
        lambda: getattr(stator, name)(SIDES[p.size], dtype=p.dtype, device=be),
        lambda: getattr(np, name)(SIDES[p.size], dtype=numpy_dtype(p.dtype)),
    )


def _numpy_dropout(x: Any) -> Any:
    return x * (np.random.default_rng(0).random(x.shape, np.float32) >= 0.5) * 2


def _weights(plan: Plan, pool: Pool, turn: int) -> Arrays:
    """Probabilities of a thousandth of the outcomes, or of all; there are as many outcomes as elements."""
    n = plan.size if plan.variant == "distinct" else max(plan.size // 1000, 10)
    w = np.random.default_rng(turn).random(n)
    return (w / w.sum(),)


def _choice(be: stator.Backend, p: Plan) -> Other:
    """The cases of choice: rows; indices by weight; all indices once each, by weight."""
    if not p.variant:
        return Other(
            arrays(CORE),
            lambda x: stator.random.choice(x, x.shape[0]),
            lambda x: np.random.default_rng(0).choice(x, len(x)),
            random=True,
        )
    size, replace = (p.size, True) if p.variant == "weighted" else (p.size // 10, False)
    return Other(
        _weights,
        lambda w: stator.random.choice(w.shape[0], size, replace, p=w),
        lambda w: np.random.default_rng(0).choice(len(w), size, replace, p=w),
        random=True,
    )


X, XY = arrays(CORE), arrays(CORE, CORE)
MOVEMENT: Others = {
    "setitem": Other(XY, _set, _set),
    "concat": Other(XY, lambda x, y: stator.concat([x, y]), lambda x, y: np.concatenate([x, y])),
    "stack": Other(XY, lambda x, y: stator.stack([x, y], axis=1), lambda x, y: np.stack([x, y], axis=1)),
    "roll": Other(X, lambda x: stator.roll(x, 7, axis=1), lambda x: np.roll(x, 7, axis=1)),
    "tile": Other(X, lambda x: stator.tile(x, (2, 1)), lambda x: np.tile(x, (2, 1))),
    "repeat": Other(X, lambda x: stator.repeat(x, 3, axis=1), lambda x: np.repeat(x, 3, axis=1)),
    "pad": Other(X, lambda x: stator.pad(x, 3), lambda x: np.pad(x, 3)),
    "triu": Other(X),
    "tril": Other(X),
    "diag": Other(X, None, lambda x: np.diag(x).copy()),
    "tri": partial(_square, "tri"),
    "eye": partial(_square, "eye"),
    "linspace": lambda be, p: Other(
        nothing,
        lambda: stator.linspace(0, 100, p.size, dtype=p.dtype, device=be),
        lambda: np.linspace(0, 100, p.size).astype(numpy_dtype(p.dtype)),
    ),
    "integers": _draws("integers", 0, 100),
    "exponential": _draws("exponential", 2.0),
    "gamma": _draws("gamma", 2.5, 1.0),
    "poisson": _draws("poisson", 20.0),
    "bernoulli": lambda be, p: Other(
        nothing,
        lambda: stator.random.bernoulli(0.3, SHAPES[p.size], dtype=p.dtype, device=be),
        lambda: (np.random.default_rng(0).random(SHAPES[p.size], np.float32) < 0.3).astype(numpy_dtype(p.dtype)),
        random=True,
    ),
    "permutation": Other(X, None, np.random.default_rng(0).permutation, random=True),
    "choice": _choice,
    "multinomial": lambda be, p: Other(
        nothing,
        lambda: stator.random.multinomial(100, [0.2, 0.3, 0.5], p.size // 3, device=be),
        lambda: np.random.default_rng(0).multinomial(100, [0.2, 0.3, 0.5], p.size // 3),
        random=True,
    ),
    "dropout": Other(X, lambda x: stator.nn.dropout(x, 0.5), _numpy_dropout, random=True),
    "dropout_backward": Other(
        X, lambda x: stator.nn.dropout_backward(x, 0.5, (1, 0, 0, "cpu")), _numpy_dropout, random=True
    ),
}
