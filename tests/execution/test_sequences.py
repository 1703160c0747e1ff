"""Sequences: uploads, a prefix, repetitions and reads behind one fence, in each form, as the plain loop does them."""

import asyncio
import gc
import threading
import time

import numpy as np
import pytest

import stator
from stator.errors import (
    BackendClosedError,
    BackendMismatchError,
    CaptureError,
    DTypeError,
    HostCopyError,
    InFlightError,
    InvalidValueError,
    OutOfRangeError,
    StatorError,
)
from stator.execution import Step
from stator.execution._in_flight import InFlight

SOURCE = """
__global__ void add(float* x, const float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += y[i];
}
__global__ void twice(float* x, int n) { for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] *= 2; }
__global__ void mark(int* x) { x[blockIdx.x] = blockDim.x; }
"""
N = 70


def add(x, y):
    x += y


def twice(x):
    x *= 2


def steps(be, kind, x, y):
    """The steps of y += 1 doubled, and of x += y, as functions or as kernels."""
    if kind == "functions":
        return (twice, y), (add, x, y)
    plus, times = be.compile(SOURCE, ["add", "twice"])
    return (times, 1, 32, y, N), (plus, 3, 32, x, y, N)


def kinds(be):
    return ("functions", "kernels") if be.device.type == "cuda" else ("functions",)


class Work:
    """x from the host, y twice itself, then n times x += y; and what the plain loop makes of it."""

    def __init__(self, be, kind="functions", n=3, stream=None):
        self.x, self.y = be.zeros(N, dtype="float32"), be.zeros(N, dtype="float32")
        rng = np.random.default_rng(1)
        self.a, self.b = rng.integers(0, 9, (2, N)).astype("float32")
        self.out, self.part = np.zeros(N, "float32"), bytearray(8)
        prefix, step = steps(be, kind, self.x, self.y)
        self.sequence = be.sequence(stream=stream).upload(self.x, self.a).upload(self.y, self.b)
        self.sequence.prefix(prefix).repeat(n, step)
        self.sequence.read(self.x, self.out).read(self.y, self.part, 4, 8)
        self.n = n

    def expected(self):
        y = 2 * self.b
        x = self.a.copy()
        for _ in range(self.n):
            x += y
        return x, y[1:3].tobytes()

    def assert_done(self, outputs=None):
        x, y = self.expected()
        out, part = (self.out, self.part) if outputs is None else outputs
        np.testing.assert_array_equal(out, x)
        assert bytes(part) == y


FORMS = {
    "run": lambda s: s.run(),
    "submit": lambda s: s.submit().result(),
    "await": lambda s: asyncio.run(awaited(s)),
    "run_borrowed": lambda s: s.run_borrowed(),
    "run_into": lambda s: s.run_into([np.zeros(N, "float32"), bytearray(8)]),
    "run_timed": lambda s: s.run_timed(),
}
form = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)


async def awaited(sequence):
    return await sequence.submit()


def untouched(*arrays):
    return all((x.to_numpy() == 0).all() for x in arrays)


@form
@pytest.mark.parametrize("n", [0, 1, 5])
def test_every_form_does_what_the_plain_loop_does(be, form, n):
    for kind in kinds(be):
        work = Work(be, kind, n)
        for _ in range(2):
            work.a += 1  # what is uploaded is read at every run
            result = form(work.sequence)
            work.assert_done(result if isinstance(result, list) else None)
        np.testing.assert_array_equal(work.x.to_numpy(), work.expected()[0])


def test_outputs_are_given_back_in_the_order_of_the_reads(be):
    work = Work(be)
    assert [type(o) for o in work.sequence.run()] == [np.ndarray, bytearray]
    assert work.sequence.run()[0] is work.out
    others = [np.zeros(N, "float32"), bytearray(8)]
    before = work.out.copy()
    work.a += 1
    assert work.sequence.run_into(others)[1] is others[1]
    work.assert_done(others)
    np.testing.assert_array_equal(work.out, before)


