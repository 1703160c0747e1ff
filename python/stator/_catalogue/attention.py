"""Scaled dot-product attention."""

from __future__ import annotations

from typing import Any

from stator._catalogue.entry import FILLED, Function, Given, entries, largest


def attention(f: Function, given: Given) -> Any:
    """Of one head: of three arrays, and of parts of one array; results may cancel."""
    x = given.array((-1, 1))[:200]
    q, v = x[:, :60], x[:, 7:60]
    mask = given.on(given.rng.random((x.shape[0], x.shape[0])) < 0.7, "bool")
    apart = [given.array((-1, 1), (min(given.rows, 200), n)) for n in (60, 60, 53)]
    return largest(f(*apart), *[f(q, q, v, **o) for o in ({}, {"causal": True}, {"mask": mask})])


ENTRIES = entries(FILLED, {"attention": attention})
