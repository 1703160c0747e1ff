"""Each allocation of a workload fails, once or from then on: a typed error, nothing leaked, and work goes on."""

import numpy as np
import pytest

import stator
from stator import _backend, testing
from stator.errors import StatorError

MIB = 2**20
POLICIES = ["caching", "none", "driver", "arena"]
X = np.linspace(-1, 1, 64 * 64, dtype="float32").reshape(64, 64)


def workload(be):
    """A product, a transform, a sort, a graph and copies, on two streams: a number of each."""
    x = be.asarray(X)
    pinned = be.asarray(X[0], pinned=True)
    with be.stream(1):
        be.stream(1).wait(be.stream(0).record())
        product = x @ x
    spectrum = stator.fft.fft(x)
    order = stator.sort(stator.reshape(x, (-1,)))
    with be.capture() as graph:
        twice = pinned + pinned
    graph.launch()
    be.stream(0).wait(be.stream(1).record())
    results = product.to_numpy(), abs(spectrum.to_numpy()), order.to_numpy(), twice.to_numpy()
    return [float(r.sum()) for r in results]


WIDE = X.astype("float64")
EXPECTED = [float(r.sum()) for r in (WIDE @ WIDE, abs(np.fft.fft(WIDE)), np.sort(WIDE.ravel()), 2 * WIDE[0])]


def check_works_and_leaves_nothing(be):
    np.testing.assert_allclose(workload(be), EXPECTED, rtol=1e-4, atol=1e-3)
    be.synchronize()
    be.memory.trim()
    stats = be.memory.stats()
    assert {r["kind"] for r in be.resources()} <= {"stream", "library", "program"}
    assert stats["live_bytes"] == sum(r["bytes"] for r in be.resources() if r["kind"] == "library")
    assert stats["allocations"] == stats["failures"] + stats["deallocations"] + kept_workspaces(be)


def kept_workspaces(be):
    return sum(r["kind"] == "library" and r["bytes"] > 0 for r in be.resources())


def opened(device, policy):
    size = 16 * MIB if policy == "arena" else None
    return stator.Backend(device, pool_policy=policy, memory_pool_size=size, blas_workspace_size=MIB)


def outstanding(device):
    return testing.outstanding(device.partition(":")[0])


@pytest.mark.parametrize("policy", POLICIES)
def test_one_allocation_that_fails_is_tried_again(device, policy):
    before = outstanding(device)
    at, made = 0, 1
    while at <= made:  # an allocation that failed may be the last one that was made
        with opened(device, policy) as be:
            testing.inject(be, fail_at=at, allocations=True)
            try:
                np.testing.assert_allclose(workload(be), EXPECTED, rtol=1e-4, atol=1e-3)
            except StatorError as error:  # what belongs to streams is not tried twice
                assert isinstance(error, MemoryError)
            made = testing.lift(be)
            check_works_and_leaves_nothing(be)
        assert outstanding(device) == before
        at += 1
    assert at >= (2 if policy == "arena" else 8)


@pytest.mark.parametrize("policy", POLICIES)
def test_allocations_that_fail_from_some_point_on_raise_a_typed_error(device, policy):
    before = outstanding(device)
    at, made, seen = 0, 1, 0
    while at <= made:  # an allocation that failed may be the last one that was made
        with opened(device, policy) as be:
            testing.inject(be, fail_at=at, until_lifted=True, allocations=True)
            try:
                workload(be)
            except StatorError as error:
                seen += 1
                assert isinstance(error, MemoryError)
                assert error.recovery_suggestions()
                del error
            made = testing.lift(be)
            check_works_and_leaves_nothing(be)
        assert outstanding(device) == before
        at += 1
    assert seen >= (1 if policy == "arena" else 6)


@pytest.mark.parametrize("policy", POLICIES)
def test_a_callback_that_ends_the_shortage_lets_every_allocation_succeed(device, policy):
    at, made = 0, 1
    while at <= made:  # an allocation that failed may be the last one that was made
        with opened(device, policy) as be:
            workload(be)
            be.memory.trim()
            be.memory.set_failure_callback(lambda _, be=be: testing.lift(be) > 0)
            testing.inject(be, fail_at=at, until_lifted=True, allocations=True)
            np.testing.assert_allclose(workload(be), EXPECTED, rtol=1e-4, atol=1e-3)
            made = testing.lift(be)
            check_works_and_leaves_nothing(be)
        at += 4


def test_the_opening_of_an_arena_may_fail(device):
    before = outstanding(device)
    with pytest.raises(stator.errors.OutOfMemoryError):
        stator.Backend(device, pool_policy="arena", memory_pool_size=2**50)
    assert outstanding(device) == before
    assert _backend.available(device.partition(":")[0])[0]
