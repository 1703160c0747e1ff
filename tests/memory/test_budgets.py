"""Budgets of scopes: what counts, what the error says, and that scope and backend work on."""

import threading

import pytest

import stator
from stator.errors import DTypeError, InvalidValueError, OutOfMemoryError
from stator.memory import BufferDescriptor

MIB = 2**20


@pytest.fixture
def be(device):
    """A backend of its own, whose pool is empty."""
    with stator.Backend(device) as backend:
        yield backend


def mebibytes(be, count):
    return be.empty(count * MIB, dtype="uint8")


def test_beyond_the_budget_an_allocation_raises_and_the_scope_works_on(be):
    with be.scoped(budget=4 * MIB, name="step"):
        x = mebibytes(be, 1)
        y = mebibytes(be, 2)
        with pytest.raises(OutOfMemoryError, match=r"3\.0 MiB of the budget of 4\.0 MiB of the scope 'step'") as caught:
            mebibytes(be, 2)
        error = caught.value
        assert (error.requested, error.scope, error.budget) == (2 * MIB, "the scope 'step'", 4 * MIB)
        assert error.free == MIB
        assert error.owners == (("empty", 2 * MIB, 1), ("empty", MIB, 1))
        assert "the scope 'step'" in " ".join(error.recovery_suggestions())
        del error, caught, y
        assert mebibytes(be, 2).nbytes == 2 * MIB
    assert mebibytes(be, 6).nbytes == 6 * MIB
    assert x.nbytes == MIB


def test_what_is_in_a_cache_counts_only_when_it_is_used(be):
    mebibytes(be, 4)
    with be.scoped(budget=2 * MIB):
        for _ in range(3):
            mebibytes(be, 2)
        with pytest.raises(OutOfMemoryError, match=r"the scope \d+ in use"):
            mebibytes(be, 4)


@pytest.mark.parametrize("name", ["managed", "allocate_unified", "create_scoped_buffer"])
def test_all_ways_to_memory_count(be, name):
    made = (lambda n: be.memory.managed(n, "uint8")) if name == "managed" else getattr(be.memory, name)
    size = BufferDescriptor if name == "create_scoped_buffer" else int
    with be.scoped(budget=4 * MIB, name="step"):
        x = made(size(2 * MIB))
        for _ in range(2):  # the failed call leaked nothing
            with pytest.raises(OutOfMemoryError, match="the scope 'step'") as caught:
                made(size(3 * MIB))
        assert [owner[1:] for owner in caught.value.owners] == [(2 * MIB, 1)]
        del caught, x


def test_nested_scopes_count_towards_those_around(be):
    with be.scoped(budget=4 * MIB, name="outer"):
        mebibytes_of_outer = mebibytes(be, 2)
        with be.scoped(budget=8 * MIB, name="inner"):
            with pytest.raises(OutOfMemoryError, match="the scope 'outer'") as caught:
                mebibytes(be, 4)
            assert caught.value.owners == (("empty", 2 * MIB, 1),)
            del caught
        with be.scoped():
            x = mebibytes(be, 2)
            with pytest.raises(OutOfMemoryError, match="the scope 'outer'"):
                mebibytes(be, 1)
            assert x.nbytes == 2 * MIB
        with be.scoped(budget=MIB, name="inner"), pytest.raises(OutOfMemoryError, match="the scope 'inner'"):
            mebibytes(be, 2)
        assert mebibytes(be, 2).nbytes == mebibytes_of_outer.nbytes


def test_buffers_with_a_scope_of_their_own_count_towards_the_one_around(be):
    from stator.memory import BufferDescriptor

    with be.scoped(budget=2 * MIB):
        with be.memory.create_scoped_buffer(BufferDescriptor(2 * MIB)), pytest.raises(OutOfMemoryError):
            mebibytes(be, 1)
        assert mebibytes(be, 1).nbytes == MIB


def test_what_is_kept_counts_no_more(be):
    with be.scoped(budget=4 * MIB, name="outer"):
        with be.scoped(budget=2 * MIB) as inner:
            x = inner.keep(mebibytes(be, 2))
            assert mebibytes(be, 2).nbytes == 2 * MIB
        with pytest.raises(OutOfMemoryError, match="the scope 'outer'"):
            mebibytes(be, 4)
        del x
        assert mebibytes(be, 4).nbytes == 4 * MIB


def test_only_the_calls_of_the_scope_count(be, device):
    made = []
    with be.scoped(budget=MIB), stator.Backend(device) as other:
        thread = threading.Thread(target=lambda: made.append(mebibytes(be, 2)))
        thread.start()
        thread.join()
        assert mebibytes(other, 2).nbytes == made[0].nbytes == 2 * MIB


def test_scratch_memory_and_page_locked_memory_count(be):
    with be.scoped(budget=MIB), be.use():
        with pytest.raises(OutOfMemoryError, match="budget"):
            stator.memory.pinned_empty(2 * MIB, "uint8", device=be)
        x = be.ones(2**16)
        with pytest.raises(OutOfMemoryError, match="budget"):
            stator.sort(x) if be.device.type == "cuda" else mebibytes(be, 2)


def test_memory_of_a_graph_counts_for_as_long_as_the_graph_has_it(be):
    x = be.ones(MIB // 8)
    with be.scoped(budget=2 * MIB):
        with be.capture() as graph:
            y = x + 1
        graph.launch()
        assert y[0].item() == 2
        with pytest.raises(OutOfMemoryError, match="budget"):
            mebibytes(be, 2)
        del y, graph
        assert mebibytes(be, 2).nbytes == 2 * MIB


def test_callbacks_are_asked_for_a_budget(be):
    held, asked = [], []

    def free(nbytes):
        asked.append(nbytes)
        return bool(held) and held.clear() is None

    be.memory.set_failure_callback(free)
    with be.scoped(budget=2 * MIB):
        held.append(mebibytes(be, 2))
        assert mebibytes(be, 1).nbytes == MIB
        with pytest.raises(OutOfMemoryError):
            mebibytes(be, 3)
    assert asked == [MIB, 4 * MIB]


def test_failures_of_budgets_are_counted(be):
    with be.scoped(budget=MIB):
        with pytest.raises(OutOfMemoryError):
            mebibytes(be, 2)
        mebibytes(be, 1)
    stats = be.memory.stats()
    assert stats["failures"] == 1
    assert stats["allocations"] == stats["failures"] + stats["deallocations"]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"budget": "1 MiB"}, DTypeError),
        ({"budget": True}, DTypeError),
        ({"budget": 0}, InvalidValueError),
        ({"budget": -1}, InvalidValueError),
        ({"budget": 2**63}, InvalidValueError),
        ({"name": 3}, DTypeError),
    ],
)
def test_a_budget_is_a_number_of_bytes(be, arguments, error):
    with pytest.raises(error, match=r"Backend\.scoped"):
        be.scoped(**arguments)
