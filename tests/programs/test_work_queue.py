"""Queues whose items a kernel or a function works on while the host puts more."""

import gc
import queue
import threading

import numpy as np
import pytest

import stator
from stator import _backend
from stator.errors import DTypeError, InvalidValueError, OutOfMemoryError, QueueFullError, StatorError

SOURCE = """
#include <stator/work_queue.hpp>
struct Item { int row; float factor; };
__global__ void scale(stator::WorkQueue<Item> queue, float* x, int columns, int* times) {
  Item item;
  while (queue.take(item)) {
    for (int i = threadIdx.x; i < columns; i += blockDim.x) x[item.row * columns + i] *= item.factor;
    if (threadIdx.x == 0) atomicAdd(times + item.row, 1);
  }
}
__global__ void note(stator::WorkQueue<int> queue, int* out, int* count) {
  int item;
  while (queue.take(item)) if (threadIdx.x + threadIdx.y == 0) out[atomicAdd(count, 1)] = item;
}
__global__ void leave(stator::WorkQueue<int> queue) { int item; queue.take(item); }
__global__ void plain(int* x) {}
__global__ void busy(long long ns) {
  long long start, now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(start));
  do asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now)); while (now - start < ns);
}
"""
ITEM = np.dtype([("row", "i4"), ("factor", "f4")])


def scale_on_host(items, x, columns, times):
    for row, factor in items.tolist():
        x[row] = x[row] * factor
        times[row] = times[row] + 1


def workers(be):
    yield scale_on_host
    if be.device.type == "cuda":
        yield be.compile(SOURCE, "scale")


@pytest.mark.parametrize("capacity", [1, 3, 16, 100])
def test_every_item_is_worked_on_once(be, capacity):
    for worker in workers(be):
        x, times = be.ones((40, 5), dtype="float32"), be.zeros(40, dtype="int32")
        work = be.programs.work_queue(worker, capacity, x, 5, times, item=ITEM)
        for i in range(40):
            work.put((i, 0.5 * i))
        report = work.finish()
        assert work.finish() is report and report.items == 40
        assert (times.to_numpy() == 1).all()
        np.testing.assert_array_equal(x.to_numpy(), np.repeat(0.5 * np.arange(40)[:, None], 5, axis=1))
        assert report.launches >= 1 and report.milliseconds >= 0
        with pytest.raises(InvalidValueError, match="finished"):
            work.put((0, 0))


def test_a_queue_without_items_reports_none(be):
    x, times = be.ones((1, 5), dtype="float32"), be.zeros(1, dtype="int32")
    for worker in workers(be):
        with be.programs.work_queue(worker, 4, x, 5, times, item=ITEM) as work:
            pass
        assert work.finish().items == 0
    assert int(times[0]) == 0


def test_one_block_takes_items_in_their_order(cuda):
    out, count = cuda.zeros(100, dtype="int32"), cuda.zeros(1, dtype="int32")
    kernel = cuda.compile(SOURCE, "note")
    cuda.stream(1).wait(cuda.stream(0).record())
    with cuda.programs.work_queue(
        kernel, 7, out, count, item="i4", blocks=1, block=(4, 8), stream=cuda.stream(1)
    ) as work:
        for i in range(100):
            work.put(i)
    assert work.finish().blocks == 1 and work.finish().polls > 0
    assert not [r for r in cuda.resources() if r["kind"] in ("pinned", "event")]
    assert out.to_numpy().tolist() == list(range(100))


def test_a_function_gets_what_fits_the_queue_at_once():
    sizes = []
    with (
        stator.Backend("cpu") as be,
        be.programs.work_queue(lambda items: sizes.append(items.size), 4, item="f8") as work,
    ):
        for i in range(10):
            work.put(i)
    assert sizes == [4, 4, 2]
    assert work.finish()[:4] == (10, 3, 0, 0)


