"""Random numbers of the current backend: Philox4x32-10, equal bits on every device."""

from stator._generator import Generator, RandomState, normal, uniform
from stator.backend import seed_all as seed

__all__ = ["Generator", "RandomState", "normal", "seed", "uniform"]
