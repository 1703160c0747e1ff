"""Builds cases: draws inputs, finds the calls of stator and of the peers, and runs each once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

import stator

from .cases import IN_PLACE, Arrays, Case, Other, Others, Plan, size_of
from .domains import timed
from .fft_cases import FFT
from .indexing_cases import INDEXING
from .inputs import SHAPES, Pool, upload
from .layers.blocks import BLOCKS
from .layers.convolutions import CONVOLUTIONS
from .layers.norms import NORMS
from .layers.pooling import POOLS
from .layers.quantization import QUANTIZED
from .layers.recurrent import RECURRENT
from .layers.training import LAYERS
from .linalg_cases import LINALG
from .movement_cases import MOVEMENT
from .numpy_peer import numpy_call, widened
from .others import OTHERS
from .sparse_cases import SPARSE
from .table import PRODUCTS, TABLE, first, function, in_family, oracle, ours
from .timing import Leg
from .torch_peer import cupy_call, set_precision, to_torch, torch_call

CASES: Others = OTHERS | MOVEMENT | INDEXING | SPARSE | LINALG | FFT
CASES |= LAYERS | CONVOLUTIONS | NORMS | POOLS | BLOCKS | QUANTIZED | RECURRENT
# Families in which float32 operands may be rounded to TF32 on a GPU.
ROUNDED = ("attention", "convolution", "linalg", "matmul", "recurrent")


def _inputs(plan: Plan, pool: Pool, turn: int) -> Arrays:
    shape = (plan.size // 8, 8) if plan.variant.startswith("rows") else SHAPES[plan.size]
    shape = shape[:: -1 if plan.layout == "transposed" else 1]
    ranges = timed(plan.op)
    made = []
    for k, within in enumerate(ranges):
        dtype = "bool" if k == 0 and TABLE[plan.op]["shape_class"] == "select" else plan.dtype
        made.append(pool.array(shape, dtype, within, turn * len(ranges) + k, plan.layout))
    if plan.op in PRODUCTS and plan.dtype.startswith("complex"):
        made[0] = (made[0] / np.abs(made[0])).astype(plan.dtype)  # products neither overflow nor vanish
    if plan.variant == "row":
        made[1] = made[1][0].copy()
    return tuple(made[:1] if plan.variant == "scalar" else made)


def _with_plan(plan: Plan, call: Callable[..., Any]) -> Callable[..., Any]:
    if plan.variant == "scalar":
        return lambda x: call(x, 3)
    if plan.axis is not None:
        return lambda x: call(x, axis=plan.axis)
    return call


def _of_family(plan: Plan, libraries: dict[str, Any]) -> Other:
    """The calls of an op that is described by its shape class."""
    in_torch = torch_call(libraries["torch"], plan.op, plan.axis) if "torch" in libraries else None
    if in_torch and plan.axis is None:
        in_torch = _with_plan(plan, in_torch)
    in_cupy = cupy_call(plan.op) if "cupy" in libraries else None
    return Other(
        _inputs,
        _with_plan(plan, ours(plan.op)),
        _with_plan(plan, numpy_call(plan.op)),
        in_torch,
        cupy=_with_plan(plan, in_cupy) if in_cupy else None,
    )


def by_hand(be: stator.Backend, plan: Plan) -> Other:
    """The calls of an op that has a case of its own, the op's function and oracle where it states no others."""
    found = CASES[plan.op]
    made = found if isinstance(found, Other) else found(be, plan)
    return replace(made, ours=made.ours or function(plan.op), numpy=made.numpy or oracle(plan.op))


def _numpy_leg(call: Callable[..., Any], sets: list[Arrays], dtype: str) -> Leg:
    """NumPy's leg, computed in float32 where NumPy has no loop for the dtype."""
    if dtype == "bfloat16":
        try:
            with np.errstate(all="ignore"):
                call(*sets[0])
        except (TypeError, ValueError):
            call = widened(call, sets[0][0].dtype)
    return Leg(call, sets)


def _torch_legs(
    be: stator.Backend, plan: Plan, call: Callable[..., Any], sets: list[Arrays], torch: Any
) -> dict[str, Leg]:
    """torch's leg; of products of float32 on a GPU one with exact products and one with operands rounded to TF32."""
    device = "cuda" if be.device.type == "cuda" else "cpu"
    there = [tuple(to_torch(torch, x, device) for x in s) for s in sets]
    if device == "cpu" or plan.dtype not in ("float32", "complex64") or plan.family not in ROUNDED:
        return {"torch": Leg(call, there)}
    exact, rounded = (partial(set_precision, torch, tf32) for tf32 in (False, True))
    return {"torch": Leg(call, there, exact), "torch_tf32": Leg(call, there, rounded)}


def _add_peers(be: stator.Backend, case: Case, made: Other, sets: list[Arrays], libraries: dict[str, Any]) -> None:
    """Adds the legs of the libraries, and notes the reason for each that is missing."""
    calls = {"numpy": made.numpy, "torch": made.torch, "cupy": made.cupy}
    for name, library in libraries.items():
        call = calls[name]
        if call is None:
            case.notes.append(f"{name} has no {case.plan.op}")
            continue
        try:
            if name == "numpy":
                legs = {name: _numpy_leg(call, sets, case.plan.dtype)}
            elif name == "torch":
                legs = _torch_legs(be, case.plan, call, sets, library)
            else:
                legs = {name: Leg(call, [tuple(map(library.asarray, s)) for s in sets])}
            for leg_name, leg in legs.items():
                leg.enter()
                if name != "numpy":
                    leg.calls(1)
                if name == "torch" and made.path and (path := made.path(library, *leg.sets[0])):
                    case.paths[leg_name] = path
            case.peers |= legs
        except Exception as error:  # the case runs without a peer that fails
            case.notes.append(f"{name}: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}")


def build(be: stator.Backend, plan: Plan, libraries: dict[str, Any], pool: Pool) -> Case:
    """The case with its inputs on host and device; stator's function has run once, for the size of its result."""
    known = in_family(plan.op)
    if not known and plan.op not in CASES:
        raise NotImplementedError(f"no case for {plan.op}: add one to benchmarks/others.py or a file beside it")
    made = _of_family(plan, libraries) if known else by_hand(be, plan)
    arrays = made.inputs(plan, pool, 0)
    footprint = sum(x.nbytes for x in arrays)
    turns = range(1, pool.sets(footprint) if arrays else 1)
    sets = [arrays, *(made.inputs(plan, pool, turn) for turn in turns)]
    kept = tuple(x.copy(order="K") for x in arrays) if plan.op in IN_PLACE else arrays
    there = [tuple(upload(be, x) for x in s) for s in sets]
    result = made.ours(*there[0])
    moved = footprint + size_of(result if known else first(result))
    result = first(result)
    if plan.op in IN_PLACE:
        result = stator.copy(result)
    case = Case(plan, kept, Leg(made.ours, there), {}, moved, result, terms=made.terms)
    if not known:
        case.reference = _random if made.random else made.numpy
    _add_peers(be, case, made, sets, libraries)
    return case


def _random(*_: Any) -> None:
    """The reference of random results, of which the gate checks the mean."""
