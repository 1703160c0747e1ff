"""What allocations do when no memory is left: whom they ask, how often, and what the error says."""

import gc
import threading
import time
import weakref

import pytest

import stator
from stator import testing
from stator.errors import DTypeError, InFlightError, OutOfMemoryError, UnsupportedError

MIB = 2**20


@pytest.fixture
def small(device):
    """A backend of 4 MiB."""
    with stator.Backend(device, memory_limit=4 * MIB) as be:
        yield be


def mebibytes(be, count):
    return be.empty(count * MIB, dtype="uint8")


def test_the_failure_callback_frees_and_the_allocation_is_tried_again(small):
    cache, asked = [mebibytes(small, 2), mebibytes(small, 2)], []

    def free_one(nbytes):
        asked.append(nbytes)
        return bool(cache) and cache.pop() is not None

    assert small.memory.set_failure_callback(free_one) is None
    assert mebibytes(small, 4).nbytes == 4 * MIB
    assert asked == [4 * MIB] * 2
    assert small.memory.set_failure_callback(None) is free_one


def test_a_failing_device_asks_it_too(device):
    with stator.Backend(device) as be:
        be.memory.set_failure_callback(lambda _: testing.lift(be) > 0)
        be.zeros(3).tolist()
        testing.inject(be, fail_at=0, until_lifted=True)
        assert mebibytes(be, 8).nbytes == 8 * MIB


def test_nobody_is_asked_while_cached_memory_helps(small):
    small.memory.set_failure_callback(lambda _: pytest.fail("asked"))
    mebibytes(small, 4)
    assert mebibytes(small, 2).nbytes == 2 * MIB


def test_a_callback_that_never_frees_is_asked_a_bounded_number_of_times(small):
    asked = []
    held = mebibytes(small, 2)
    small.memory.set_failure_callback(lambda nbytes: asked.append("failure") is None)
    with pytest.raises(OutOfMemoryError):
        mebibytes(small, 4)
    assert asked == ["failure"] * 16
    small.memory.set_spill_callback(lambda nbytes: asked.append("spill") or 1)
    with pytest.raises(OutOfMemoryError):
        mebibytes(small, 4)
    assert asked[16:] == ["failure"] * 16 + ["spill"] * 16
    assert held.nbytes == 2 * MIB


def test_the_spill_callback_moves_what_the_failure_callback_did_not_free(small):
    order, on_device, on_host = [], {"a": small.full(4 * MIB, 7, dtype="uint8")}, {}

    def spill(nbytes):
        order.append("spill")
        if not on_device:
            return 0
        name, array = on_device.popitem()
        on_host[name] = array.to_numpy()
        return array.nbytes

    small.memory.set_failure_callback(lambda _: order.append("failure"))
    small.memory.set_spill_callback(spill)
    x = small.full(2 * MIB, 1, dtype="uint8")
    assert order == ["failure", "spill"]
    assert (on_host["a"] == 7).all()
    with pytest.raises(OutOfMemoryError):
        mebibytes(small, 4)
    assert int(stator.sum(x)) == 2 * MIB


@pytest.mark.parametrize("error", [ValueError("of the callback"), SystemExit(3)])
def test_what_a_callback_raises_goes_to_the_hook_of_the_interpreter(small, error, monkeypatch):
    seen = []
    monkeypatch.setattr("sys.unraisablehook", lambda args: seen.append(args.exc_value))

    def fails(nbytes):
        raise error

    small.memory.set_failure_callback(fails)
    with pytest.raises(OutOfMemoryError):
        mebibytes(small, 5)
    assert seen == [error]
    assert mebibytes(small, 4).nbytes == 4 * MIB


def test_an_interrupt_in_a_callback_reaches_the_main_thread(small):
    def fails(nbytes):
        raise KeyboardInterrupt

    small.memory.set_failure_callback(fails)
    with pytest.raises((KeyboardInterrupt, OutOfMemoryError)) as caught:
        mebibytes(small, 5)
        time.sleep(60)
    if caught.type is OutOfMemoryError:
        with pytest.raises(KeyboardInterrupt):
            time.sleep(60)
    assert mebibytes(small, 4).nbytes == 4 * MIB


