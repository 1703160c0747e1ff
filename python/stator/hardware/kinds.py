"""The kinds of devices that backends have."""

from __future__ import annotations

from enum import Enum

from stator.errors import DTypeError, InvalidValueError


class BackendType(Enum):
    """What a backend runs on; str() and .display_name give the name as people write it.

    stator itself has CPU and CUDA; the others are for providers. AUTO stands for a choice, not for a kind of device.

    >>> from stator.hardware import BackendType
    >>> str(BackendType.WEBGPU), BackendType.parse("cuda:1")
    ('WebGPU', <BackendType.CUDA: 'cuda'>)
    """

    AUTO = "auto"
    CPU = "cpu"
    CUDA = "cuda"
    METAL = "metal"
    ROCM = "rocm"
    WEBGPU = "webgpu"

    @property
    def display_name(self) -> str:
        """The name as people write it: "CPU", "CUDA", "ROCm", ..."""
        return _DISPLAYED[self]

    def __str__(self) -> str:
        return self.display_name

    @classmethod
    def _missing_(cls, value: object) -> BackendType:
        known = ", ".join(each.value for each in cls)
        raise InvalidValueError(
            f"A value of type {type(value).__name__} that is not a kind of a device",
            op="BackendType",
            remedy=f"The types are {known}; BackendType.parse also reads names of devices.",
        )

    @classmethod
    def parse(cls, kind: object, op: str = "BackendType.parse") -> BackendType:
        """The type that "cuda", "cuda:1" or a Device names; InvalidValueError for others."""
        from stator._device import Device

        if isinstance(kind, cls):
            return kind
        if not isinstance(kind, (str, Device)):
            raise DTypeError(
                f"Got device_type of type {type(kind).__name__}",
                op=op,
                remedy="Give a BackendType, a Device or a text.",
            )
        word = str(kind).partition(":")[0].lower()
        for each in cls:
            if each.value == word:
                return each
        known = ", ".join(each.value for each in cls)
        raise InvalidValueError(f"device_type={kind!r}", op=op, remedy=f"The types are {known}.")


_DISPLAYED = {
    BackendType.AUTO: "Auto",
    BackendType.CPU: "CPU",
    BackendType.CUDA: "CUDA",
    BackendType.METAL: "Metal",
    BackendType.ROCM: "ROCm",
    BackendType.WEBGPU: "WebGPU",
}