def test_a_full_queue_refuses_or_waits(be):
    work = be.programs.work_queue(lambda items: None, 2, item="i4")
    work.put(1)
    work.put(2, block=False)
    for arguments in ({"block": False}, {"timeout": 0}):
        with pytest.raises(QueueFullError, match="All 2 slots") as seen:
            work.put(3, **arguments)
        assert isinstance(seen.value, queue.Full)
    work.put(3, timeout=300)
    assert work.finish().items == 3


def keep_busy(be):
    """Half a second of other work, where work runs by itself: on an emulated device looking for its end runs it."""
    if not _backend.emulated("cuda"):
        be.compile(SOURCE, "busy").launch(1, 1, 500_000_000)


def test_a_kernel_behind_other_work_leaves_the_queue_full(cuda, monkeypatch):
    keep_busy(cuda)
    out, count = cuda.zeros(9, dtype="int32"), cuda.zeros(1, dtype="int32")
    work = cuda.programs.work_queue(cuda.compile(SOURCE, "note"), 3, out, count, item="i4", polls=0)
    with monkeypatch.context() as patch:
        patch.setattr(work._worker, "_follow", lambda: None)
        for i in range(3):
            work.put(i, block=False)
        with pytest.raises(QueueFullError, match="All 3 slots"):
            work.put(3, block=False)
        with pytest.raises(QueueFullError):
            work.put(3, timeout=0.001)
    work.put(3)
    assert work.finish().items == 4
    assert sorted(out.to_numpy()[:4].tolist()) == [0, 1, 2, 3]


