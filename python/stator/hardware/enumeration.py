"""Every device of the process, those of providers included. Nothing here opens a backend or creates a context."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterable

from stator import _backend
from stator.errors import DeviceUnavailableError, DTypeError, InvalidValueError
from stator.hardware import cuda, host
from stator.hardware.capabilities import Capabilities
from stator.hardware.device_info import DeviceInfo
from stator.hardware.kinds import BackendType

Source = Callable[[], Iterable[DeviceInfo]]

_sources: dict[str, Source] = {}
_lock = threading.Lock()


def _own_devices() -> list[DeviceInfo]:
    found = [host.info()]
    if _backend.available("cuda")[0]:
        found += [cuda.info(index) for index in range(_backend.device_count("cuda"))]
    return found


def add_source(name: str, source: Source) -> None:
    """Makes the devices of a provider part of devices(): source() returns their DeviceInfo.

    A source that raises, or returns something else, is skipped with a warning. InvalidValueError for a name that is
    taken, or is "stator".
    """
    if not callable(source):
        raise DTypeError(
            f"Got source of type {type(source).__name__}", op="add_source", remedy="Give a function without arguments."
        )
    with _lock:
        if name == "stator" or name in _sources:
            raise InvalidValueError(f"name={name!r}", op="add_source", remedy="Take another name, or remove_source it.")
        _sources[name] = source


def remove_source(name: str) -> None:
    """Ends what add_source began; InvalidValueError for an unknown name."""
    with _lock:
        if _sources.pop(name, None) is None:
            known = ", ".join(sorted(_sources)) or "none"
            raise InvalidValueError(f"name={name!r}", op="remove_source", remedy=f"The names are: {known}.")


def _from_source(name: str, source: Source) -> list[DeviceInfo]:
    try:
        found = list(source())
        wrong = next((type(each).__name__ for each in found if not isinstance(each, DeviceInfo)), None)
        if wrong is None:
            return found
        reason = f"it listed a {wrong} instead of a DeviceInfo"
    except Exception as error:  # of a provider: its fault must not hide the devices of others
        reason = f"{type(error).__name__}: {error}"
    warnings.warn(f"the devices of the provider {name!r} were skipped: {reason}", RuntimeWarning, stacklevel=3)
    return []


def _of_packages() -> list[DeviceInfo]:
    """The devices of the providers that other packages have registered. The first call looks for these packages."""
    from stator.backends import registry

    return registry.devices()


def devices() -> tuple[DeviceInfo, ...]:
    """Every device: the host, CUDA devices, emulated ones too, then those of providers.

    Creates no context.

    >>> stator.devices()[0].device
    'cpu'
    """
    with _lock:
        sources = list(_sources.items())
    found = [*_own_devices(), *_of_packages()]
    for name, source in sources:
        found += _from_source(name, source)
    return tuple(found)


def get_devices_by_type(device_type: object) -> tuple[DeviceInfo, ...]:
    """The devices of a type, which may be none.

    device_type: a BackendType or its name; InvalidValueError for unknown ones and for "auto", which is not a type.
    """
    kind = BackendType.parse(device_type, "get_devices_by_type")
    if kind is BackendType.AUTO:
        raise InvalidValueError(
            f"device_type={device_type!r}", op="get_devices_by_type", remedy="Use find_best_device() for a choice."
        )
    return tuple(each for each in devices() if each.type is kind)


def is_device_type_available(device_type: object) -> bool:
    """Whether there is a device of the type; "auto" is available where any is. Creates no context."""
    kind = BackendType.parse(device_type, "is_device_type_available")
    return kind is BackendType.AUTO or bool(get_devices_by_type(kind))


def capabilities_of(device: object) -> Capabilities:
    """What a device of stator can do, by its text, such as "cuda:1". Creates no context.

    DeviceUnavailableError where there is no such device; InvalidValueError for a text that names none.
    """
    kind, _, index = _backend.parse_device(str(device)).partition(":")
    usable, reason = _backend.available(kind)
    if not usable:
        raise DeviceUnavailableError(
            f"Device {device} is not available: {reason}", op="capabilities_of", remedy="Ask for one of devices()."
        )
    return host.capabilities() if kind == "cpu" else cuda.capabilities(int(index or 0))
