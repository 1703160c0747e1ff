"""What a backend uses, its limits, figures over time, and snapshots for `python -m stator top`. Loaded on first use."""

from stator.monitor._figures import ResourceLimits, ResourceStatistics, ResourceUsage, Sample
from stator.monitor._sampler import Monitor, PressureEvent

__all__ = ["Monitor", "PressureEvent", "ResourceLimits", "ResourceStatistics", "ResourceUsage", "Sample"]


def __dir__() -> list[str]:
    return [*__all__]
