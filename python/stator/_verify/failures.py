"""Every runtime call of a step of work is made to fail once."""

from __future__ import annotations

import gc
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

import stator
from stator import testing
from stator.errors import StatorError

Work = Callable[[stator.Backend], list[bytes]]


def step(be: stator.Backend) -> list[bytes]:
    """Work that makes the runtime's calls of ordinary programs; the bytes of its results."""
    rng = np.random.default_rng(0)
    host = rng.normal(size=(64, 64)).astype(np.float32)
    with be.use():
        with be.stream(1) as other:
            x = be.asarray(host, pinned=True)
            arrived = other.record()
        first = be.stream(0)
        first.wait(arrived)
        start = first.record()
        # A size that no block of the pool has after the last step, so that memory is allocated.
        y = stator.matmul(x, be.asarray(host))
        factor = stator.linalg.cholesky(stator.matmul(x, x.T) + 100 * stator.eye(64, dtype="float32", device=be))
        order = stator.argsort(y, axis=1)
        total = stator.sum(stator.exp(stator.tanh(y)), axis=0)
        end = first.record()
        end.synchronize()
        with suppress(ValueError):
            end.milliseconds_since(start)
        end.done()
        first.done()
        found = [r.to_numpy().tobytes() for r in (y, factor, order, total)]
    be.synchronize()
    return found


def held(be: stator.Backend) -> int:
    """Bytes that arrays hold."""
    return sum(
        r["bytes"] for r in be.resources() if r["kind"] in ("buffer", "pinned", "managed") and r["origin"] != "library"
    )


def first_use(be: stator.Backend) -> list[bytes]:
    """Work on a stream and memory that a backend does not have yet."""
    with be.use(), be.stream(2):
        x = stator.add(be.zeros((300,), dtype="float32"), 1.5)
        found = [x.to_numpy().tobytes()]
    be.synchronize()
    return found


class Trial:
    """Fails runtime calls of pieces of work, and keeps what was wrong after that."""

    def __init__(self) -> None:
        self.calls = 0
        self.raised: dict[str, int] = {}
        self.wrong: list[dict[str, Any]] = []
        self.kinds: set[str] = set()
        self.never: set[str] | None = None

    def fail(self, be: stator.Backend, work: Work, at: int, expected: list[bytes]) -> bool:
        """Makes one call of the work fail. Returns false if the work makes fewer calls."""
        kept, before = held(be), be.statistics()["calls"]
        testing.inject(be, fail_at=at)
        error = result = None
        try:
            result = work(be)
        except StatorError as caught:
            error = f"{type(caught).__name__}: {caught}"
        except Exception as caught:  # an error without a type of stator's is a failure of the check
            error = f"{type(caught).__name__}: {caught}"
            self.note(f"an error of another type: {error}")
        made = testing.lift(be)
        self.count(before, be.statistics()["calls"])
        if made <= at:
            return False
        self.calls += 1
        if error is not None:
            name = error.partition(":")[0]
            self.raised[name] = self.raised.get(name, 0) + 1
        elif result != expected:
            self.note("no error, and a wrong result")
        del result
        if held(be) > kept:
            gc.collect()  # an error's traceback may be part of a cycle
        if held(be) > kept:
            self.note(f"{held(be) - kept} bytes leaked after {error}")
        try:
            if work(be) != expected:
                self.note(f"the next step is wrong after {error}")
        except Exception as caught:
            self.note(f"the next step raised {type(caught).__name__}: {caught}")
        return True

    def note(self, message: str) -> None:
        self.wrong.append({"call": self.calls, "message": message})

    def count(self, before: dict[str, int], after: dict[str, int]) -> None:
        """Keeps which kinds of calls were made while one of them was to fail."""
        self.kinds |= {name for name, number in after.items() if number > before[name]}
        self.never = set(after) - self.kinds


def fail_every_call(device: str) -> dict[str, Any]:
    """Makes the k-th runtime call of the step fail, for every k, and of the first use of a new backend.

    Each must raise an error of stator or leave the right result, nothing may leak, and the next step without failures
    must be right. The cache of memory is emptied before each step, so that memory is allocated. `kinds` are the calls
    that were failed, by the names of Backend.statistics.
    """
    trial = Trial()
    testing.hold_warnings(True)
    try:
        with stator.Backend(device) as be:
            expected = step(be)
            be.memory.empty_cache()
            while trial.fail(be, step, trial.calls, expected):
                be.memory.empty_cache()
        with stator.Backend(device) as be:
            expected = first_use(be)
        at, more = 0, True
        while more:
            with stator.Backend(device) as be:
                more = trial.fail(be, first_use, at, expected)
            at += 1
    finally:
        warnings = testing.hold_warnings(False)
    return {
        "calls": trial.calls,
        "kinds": sorted(trial.kinds),
        "never_called": sorted(trial.never or ()),
        "raised": trial.raised,
        "warnings": warnings,
        "failed": trial.wrong,
    }
