"""Unified allocations: copies, prefetches, advice and what is reported of them, and what is refused."""

from datetime import UTC, datetime, timedelta

import emulated
import numpy as np
import pytest
import requirements
import runtime_calls

import stator
from stator import _backend, errors
from stator.memory import AccessHints, MigrationStatistics

ADVICE = ("read_mostly", "preferred_location", "accessed_by")


@pytest.fixture
def memory(be):
    allocation = be.memory.allocate_unified(8192)
    yield allocation
    allocation.close()


@pytest.fixture
def migrates(be):
    """Whether the backend's managed memory has pages that move."""
    return be.device.type == "cuda"


def test_memory_is_allocated_and_freed(be):
    assert be.memory.supports_unified()
    before = be.scopes.active_resource_count()["managed"]
    allocation = be.memory.allocate_unified(1024)
    assert (allocation.size, allocation.get().shape) == (1024, (1024,))
    assert allocation.ptr == allocation.get().data_ptr
    be.memory.deallocate_unified(allocation)
    assert be.scopes.active_resource_count()["managed"] == before


def test_data_survives_prefetches_and_advice(be):
    allocation = be.memory.allocate_unified(16)
    data = np.array([1, 2, 3, 4], dtype="float32")
    allocation.copy_from_host(data)
    be.memory.prefetch_to_device(allocation)
    be.memory.prefetch_to_host(allocation)
    be.memory.advise(allocation, "read_mostly")
    out = np.zeros(4, dtype="float32")
    allocation.copy_to_host(out)
    assert out.tolist() == allocation.host_view("float32").tolist() == [1, 2, 3, 4]
    be.memory.deallocate_unified(allocation)


def test_copies_have_offsets_and_take_any_buffer(be, memory):
    memory.copy_from_host(bytes(range(8)))
    memory.copy_from_host(b"\x09", offset=2)
    out = bytearray(3)
    memory.copy_to_host(out, offset=1)
    assert list(out) == [1, 9, 3]


def test_kernels_use_the_memory(be, memory):
    x = memory.get()[:16].view("float32")
    x[...] = 3
    assert memory.host_view("float32")[:4].tolist() == [3, 3, 3, 3]


@pytest.mark.parametrize("advice", ADVICE)
def test_advice_is_set_and_unset(be, memory, migrates, advice):
    def told():
        hints = memory.access_hints
        return hints.read_mostly, memory.preferred_location, hints.accessed_by

    nothing = (False, None, ()) if migrates else (None, None, None)
    assert told() == nothing
    be.memory.advise(memory, advice)
    where = str(be.device)
    one = {
        "read_mostly": (True, None, ()),
        "preferred_location": (False, where, ()),
        "accessed_by": (False, None, (where,)),
    }
    assert told() == (one[advice] if migrates else nothing)
    be.memory.advise(memory, f"unset_{advice}")
    assert told() == nothing


def test_three_pieces_of_advice_hold_at_once_and_one_is_unset(be, memory, migrates):
    where = str(be.device)
    data = np.arange(4, dtype="float32")
    memory.copy_from_host(data)
    for advice in ("preferred_location", "accessed_by"):
        be.memory.advise(memory, advice, be.device)
    be.memory.advise(memory, "read_mostly")
    if migrates:
        assert (memory.preferred_location, memory.access_hints) == (where, AccessHints(True, (where,)))
    be.memory.advise(memory, "unset_read_mostly")
    if migrates:
        assert (memory.preferred_location, memory.access_hints) == (where, AccessHints(False, (where,)))
    assert memory.host_view("float32")[:4].tolist() == data.tolist()


def test_advice_may_name_the_host(cuda_memory):
    be, memory = cuda_memory
    be.memory.advise(memory, "preferred_location", "cpu")
    be.memory.advise(memory, "accessed_by", "cpu")
    be.memory.advise(memory, "accessed_by", be.device)
    assert memory.preferred_location == "cpu"
    assert memory.access_hints == AccessHints(False, ("cpu", str(be.device)))