def test_a_callback_may_allocate_and_is_not_asked_for_that(small):
    held, asked, errors = [mebibytes(small, 2)], [], []

    def allocates(nbytes):
        asked.append(nbytes)
        try:
            mebibytes(small, 8)
        except OutOfMemoryError as error:
            errors.append(error.requested)
        x = small.ones(100)
        held.clear()
        return x.sum().item() == 100

    small.memory.set_failure_callback(allocates)
    assert mebibytes(small, 4).nbytes == 4 * MIB
    assert asked == [4 * MIB]
    assert errors == [8 * MIB]


def test_what_a_callback_makes_belongs_to_no_scope(small):
    held, made = [mebibytes(small, 3)], []

    def makes(nbytes):
        held.clear()
        made.append(small.full(4, 5))
        return True

    small.memory.set_failure_callback(makes)
    with small.scoped() as scope:
        mebibytes(small, 2)
        x = small.ones(8) + 1
    assert made[0].tolist() == [5] * 4
    assert scope.released == 1
    with pytest.raises(stator.errors.BackendClosedError):
        x.tolist()


def test_a_callback_cannot_end_what_its_allocation_needs(small, monkeypatch):
    monkeypatch.setattr("stator.scopes._scope.PATIENCE", 3600)  # which is not waited
    errors = []

    def ends(nbytes):
        for end in (small.close, scope.close):
            try:
                end()
            except (UnsupportedError, InFlightError) as error:
                errors.append(type(error))

    small.memory.set_failure_callback(ends)
    with small.scoped() as scope:
        x = small.ones(3)
        with pytest.raises(OutOfMemoryError):
            mebibytes(small, 5)
        assert errors == [UnsupportedError, InFlightError]
        assert x.tolist() == [1, 1, 1]
    assert not small.closed


@pytest.mark.parametrize("what", ["draw", "launch"])
def test_a_callback_may_do_what_the_allocation_is_for(small, what):
    x = small.ones(MIB // 8)
    graph = small.graph(lambda x: x + 1)
    work = {"draw": lambda: small.random.normal(size=MIB // 8), "launch": lambda: graph(x)}[what]
    work()
    small.memory.empty_cache()
    held, done = [], []
    while small.memory.stats()["live_bytes"] + MIB <= 4 * MIB:
        held.append(mebibytes(small, 1))

    def repeats(nbytes):
        held.clear()
        done.append(work().shape)
        return True

    small.memory.set_failure_callback(repeats)
    assert work().shape == (MIB // 8,)
    assert done == [(MIB // 8,)]


def test_other_threads_work_on_while_a_callback_runs(small):
    held, done = [mebibytes(small, 2)], []

    def waits(nbytes):
        other = threading.Thread(target=lambda: done.append(small.zeros(10).tolist()))
        other.start()
        other.join(300)
        held.clear()
        return bool(done)

    small.memory.set_failure_callback(waits)
    assert mebibytes(small, 4).nbytes == 4 * MIB
    assert done == [[0] * 10]


def test_the_error_names_what_holds_the_most(small):
    x, y = small.ones(MIB // 8), small.zeros(MIB // 8)
    z = [x + y for _ in range(2)]
    with pytest.raises(OutOfMemoryError, match=r"largest owners 2 x 1.0 MiB add, 1.0 MiB \w+, 1.0 MiB \w+") as caught:
        mebibytes(small, 2)
    assert caught.value.owners[0] == ("add", MIB, 2)
    assert {owner[1:] for owner in caught.value.owners[1:]} == {(MIB, 1)}
    assert caught.value.scope == ""
    assert len(z) == 2


def test_a_callback_that_has_its_backend_does_not_keep_it(device):
    def opened():
        be = stator.Backend(device)
        be.memory.set_failure_callback(lambda _: be.memory.empty_cache())
        be.close()
        return weakref.ref(be)

    gone = opened()
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("name", ["set_failure_callback", "set_spill_callback"])
def test_callbacks_are_functions_of_an_open_backend(device, name):
    with stator.Backend(device) as be, pytest.raises(DTypeError, match=name):
        getattr(be.memory, name)(3)
    with pytest.raises(stator.errors.BackendClosedError):
        getattr(be.memory, name)(print)
