"""CUDA devices: DeviceInfo and Capabilities from the attributes that the runtime tells without a context."""

from __future__ import annotations

import os
from typing import Any

from stator import _backend, _devices
from stator._dtype import all_dtypes
from stator.hardware import nvml, tables
from stator.hardware.capabilities import Capabilities, ExecutionModel, MemoryHierarchy, PrecisionMode
from stator.hardware.device_info import DeviceInfo
from stator.hardware.kinds import BackendType

MAX_DIMENSIONS = 32  # of an array, on every device


def _version(number: int) -> str | None:
    return f"{number // 1000}.{number % 1000 // 10}" if number else None


def _flag(found: dict[str, int], name: str) -> bool | None:
    return bool(found[name]) if name in found else None


def _three(found: dict[str, int], prefix: str) -> tuple[int, int, int] | None:
    names = [f"{prefix}_{axis}" for axis in "xyz"]
    if not all(name in found for name in names):
        return None
    x, y, z = (found[name] for name in names)
    return x, y, z


def _peak(capability: tuple[int, int], found: dict[str, int]) -> dict[str, float | None]:
    return tables.peak_gflops(
        capability,
        found.get("multiprocessor_count"),
        found.get("clock_rate"),
        found.get("single_to_double_precision_perf_ratio"),
    )


def _precision_modes(capability: tuple[int, int]) -> tuple[PrecisionMode, ...]:
    modes = [PrecisionMode("F16", 16, "float16, added in float32 by products and reductions")]
    if capability >= (8, 0):
        modes.append(PrecisionMode("BF16", 16, "bfloat16, added in float32 by products and reductions"))
    modes += [PrecisionMode("F32", 32, "float32"), PrecisionMode("F64", 64, "float64")]
    modes.append(PrecisionMode("Mixed", 16, "operands of 16 bits on tensor cores, sums in float32"))
    modes.append(PrecisionMode("Custom", 8, "int8 and uint8 with scales and zero points: the ops of quantisation"))
    modes.append(PrecisionMode("Custom", 4, "weights of four bits in groups with scales: nn.int4_linear"))
    if capability >= (8, 0):
        meaning = "TF32: products of float32 with operands rounded to 10 bits of mantissa, where allow_tf32=True"
        modes.append(PrecisionMode("Custom", 19, meaning))
    return tuple(modes)


def info(index: int, report: dict[str, Any] | None = None) -> DeviceInfo:
    """The description of a device. Creates no context; DeviceUnavailableError where there is none of the index."""
    said = report or _devices.device_report("cuda", index)
    found: dict[str, int] = said["attributes"]
    capability: tuple[int, int] = said["compute_capability"]
    return DeviceInfo(
        type=BackendType.CUDA,
        index=index,
        vendor="NVIDIA",
        name=said["name"],
        driver=_version(said["driver_version"]),
        runtime=_version(said["runtime_version"]),
        compute_capability=capability,
        memory_total=said["total_memory"],
        memory_free=found["memory_free"] if "memory_free" in found else nvml.memory_free(index),
        peak_gflops=_peak(capability, found),
        double_precision=True,  # every GPU that CUDA 13 knows
        fast_math=True,  # the special function units: sin.approx, ex2.approx and others, of every GPU
        async_memory=_flag(found, "memory_pools_supported"),
        emulated=_backend.emulated("cuda"),
    )


def _hierarchy(capability: tuple[int, int], found: dict[str, int]) -> MemoryHierarchy:
    clock, bus = found.get("memory_clock_rate"), found.get("global_memory_bus_width")
    return MemoryHierarchy(
        l1_cache_size=tables.UNIFIED_CACHE.get(capability),
        l2_cache_size=found.get("l2_cache_size"),
        shared_memory_size=found.get("max_shared_memory_per_block_optin"),
        shared_memory_per_multiprocessor=found.get("max_shared_memory_per_multiprocessor"),
        constant_memory_size=found.get("total_constant_memory"),
        # Two transfers per cycle of the clock, as the runtime counts it.
        memory_bandwidth_gbps=2 * clock * bus / 8 / 1e6 if clock and bus else None,
    )


def capabilities(index: int) -> Capabilities:
    """What a device can do. Creates no context; DeviceUnavailableError where there is none of the index."""
    said = _devices.device_report("cuda", index)
    found: dict[str, int] = said["attributes"]
    capability: tuple[int, int] = said["compute_capability"]
    emulated = _backend.emulated("cuda")
    cooperative = _flag(found, "cooperative_launch")
    model = ExecutionModel(
        supports_simd=False,
        supports_simt=True,
        supports_task_parallelism=bool(found.get("concurrent_kernels")),
        supports_data_parallelism=True,
        max_concurrent_streams=_backend.most_streams(),
        supports_out_of_order=_flag(found, "concurrent_kernels"),
        max_resident_grids=tables.RESIDENT_GRIDS.get(capability),
        copy_engines=found.get("async_engine_count"),
    )
    peers = {int(name.rpartition("_")[2]): can for name, can in found.items() if name.startswith("peer_access_")}
    return Capabilities(
        type=BackendType.CUDA,
        index=index,
        name=said["name"],
        memory_hierarchy=_hierarchy(capability, found),
        execution_model=model,
        precision_modes=_precision_modes(capability),
        supported_dtypes=tuple(dtype.name for dtype in all_dtypes),
        compute_capability=capability,
        multiprocessors=found.get("multiprocessor_count"),
        clock_khz=found.get("clock_rate"),
        memory_clock_khz=found.get("memory_clock_rate"),
        memory_bus_bits=found.get("global_memory_bus_width"),
        warp_size=found.get("warp_size"),
        max_workgroup_size=_three(found, "max_block_dim"),
        max_threads_per_workgroup=found.get("max_threads_per_block"),
        max_grid_size=_three(found, "max_grid_dim"),
        max_threads_per_multiprocessor=found.get("max_threads_per_multiprocessor"),
        max_workgroups_per_multiprocessor=found.get("max_blocks_per_multiprocessor"),
        registers_per_multiprocessor=found.get("max_registers_per_multiprocessor"),
        max_buffer_size=said["total_memory"],
        max_tensor_dims=MAX_DIMENSIONS,
        peak_gflops=_peak(capability, found),
        float16=capability >= (5, 3),
        bfloat16=capability >= (8, 0),
        tensor_cores=tables.tensor_cores(capability),
        atomics=tables.atomics(capability),
        subgroup_ops=tables.subgroup_ops(capability),
        supports_async=True,
        supports_kernel_caching=os.environ.get("CUDA_CACHE_DISABLE") != "1",
        supports_unified_memory=_flag(found, "managed_memory"),
        unified_addressing=_flag(found, "unified_addressing"),
        concurrent_managed_access=_flag(found, "concurrent_managed_access"),
        # Copies between emulated devices are as those of such peers; kernels read no other device's memory.
        peers=tuple(f"cuda:{other}" for other, can in sorted(peers.items()) if can and not emulated),
        constant_memory=bool(found.get("total_constant_memory")),
        dynamic_parallelism=not emulated and capability >= (3, 5),
        cooperative_launch=cooperative,
        grid_sync=cooperative,
        cluster_launch=_flag(found, "cluster_launch"),
        indirect_dispatch=True,
        concurrent_kernels=_flag(found, "concurrent_kernels"),
        mig=" MIG " in f"{said['name']} ",
        ecc=_flag(found, "ecc_enabled"),
        integrated=_flag(found, "integrated"),
        emulated=emulated,
        custom_capabilities=dict(found),
    )
