"""Every runtime call of a step of work is made to fail once."""

from __future__ import annotations

import gc
from contextlib import suppress
from typing import Any

import numpy as np

import stator
from stator import testing
from stator.errors import StatorError


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
    gc.collect()
    return sum(r["bytes"] for r in be.resources() if r["kind"] in ("buffer", "pinned") and r["origin"] != "library")


def fail_every_call(be: stator.Backend, most: int = 2000) -> dict[str, Any]:
    """Makes the k-th runtime call of the step fail, for every k.

    Each must raise an error of stator or leave the right result, and the next step without failures must be right. The
    cache of memory is emptied before each step, so that memory is allocated. `kinds` are the calls that were failed,
    by the names of Backend.statistics.
    """
    expected = step(be)
    before = be.statistics()["calls"]
    wrong: list[dict[str, Any]] = []
    raised: dict[str, int] = {}
    kept = held(be)
    testing.hold_warnings(True)
    calls = 0
    try:
        while calls < most:
            be.empty_cache()
            testing.inject(be, fail_at=calls)
            error = result = None
            try:
                result = step(be)
            except StatorError as caught:
                error = f"{type(caught).__name__}: {caught}"
                raised[type(caught).__name__] = raised.get(type(caught).__name__, 0) + 1
            except Exception as caught:  # an error without a type of stator's is a failure of the check
                wrong.append({"call": calls, "message": f"an untyped error, {type(caught).__name__}: {caught}"})
            made = testing.lift(be)
            if made <= calls:
                break
            if error is None and result is not None and result != expected:
                wrong.append({"call": calls, "message": "no error, and a wrong result"})
            if held(be) > kept:
                wrong.append({"call": calls, "message": f"{held(be) - kept} bytes leaked after {error}"})
                kept = held(be)
            try:
                if step(be) != expected:
                    wrong.append({"call": calls, "message": f"the next step is wrong after {error}"})
            except Exception as caught:
                wrong.append({"call": calls, "message": f"the next step raised {type(caught).__name__}: {caught}"})
            calls += 1
    finally:
        warnings = testing.hold_warnings(False)
    after = be.statistics()["calls"]
    kinds = sorted(name for name, count in after.items() if count > before[name])
    return {
        "calls": calls,
        "kinds": kinds,
        "never_called": sorted(set(after) - set(kinds)),
        "raised": raised,
        "warnings": warnings,
        "failed": wrong,
    }
