"""Memory that a backend takes from another allocator, and memory of its pool that other libraries take."""

import ctypes
import gc
import threading

import numpy as np
import pytest
import runtime_calls

import stator
from stator import _backend, errors
from stator.errors import BackendMismatchError, DTypeError, InvalidValueError, OutOfMemoryError, UnsupportedError
from stator.memory import PoolAllocator


class Counting:
    """An allocator that takes from the pool of another backend and notes what it was asked."""

    def __init__(self, source):
        self.pool = PoolAllocator(source)
        self.live, self.given, self.streams = {}, 0, set()
        self.fails = None  # what allocate() raises

    def allocate(self, nbytes, stream):
        if self.fails is not None:
            raise self.fails
        address = self.pool.allocate(nbytes, stream)
        assert address not in self.live
        self.live[address] = nbytes
        self.given += 1
        self.streams.add(int(stream))
        return address

    def deallocate(self, address, nbytes, stream):
        assert self.live.pop(address) == nbytes
        self.pool.deallocate(address, nbytes, stream)


@pytest.fixture
def counting(be):
    allocator = Counting(be)
    yield allocator
    assert not allocator.live


@pytest.mark.parametrize("policy", ["caching", "none"])
def test_device_memory_comes_from_the_allocator_and_goes_back_once(counting, be, policy):
    with stator.Backend(be.device_name, allocator=counting, pool_policy=policy) as other:
        x = other.asarray(np.arange(5000.0))
        with other.stream(1):
            other.stream(1).wait(other.stream(0).record())
            y = x + 1
        other.stream(0).wait(other.stream(1).record())
        np.testing.assert_array_equal((x * y).to_numpy(), np.arange(5000.0) * (np.arange(5000.0) + 1))
        assert sum(counting.live.values()) >= x.nbytes + y.nbytes
        assert be.memory.stats()["exported_bytes"] == sum(counting.live.values())
        if be.device.type == "cuda":
            assert {other.stream(0).native, other.stream(1).native} <= counting.streams
        del x, y
        other.memory.empty_cache()
        small = sum(counting.live.values())
    assert small < 2 * 5000
    assert not counting.live
    assert counting.given >= 3


def test_a_backend_that_is_opened_again_has_the_allocator(counting, be):
    other = stator.Backend(be.device_name, allocator=counting)
    other.close()
    given = counting.given
    with other.reopen() as again:
        again.ones(3).tolist()
        assert counting.given > given


@pytest.fixture
def no_shared_backend(be, monkeypatch):
    """No shared backend is open in the test, and what it sets as an allocator ends with it."""
    from stator import _shared, backend
    from stator.memory import _allocators

    monkeypatch.setattr(_shared, "backends", {})
    monkeypatch.setattr(_allocators, "chosen", {})
    monkeypatch.setattr(backend, "_found", ("", None))
    yield
    for opened in _shared.backends.values():
        opened.close()


def test_set_allocator_is_for_the_backends_that_are_opened_later(counting, be, no_shared_backend):
    memory = stator.memory
    memory.set_allocator(counting, device=be.device)
    assert memory.get_allocator(be.device_name) is counting
    stator.ones(3, device=be.device_name).tolist()  # of the shared backend
    given = counting.given
    assert given > 0
    with stator.Backend(be.device_name) as other:
        other.ones(3).tolist()
        assert counting.given > given
    own, given = Counting(be), counting.given
    with stator.Backend(be.device_name, allocator=own) as other:  # goes before it
        other.ones(3).tolist()
    assert own.given > 0
    assert counting.given == given


def test_set_allocator_is_undone_by_none_and_refused_while_the_shared_backend_has_other_memory(
    counting, be, no_shared_backend
):
    memory = stator.memory
    shared = stator.ones(3, device=be.device_name).backend
    with pytest.raises(InvalidValueError, match=r"shared backend of .* is open") as caught:
        memory.set_allocator(counting, device=be.device_name)
    assert caught.value.op == "memory.set_allocator"
    assert memory.get_allocator(be.device_name) is None
    shared.close()
    memory.set_allocator(counting, device=be.device_name)
    memory.set_allocator(None, device=be.device_name)
    with stator.Backend(be.device_name) as other:
        other.ones(3).tolist()
    assert counting.given == 0


