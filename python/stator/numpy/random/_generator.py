"""Generator and RandomState: NumPy's methods on stator's counter-based generator."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

import stator
from stator._array import Array
from stator.errors import DTypeError, InvalidValueError
from stator.numpy import _convert
from stator.numpy._convert import ArrayLike, DTypeLike, Out
from stator.numpy.random._continuous import Continuous
from stator.numpy.random._discrete import Discrete
from stator.numpy.random._draws import Size, shape_of
from stator.random import Generator as Bits
from stator.random import RngState


def to_seed(seed: Any) -> int:
    """A seed of stator's generators: integers below 2**64 as they are, others and sequences by NumPy's SeedSequence."""
    if seed is None:
        return int.from_bytes(os.urandom(8), "little")
    if isinstance(seed, (int, np.integer)) and not isinstance(seed, bool) and 0 <= seed < 2**64:
        return int(seed)
    if isinstance(seed, (int, np.integer)) and seed < 0:
        raise InvalidValueError(f"seed={seed}", op="random.default_rng", remedy="Pass an integer of at least 0.")
    if isinstance(seed, Array):
        raise DTypeError(
            "Got a seed of type Array", op="random.default_rng", remedy="Pass an integer or a list of them."
        )
    sequence = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
    return int(sequence.generate_state(1, np.uint64)[0])


class Generator(Discrete, Continuous):
    """NumPy's Generator, whose draws are arrays of the backend of a stator.random.Generator; 0-d for size=None.

    Seeds and bits are those of stator (Philox4x32-10), equal on every device, and not those of NumPy's streams.
    Parameters may be numbers, lists, which are checked, and Arrays, which are not: draws of parameters that no
    distribution has are arbitrary.
    """

    def __repr__(self) -> str:
        return f"{type(self).__name__}(Philox4x32-10) on {self._bits.backend.device}"

    def spawn(self, n_children: int) -> list[Generator]:
        """Independent generators."""
        return [type(self)(bits) for bits in self._bits.spawn(n_children)]

    def integers(
        self,
        low: ArrayLike,
        high: ArrayLike | None = None,
        size: Size = None,
        dtype: DTypeLike = np.int64,
        endpoint: bool = False,
    ) -> Array:
        """Integers from low, or 0, to high, which is excluded unless endpoint. Arrays of bounds synchronise."""
        if high is None:
            low, high = 0, low
        whole = (int, np.integer)
        found = _convert.dtype(dtype)
        if isinstance(low, whole) and isinstance(high, whole):
            if found == stator.bool:
                drawn = self._bits.integers(int(low), int(high), size, dtype="uint8", endpoint=endpoint)
                return drawn.astype(found)
            return self._bits.integers(int(low), int(high), size, dtype=found, endpoint=endpoint)
        for bound in (low, high):
            if isinstance(bound, float) or (isinstance(bound, Array) and bound.dtype.kind not in "iu"):
                raise DTypeError("The bounds must be integers", op="random.integers", remedy="Pass integers.")
        return self._integers(low, high, size, found, endpoint)

    def choice(
        self,
        a: ArrayLike,
        size: Size = None,
        replace: bool = True,
        p: ArrayLike | None = None,
        axis: int = 0,
        shuffle: bool = True,
    ) -> Array:
        """Integers below a, or slices of a along an axis; without replacement in random order whatever shuffle says."""
        op = "random.choice"
        from_array = not isinstance(a, (int, np.integer))
        source = _convert.array(a, op) if from_array else int(a)
        if isinstance(source, Array) and source.ndim == 0:
            if source.dtype.kind not in "iu":
                raise InvalidValueError(f"Got a={a!r:.80}", op=op, remedy="Pass an integer, a list or a vector.")
            source = int(source)
        if p is not None and not isinstance(p, Array):
            if isinstance(p, np.ndarray):
                raise _convert.refused(p, op)
            p = [float(v) for v in p]
        return self._bits.choice(source, size, replace, p, axis=axis)

    def permutation(self, x: ArrayLike, axis: int = 0) -> Array:
        """The integers below x, or the slices of x along an axis, in random order."""
        if isinstance(x, (int, np.integer)):
            return self._bits.permutation(int(x))
        return self._bits.permutation(_convert.array(x, "random.permutation"), axis=axis)

    def permuted(self, x: ArrayLike, *, axis: int | None = None, out: Out = None) -> Array:
        """A copy of x with each slice along an axis in an order of its own, or for None all elements in one order."""
        op = "random.permuted"
        a = _convert.array(x, op)
        if axis is None:
            mixed = self._bits.permutation(stator.ravel(a)) if a.size else stator.ravel(a)
            result = stator.reshape(mixed, a.shape)
        else:
            at = _convert.axis(axis, a.ndim, op)
            order = stator.argsort(self._unit(a.shape), axis=at)
            result = stator.take_along_axis(a, order, axis=at)
        return _convert.store(result, out, op)

    def shuffle(self, x: Any, axis: int = 0) -> None:
        """Permutes the slices of an Array along an axis, or the items of a list, at random, in place."""
        op = "random.shuffle"
        if isinstance(x, Array):
            at = _convert.axis(axis, x.ndim, op)
            if x.size:
                x[...] = self._bits.permutation(x, axis=at)
            return
        if isinstance(x, np.ndarray):
            raise _convert.refused(x, op)
        if not hasattr(x, "__setitem__") or axis != 0:
            raise DTypeError(
                f"Got x of type {type(x).__name__}, axis={axis}", op=op, remedy="Pass an Array, or a list with axis=0."
            )
        order = self._bits.permutation(len(x)).to_numpy()
        x[:] = [x[int(k)] for k in order]

    def bytes(self, length: int) -> bytes:
        """Random bytes. Synchronises."""
        return self._bits.integers(0, 256, (length,), dtype="uint8").to_numpy().tobytes()


class RandomState(Generator):
    """NumPy's legacy class: the methods of Generator, and those that it replaced."""

    def __init__(self, seed: Any = None) -> None:
        bits = seed if isinstance(seed, Bits) else Bits(stator.default_backend(), seed=to_seed(seed))
        super().__init__(bits)

    def seed(self, seed: Any = None) -> None:
        """Restarts from a seed; None takes one from the system."""
        self._bits.seed(to_seed(seed))

    def get_state(self, legacy: bool = True) -> RngState:
        """The state, for set_state."""
        return self._bits.get_state()

    def set_state(self, state: RngState) -> None:
        """Continues from a state."""
        self._bits.set_state(state)

    def random_sample(self, size: Size = None) -> Array:
        """Uniform draws from [0, 1)."""
        return self.random(size)

    def rand(self, *dims: int) -> Array:
        """Uniform draws from [0, 1) of a shape."""
        return self.random(dims)

    def randn(self, *dims: int) -> Array:
        """Normal draws of a shape."""
        return self.standard_normal(dims)

    def randint(
        self, low: ArrayLike, high: ArrayLike | None = None, size: Size = None, dtype: DTypeLike = int
    ) -> Array:
        """Integers from low, or 0, to high, excluded."""
        return self.integers(low, high, size, dtype)

    def random_integers(self, low: int, high: int | None = None, size: Size = None) -> Array:
        """Integers from low, or 1, to high, included."""
        return (
            self.integers(1, low, size, endpoint=True)
            if high is None
            else self.integers(low, high, size, endpoint=True)
        )

    def tomaxint(self, size: Size = None) -> Array:
        """Integers from 0 to 2**63 - 1."""
        return self._bits.integers(0, 2**63 - 1, shape_of(size, op="random.tomaxint"), endpoint=True)


def default_rng(seed: Any = None) -> Generator:
    """A Generator of the current backend; seed: an integer, a list of them, a SeedSequence, or a generator as it is."""
    if isinstance(seed, Generator):
        return seed
    if isinstance(seed, Bits):
        return Generator(seed)
    return Generator(Bits(stator.default_backend(), seed=to_seed(seed)))