@pytest.fixture
def cuda_memory(be, memory):
    if be.device.type != "cuda":
        pytest.skip("about pages that move")
    return be, memory


def test_advice_for_a_part_is_not_told_of_the_whole(cuda_memory):
    be, memory = cuda_memory
    be.memory.advise(memory.get()[:4096], "read_mostly")
    assert memory.access_hints.read_mostly is False
    be.memory.advise(memory.get()[4096:], "read_mostly")
    assert memory.access_hints.read_mostly is True


def test_advice_ends_with_the_memory(cuda_memory):
    be, memory = cuda_memory
    be.memory.advise(memory, "read_mostly")
    before = be.memory.stats()["cached_bytes"]
    memory.close()
    assert be.memory.stats()["cached_bytes"] == before


def test_prefetches_are_counted(be, memory):
    assert memory.migration_stats == MigrationStatistics()
    be.memory.prefetch_to_device(memory)
    be.memory.prefetch_to_device(memory.get()[:100], stream=be.stream(1))
    be.memory.prefetch_to_host(memory)
    assert memory.migration_stats == MigrationStatistics(2, 8292, 1, 8192, last_prefetch="cpu")
    be.memory.prefetch_to_device(memory, 0)
    assert memory.migration_stats.last_prefetch == str(be.device)
    assert memory.migration_stats.page_faults is None


def test_what_an_allocation_says_of_itself(be, memory):
    age = datetime.now(UTC) - memory.allocation_time
    assert timedelta(0) <= age < timedelta(minutes=1)
    kind = "host" if be.device.type == "cpu" else "managed"
    assert memory.metadata == {"device": be.device_name, "size": 8192, "memory": kind}


def test_prefetches_are_in_the_order_of_a_stream(cuda_memory):
    be, memory = cuda_memory
    if not _backend.emulated("cuda"):
        pytest.skip("sees the calls of emulated devices")
    with runtime_calls.recorded("prefetch") as seen:
        be.memory.prefetch_to_device(memory, stream=be.stream(2))
        be.memory.prefetch_to_host(memory)
    assert [arguments[1:] for arguments in seen] == [
        (8192, be.device.index, be.stream(2).native),
        (8192, -1, be.stream(0).native),
    ]


@pytest.mark.parametrize("size", [0, -1, 2**63, 2**100])
def test_sizes_are_checked(be, size):
    with pytest.raises(errors.InvalidValueError, match=r"^Backend\.memory\.allocate_unified: Got size="):
        be.memory.allocate_unified(size)
    be.memory.deallocate_unified(be.memory.allocate_unified(1))


def test_sizes_beyond_memory_and_other_types_are_refused(be):
    with pytest.raises(errors.OutOfMemoryError, match=r"^Backend\.memory\.allocate_unified"):
        be.memory.allocate_unified(2**60)
    with pytest.raises(errors.DTypeError, match=r"^Backend\.memory\.allocate_unified"):
        be.memory.allocate_unified(1.5)
    be.memory.deallocate_unified(be.memory.allocate_unified(1))


def test_memory_is_freed_once(be):
    allocation = be.memory.allocate_unified(64)
    x = allocation.get()
    be.memory.deallocate_unified(allocation)
    with pytest.raises(errors.ResourceClosedError, match=r"Backend\.memory\.deallocate_unified"):
        be.memory.deallocate_unified(allocation)
    for use in (be.memory.prefetch_to_device, be.memory.prefetch_to_host, lambda a: be.memory.advise(a, "read_mostly")):
        with pytest.raises(errors.ResourceClosedError, match=r"Backend\."):
            use(allocation)
    for name in ("ptr", "access_hints", "preferred_location", "migration_stats"):
        with pytest.raises(errors.ResourceClosedError, match=name):
            getattr(allocation, name)
    with pytest.raises(errors.BackendClosedError):
        be.memory.prefetch_to_device(x)
    assert allocation.size == 64


def test_what_numpy_sees_outlives_the_allocation(be):
    allocation = be.memory.allocate_unified(8)
    seen = allocation.host_view("int64")
    seen[0] = 5
    be.memory.deallocate_unified(allocation)
    assert seen.tolist() == [5]


