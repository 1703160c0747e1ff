"""BackendConfig: the values that a backend is opened with."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, fields
from typing import TYPE_CHECKING, Any, TypedDict

from stator.config._fields import FIELDS, Value, check_together, checked
from stator.config._problems import Problem, raise_all, unknown
from stator.errors import DTypeError

if TYPE_CHECKING:
    from typing import Self

    from stator._device import Device


class Options(TypedDict, total=False):
    """The keywords of Backend beside the device: the other fields of BackendConfig."""

    allow_tf32: bool | None
    deterministic: bool | None
    check_indices: str | None
    memory_limit: int | str | None
    memory_pool_size: int | str | None
    pinned_memory_limit: int | str | None
    pool_policy: str | None
    stream_pool_size: int | None
    profiling: bool | None
    blas_workspace_size: int | str | None
    jit_cache_path: str | os.PathLike[str] | None
    jit_cache_size: int | str | None
    require_libraries: bool | None


@dataclass(frozen=True)
class BackendConfig:
    """What Backend(config=...) opens. None, which every field is at first, leaves the field to a lower source.

    device: "auto" (cuda:0 when usable, else cpu), "cpu", "cuda" or "cuda:1". allow_tf32: float32 products may use TF32.
    deterministic: ops give equal bits from run to run. check_indices: "lazy" raises for indices out of range at the
    next synchronising call, "eager" at once. memory_limit: bytes of live and cached memory. memory_pool_size: bytes
    that a cuda backend takes from the device when it opens, and keeps; nothing on the cpu, but for an arena.
    pinned_memory_limit: bytes of live and cached page-locked memory. pool_policy: "caching" keeps freed device memory
    for the next array, "none" gives it back at once, "driver" leaves it to CUDA's stream-ordered pool, and "arena"
    divides memory_pool_size bytes and takes no others. stream_pool_size: the backend's own streams, 1 to 31; what is
    left of 31 is for streams of other libraries. profiling: telemetry counts from the beginning.
    blas_workspace_size: bytes for each handle of cuBLAS; else 32 MiB from Hopper on, and 4 MiB before.
    jit_cache_path, jit_cache_size: where the CUDA driver keeps what it compiled of PTX, and how many bytes, at most
    2**32; they hold for the process, and must come before its driver starts. require_libraries: where cuFFT or
    cuSPARSE is missing, its ops raise LibraryNotFoundError; else they warn once and take slower kernels.

    Sizes are bytes, or text such as "512 MiB". ConfigurationError lists every value that cannot be used.

    >>> config = stator.BackendConfig("cpu", memory_limit="1 GiB")
    >>> config.memory_limit
    1073741824
    >>> with stator.Backend(config=config, memory_limit=2**20) as be:
    ...     be.memory.stats()["limit"]
    1048576
    """

    device: str | Device | None = None
    _: KW_ONLY
    allow_tf32: bool | None = None
    deterministic: bool | None = None
    check_indices: str | None = None
    memory_limit: int | str | None = None
    memory_pool_size: int | str | None = None
    pinned_memory_limit: int | str | None = None
    pool_policy: str | None = None
    stream_pool_size: int | None = None
    profiling: bool | None = None
    blas_workspace_size: int | str | None = None
    jit_cache_path: str | os.PathLike[str] | None = None
    jit_cache_size: int | str | None = None
    require_libraries: bool | None = None

    def __post_init__(self) -> None:
        problems: list[Problem] = []
        for name in FIELDS:
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, checked(name, value, problems))
        check_together(self.to_dict(), problems)
        raise_all(problems, "BackendConfig")

    def validate(self) -> None:
        """Raises ConfigurationError for values that cannot be used; the constructor has done so already."""
        type(self)(**self.to_dict())

    @property
    def backend_type(self) -> str:
        """The type of the device: "cpu", "cuda", or "auto" where it is left open."""
        return str(self.device or "auto").partition(":")[0]

    @classmethod
    def default_config(cls) -> Self:
        """The defaults, each of them set. Those of sizes are None."""
        return cls.from_dict({name: field.default for name, field in FIELDS.items()})

    def merge(self, other: BackendConfig) -> Self:
        """The configuration of both, where what the other one says comes first.

        >>> a = stator.BackendConfig("cpu", profiling=True)
        >>> a.merge(stator.BackendConfig(profiling=False)).to_dict()
        {'device': 'cpu', 'profiling': False}
        """
        if not isinstance(other, BackendConfig):
            raise DTypeError(
                f"Got other of type {type(other).__name__}", op="BackendConfig.merge", remedy="Give a BackendConfig."
            )
        return type(self)(**self.to_dict() | other.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """The fields set explicitly, with their values."""
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in found.items() if value is not None}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """The configuration of values by field; the inverse of to_dict().

        ConfigurationError for what cannot be used, names that no field has among it.
        """
        return cls._of(values, "BackendConfig.from_dict", "field")

    def as_properties(self) -> dict[str, str]:
        """The fields set explicitly as flat text, such as a file of properties has: flags are true or false."""
        return {k: str(v).lower() if isinstance(v, bool) else str(v) for k, v in self.to_dict().items()}

    @classmethod
    def from_properties(cls, properties: Mapping[str, str]) -> Self:
        """The inverse of as_properties(). ConfigurationError for what cannot be used."""
        return cls._of(properties, "BackendConfig.from_properties", "property")

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str]) -> Self:
        """The table [backend] of a TOML file. ConfigurationError for what cannot be used or read."""
        from stator.config._sources import read_toml

        problems: list[Problem] = []
        table = read_toml(path, "path", problems)
        raise_all(problems, "BackendConfig.from_toml")
        return cls._of(table, "BackendConfig.from_toml", "field")

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> Self:
        """What the variables STATOR_DEVICE, STATOR_MEMORY_LIMIT, ... say; empty ones say nothing.

        environment: os.environ where it is None. ConfigurationError for what cannot be used.
        """
        from stator.config._sources import of_variables

        if not isinstance(environment, Mapping | None):
            raise DTypeError(
                f"Got environment of type {type(environment).__name__}",
                op="BackendConfig.from_environment",
                remedy="Give a mapping.",
            )
        return cls(**of_variables(os.environ if environment is None else environment))

    @classmethod
    def _of(cls, values: Mapping[str, Any], op: str, what: str) -> Self:
        if not isinstance(values, Mapping):
            raise DTypeError(f"Got a value of type {type(values).__name__}", op=op, remedy="Give a mapping.")
        problems: list[Problem] = []
        found: dict[str, Value | None] = {}
        for name, value in values.items():
            if name not in FIELDS:
                problems.append(unknown(str(name), value, FIELDS, what))
            elif value is not None:
                found[name] = checked(name, value, problems)
        check_together(found, problems)
        raise_all(problems, op)
        return cls(**found)  # type: ignore[arg-type]