def test_each_launch_has_its_own_grid_or_the_one_of_the_sequence(cuda):
    marks, out = cuda.zeros(6, dtype="int32"), np.zeros(6, "int32")
    kernel = cuda.compile(SOURCE, "mark")
    sequence = cuda.sequence(grid=2, block=64).read(marks, out)
    sequence.prefix((kernel, 5, 32, marks), Step(kernel, marks)).repeat(1, (kernel, (1, 1), None, marks)).run()
    assert out.tolist() == [64, 64, 32, 32, 32, 0]
    with pytest.raises(InvalidValueError, match="Step 0 of the prefix: The launch has no grid"):
        cuda.sequence().prefix(Step(kernel, marks))
    alone = cuda.sequence().prefix(Step(kernel, marks, grid=6)).read(marks, out)
    alone.run()
    assert out.tolist() == [kernel.suggest_block()] * 6


def test_a_grid_from_the_device_is_launched_without_a_graph(cuda):
    marks, out = cuda.zeros(3, dtype="int32"), np.zeros(3, "int32")
    grid = cuda.full(1, 2, dtype="int32")
    sequence = cuda.sequence().repeat(2, (cuda.compile(SOURCE, "mark"), grid, 32, marks)).read(marks, out)
    sequence.run()
    assert out.tolist() == [32, 32, 0] and sequence.graph is None
    assert "Kernel.launch" in str(sequence.capture_error)


def calls_of(be, work, n):
    work.sequence.repeat(n).run()
    before = sum(be.statistics()["calls"].values())
    work.sequence.run()
    return sum(be.statistics()["calls"].values()) - before


def test_a_repetition_is_one_call_of_the_runtime(be):
    for kind in kinds(be):
        work = Work(be, kind)
        many = [steps(be, kind, work.x, work.y)[1]] * 7
        work.sequence.repeat(1, *many)
        none = calls_of(be, work, 0)
        assert calls_of(be, work, 10) - none == 10
        assert len(work.sequence.graph) == 7


def test_the_repeated_part_is_captured_once(be):
    calls = []

    def step(x):
        calls.append(1)
        x += 1

    x, out = be.zeros(3), np.zeros(3)
    sequence = be.sequence().upload(x, np.zeros(3)).repeat(4, (step, x)).read(x, out)
    sequence.run()
    first = sequence.graph
    sequence.repeat(9).run()
    assert sequence.graph is first and len(calls) == 1 and out.tolist() == [9] * 3
    sequence.repeat(2, (twice, x)).run()
    assert sequence.graph is not first and out.tolist() == [0] * 3


def test_what_cannot_be_captured_runs_step_by_step_and_the_reason_is_there(be):
    def step(x):
        x += float(x[0])

    x, out = be.zeros(2), np.zeros(2)
    sequence = be.sequence().upload(x, np.array([1.0, 2.0])).repeat(3, (step, x)).read(x, out)
    assert sequence.capture_error is None
    for _ in range(2):
        sequence.run()
        assert out.tolist() == [8, 9]
    assert isinstance(sequence.capture_error, CaptureError) and sequence.graph is None
    sequence.repeat(1, (twice, x)).run()
    assert sequence.capture_error is None and out.tolist() == [2, 4]


def test_random_numbers_advance_from_repetition_to_repetition(be):
    def step(x):
        x[1:] = x[:-1] + 0
        x[:1] = be.random.uniform(size=1)

    x, out = be.zeros(8), np.zeros(8)
    be.sequence().repeat(8, (step, x)).read(x, out).run()
    assert len(set(out.tolist())) == 8


def test_static_parameters_are_uploaded_once_until_they_change(be):
    table, x, out = be.zeros(4), be.zeros(4), np.zeros(4)
    host = np.arange(4.0)
    sequence = be.sequence().static(table, host).upload(x, np.ones(4)).repeat(2, (add, x, table)).read(x, out)
    sequence.run()
    before = be.statistics()["h2d_bytes"]
    host += 1
    sequence.run()
    assert out.tolist() == [1, 3, 5, 7]
    assert be.statistics()["h2d_bytes"] - before == x.nbytes
    sequence.static(table, host).run()
    assert out.tolist() == [3, 5, 7, 9]
    sequence.static(table, np.zeros(1), 24).run()  # another place
    assert out.tolist() == [3, 5, 7, 1]


