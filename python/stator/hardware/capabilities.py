"""The records that describe what a device can do. What cannot be known is None."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import Enum
from typing import Any

from stator.hardware.kinds import BackendType


class HardwareFeature(Enum):
    """What hardware has beside arithmetic."""

    TENSOR_CORES = "TensorCores"
    VECTOR_UNITS = "VectorUnits"
    SHARED_MEMORY = "SharedMemory"
    CONSTANT_MEMORY = "ConstantMemory"
    ATOMIC_OPERATIONS = "AtomicOperations"
    COOPERATIVE_GROUPS = "CooperativeGroups"
    DYNAMIC_PARALLELISM = "DynamicParallelism"


@dataclass(frozen=True)
class PrecisionMode:
    """A precision that ops can have: its kind, the bits of a number, and what it means here.

    kind: "F16", "BF16", "F32", "F64"; "Mixed", where numbers of one width are added in a wider one; "Custom", where the
    hardware's numbers are of no standard dtype.
    """

    kind: str
    bits: int
    meaning: str

    def __str__(self) -> str:
        return f"Custom({self.bits})" if self.kind == "Custom" else self.kind


@dataclass(frozen=True)
class MemoryHierarchy:
    """Caches and memories, in bytes.

    l1_cache_size: of a core, or of a multiprocessor of a GPU, whose shared memory is a part of it. l2_cache_size: of
    the whole GPU, or of a core. shared_memory_size: what a block can have, with opting in. cache_line_size: of the
    host. memory_bandwidth_gbps: by the memory's clock and the width of its bus. The last four are measured on request:
    nanoseconds and cycles of a read that waits for the one before it, and 10^9 bytes per second, read and written.
    """

    l1_cache_size: int | None = None
    l2_cache_size: int | None = None
    l3_cache_size: int | None = None
    cache_line_size: int | None = None
    shared_memory_size: int | None = None
    shared_memory_per_multiprocessor: int | None = None
    constant_memory_size: int | None = None
    memory_bandwidth_gbps: float | None = None
    memory_latency_ns: float | None = None
    memory_latency_cycles: int | None = None
    measured_bandwidth_gbps: float | None = None
    memory_bandwidth_per_core: float | None = None


@dataclass(frozen=True)
class ExecutionModel:
    """How work runs.

    max_concurrent_streams: the most that a backend can have of its own. supports_out_of_order: work of one stream may
    run before earlier work of another. max_resident_grids: kernels that a GPU runs at once.
    """

    supports_simd: bool
    supports_simt: bool
    supports_task_parallelism: bool
    supports_data_parallelism: bool
    max_concurrent_streams: int | None
    supports_out_of_order: bool | None
    max_resident_grids: int | None = None
    copy_engines: int | None = None


@dataclass(frozen=True)
class ExtendedCapabilities:
    """The parts of Capabilities that the field's backend traits keep apart."""

    max_tensor_dims: int | None
    precision_modes: tuple[PrecisionMode, ...]
    hardware_features: tuple[HardwareFeature, ...]
    memory_hierarchy: MemoryHierarchy
    execution_model: ExecutionModel
    custom_capabilities: Mapping[str, Any]


