"""Bandwidth and latency of memory, measured on request. Of emulated devices there is nothing to measure."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from stator import _backend, _creation, _devices
from stator.hardware.capabilities import Capabilities
from stator.programs.programs import KernelDescriptor, create_kernel

if TYPE_CHECKING:
    from stator._array import Array
    from stator._backend import Backend

_MiB = 1 << 20
REPEATS = 3

# A read that waits for the one before it: nodes of 128 bytes, of which the first four name the next one.
CHASE = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry chase(.param .u64 nodes, .param .u64 result, .param .u32 reads)
{
  .reg .pred %more;
  .reg .b32 %at, %left;
  .reg .b64 %nodes, %result, %offset, %address, %start, %end;
  ld.param.u64 %nodes, [nodes];
  ld.param.u64 %result, [result];
  ld.param.u32 %left, [reads];
  cvta.to.global.u64 %nodes, %nodes;
  cvta.to.global.u64 %result, %result;
  mov.u32 %at, 0;
  mov.u64 %start, %clock64;
next:
  mul.wide.u32 %offset, %at, 128;
  add.s64 %address, %nodes, %offset;
  ld.global.u32 %at, [%address];
  sub.u32 %left, %left, 1;
  setp.ne.u32 %more, %left, 0;
  @%more bra next;
  mov.u64 %end, %clock64;
  sub.s64 %end, %end, %start;
  cvt.u64.u32 %offset, %at;
  st.global.u64 [%result], %offset;
  st.global.u64 [%result+8], %end;
  ret;
}
"""


@dataclass(frozen=True)
class Measurements:
    """Bandwidth, in 10^9 bytes per second that are read and written, and the latency of memory.

    bandwidth_per_core_gbps: of one core of the host by itself; on a GPU the share of a multiprocessor. latency_cycles:
    of a GPU's clock. latency: of reads from main memory that wait for each other, translation of addresses included.
    None where it cannot be measured: of an emulated device, which has no time of its own.
    """

    bandwidth_gbps: float | None = None
    bandwidth_per_core_gbps: float | None = None
    latency_ns: float | None = None
    latency_cycles: int | None = None


def _working_set(caps: Capabilities) -> int:
    """Bytes that no cache holds: four times the largest one, at least 64 MiB, at most an eighth of the memory."""
    known = caps.memory_hierarchy
    largest = max(known.l3_cache_size or 0, known.l2_cache_size or 0, 16 * _MiB)
    return min(4 * largest, (caps.max_buffer_size or 64 * _MiB) // 8)


def chase(be: Backend, count: int, reads: int) -> tuple[int, int, float]:
    """Walks a random cycle of `count` nodes on a cuda device: the last node, cycles, and milliseconds. Synchronises."""
    order = np.random.default_rng(1).permutation(np.arange(1, count, dtype=np.uint32))
    cycle = np.concatenate([np.zeros(1, np.uint32), order])
    nodes = np.zeros((count, 32), np.uint32)
    nodes[cycle, 0] = np.roll(cycle, -1)
    kernel = create_kernel(be, KernelDescriptor("chase", CHASE))
    on_device, result = _creation.asarray(nodes, device=be), _creation.zeros(2, dtype="uint64", device=be)
    stream = _backend.current_stream(be)
    start = stream.record()
    kernel.launch(1, 1, on_device, result, np.uint32(reads))
    end = stream.record()
    end.synchronize()
    last, cycles = (int(number) for number in result.to_numpy())
    return last, cycles, end.milliseconds_since(start)


def _copied(be: Backend, source: Array) -> float:
    """Seconds of the fastest of several copies of an array on the device."""
    best = float("inf")
    with _backend.use_backend(be):
        for _ in range(REPEATS):
            be.synchronize()
            start = time.perf_counter()
            copy = _creation.copy(source)
            be.synchronize()
            best = min(best, time.perf_counter() - start)
            del copy
    return best


def _one_core(size: int) -> float:
    """10^9 bytes per second that one thread reads and writes."""
    source, target = np.ones(size, np.uint8), np.ones(size, np.uint8)
    best = float("inf")
    for _ in range(REPEATS):
        start = time.perf_counter()
        np.copyto(target, source)
        best = min(best, time.perf_counter() - start)
    return 2 * size / best / 1e9


def measure(be: Backend, caps: Capabilities) -> Measurements:
    """Measures the memory of a backend's device. Takes up to a second, and synchronises."""
    if caps.emulated:
        return Measurements()
    size = _working_set(caps)
    bandwidth = 2 * size / _copied(be, _creation.zeros(size, dtype="uint8", device=be)) / 1e9
    if caps.multiprocessors is None:
        return Measurements(bandwidth, _one_core(size), _devices.host_read_latency(size) or None)
    reads = 1 << 16
    _, cycles, milliseconds = chase(be, size // 128, reads)
    return Measurements(bandwidth, bandwidth / caps.multiprocessors, milliseconds * 1e6 / reads, round(cycles / reads))


def with_measurements(caps: Capabilities, found: Measurements) -> Capabilities:
    """Capabilities with what was measured in their memory hierarchy."""
    hierarchy = replace(
        caps.memory_hierarchy,
        memory_latency_ns=found.latency_ns,
        memory_latency_cycles=found.latency_cycles,
        measured_bandwidth_gbps=found.bandwidth_gbps,
        memory_bandwidth_per_core=found.bandwidth_per_core_gbps,
    )
    return replace(caps, memory_hierarchy=hierarchy)
