"""PerformanceHints, and how each of them follows from the capabilities."""

from __future__ import annotations

from dataclasses import dataclass

from stator.hardware.capabilities import Capabilities


@dataclass(frozen=True)
class PerformanceHints:
    """Advice for kernels and programs; None where a capability that it follows from is not known.

    preferred_workgroup_size: threads of a block per axis. optimal_batch_size: independent problems that keep the whole
    device busy, where each has a workgroup. memory_alignment: bytes. docs/devices.md has the derivation of each.
    """

    preferred_workgroup_size: tuple[int, int, int] | None
    optimal_batch_size: int | None
    prefer_vectorized: bool
    prefer_async: bool
    cache_kernels: bool
    memory_alignment: int | None


def _threads(c: Capabilities) -> int | None:
    """The least power of two of threads with which half of a multiprocessor's slots for blocks fill it."""
    per_multiprocessor, places = c.max_threads_per_multiprocessor, c.max_workgroups_per_multiprocessor
    if not per_multiprocessor or not places or not c.warp_size or not c.max_threads_per_workgroup:
        return None
    threads = c.warp_size
    while threads * (places // 2) < per_multiprocessor and 2 * threads <= c.max_threads_per_workgroup:
        threads *= 2
    return threads


def derive(c: Capabilities) -> PerformanceHints:
    """The hints that follow from capabilities."""
    vectorized = c.execution_model.supports_simd or c.execution_model.supports_simt
    if not c.execution_model.supports_simt:
        lines = [size for size in (c.memory_hierarchy.cache_line_size, c.simd_bits and c.simd_bits // 8) if size]
        return PerformanceHints(
            preferred_workgroup_size=c.max_workgroup_size,
            optimal_batch_size=c.cores,
            prefer_vectorized=vectorized,
            prefer_async=bool(c.cores and c.cores > 1),
            cache_kernels=bool(c.supports_kernel_caching),
            memory_alignment=max(lines, default=None),
        )
    threads = _threads(c)
    blocks = None
    if threads and c.multiprocessors and c.max_threads_per_multiprocessor:
        blocks = c.multiprocessors * (c.max_threads_per_multiprocessor // threads)
    return PerformanceHints(
        preferred_workgroup_size=(threads, 1, 1) if threads else None,
        optimal_batch_size=blocks,
        prefer_vectorized=vectorized,
        prefer_async=bool(c.concurrent_kernels or c.execution_model.copy_engines),
        cache_kernels=bool(c.supports_kernel_caching),
        memory_alignment=c.warp_size * 4 if c.warp_size else None,
    )
