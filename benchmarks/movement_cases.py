"""The cases of data movement and of random numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import stator

from .cases import Plan
from .inputs import SHAPES, Pool
from .others import CORE, MATRIX, Other, arrays, nothing
from .table import numpy_dtype


def _set(x: Any, value: Any) -> Any:
    x[:, ::2] = value[:, ::2]
    return x


def _draws(name: str, *parameters: Any) -> Callable[[stator.Backend, Plan], Other]:
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


def _moved(ours: Callable[..., Any], numpy: Callable[..., Any], operands: int = 1) -> Callable[..., Other]:
    return lambda be, p: Other(arrays(*[CORE] * operands), ours, numpy)


def _square(name: str) -> Callable[[stator.Backend, Plan], Other]:
    return lambda be, p: Other(
        nothing,
        lambda: getattr(stator, name)(MATRIX[p.size], dtype=p.dtype, device=be),
        lambda: getattr(np, name)(MATRIX[p.size], dtype=numpy_dtype(p.dtype)),
    )


def _numpy_dropout(x: Any) -> Any:
    return x * (np.random.default_rng(0).random(x.shape, np.float32) >= 0.5) * 2


def _weights(plan: Plan, pool: Pool, turn: int) -> tuple[np.ndarray, ...]:
    """Probabilities of a thousandth of the outcomes, or of all; there are as many outcomes as elements."""
    n = plan.size if plan.variant == "distinct" else max(plan.size // 1000, 10)
    w = np.random.default_rng(turn).random(n)
    return (w / w.sum(),)


def _choice(p: Plan) -> Other:
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


MOVEMENT: dict[str, Callable[[stator.Backend, Plan], Other]] = {
    "setitem": _moved(_set, _set, 2),
    "concat": _moved(lambda x, y: stator.concat([x, y]), lambda x, y: np.concatenate([x, y]), 2),
    "stack": _moved(lambda x, y: stator.stack([x, y], axis=1), lambda x, y: np.stack([x, y], axis=1), 2),
    "roll": _moved(lambda x: stator.roll(x, 7, axis=1), lambda x: np.roll(x, 7, axis=1)),
    "tile": _moved(lambda x: stator.tile(x, (2, 1)), lambda x: np.tile(x, (2, 1))),
    "repeat": _moved(lambda x: stator.repeat(x, 3, axis=1), lambda x: np.repeat(x, 3, axis=1)),
    "pad": _moved(lambda x: stator.pad(x, 3), lambda x: np.pad(x, 3)),
    "triu": _moved(stator.triu, np.triu),
    "tril": _moved(stator.tril, np.tril),
    "diag": _moved(stator.diag, lambda x: np.diag(x).copy()),
    "tri": _square("tri"),
    "eye": _square("eye"),
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
    "permutation": lambda be, p: Other(
        arrays(CORE), stator.random.permutation, np.random.default_rng(0).permutation, random=True
    ),
    "choice": lambda be, p: _choice(p),
    "multinomial": lambda be, p: Other(
        nothing,
        lambda: stator.random.multinomial(100, [0.2, 0.3, 0.5], p.size // 3, device=be),
        lambda: np.random.default_rng(0).multinomial(100, [0.2, 0.3, 0.5], p.size // 3),
        random=True,
    ),
    "dropout": lambda be, p: Other(arrays(CORE), lambda x: stator.nn.dropout(x, 0.5), _numpy_dropout, random=True),
    "dropout_backward": lambda be, p: Other(
        arrays(CORE),
        lambda x: stator.nn.dropout_backward(x, 0.5, (1, 0, 0, "cpu")),
        _numpy_dropout,
        random=True,
    ),
}