def test_only_managed_memory_of_the_backend_is_taken(be):
    ordinary = be.ones(1000)
    with stator.Backend(be.device_name) as other, other.memory.allocate_unified(64) as foreign:
        for call in (
            be.memory.prefetch_to_device,
            be.memory.prefetch_to_host,
            lambda x: be.memory.advise(x, "read_mostly"),
        ):
            with pytest.raises(errors.InvalidValueError, match="ordinary memory"):
                call(ordinary)
            with pytest.raises(errors.BackendMismatchError, match="another backend"):
                call(foreign)
            for value in (12345, None, (be.memory.managed(1),)):
                with pytest.raises(errors.DTypeError, match="memory of type"):
                    call(value)
        with pytest.raises(errors.DTypeError, match="deallocate_unified"):
            be.memory.deallocate_unified(ordinary)


def test_prefetched_memory_is_contiguous(be, memory):
    with pytest.raises(errors.InvalidValueError, match="contiguous"):
        be.memory.prefetch_to_device(memory.get()[::2])


@pytest.mark.parametrize(
    ("place", "error"),
    [
        (7, errors.InvalidValueError),
        (-1, errors.InvalidValueError),
        (2**40, errors.InvalidValueError),
        ("tpu", errors.InvalidValueError),
        (1.5, errors.DTypeError),
        (True, errors.DTypeError),
    ],
)
def test_places_are_checked(be, memory, place, error):
    with pytest.raises(error, match=r"Backend\.memory\.prefetch_to_device"):
        be.memory.prefetch_to_device(memory, place)
    with pytest.raises(error, match=r"Backend\.memory\.advise"):
        be.memory.advise(memory, "accessed_by", place)
    be.memory.prefetch_to_device(memory)
    assert memory.migration_stats.prefetches_to_device == 1


def test_unknown_advice_is_refused(be, memory):
    with pytest.raises(errors.InvalidValueError, match=r"Backend\.memory\.advise: .*'read_mostly'"):
        be.memory.advise(memory, "read_often")
    with pytest.raises(errors.DTypeError, match=r"Backend\.memory\.advise"):
        be.memory.advise(memory, 1)


def test_a_capture_takes_no_prefetch_and_goes_on(cuda_memory):
    be, memory = cuda_memory
    x = be.zeros(3)
    with be.capture() as graph:
        x += 1
        with pytest.raises(errors.CaptureError, match=r"Backend\.memory\.prefetch_to_device"):
            be.memory.prefetch_to_device(memory)
        x += 1
    graph.launch()
    assert x.tolist() == [2, 2, 2]
    assert memory.migration_stats.prefetches_to_device == 0


def test_a_closed_backend_frees_allocations(device):
    with stator.Backend(device) as be:
        allocation = be.memory.allocate_unified(64)
    assert not allocation.is_available()
    assert not be.resources()


def test_nobody_makes_one_by_hand():
    with pytest.raises(TypeError, match="allocate_unified"):
        stator.memory.UnifiedAllocation()


FALLBACK = """
import numpy as np
import stator
from stator.memory import host_view
with stator.Backend("cuda") as be:
    print(be.memory.supports_unified())
    allocation = be.memory.allocate_unified(4096)
    print(allocation.metadata["memory"], be.scopes.active_resource_count()["managed"])
    x = allocation.get()
    seen = host_view(x)
    seen[...] = 3
    be.memory.prefetch_to_device(allocation)
    be.memory.advise(allocation, "preferred_location")
    print((x + 1).sum().item(), allocation.preferred_location, allocation.migration_stats.bytes_to_device)
    x += 2
    print(host_view(x).max())
    del x, seen
    be.memory.deallocate_unified(allocation)
print(be.resources())
"""


@pytest.mark.emulates
@requirements.cuda_target
def test_page_locked_memory_stands_in_where_the_host_has_to_wait_for_the_device():
    lines = emulated.run(FALLBACK, "wsl:threads=1").splitlines()
    assert lines == ["False", "pinned 1", "16384 None 4096", "5", "[]"]
