"""What devices are and can do: their descriptions, the choice of one, and its ops. Loaded on first use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stator.hardware.capabilities import (
        Capabilities,
        ExecutionModel,
        ExtendedCapabilities,
        HardwareFeature,
        MemoryHierarchy,
        PrecisionMode,
    )
    from stator.hardware.device_info import DeviceInfo
    from stator.hardware.enumeration import (
        add_source,
        capabilities_of,
        devices,
        get_devices_by_type,
        is_device_type_available,
        remove_source,
    )
    from stator.hardware.hints import PerformanceHints
    from stator.hardware.kinds import BackendType
    from stator.hardware.measure import Measurements
    from stator.hardware.operations import OperationGroup, OperationsBundle
    from stator.hardware.selection import DeviceRequirements, find_best_device

# The module of each name.
_WHERE = {
    **dict.fromkeys(
        (
            "Capabilities",
            "ExecutionModel",
            "ExtendedCapabilities",
            "HardwareFeature",
            "MemoryHierarchy",
            "PrecisionMode",
        ),
        "capabilities",
    ),
    "DeviceInfo": "device_info",
    **dict.fromkeys(
        (
            "add_source",
            "capabilities_of",
            "devices",
            "get_devices_by_type",
            "is_device_type_available",
            "remove_source",
        ),
        "enumeration",
    ),
    "PerformanceHints": "hints",
    "BackendType": "kinds",
    "Measurements": "measure",
    **dict.fromkeys(("OperationGroup", "OperationsBundle"), "operations"),
    **dict.fromkeys(("DeviceRequirements", "find_best_device"), "selection"),
}

__all__ = [
    "BackendType",
    "Capabilities",
    "DeviceInfo",
    "DeviceRequirements",
    "ExecutionModel",
    "ExtendedCapabilities",
    "HardwareFeature",
    "Measurements",
    "MemoryHierarchy",
    "OperationGroup",
    "OperationsBundle",
    "PerformanceHints",
    "PrecisionMode",
    "add_source",
    "capabilities_of",
    "devices",
    "find_best_device",
    "get_devices_by_type",
    "is_device_type_available",
    "remove_source",
]


def __dir__() -> list[str]:
    return [*__all__]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    found = getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)
    globals()[name] = found
    return found
