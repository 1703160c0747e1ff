"""The peak of memory that a call takes beside its operands and results, by the figures of the backend's pool.

The pool's peak never falls. So the call runs while as much memory is live as ever was: then it is the call that raises
the peak. What is not of the pool is not counted: the workspaces that vendor libraries take for themselves, and the
shared memory of blocks, which on the host lies in a buffer of each thread. A result that a case drops is scratch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import stator

from .cases import Plan

# The most bytes that calls of a family, or of an op, may take at any size of the case table.
LIMITS = dict.fromkeys(
    ("attention", "convolution", "quantized_conv1d", "quantized_conv2d", "quantized_conv3d"), 64 << 20
)


def _live(be: stator.Backend) -> int:
    return int(be.memory.stats()["live_bytes"])


def _at_peak(be: stator.Backend) -> stator.Array | None:
    """An array of the bytes by which the peak exceeds what is live; nothing is written to it."""
    figures = be.memory.stats()
    missing = figures["peak_bytes"] - figures["live_bytes"]
    return be.empty((missing,), dtype="uint8") if missing else None


def _arrays(result: Any) -> list[stator.Array]:
    if isinstance(result, (tuple, list)):
        return [x for part in result for x in _arrays(part)]
    return [result] if isinstance(result, stator.Array) else []


def _blocks(be: stator.Backend, arrays: list[stator.Array]) -> int:
    """The bytes that new arrays of these sizes take, since the pool rounds them up."""
    be.memory.empty_cache()
    before = _live(be)
    same = [be.empty((x.nbytes,), dtype="uint8") for x in arrays]
    taken = _live(be) - before
    del same
    return taken


def scratch_bytes(be: stator.Backend, call: Callable[[], Any]) -> int:
    """The peak of a call's memory without its results. It should have run before, as first calls keep some for later.

    Empties the pool's cache, whose blocks may be larger than what is asked for.
    """
    be.synchronize()
    be.memory.empty_cache()
    ballast = _at_peak(be)
    before = _live(be)
    result = call()
    be.synchronize()
    figures = be.memory.stats()
    # A result may be a view of an operand, which takes nothing, or a part of a larger block, whose rest is scratch.
    outputs = min(figures["live_bytes"] - before, _blocks(be, _arrays(result)))
    del ballast, result
    be.memory.empty_cache()
    return int(figures["peak_bytes"]) - before - outputs


def excess(plan: Plan, scratch: int) -> str:
    """What is wrong with the scratch of a case; empty if nothing is."""
    limit = LIMITS.get(plan.op, LIMITS.get(plan.family, scratch))
    return f"{scratch:,} bytes of scratch, of at most {limit:,}" if scratch > limit else ""
