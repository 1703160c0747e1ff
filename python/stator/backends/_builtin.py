"""stator's own providers: "cpu" and "cuda"."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stator import _backend
from stator._package import root
from stator._version import __version__
from stator.backends._protocols import ProviderBackend, ProviderMetadata
from stator.errors import InvalidValueError

if TYPE_CHECKING:
    from stator.hardware import Capabilities

# Above the cpu, so that the default is what Backend("auto") takes; an emulated GPU is for tests, and below it.
PRIORITY = {"cpu": 0, "cuda": 100}
EMULATED = -100


class StatorProvider:
    """Opens stator's Backend on the cpu, or on a GPU."""

    def __init__(self, kind: str) -> None:
        self.name = kind
        self.supported_device_types = (kind,)

    def __repr__(self) -> str:
        return f"<the provider {self.name} of stator>"

    @property
    def priority(self) -> int:
        return EMULATED if _backend.emulated(self.name) else PRIORITY[self.name]

    @property
    def metadata(self) -> ProviderMetadata:
        cuda = self.name == "cuda"
        return ProviderMetadata(
            name=f"stator-{self.name}",
            version=__version__,
            description="CUDA kernels of stator, on a GPU" if cuda else "The same kernels as on a GPU, on the CPU",
            author="the authors of stator",
            license="Apache-2.0",
            supported_architectures=("x86-64",),
            required_features=("a GPU", "its driver") if cuda else (),
            optional_features=("cuBLAS", "cuFFT", "cuSOLVER", "cuSPARSE", "NVRTC") if cuda else ("OpenBLAS",),
        )

    def is_compatible(self) -> bool:
        """True where stator could be imported. That a build has no cuda target is reported by is_available()."""
        return True

    def is_available(self) -> bool:
        return bool(_backend.available(self.name)[0])

    def capabilities(self) -> Capabilities:
        """Those of the first device, as stator.hardware has them; DeviceUnavailableError where there is none."""
        from stator.hardware import capabilities_of

        return capabilities_of(self.name)

    def create(self, **options: Any) -> ProviderBackend:
        """Opens stator.Backend(**options); device: one of the provider's type, by default its first one."""
        asked = options.pop("device", None) or getattr(options.get("config"), "device", None) or "auto"
        device = self.name if str(asked) == "auto" else str(asked)
        if device.partition(":")[0] != self.name:
            raise InvalidValueError(
                f"device={device!r}, which the provider {self.name!r} does not have",
                op="StatorProvider.create",
                remedy="Leave the device out, or create a backend of the provider that has it.",
            )
        made: ProviderBackend = root().Backend(device, **options)
        return made
