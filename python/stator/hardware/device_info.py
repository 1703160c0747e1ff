"""What a device says of itself before a backend is opened for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from stator.hardware.kinds import BackendType


@dataclass(frozen=True)
class DeviceInfo:
    """A device as its driver, or the operating system, describes it. What cannot be known is None.

    type, index: `device` is their text, "cuda:0". memory_total, memory_free: bytes; the free ones of a GPU are known
    where the process, or another library in it, has a context on it, and where NVML tells them. driver, runtime:
    versions of CUDA ("13.0"). peak_gflops: by dtype, without tensor cores, at the greatest clock; see
    docs/devices.md. double_precision: whether float64 is computed in hardware. fast_math: whether there are
    instructions for approximate functions. async_memory: whether memory is allocated and freed in the order of a
    stream. emulated: a GPU in software. provider: who made it known, "stator" for the devices of stator itself.
    """

    type: BackendType
    index: int = 0
    vendor: str | None = None
    name: str | None = None
    driver: str | None = None
    runtime: str | None = None
    compute_capability: tuple[int, int] | None = None
    memory_total: int | None = None
    memory_free: int | None = None
    peak_gflops: Mapping[str, float | None] = field(default_factory=dict, hash=False)
    double_precision: bool | None = None
    fast_math: bool | None = None
    async_memory: bool | None = None
    emulated: bool = False
    provider: str = "stator"

    @property
    def device(self) -> str:
        """The device as text, as Backend() takes it: "cpu", "cuda:1"."""
        return self.type.value if self.type is BackendType.CPU else f"{self.type.value}:{self.index}"

    def as_dict(self) -> dict[str, Any]:
        """The fields as plain values that json.dumps takes, with the text of the device."""
        return {"device": self.device, **asdict(self), "type": self.type.value}
