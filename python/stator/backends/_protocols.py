"""What a provider and its backends are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Protocol

from stator.errors import DTypeError


@dataclass(frozen=True)
class ProviderMetadata:
    """Facts about a provider, for people: strings, and tuples of strings. Lists become tuples.

    supported_architectures: of machines or of devices, such as "x86-64" or "sm_90". required_features and
    optional_features: what a machine must have, and what is used where a machine has it.
    Raises: DTypeError, which names every field of another type.

    >>> facts = stator.backends.ProviderMetadata("chips", "1.0", required_features=["a chip"])
    >>> facts.required_features, facts.license
    (('a chip',), '')
    """

    name: str
    version: str
    description: str = ""
    author: str = ""
    license: str = ""
    supported_architectures: Sequence[str] = ()
    required_features: Sequence[str] = ()
    optional_features: Sequence[str] = ()

    def __post_init__(self) -> None:
        wrong = []
        for field in fields(self):
            value = getattr(self, field.name)
            if field.type == "str":
                wrong += [f"{field.name}={value!r}"] * (not isinstance(value, str))
            elif isinstance(value, (tuple, list)) and all(isinstance(entry, str) for entry in value):
                object.__setattr__(self, field.name, tuple(value))
            else:
                wrong.append(f"{field.name}={value!r}")
        if wrong:
            raise DTypeError(
                f"These fields are of a wrong type: {', '.join(wrong)}",
                op="ProviderMetadata",
                remedy="Pass tuples or lists of strings as the last three fields, and strings as the others.",
            )


class ProviderBackend(Protocol):
    """What each backend of a provider has. stator.Backend has it too."""

    def namespace(self) -> Any:
        """The namespace of the array API whose functions take the backend's arrays."""

    def asarray(self, obj: Any, /) -> Any:
        """An array of the backend, from an array of NumPy, a number or nested lists. May take more arguments."""

    def synchronize(self) -> None:
        """Waits until all work is done, and raises what went wrong in it."""

    def close(self) -> None:
        """Waits, then releases everything. A second call does nothing."""


class BackendProvider(Protocol):
    """What a package provides so that backends of its own are opened by name.

    An entry point of the group `stator.backends` names such an object, or a class or function that gives one when it
    is called without arguments; its name is that of the provider.
    """

    @property
    def name(self) -> str:
        """Letters, digits, "_", "-" and "."."""

    @property
    def priority(self) -> int:
        """Of the available providers, the one of the highest priority is the default. stator's cpu has 0."""

    @property
    def metadata(self) -> ProviderMetadata:
        """Its version, author and other facts."""

    @property
    def supported_device_types(self) -> Sequence[str]:
        """One or more types of devices, such as ("cpu",)."""

    def is_compatible(self) -> bool:
        """Whether it can work on such a system: the architecture, the operating system, its libraries."""

    def is_available(self) -> bool:
        """Whether a backend could be opened now. Asked often, and on any thread; opens nothing."""

    def capabilities(self) -> Any:
        """What its backends can do, as any object. Opens nothing."""

    def create(self, **options: Any) -> ProviderBackend:
        """Opens a backend."""

    # A provider may also have devices(), which gives a stator.hardware.DeviceInfo for each of its devices and opens
    # nothing; stator.devices() lists them after stator's own.


# What registries look for.
PROVIDER_METHODS = ("is_compatible", "is_available", "capabilities", "create")
BACKEND_METHODS = ("namespace", "asarray", "synchronize", "close")
