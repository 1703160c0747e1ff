"""Calls one case of the benchmarks once, between the marks at which a profiler starts and stops: CASE."""

from __future__ import annotations

import ctypes
import sys


def main() -> int:
    import stator
    from benchmarks.__main__ import Pool, build, plans

    (plan,) = [p for p in plans(False) if p.name == sys.argv[1]]
    with stator.Backend("cuda") as be, be.use():
        case = build(be, plan, {}, Pool(1, 1))
        call, given = case.ours.call, case.ours.sets[0]
        call(*given)
        be.synchronize()
        driver = None if be.devices.info().emulated else ctypes.CDLL("libcuda.so.1")
        if driver:
            driver.cuProfilerStart()
        call(*given)
        be.synchronize()
        if driver:
            driver.cuProfilerStop()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