def test_a_static_parameter_is_uploaded_again_where_the_run_was_refused(be):
    table, out = be.zeros(2), np.zeros(2)
    sequence = be.sequence().static(table, np.ones(2)).read(table, out)
    with pytest.raises(InvalidValueError):
        sequence.run_into([np.zeros(3)])
    assert untouched(table)
    sequence.run()
    assert out.tolist() == [1, 1]


def test_uploads_may_change_as_soon_as_submit_returns(be):
    x, out = be.zeros(1 << 20, dtype="float64"), np.zeros(1 << 20)
    host = np.arange(1 << 20, dtype="float64")
    future = be.sequence().upload(x, host).repeat(3, (twice, x)).read(x, out).submit()
    host[:] = -1
    future.result()
    np.testing.assert_array_equal(out, 8 * np.arange(1 << 20, dtype="float64"))


def test_work_enqueued_after_submit_does_not_change_what_is_read(be):
    x, out = be.zeros(1000), np.zeros(1000)
    future = be.sequence().upload(x, np.ones(1000)).repeat(2, (twice, x)).read(x, out).submit()
    x += 5
    assert future.result()[0] is out and future.done() and out.tolist() == [4] * 1000
    assert x.tolist() == [9] * 1000


def test_the_event_loop_goes_on_while_a_run_is_awaited(cpu):
    gate, work = threading.Event(), Work(cpu)
    cpu.current_stream.add_callback(gate.wait)  # the run's work comes behind it

    async def main():
        future = work.sequence.submit()
        waiting = asyncio.ensure_future(awaited_future(future))
        for _ in range(5):
            await asyncio.sleep(0.001)
        early = future.done()
        gate.set()
        await waiting
        return early

    async def awaited_future(future):
        return await future

    assert not asyncio.run(asyncio.wait_for(main(), 60))
    work.assert_done()


def test_a_run_that_is_awaited_cannot_be_cancelled(cpu):
    gate, work = threading.Event(), Work(cpu)
    cpu.current_stream.add_callback(gate.wait)
    future = work.sequence.submit()
    assert not future.cancel() and future.running()
    gate.set()
    future.result(60)
    work.assert_done()


def test_borrowed_memory_is_not_staged(cuda):
    """A copy that is staged takes page-locked memory, which the pool keeps."""
    with stator.Backend("cuda") as be:
        x, out = be.zeros(1000), np.zeros(1000)
        sequence = be.sequence().upload(x, np.ones(1000)).read(x, out)
        before = be.statistics()["calls"]["allocate_pinned"]
        sequence.run_borrowed()
        assert be.statistics()["calls"]["allocate_pinned"] == before and out.tolist() == [1] * 1000
        sequence.run()
        assert be.statistics()["calls"]["allocate_pinned"] > before
        del x, sequence


def test_a_run_waits_once(be):
    work = Work(be)
    pieces = [bytearray(4) for _ in range(3)]
    for i, piece in enumerate(pieces):
        work.sequence.read(work.x, piece, 12 * i, 4)
    work.sequence.run()
    names = ("stream_synchronize", "event_synchronize", "device_synchronize")
    before = [be.statistics()["calls"][n] for n in names]
    work.sequence.run()
    after = [be.statistics()["calls"][n] for n in names]
    assert sum(after) - sum(before) == 1
    assert b"".join(pieces) == work.out[0:7:3].tobytes()


def test_reads_next_to_each_other_are_one_copy(cuda):
    x = cuda.arange(12, dtype="float32")
    outs = [np.zeros(n, "float32") for n in (2, 3, 7)]
    sequence = cuda.sequence()
    for at, out in zip((0, 8, 20), outs, strict=True):
        sequence.read(x, out, at, out.nbytes)
    before = cuda.statistics()["calls"]["copy"]
    sequence.run()
    assert cuda.statistics()["calls"]["copy"] - before == 1
    assert np.concatenate(outs).tolist() == list(range(12))