def test_set_allocator_refuses_what_cannot_allocate_and_devices_that_it_does_not_know(counting, no_shared_backend):
    with pytest.raises(DTypeError, match="no method allocate") as caught:
        stator.memory.set_allocator(3)
    assert caught.value.op == "memory.set_allocator"
    with pytest.raises(errors.StatorError, match="gpu") as caught:
        stator.memory.set_allocator(counting, device="gpu")
    assert caught.value.op == "memory.set_allocator"
    assert stator.memory.get_allocator() is None


def test_what_the_allocator_raises_is_told_by_an_out_of_memory_error(counting, be):
    with stator.Backend(be.device_name, allocator=counting) as other:
        x = other.ones(3)
        counting.fails = RuntimeError("the other pool is full")
        with pytest.raises(OutOfMemoryError) as caught:
            other.ones(100_000)
        assert caught.value.allocator_error is counting.fails
        assert "the other pool is full" in caught.value.__notes__[0]
        assert caught.value.op == "ones"
        del caught
        counting.fails = None
        assert (x + other.ones(100_000)[:3]).tolist() == [2, 2, 2]
        with pytest.raises(OutOfMemoryError) as caught:
            other.empty(2**60, dtype="uint8")
        assert isinstance(caught.value.allocator_error, OutOfMemoryError)
        with pytest.raises(OutOfMemoryError) as caught:
            be.empty(2**60, dtype="uint8")
        assert caught.value.allocator_error is None


def test_cached_memory_goes_back_before_the_allocator_is_asked_again(counting, be):
    with stator.Backend(be.device_name, allocator=counting) as other:
        other.ones(300_000)
        other.synchronize()
        held = len(counting.live)
        allocate, asked = counting.allocate, []

        def once(nbytes, stream):
            asked.append(len(counting.live))
            if len(asked) == 1:
                raise MemoryError
            return allocate(nbytes, stream)

        counting.allocate = once
        assert other.ones(900_000)[-1].item() == 1
        assert asked[0] == held
        assert asked[1] < held


@pytest.mark.parametrize("what", ["an array", "a stream"])
def test_the_allocator_is_asked_again_when_all_work_is_done(counting, be, what):
    with stator.Backend(be.device_name, allocator=counting) as other:
        x = other.ones(300_000)
        for _ in range(5):
            x += 1
        allocate, done = counting.allocate, []

        def once(nbytes, stream):
            if not done:
                done.append(None)
                raise MemoryError
            done.append(other.stream(0).done())
            return allocate(nbytes, stream)

        counting.allocate = once
        if what == "an array":
            other.ones(900_000)
        else:
            other.stream(1).synchronize()
        assert done[:2] == [None, True]


@pytest.mark.parametrize(
    ("answer", "error", "what"),
    [
        (lambda address: 0, OutOfMemoryError, "Backend|empty|requested|free"),
        (lambda address: "x", OutOfMemoryError, "TypeError"),
        (lambda address: address + 8, InvalidValueError, "multiple of"),
    ],
)
def test_an_answer_that_is_no_usable_address_is_refused(counting, be, answer, error, what):
    with stator.Backend(be.device_name, allocator=counting) as other:
        other.ones(3).tolist()
        held = dict(counting.live)
        taken, given_back = [], []
        allocate, deallocate = counting.allocate, counting.deallocate

        def wrong(nbytes, stream):
            taken.append((allocate(nbytes, stream), nbytes, stream))
            return answer(taken[-1][0])

        counting.allocate = wrong

        def noting(address, nbytes, stream):
            given_back.append(address)
            if address in counting.live:
                deallocate(address, nbytes, stream)

        counting.deallocate = noting
        with pytest.raises(error) as caught:
            other.empty(100_000)
        assert any(w in str(caught.value) + str(getattr(caught.value, "__notes__", "")) for w in what.split("|"))
        counting.allocate, counting.deallocate = allocate, deallocate
        if error is InvalidValueError:
            assert given_back[-1] == taken[-1][0] + 8
        for one in taken:
            deallocate(*one)
        assert set(counting.live) <= set(held)