@dataclass(frozen=True)
class Capabilities:
    """What a device can do, for ops and for kernels of your own. What cannot be known is None.

    Sizes are in bytes, clocks in kHz. multiprocessors: of a GPU; cores: of the host, which the process may use;
    cpu_limit: the CPUs' worth of time that its control group grants. simd: the host's instruction sets; isa_level: the
    level of x86-64 that they make. max_workgroup_size: threads of a block per axis; max_grid_size: blocks per axis.
    float16, bfloat16: arithmetic in hardware. atomics: types that atomic operations of a kernel take. subgroup_ops:
    what threads of a warp do together. peers: the devices whose memory kernels of this one can read. indirect_dispatch:
    grids from an array, see Kernel.launch. custom_capabilities: the device's attributes by CUDA's names, or facts of
    the host. Every field is explained in docs/devices.md.
    """

    type: BackendType
    index: int
    name: str | None
    memory_hierarchy: MemoryHierarchy
    execution_model: ExecutionModel
    precision_modes: tuple[PrecisionMode, ...]
    supported_dtypes: tuple[str, ...]
    compute_capability: tuple[int, int] | None = None
    multiprocessors: int | None = None
    cores: int | None = None
    cpu_limit: float | None = None
    simd: tuple[str, ...] | None = None
    simd_bits: int | None = None
    isa_level: str | None = None
    clock_khz: int | None = None
    memory_clock_khz: int | None = None
    memory_bus_bits: int | None = None
    warp_size: int | None = None
    max_workgroup_size: tuple[int, int, int] | None = None
    max_threads_per_workgroup: int | None = None
    max_grid_size: tuple[int, int, int] | None = None
    max_threads_per_multiprocessor: int | None = None
    max_workgroups_per_multiprocessor: int | None = None
    registers_per_multiprocessor: int | None = None
    max_buffer_size: int | None = None
    max_tensor_dims: int | None = None
    peak_gflops: Mapping[str, float | None] = field(default_factory=dict, hash=False)
    float16: bool | None = None
    bfloat16: bool | None = None
    tensor_cores: bool | None = None
    atomics: tuple[str, ...] | None = None
    subgroup_ops: tuple[str, ...] | None = None
    supports_async: bool | None = None
    supports_sub_buffers: bool = True
    supports_kernel_caching: bool | None = None
    supports_unified_memory: bool | None = None
    unified_addressing: bool | None = None
    concurrent_managed_access: bool | None = None
    peers: tuple[str, ...] = ()
    constant_memory: bool | None = None
    dynamic_parallelism: bool | None = None
    cooperative_launch: bool | None = None
    grid_sync: bool | None = None
    cluster_launch: bool | None = None
    indirect_dispatch: bool | None = None
    concurrent_kernels: bool | None = None
    mig: bool | None = None
    ecc: bool | None = None
    integrated: bool | None = None
    emulated: bool = False
    custom_capabilities: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def max_compute_units(self) -> int | None:
        """The multiprocessors of a GPU, the usable cores of the host."""
        return self.multiprocessors if self.type is BackendType.CUDA else self.cores

    @property
    def memory_bandwidth_gbps(self) -> float | None:
        """The measured bandwidth, else that of the memory's clock and bus; 10^9 bytes per second."""
        found = self.memory_hierarchy
        measured = found.measured_bandwidth_gbps
        return found.memory_bandwidth_gbps if measured is None else measured

    @property
    def compute_throughput_gflops(self) -> float | None:
        """The peak of float32, in 10^9 operations per second."""
        return self.peak_gflops.get("float32")

    @property
    def hardware_features(self) -> tuple[HardwareFeature, ...]:
        """What the hardware has, of the features that have a name."""
        has = {
            HardwareFeature.TENSOR_CORES: self.tensor_cores,
            HardwareFeature.VECTOR_UNITS: bool(self.simd_bits),
            HardwareFeature.SHARED_MEMORY: bool(self.memory_hierarchy.shared_memory_size),
            HardwareFeature.CONSTANT_MEMORY: self.constant_memory,
            HardwareFeature.ATOMIC_OPERATIONS: bool(self.atomics),
            HardwareFeature.COOPERATIVE_GROUPS: self.cooperative_launch,
            HardwareFeature.DYNAMIC_PARALLELISM: self.dynamic_parallelism,
        }
        return tuple(feature for feature, present in has.items() if present)

    @property
    def extended_capabilities(self) -> ExtendedCapabilities:
        """The dimensions, precisions, features, memories and execution model in one record."""
        return ExtendedCapabilities(
            self.max_tensor_dims,
            self.precision_modes,
            self.hardware_features,
            self.memory_hierarchy,
            self.execution_model,
            self.custom_capabilities,
        )

    def as_dict(self) -> dict[str, Any]:
        """The fields as plain values that json.dumps takes."""
        features = [feature.value for feature in self.hardware_features]
        return {**asdict(self), "type": self.type.value, "hardware_features": features}