def test_times_of_a_run_add_up(be):
    work = Work(be)
    times = work.sequence.run_timed()
    assert times.wall_ns == times.enqueue_ns + times.wait_ns and min(times.enqueue_ns, times.wait_ns) > 0
    if be.device.type == "cpu":
        assert times.device_ns is None
    else:
        assert 0 < times.device_ns


def test_a_sequence_runs_on_its_stream(be):
    side = be.stream(1)
    be.synchronize()
    work = Work(be, stream=side)
    be.synchronize()
    seen = []
    work.sequence.prefix((lambda x: seen.append(be.current_stream), work.x)).run()
    assert seen == [side]
    work.assert_done()


def test_an_empty_sequence_runs(be):
    assert be.sequence().run() == []
    assert be.sequence().repeat(5).submit().result() == []


# In-flight guards.


def submitted(be, monkeypatch):
    """A run that does not end before the function is called."""
    held = []
    work = Work(be)
    with monkeypatch.context() as patch:
        patch.setattr(InFlight, "start", lambda self, *call: held.extend(call))
        future = work.sequence.submit()

    def end():
        held[0](*held[1:])
        held.clear()
        future.result()

    return work, end


def test_a_buffer_of_a_run_that_has_not_ended_is_refused_by_name(be, monkeypatch):
    work, end = submitted(be, monkeypatch)
    try:
        side, out = be.stream(1), np.zeros(N, "float32")
        for other in (
            be.sequence(stream=side).upload(work.x[3:5], np.zeros(2, "float32")),
            be.sequence(stream=side).repeat(1, (twice, work.x[::7])),
            be.sequence(stream=side).read(work.x, out),
            work.sequence,
        ):
            with pytest.raises(InFlightError, match=r"float32 of shape .* is in flight") as seen:
                other.run()
            assert isinstance(seen.value, RuntimeError) and seen.value.op == "LaunchSequence.run"
        z = be.zeros(N, dtype="float32")
        be.sequence().read(z, work.out)  # is no run
        with pytest.raises(InFlightError, match="The output of the read 0"):
            be.sequence(stream=side).read(z, work.out).run()
        with pytest.raises(InFlightError, match="The static parameter 0"):
            be.sequence(stream=side).static(work.y, np.zeros(N, "float32")).run()
        del other, z
    finally:
        end()
    work.assert_done()
    work.sequence.run()


def test_two_sequences_over_one_buffer_take_turns(be):
    x, out = be.zeros(4), np.zeros(4)
    first = be.sequence().upload(x, np.ones(4)).repeat(2, (twice, x)).read(x, out)
    second = be.sequence().repeat(3, (add, x, be.ones(4))).read(x, out)
    first.submit().result()
    second.submit().result()
    assert out.tolist() == [7] * 4


def test_disjoint_parts_of_an_array_may_be_in_flight_together(be):
    x = be.zeros(4)
    outs = np.zeros(2), np.zeros(2)
    futures = [
        be.sequence().upload(part, np.ones(2)).repeat(n, (twice, part)).read(part, out).submit()
        for part, n, out in zip((x[:2], x[2:]), (1, 2), outs, strict=True)
    ]
    assert [f.result()[0].tolist() for f in futures] == [[2, 2], [4, 4]]


def test_arrays_of_no_repetition_are_not_looked_at(be, monkeypatch):
    work, end = submitted(be, monkeypatch)
    try:
        z, out = be.zeros(2), np.ones(2)
        be.sequence(stream=be.stream(1)).repeat(0, (twice, work.x)).prefix((add, z, z)).run()
    finally:
        end()
    del z, out


# The gate.


@form
def test_what_is_refused_has_touched_nothing(be, form):
    work = Work(be)
    with be.forbid_host_copies(), pytest.raises(HostCopyError):
        form(work.sequence)
    work.out.flags.writeable = False
    if form is not FORMS["run_into"]:
        with pytest.raises(InvalidValueError, match="The read 0: .*read-only"):
            form(work.sequence)
        assert untouched(work.x, work.y) and bytes(work.part) == bytes(8)
    work.out.flags.writeable = True
    with pytest.raises(CaptureError, match="being captured"), be.capture():
        form(work.sequence)
    assert untouched(work.x, work.y)
    form(work.sequence)


