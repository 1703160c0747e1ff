"""What the card can do at most: GB/s of copies, reads and writes, FFMA and HMMA rates, latency of a launch and a node.

Each figure is the best of several, by events of the device. Emulated devices have no time, and only try the program.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from typing import Any

from . import main

SOURCE = """
__global__ void read(const int4* x, int4* out, long long n) {
  int4 sum = {};
  for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const int4 v = __ldcs(x + i);
    sum.x ^= v.x; sum.y ^= v.y; sum.z ^= v.z; sum.w ^= v.w;
  }
  if ((sum.x & sum.y & sum.z & sum.w) == 0x12345678) *out = sum;  // so that the loads stay
}
__global__ void write(int4* x, int value, long long n) {
  for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    __stcs(x + i, make_int4(value, value, value, value));
}
__global__ void copy(const int4* x, int4* y, long long n) {
  for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    __stcs(y + i, __ldcs(x + i));
}
__global__ void ffma(float* out, int turns) {
  float a[16];
  for (int k = 0; k < 16; ++k) a[k] = threadIdx.x + k;
  for (int t = 0; t < turns; ++t)
    #pragma unroll
    for (int k = 0; k < 16; ++k) a[k] = fmaf(a[k], 0.999f, 0.5f);
  float sum = 0;
  for (int k = 0; k < 16; ++k) sum += a[k];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
__global__ void hmma(float* out, int turns) {
  float d[8][4] = {};
  const unsigned a = 0x38003800u + threadIdx.x, b = 0x34003400u;
  for (int t = 0; t < turns; ++t)
    #pragma unroll
    for (int k = 0; k < 8; ++k)
      asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                   "{%0,%1,%2,%3}, {%4,%4,%4,%4}, {%5,%5}, {%0,%1,%2,%3};"
                   : "+f"(d[k][0]), "+f"(d[k][1]), "+f"(d[k][2]), "+f"(d[k][3]) : "r"(a), "r"(b));
  float sum = 0;
  for (int k = 0; k < 8; ++k) sum += d[k][0] + d[k][1] + d[k][2] + d[k][3];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
__global__ void nothing() {}
"""


def check(be: Any, small: bool) -> dict[str, Any]:
    stream, processors = be.current_stream, be.devices.properties()["multiprocessors"]
    repeats = 1 if small else 5

    def best(work: Callable[[], Any]) -> float:
        """Seconds of the fastest of several."""
        work()
        times = []
        for _ in range(repeats):
            start = stream.record()
            work()
            end = stream.record()
            end.synchronize()
            times.append(end.milliseconds_since(start) / 1e3)
        return max(min(times), 1e-9)

    read, write, copy, ffma, hmma, nothing = be.compile(SOURCE, ["read", "write", "copy", "ffma", "hmma", "nothing"])
    found: dict[str, Any] = {"GB/s": {}}
    for mib in (1,) if small else (16, 64, 256, 1024, 4096):
        size = mib << 20
        x, y = be.zeros(size, dtype="uint8"), be.zeros(size, dtype="uint8")
        grid, count = (8 * processors if not small else 16, 256), size // 16
        copies = 1 if small else max(1, 512 // mib)

        def many(call: Callable[[], Any], copies: int = copies) -> float:
            return best(lambda: [call() for _ in range(copies)]) / copies

        found["GB/s"][f"{mib} MiB"] = {
            "copy": round(2 * size / many(lambda x=x, y=y, g=grid, n=count: copy.launch(*g, x, y, n)) / 1e9, 1),
            "copy by an op": round(2 * size / many(lambda x=x, y=y: y.__setitem__(..., x)) / 1e9, 1),
            "read": round(size / many(lambda x=x, y=y, g=grid, n=count: read.launch(*g, x, y, n)) / 1e9, 1),
            "write": round(size / many(lambda x=x, g=grid, n=count: write.launch(*g, x, 7, n)) / 1e9, 1),
        }
        del x, y
    turns, blocks, threads = (2, 2, 32) if small else (4096, 4 * processors, 512)
    out = be.empty(blocks * threads, dtype="float32")
    seconds = best(lambda: ffma.launch(blocks, threads, out, turns))
    found["FFMA, TFLOP/s"] = round(2 * 16 * turns * blocks * threads / seconds / 1e12, 2)
    seconds = best(lambda: hmma.launch(blocks, threads, out, turns))
    found["HMMA, TFLOP/s"] = round(2 * 16 * 8 * 16 * 8 * turns * blocks * (threads // 32) / seconds / 1e12, 2)

    calls = 4 if small else 1000
    found["launch, us"] = round(best(lambda: [nothing.launch(1, 1) for _ in range(calls)]) / calls * 1e6, 3)
    with be.capture() as graph:
        for _ in range(calls):
            nothing.launch(1, 1)
    found["graph node, us"] = round(best(graph.launch) / calls * 1e6, 3)
    return found | {"clocks": clocks()}


def clocks() -> str | None:
    """The clocks now, right after work, and the largest ones, as nvidia-smi tells."""
    fields = "clocks.sm,clocks.mem,clocks.max.sm,clocks.max.mem,power.draw,temperature.gpu"
    try:
        asked = ["nvidia-smi", f"--query-gpu={fields}", "--format=csv"]
        return subprocess.run(asked, capture_output=True, text=True, timeout=5, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return None


if __name__ == "__main__":
    raise SystemExit(main(check))
