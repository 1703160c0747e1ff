"""Facts about compute capabilities that no call of the CUDA runtime tells. Those that are not listed are not known.

LANES: results of multiply-add per cycle and multiprocessor, by dtype, without tensor cores. From NVIDIA's papers on the
architectures (their peaks, divided by multiprocessors, clock and 2), which agree with the table of arithmetic
throughput in the CUDA C++ Programming Guide: V100 (7.0), Turing (7.5), A100 (8.0), GA102 (8.6), Ada (8.9), H100 (9.0),
RTX Blackwell (12.0); 10.0 is from the guide. float64 is not here, since the runtime tells its ratio to float32.

UNIFIED_CACHE: bytes of the memory of a multiprocessor that is both L1 and shared memory; RESIDENT_GRIDS: grids that run
at once. Both from the guide's table of technical specifications per compute capability.
"""

from __future__ import annotations

LANES: dict[tuple[int, int], dict[str, int]] = {
    (7, 0): {"float16": 128, "float32": 64},
    (7, 5): {"float16": 128, "float32": 64},
    (8, 0): {"float16": 256, "bfloat16": 128, "float32": 64},
    (8, 6): {"float16": 128, "bfloat16": 128, "float32": 128},
    (8, 9): {"float16": 128, "bfloat16": 128, "float32": 128},
    (9, 0): {"float16": 256, "bfloat16": 256, "float32": 128},
    (10, 0): {"float32": 128},
    (12, 0): {"float16": 128, "bfloat16": 128, "float32": 128},
}

_KiB = 1024
UNIFIED_CACHE: dict[tuple[int, int], int] = {
    (7, 0): 128 * _KiB,
    (7, 2): 128 * _KiB,
    (7, 5): 96 * _KiB,
    (8, 0): 192 * _KiB,
    (8, 6): 128 * _KiB,
    (8, 7): 192 * _KiB,
    (8, 9): 128 * _KiB,
    (9, 0): 256 * _KiB,
    (10, 0): 256 * _KiB,
    (12, 0): 128 * _KiB,
}

RESIDENT_GRIDS: dict[tuple[int, int], int] = dict.fromkeys(
    ((7, 0), (7, 5), (8, 0), (8, 6), (8, 7), (8, 9), (9, 0), (10, 0), (12, 0)), 128
)


def tensor_cores(compute_capability: tuple[int, int]) -> bool | None:
    """Whether there are tensor cores; None for 7.5, where some chips have them and others (GTX 16) do not."""
    return None if compute_capability == (7, 5) else compute_capability >= (7, 0)


def atomics(compute_capability: tuple[int, int]) -> tuple[str, ...]:
    """The types of atomic operations of kernels, from the guide's section on atomic functions."""
    least = {
        "int32": (2, 0),
        "uint32": (2, 0),
        "uint64": (2, 0),
        "float32": (2, 0),
        "float64": (6, 0),
        "float16": (7, 0),
        "bfloat16": (8, 0),
        "float32x2": (9, 0),
        "float32x4": (9, 0),
    }
    return tuple(name for name, since in least.items() if compute_capability >= since)


def subgroup_ops(compute_capability: tuple[int, int]) -> tuple[str, ...]:
    """What the threads of a warp do together in one instruction, from the guide's sections on warp functions."""
    least = {"vote": (2, 0), "shuffle": (3, 0), "match": (7, 0), "reduce": (8, 0)}
    return tuple(name for name, since in least.items() if compute_capability >= since)


def peak_gflops(
    compute_capability: tuple[int, int], multiprocessors: int | None, clock_khz: int | None, double_ratio: int | None
) -> dict[str, float | None]:
    """10^9 operations per second by dtype: multiprocessors x clock x lanes x 2, as a multiply-add is two operations.

    double_ratio: of the speed of float32 to that of float64. None where a factor is not known.
    """
    lanes = LANES.get(compute_capability, {})
    found: dict[str, float | None] = {}
    for dtype in ("float16", "bfloat16", "float32"):
        each = lanes.get(dtype)
        found[dtype] = multiprocessors * clock_khz * each * 2 / 1e6 if each and multiprocessors and clock_khz else None
    single = found["float32"]
    found["float64"] = single / double_ratio if single and double_ratio else None
    return found