def test_threads_put_into_one_queue(be):
    x, times = be.ones((64, 5), dtype="float32"), be.zeros(64, dtype="int32")
    for i, worker in enumerate(workers(be), 1):
        with be.programs.work_queue(worker, 5, x, 5, times, item=ITEM) as work:
            threads = [
                threading.Thread(target=lambda a=a: [work.put((a + j, 1)) for j in range(16)]) for a in range(0, 64, 16)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert (times.to_numpy() == i).all()


def test_a_function_may_put_what_it_finds(be):
    def halve(items):
        for n in items.tolist():
            seen.append(n)
            if n % 2 == 0:
                work.put(n // 2)

    for capacity in (1, 2, 10):
        seen = []
        with be.programs.work_queue(halve, capacity, item="i4") as work:
            work.put(8)
            work.put(6)
        assert sorted(seen) == [1, 2, 3, 4, 6, 8]


def test_a_call_that_does_not_wait_does_not_wait_for_one_that_does(cuda, monkeypatch):
    keep_busy(cuda)
    out, count = cuda.zeros(9, dtype="int32"), cuda.zeros(1, dtype="int32")
    work = cuda.programs.work_queue(cuda.compile(SOURCE, "note"), 1, out, count, item="i4")
    with monkeypatch.context() as patch:
        patch.setattr(work._worker, "_follow", lambda: None)
        patch.setattr(work._worker, "pause", 0.01)
        work.put(1)
        waits = threading.Thread(target=work.put, args=(2,))
        waits.start()
        for _ in range(10):
            with pytest.raises(QueueFullError):
                work.put(3, block=False)
        assert waits.is_alive()
    waits.join()
    assert work.finish().items == 2


def test_a_function_that_fails_lets_the_next_items_through(be):
    def fail(items):
        if 1 in items:
            raise RuntimeError("one")

    work = be.programs.work_queue(fail, 1, item="i4")
    work.put(1)
    with pytest.raises(RuntimeError, match="one"):
        work.put(2)
    work.put(2)
    assert work.finish().items == 2


def test_what_is_no_queue_or_no_item_is_refused(be):
    for arguments, error, text in (
        ((3, 4), DTypeError, "kernel of type int"),
        ((dict, 4), DTypeError, "kernel of type type"),
        ((print, 0), InvalidValueError, "capacity=0"),
        ((print, "x"), DTypeError, "capacity of type str"),
        ((print, 2**60), InvalidValueError, "fewer items"),
    ):
        with pytest.raises(error, match=text) as seen:
            be.programs.work_queue(*arguments, item="i4")
        assert seen.value.op == "Backend.programs.work_queue"
    with pytest.raises(DTypeError, match="Give numbers"):
        be.programs.work_queue(print, 4, item=object)
    with pytest.raises(InvalidValueError, match="blocks=0"):
        be.programs.work_queue(print, 4, item="i4", blocks=0)
    work = be.programs.work_queue(lambda items: None, 4, item="i4")
    for item in ("text", None, 1.5, 2**40, [1, 2], object()):
        with pytest.raises(DTypeError) as seen:
            work.put(item)
        assert seen.value.op == "WorkQueue.put"
    for named in ({"timeout": -1}, {"timeout": "long"}, {"block": "no"}):
        with pytest.raises(StatorError):
            work.put(1, **named)
    assert work.finish().items == 0


def test_a_kernel_that_does_not_fit_is_refused(cuda):
    note, leave, plain = cuda.compile(SOURCE, ["note", "leave", "plain"])
    x = cuda.zeros(10, dtype="int32")
    for kernel, args, text in ((plain, (x,), "takes no queue"), (note, (x,), "2 arguments, and has 3")):
        with pytest.raises(DTypeError, match=text) as seen:
            cuda.programs.work_queue(kernel, 4, *args, item="i4")
        assert seen.value.op == "Backend.programs.work_queue"
    with pytest.raises(OutOfMemoryError):
        cuda.programs.work_queue(leave, 2**55, item="i4")
    work = cuda.programs.work_queue(note, 4, x, x, item=ITEM)
    with pytest.raises(DTypeError, match="items have 4 bytes, and the queue's 8"):
        work.put((1, 2))
        work.finish()
    work = cuda.programs.work_queue(leave, 2, item="i4", blocks=1)
    with pytest.raises(InvalidValueError, match="left an item"):
        for i in range(4):
            work.put(i)
        work.finish()


def test_a_queue_that_is_dropped_gives_its_memory_back_behind_its_launches(cuda):
    out, count = cuda.zeros(9, dtype="int32"), cuda.zeros(1, dtype="int32")
    work = cuda.programs.work_queue(cuda.compile(SOURCE, "note"), 3, out, count, item="i4")
    work.put(5)
    with pytest.raises(KeyError), work:
        raise KeyError
    del work
    gc.collect()
    assert int(count[0]) == 1
    assert not [r for r in cuda.resources() if r["kind"] in ("pinned", "event")]


def test_a_backend_closes_over_a_queue_that_is_not_finished():
    with stator.Backend("cuda" if stator.is_available("cuda") else "cpu") as backend:
        worker = list(workers(backend))[-1]
        x, times = backend.ones((4, 5), dtype="float32"), backend.zeros(4, dtype="int32")
        work = backend.programs.work_queue(worker, 3, x, 5, times, item=ITEM)
        work.put((1, 2))
    if not isinstance(worker, type(scale_on_host)):
        with pytest.raises(StatorError):
            work.finish()
    del work
    gc.collect()
    assert not backend.resources()


def test_every_failing_call_of_the_runtime_leaves_a_queue_that_can_be_finished(cuda):
    kernel = cuda.compile(SOURCE, "note")
    for at in range(300):
        out, count = cuda.zeros(9, dtype="int32"), cuda.zeros(1, dtype="int32")
        work, failed = None, False
        stator.testing.inject(cuda, fail_at=at)
        try:
            work = cuda.programs.work_queue(kernel, 3, out, count, item="i4", blocks=2)
            for i in range(5):
                work.put(i)
        except StatorError:
            failed = True
        finally:
            calls = stator.testing.lift(cuda)
        if work is not None:
            done = work.finish().items
            assert sorted(out.to_numpy()[:done].tolist()) == list(range(done))
            assert int(count[0]) == done and (failed or done == 5)
        if calls <= at:
            break
    assert at > 5 and not failed
