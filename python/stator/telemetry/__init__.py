"""Telemetry: counters of what calls cost, as dicts, JSON and Prometheus text; traces; reports of calls that wait."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stator._namespace import on_first_use

if TYPE_CHECKING:
    from stator.telemetry._accessor import Telemetry

__all__ = ["Telemetry"]

__getattr__ = on_first_use(__name__, {"Telemetry": "_accessor"})


def __dir__() -> list[str]:
    return [*__all__]