def test_memory_of_the_host_is_refused_by_a_cuda_backend(cuda):
    held = np.zeros(1 << 20, "uint8")

    class Host:
        def allocate(self, nbytes, stream):
            return (held.ctypes.data + 255) // 256 * 256

        def deallocate(self, address, nbytes, stream):
            pass

    with stator.Backend(cuda.device_name, allocator=Host()) as other, pytest.raises(InvalidValueError, match="own"):
        other.ones(3)


def test_arrays_of_numpy_may_be_the_memory_of_a_cpu_backend(cpu):
    held = {}

    class NumPy:
        def allocate(self, nbytes, stream):
            memory = np.empty(nbytes + 63, "uint8")
            address = (memory.ctypes.data + 63) // 64 * 64
            held[address] = memory
            return address

        def deallocate(self, address, nbytes, stream):
            del held[address]

    with stator.Backend("cpu", allocator=NumPy()) as other:
        x = other.asarray(np.ones((200, 200)))
        assert (x @ x).to_numpy().sum() == 200**3
        view = (x + 1).to_numpy()
        kept = memoryview(x.data)
        del x
    assert len(held) == 1  # what the memoryview shares, after its backend has closed
    assert view[0, 0] == 2
    assert kept[0, 0] == 1
    kept.release()
    gc.collect()
    stator.default_backend().resources()
    assert not held


def test_the_allocator_lives_as_long_as_its_backend_and_no_longer(be):
    allocator = Counting(be)
    other = stator.Backend(be.device_name, allocator=allocator)
    x = other.ones(3)
    gone = threading.Event()
    stator_ref = __import__("weakref").finalize(allocator, gone.set)
    del allocator
    assert x.tolist() == [1, 1, 1]
    assert stator_ref.alive
    other.close()
    del other, x
    gc.collect()
    be.resources()
    be.resources()
    gc.collect()
    assert gone.is_set()


@pytest.mark.parametrize("allocator", [object(), 1, type("Half", (), {"allocate": lambda *a: 0})()])
def test_what_is_no_allocator_is_refused(be, allocator):
    with pytest.raises(DTypeError, match="allocate"):
        stator.Backend(be.device_name, allocator=allocator)


def test_a_reservation_of_the_drivers_pool_beside_an_allocator_is_refused(counting, be):
    with pytest.raises(InvalidValueError, match="memory_pool_size"):
        stator.Backend(be.device_name, allocator=counting, memory_pool_size=2**20)


def test_resources_of_rmm_get_streams_of_rmm(counting, be, monkeypatch):
    import sys
    from types import ModuleType

    class Stream:
        def __init__(self, obj):
            self.handle = obj.__cuda_stream__()[1]

        def __int__(self):
            return self.handle

    names = ("rmm", "rmm.pylibrmm", "rmm.pylibrmm.stream")
    for name in names:
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    sys.modules["rmm.pylibrmm.stream"].Stream = Stream

    class Resource:
        def allocate(self, nbytes, stream):
            assert isinstance(stream, Stream)
            return counting.allocate(nbytes, int(stream))

        def deallocate(self, address, nbytes, stream):
            assert isinstance(stream, Stream)
            counting.deallocate(address, nbytes, int(stream))

    Resource.__module__ = "rmm.mr"
    with stator.Backend(be.device_name, allocator=Resource()) as other:
        assert other.ones(3).tolist() == [1, 1, 1]
    assert counting.given


def test_what_a_pool_lends_is_memory_of_its_own_until_it_is_given_back(be):
    pool = PoolAllocator(be)
    first, second = pool.allocate(1000), pool.allocate(1000, be.stream(0).native if be.device.type == "cuda" else 0)
    assert first != second
    assert first % 256 == 0 or be.device.type == "cpu"
    lent = [r for r in be.resources() if r["exported"]]
    assert [(r["kind"], r["bytes"], r["origin"]) for r in lent] == [
        ("buffer", 1000, "memory.PoolAllocator.allocate")
    ] * 2
    pool.deallocate(first, 1000)
    pool.deallocate(second)
    assert not be.resources() or not [r for r in be.resources() if r["kind"] == "buffer"]
    for wrong in (first, 12345):
        with pytest.raises(InvalidValueError, match=r"^memory\.PoolAllocator\.deallocate"):
            pool.deallocate(wrong)
    with pytest.raises(InvalidValueError, match=r"^memory\.PoolAllocator\.allocate"):
        pool.allocate(-1)
    with pytest.raises(OutOfMemoryError):
        pool.allocate(2**60)