@form
def test_a_kernel_that_cannot_be_launched_is_refused_before_the_uploads(cuda, form):
    plus = cuda.compile(SOURCE, "add")
    for bad, error, text in (
        ((plus, 1, 32, "x", "x"), DTypeError, "got 2 arguments"),
        ((plus, 1, 32, "x", "x", 1.5), DTypeError, "argument 2"),
        ((plus, 1, 4096, "x", "x", N), InvalidValueError, "above the limit"),
        ((plus, 0, 32, "x", "x", N), InvalidValueError, "grid"),
        ((plus, "one", 32, "x", "x", N), DTypeError, "grid"),
        ((plus, 1, 32, "strided", "x", N), InvalidValueError, "not contiguous"),
    ):
        work = Work(cuda)
        arrays = {"x": work.x, "strided": work.x[::2]}
        work.sequence.prefix(tuple(arrays.get(v, v) if isinstance(v, str) else v for v in bad))
        with pytest.raises(error, match=f"Step 1 of the prefix: .*{text}"):
            form(work.sequence)
        assert untouched(work.x, work.y)
        del arrays


def test_a_closed_backend_is_said(device):
    with stator.Backend(device) as be:
        work = Work(be)
    with pytest.raises(BackendClosedError, match=r"LaunchSequence\.run"):
        work.sequence.run()
    with pytest.raises(StatorError):
        be.sequence()


def test_closing_the_backend_ends_a_future(device):
    with stator.Backend(device) as be:
        work = Work(be)
        future = work.sequence.submit()
    try:
        future.result(60)
    except BackendClosedError:
        return
    work.assert_done()


@pytest.mark.parametrize(
    ("describe", "error", "text"),
    [
        (lambda s, x: s.upload(x, np.zeros(5)), InvalidValueError, "40 of an array of 32 bytes"),
        (lambda s, x: s.upload(x, np.zeros(4), 8), InvalidValueError, "the bytes from 8"),
        (lambda s, x: s.upload(x, np.zeros(4), -1), InvalidValueError, "offset=-1"),
        (lambda s, x: s.upload(x, np.zeros(4, "int32")), DTypeError, "int32"),
        (lambda s, x: s.upload(x, [1.0] * 4), DTypeError, "host"),
        (lambda s, x: s.upload(x[::2], np.zeros(2)), InvalidValueError, "not contiguous"),
        (lambda s, x: s.upload([0] * 4, np.zeros(4)), DTypeError, "array"),
        (lambda s, x: s.static(x, np.zeros(5)), InvalidValueError, "40 of an array of 32 bytes"),
        (lambda s, x: s.read(x, np.zeros(3)), InvalidValueError, "24 bytes for 32"),
        (lambda s, x: s.read(x, np.zeros(4), 8), InvalidValueError, "32 bytes for 24"),
        (lambda s, x: s.read(x, np.zeros(2), 24, 16), InvalidValueError, "the bytes from 24"),
        (lambda s, x: s.read(x, bytes(32)), InvalidValueError, "read-only"),
        (lambda s, x: s.prefix(3), DTypeError, "Step 0 of the prefix"),
        (lambda s, x: s.prefix((twice, x), ()), InvalidValueError, "empty tuple"),
        (lambda s, x: s.repeat(-1, (twice, x)), InvalidValueError, "n=-1"),
        (lambda s, x: s.repeat(1.5, (twice, x)), DTypeError, "n of type float"),
        (lambda s, x: s.repeat(1, (dict, x)), DTypeError, "Step 0 of the repeated part"),
        (lambda s, x: s.run_into(np.zeros(4)), DTypeError, "outputs"),
        (lambda s, x: s.run_into([np.zeros(4)]), InvalidValueError, "1 outputs for 0 reads"),
    ],
)
def test_wrong_descriptions_are_refused_at_once(be, describe, error, text):
    x = be.zeros(4)
    sequence = be.sequence()
    with pytest.raises(error, match=text):
        describe(sequence, x)
    sequence.upload(x, np.ones(4)).run()
    assert x.tolist() == [1] * 4


