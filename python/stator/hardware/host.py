"""The host: DeviceInfo and Capabilities from the files of the operating system, and limits of the process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from stator import _backend, _devices
from stator._dtype import all_dtypes
from stator.hardware import host_files
from stator.hardware.capabilities import Capabilities, ExecutionModel, MemoryHierarchy, PrecisionMode
from stator.hardware.cuda import MAX_DIMENSIONS
from stator.hardware.device_info import DeviceInfo
from stator.hardware.kinds import BackendType

VENDORS = {"GenuineIntel": "Intel", "AuthenticAMD": "AMD", "HygonGenuine": "Hygon", "CentaurHauls": "Centaur"}

# Of the System V ABI for x86-64, by the kernel's names: what each level has beside those below it.
LEVELS = (
    ("x86-64-v2", {"cx16", "lahf_lm", "popcnt", "pni", "sse4_1", "sse4_2", "ssse3"}),
    ("x86-64-v3", {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"}),
    ("x86-64-v4", {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}),
)
WIDTHS = (("avx512f", 512), ("avx", 256), ("sse2", 128), ("asimd", 128))
VECTOR_SETS = ("sse", "ssse", "avx", "fma", "f16c", "amx", "asimd", "sve", "neon")

PRECISION_MODES = (
    PrecisionMode("F16", 16, "float16, converted to float32 for arithmetic"),
    PrecisionMode("BF16", 16, "bfloat16, converted to float32 for arithmetic"),
    PrecisionMode("F32", 32, "float32"),
    PrecisionMode("F64", 64, "float64"),
    PrecisionMode("Mixed", 16, "operands of 16 bits, sums in float32"),
    PrecisionMode("Custom", 8, "int8 and uint8 with scales and zero points: the ops of quantisation"),
    PrecisionMode("Custom", 4, "weights of four bits in groups with scales: nn.int4_linear"),
)


def isa_level(flags: tuple[str, ...] | None) -> str | None:
    """The level of x86-64 that the flags make; None where they make none, or are not known."""
    found = None
    for level, needed in LEVELS:
        if not needed <= set(flags or ()):
            break
        found = level
    return found


def info(report: dict[str, Any] | None = None, root: Path = host_files.ROOT) -> DeviceInfo:
    """The description of the host. Opens no backend."""
    said = report or _devices.device_report("cpu", 0)
    facts = host_files.cpu_facts(root)
    vendor = facts.get("vendor_id")
    free = host_files.available_memory(root)
    return DeviceInfo(
        type=BackendType.CPU,
        vendor=VENDORS.get(vendor, vendor) if vendor else None,
        name=facts.get("model name") or said["name"],
        memory_total=said["total_memory"],
        memory_free=None if free is None else min(free, said["total_memory"]),
        # What a cycle gives depends on the core's units, which processors do not tell.
        peak_gflops=dict.fromkeys(("float16", "bfloat16", "float32", "float64")),
        double_precision=True,
        fast_math=False,
        async_memory=True,
    )


def capabilities(root: Path = host_files.ROOT) -> Capabilities:
    """What the host can do for this process. Opens no backend."""
    said = _devices.device_report("cpu", 0)
    cpus = host_files.usable_cpus()
    flags = host_files.instruction_sets(root)
    known = host_files.caches(cpus[0], root)
    facts = host_files.cpu_facts(root)
    workers = said["attributes"].get("workers")
    model = ExecutionModel(
        supports_simd=bool(flags and any(flag in flags for flag, _ in WIDTHS)),
        supports_simt=False,
        supports_task_parallelism=len(cpus) > 1,
        supports_data_parallelism=len(cpus) > 1,
        max_concurrent_streams=_backend.most_streams(),
        supports_out_of_order=True,  # streams are queues of their own
    )
    return Capabilities(
        type=BackendType.CPU,
        index=0,
        name=facts.get("model name") or said["name"],
        memory_hierarchy=MemoryHierarchy(
            known.get("l1"), known.get("l2"), known.get("l3"), cache_line_size=known.get("line")
        ),
        execution_model=model,
        precision_modes=PRECISION_MODES,
        supported_dtypes=tuple(dtype.name for dtype in all_dtypes),
        cores=len(cpus),
        cpu_limit=host_files.cpu_limit(root),
        simd=tuple(flag for flag in flags if flag.startswith(VECTOR_SETS)) if flags else None,
        simd_bits=next((bits for flag, bits in WIDTHS if flag in flags), None) if flags else None,
        isa_level=isa_level(flags),
        clock_khz=host_files.max_clock_khz(cpus[0], root),
        max_workgroup_size=(1, 1, 1),  # the host runs a block as one thread
        max_threads_per_workgroup=1,
        max_buffer_size=said["total_memory"],
        max_tensor_dims=MAX_DIMENSIONS,
        peak_gflops=dict.fromkeys(("float16", "bfloat16", "float32", "float64")),
        float16="avx512_fp16" in flags if flags else None,
        bfloat16="avx512_bf16" in flags if flags else None,
        tensor_cores=False,  # AMX, where it is, is listed in simd
        atomics=(),  # kernels of your own run only on cuda
        subgroup_ops=(),
        supports_async=True,
        supports_kernel_caching=False,  # the kernels are compiled with stator
        supports_unified_memory=True,  # it is the host's own memory
        unified_addressing=True,
        constant_memory=False,
        dynamic_parallelism=False,
        cooperative_launch=False,
        grid_sync=False,
        cluster_launch=False,
        indirect_dispatch=False,
        concurrent_kernels=len(cpus) > 1,
        custom_capabilities={
            "workers": workers,
            "physical_cores": host_files.physical_cores(cpus, root),
            "cpus": list(cpus),
        },
    )