def test_lent_memory_is_used_in_the_order_of_both_streams(cuda):
    if not _backend.emulated("cuda"):
        pytest.skip("about emulated devices")
    pool, stream = PoolAllocator(cuda), cuda.stream(1).native
    pool.deallocate(pool.allocate(64, stream), 64, stream)  # opens what is opened once
    with runtime_calls.recorded("stream_wait") as waits:
        address = pool.allocate(64, stream)
    assert stream in [waiting for waiting, *_ in waits]
    with runtime_calls.recorded("event_record") as records:
        pool.deallocate(address, 64, stream)
    assert stream in [recording for _, recording in records]


def test_lent_memory_may_be_given_back_after_its_backend_has_closed(be):
    with stator.Backend(be.device_name) as other:
        pool = PoolAllocator(other)
        address = pool.allocate(5000)
    with pytest.raises(errors.BackendClosedError):
        pool.allocate(1)
    pool.deallocate(address)
    with pytest.raises(InvalidValueError):
        pool.deallocate(address)


def test_memory_that_is_captured_is_not_lent(cuda):
    pool = PoolAllocator(cuda)
    stream = cuda.stream(1)
    with stream, cuda.capture(), pytest.raises(errors.CaptureError):
        pool.allocate(64, stream)


def test_the_c_functions_use_the_pool_of_the_backend(cuda):
    found = stator.memory.allocator_library(cuda)
    library = ctypes.CDLL(found.path)
    allocate, deallocate = getattr(library, found.allocate), getattr(library, found.deallocate)
    allocate.restype = ctypes.c_void_p
    allocate.argtypes = [ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p]
    deallocate.argtypes = [ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p]
    address = allocate(4096, cuda.device.index, None)
    assert address
    assert [r["bytes"] for r in cuda.resources() if r["exported"]] == [4096]
    deallocate(address, 4096, cuda.device.index, None)
    assert not [r for r in cuda.resources() if r["exported"]]


def test_a_failure_of_the_c_functions_is_null_and_a_warning(cuda, capfd):
    library = ctypes.CDLL(stator.memory.allocator_library(cuda).path)
    library.stator_allocate.restype = ctypes.c_void_p
    library.stator_allocate.argtypes = [ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p]
    library.stator_deallocate.argtypes = [ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p]
    assert library.stator_allocate(2**60, cuda.device.index, None) is None
    library.stator_deallocate(64, 1, cuda.device.index, None)
    told = capfd.readouterr().err
    assert "stator_allocate" in told
    assert "stator_deallocate" in told


def test_a_cpu_has_no_c_functions(cpu):
    with pytest.raises(BackendMismatchError, match=r"^memory\.allocator_library"):
        stator.memory.allocator_library(cpu)


def test_an_allocator_that_calls_its_own_backend_gets_an_error(be, counting):
    class Calling(Counting):
        calls = 0

        def allocate(self, nbytes, stream):
            self.calls += 1
            if self.calls == 1:  # for the stream that the backend opens
                with pytest.raises(UnsupportedError, match="the allocator of a backend calls that backend"):
                    other.zeros(3)
            return super().allocate(nbytes, stream)

    allocator = Calling(be)
    with stator.Backend(be.device_name, allocator=allocator) as other:
        assert other.zeros(3).tolist() == [0.0] * 3
    assert allocator.calls > 1 and not allocator.live


@pytest.mark.parametrize("raised", [KeyboardInterrupt, SystemExit])
def test_what_ends_a_program_passes_through_an_allocator(counting, be, raised):
    with stator.Backend(be.device_name, allocator=counting) as other:
        other.zeros(3).tolist()
        counting.fails = raised()
        with pytest.raises(raised):
            other.zeros(1 << 20)
        counting.fails = None
        assert other.zeros(1 << 20).sum().item() == 0