def test_arrays_of_another_backend_are_refused(be):
    with stator.Backend("cpu") as other:
        x = other.zeros(4)
        for describe in (
            lambda s: s.upload(x, np.zeros(4)),
            lambda s: s.read(x, np.zeros(4)),
            lambda s: s.prefix((twice, [x])),
        ):
            with pytest.raises(BackendMismatchError):
                describe(be.sequence())
        with pytest.raises(BackendMismatchError, match=r"Backend\.sequence"):
            be.sequence(stream=other.stream(0))


def test_read_only_arrays_are_not_uploaded_to(be):
    host = np.zeros(4)
    host.flags.writeable = False
    x = stator.from_dlpack(host, device=be) if be.device.type == "cpu" else None
    if x is None:
        return
    with pytest.raises(InvalidValueError, match="read-only"):
        be.sequence().upload(x, np.zeros(4))


# Failures.


def test_a_function_that_returns_a_value_is_refused_before_the_uploads(be):
    x = be.zeros(2)
    sequence = be.sequence().upload(x, np.ones(2)).repeat(2, (lambda x: x + 1, x))
    with pytest.raises(DTypeError, match="Step 0 of the repeated part returned a value"):
        sequence.run()
    assert untouched(x) and not be.is_capturing


def test_an_exception_of_a_step_ends_the_run(be):
    x, out = be.zeros(2), np.zeros(2)

    def fail(x):
        raise ZeroDivisionError

    for describe in (lambda s: s.prefix((fail, x)), lambda s: s.repeat(2, (fail, x))):
        with pytest.raises(ZeroDivisionError):
            describe(be.sequence().upload(x, np.ones(2)).read(x, out)).submit()
        assert be.sequence().upload(x, np.full(2, 3.0)).read(x, out).run()[0].tolist() == [3, 3]


@form
def test_a_fault_of_a_kernel_is_raised_by_the_run(be, form):
    x, at, out = be.zeros(3), be.asarray([0, 7]), np.zeros(3)

    def take(x, at):
        x[:2] = stator.take(x, at)

    sequence = be.sequence().upload(x, np.ones(3)).repeat(1, (take, x, at)).read(x, out)
    sequence.read(at, bytearray(8), 0, 8)
    into = [np.zeros(3), bytearray(8)]
    with pytest.raises(OutOfRangeError):
        sequence.run_into(into) if form is FORMS["run_into"] else form(sequence)
    be.synchronize()
    assert be.sequence().upload(x, np.ones(3)).read(x, out).run()[0].tolist() == [1, 1, 1]


@form
def test_a_failing_call_is_an_error_and_the_next_attempt_works(be, form):
    for kind in kinds(be):
        for at in range(200):
            stator.testing.inject(be, fail_at=at)
            work = done = None
            try:
                work = Work(be, kind)
                done = form(work.sequence)
            except StatorError:
                pass
            finally:
                calls = stator.testing.lift(be)
            if done is not None:
                work.assert_done(done if isinstance(done, list) else None)
            elif work is not None:
                done = None
                form(work.sequence)  # the same one, whose guards have been lifted
                work.assert_done(FORMS["run"](work.sequence))
            del work, done
            gc.collect()
            be.synchronize()
            assert not [r for r in be.resources() if r["kind"] in ("buffer", "event", "pinned", "graph")]
            if calls <= at:
                break
        assert at > 10


def test_threads_run_sequences_of_their_own(be):
    works = [Work(be, stream=be.stream(i)) for i in range(3)]
    be.synchronize()
    threads = [threading.Thread(target=lambda w=w: [w.sequence.run() for _ in range(5)]) for w in works]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for w in works:
        w.assert_done()


def test_sequences_and_futures_that_are_dropped_leave_nothing(be):
    work = Work(be)
    work.sequence.submit()
    assert repr(work.sequence) == ("<stator.execution.LaunchSequence of 2 uploads, 1 steps, 3 times 1 steps, 2 reads>")
    while InFlight.of(be)._runs:
        time.sleep(0.001)
