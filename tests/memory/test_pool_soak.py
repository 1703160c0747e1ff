"""How much memory the caching pool has for arrays of many sizes, and that steady work finds all of it in the cache."""

import numpy as np

import stator

MIB = 2**20


def test_the_pool_has_at_most_twice_what_was_live(device):
    rng = np.random.default_rng(0)
    live, largest = 300 * MIB, 64 * MIB
    sizes = (np.exp(rng.uniform(np.log(largest / 64), np.log(largest), 1500)) + 1).astype(int)
    with stator.Backend(device) as be:
        held, now, asked, had = [], 0, 0, 0
        for size in sizes.tolist():
            while now + size > live:
                now -= held.pop(int(rng.integers(len(held)))).nbytes
            held.append(be.empty(size, dtype="uint8"))
            now += size
            stats = be.memory.stats()
            asked, had = max(asked, now), max(had, stats["live_bytes"] + stats["cached_bytes"])
    assert had <= 2 * asked


def test_steady_work_is_served_by_the_cache(device):
    with stator.Backend(device) as be:

        def step():
            first, second = be.empty(70 * MIB, dtype="uint8"), be.empty(90 * MIB, dtype="uint8")
            del first
            third = be.empty(50 * MIB, dtype="uint8")
            del second, third

        step()
        before = be.memory.stats()
        for _ in range(20):
            step()
        after = be.memory.stats()
    assert after["allocations"] - before["allocations"] == after["reuses"] - before["reuses"] == 60


def test_uploads_use_the_same_page_locked_memory_again(device):
    values = np.ones(64)
    with stator.Backend(device) as be:
        for _ in range(10):
            for _ in range(50):  # the device may be late by all of them, or by none
                be.asarray(values)
            be.synchronize()
        assert be.memory.stats()["pinned_cached_bytes"] <= 50 * values.nbytes
