"""Random numbers of the current backend by Philox4x32-10, with equal bits on every device."""

from typing import TYPE_CHECKING

from stator._namespace import missing
from stator._random import (
    Generator,
    RngState,
    bernoulli,
    choice,
    exponential,
    gamma,
    get_state,
    integers,
    multinomial,
    normal,
    permutation,
    poisson,
    set_state,
    spawn,
    uniform,
)
from stator._shared import seed_all as seed

__all__ = [
    "Generator",
    "RngState",
    "bernoulli",
    "choice",
    "exponential",
    "gamma",
    "get_state",
    "integers",
    "multinomial",
    "normal",
    "permutation",
    "poisson",
    "seed",
    "set_state",
    "spawn",
    "uniform",
]


def __dir__() -> list[str]:
    return [*__all__]


if not TYPE_CHECKING:
    __getattr__ = missing(__name__, __all__)
