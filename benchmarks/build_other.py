"""Builds the cases of the ops that are bound by hand."""

from __future__ import annotations

from typing import Any

import stator

from .cases import IN_PLACE, Case, Leg, Plan, numpy_leg, size_of
from .indexing_cases import INDEXING
from .inputs import Pool, upload
from .layer_cases import LAYERS
from .movement_cases import MOVEMENT
from .others import OTHERS
from .sparse_cases import SPARSE
from .table import first
from .torch_peer import to_torch

CASES = OTHERS | MOVEMENT | INDEXING | SPARSE | LAYERS


def build_other(be: stator.Backend, plan: Plan, libraries: dict[str, Any], pool: Pool) -> Case:
    """As cases.build, for ops that their shape class does not describe."""
    if plan.op not in CASES:
        raise NotImplementedError(f"no case for {plan.op}: add one to benchmarks/others.py or a file beside it")
    other = CASES[plan.op](be, plan)
    arrays = other.inputs(plan, pool, 0)
    footprint = sum(x.nbytes for x in arrays)
    turns = range(1, pool.sets(footprint) if arrays else 1)
    sets = [arrays, *(other.inputs(plan, pool, turn) for turn in turns)]
    kept = tuple(x.copy(order="K") for x in arrays) if plan.op in IN_PLACE else arrays
    there = [tuple(upload(be, x) for x in s) for s in sets]
    result = first(other.ours(*there[0]))
    if plan.op in IN_PLACE:
        result = stator.copy(result)
    legs: dict[str, Leg] = {}
    if "numpy" in libraries:
        legs["numpy"] = numpy_leg(other.numpy, sets, plan.dtype)
    if "torch" in libraries and other.torch is not None:
        device = "cuda" if be.device.type == "cuda" else "cpu"
        legs["torch"] = Leg(other.torch, [tuple(to_torch(libraries["torch"], x, device) for x in s) for s in sets])
    reference = None if other.random else other.numpy
    return Case(
        plan, kept, Leg(other.ours, there), legs, footprint + size_of(result), result, reference=reference or _random
    )


def _random(*_: Any) -> None:
    """The reference of random results, of which the gate checks the mean."""
