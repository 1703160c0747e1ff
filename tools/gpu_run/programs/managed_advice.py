"""What CUDA says of advice that managed memory was given, whole and in part, and what is kept of freed memory."""

from __future__ import annotations

from typing import Any

from . import NotAvailableHereError, main


def told(memory: Any) -> list[Any]:
    hints = memory.access_hints
    return [hints.read_mostly, memory.preferred_location, list(hints.accessed_by)]


def check(be: Any, small: bool) -> dict[str, Any]:
    import stator
    from stator.memory import host_view

    if not be.memory.supports_unified():
        raise NotAvailableHereError("page-locked memory stands in for managed memory")
    found: dict[str, Any] = {}
    page = 1 << 21
    memory = be.memory.allocate_unified(4 * page)
    whole = memory.get()
    for advice in ("read_mostly", "preferred_location", "accessed_by"):
        be.memory.advise(memory, advice)
        found[f"{advice} of the whole"] = told(memory)
        be.memory.advise(memory, f"unset_{advice}")
        found[f"{advice} taken back"] = told(memory)
        be.memory.advise(whole[:page], advice)
        found[f"{advice} of a quarter"] = told(memory)
        be.memory.advise(memory, f"unset_{advice}")
    be.memory.prefetch_to_device(memory)
    found["migrations"] = [memory.migration_stats.prefetches_to_device, memory.migration_stats.bytes_to_device]
    del whole
    be.memory.deallocate_unified(memory)
    before = be.memory.stats()
    x = be.memory.managed(1000, "float32")
    host_view(x)[...] = 2
    assert stator.sum(x).item() == 2000, "the device does not see what the host wrote"
    del x
    be.synchronize()
    after = be.memory.stats()
    found["kept after it was freed"] = {k: after[k] - before[k] for k in after if "managed" in k or k == "cached_bytes"}
    return found


if __name__ == "__main__":
    raise SystemExit(main(check))
