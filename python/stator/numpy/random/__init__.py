"""numpy.random on stator's counter-based generator.

The bits are those of stator.random (Philox4x32-10, equal on every device), not those of NumPy's streams. The functions
draw from the generator of the current backend, which seed() restarts.
"""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any

import numpy as np

import stator
from stator._namespace import missing
from stator.numpy import _rows
from stator.numpy.random._generator import Generator, RandomState, default_rng

_HOW = "The bits are Philox's; size=None gives a 0-d array; arrays of parameters are not checked."
_LEGACY = (
    "beta binomial bytes chisquare choice dirichlet exponential f gamma geometric get_state gumbel hypergeometric "
    "laplace logistic lognormal logseries multinomial multivariate_normal negative_binomial noncentral_chisquare "
    "noncentral_f normal pareto permutation poisson power rand randint randn random random_integers random_sample "
    "rayleigh seed set_state shuffle standard_cauchy standard_exponential standard_gamma standard_normal standard_t "
    "triangular uniform vonmises wald weibull zipf"
)


def _function(name: str) -> Any:
    """The method of a RandomState that draws from the generator of the current backend."""
    method = getattr(RandomState, name)

    @functools.wraps(method)
    def function(*args: Any, **kwargs: Any) -> Any:
        return getattr(RandomState(stator.default_backend().random), name)(*args, **kwargs)

    signature = inspect.signature(method)
    function.__signature__ = signature.replace(parameters=list(signature.parameters.values())[1:])  # type: ignore[attr-defined]
    function.__module__, function.__qualname__ = __name__, name
    return function


globals().update({_name: _rows.add(f"random.{_name}", _function(_name), _HOW) for _name in _LEGACY.split()})
globals().update(
    {_name: _rows.add(f"random.{_name}", globals()["random_sample"], _HOW) for _name in ("ranf", "sample")}
)

SeedSequence = _rows.add("random.SeedSequence", np.random.SeedSequence)
_rows.add("random.Generator", Generator, "Made of a stator.random.Generator. " + _HOW)
_rows.add("random.RandomState", RandomState, "Draws as Generator does. " + _HOW)
_rows.add("random.default_rng", default_rng, _HOW)
for _name in ("BitGenerator", "MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64"):
    _rows.absent("Bits come from stator.random.Generator.", f"random.{_name}")

__all__ = sorted(_rows.namespace("random."))


def __dir__() -> list[str]:
    return [*__all__]


if not TYPE_CHECKING:
    __getattr__ = missing(__name__, __all__)
