"""Sequences: uploads, a prefix, repetitions and reads with one fence, in each form, as the plain loop does them."""

import asyncio
import threading

import numpy as np
import pytest
from sequence_forms import FORMS, SOURCE, N, Work, add, kinds, steps, twice, untouched

import stator
from stator.errors import (
    CaptureError,
    InvalidValueError,
)
from stator.programs import Step

form = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)


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
    sequence = cuda.programs.sequence(grid=2, block=64).read(marks, out)
    sequence.prefix((kernel, 5, 32, marks), Step(kernel, marks)).repeat(1, (kernel, (1, 1), None, marks)).run()
    assert out.tolist() == [64, 64, 32, 32, 32, 0]
    with pytest.raises(InvalidValueError, match="Step 0 of the prefix: The launch has no grid"):
        cuda.programs.sequence().prefix(Step(kernel, marks))
    alone = cuda.programs.sequence().prefix(Step(kernel, marks, grid=6)).read(marks, out)
    alone.run()
    assert out.tolist() == [kernel.suggest_block()] * 6


def test_a_grid_from_the_device_is_launched_without_a_graph(cuda):
    marks, out = cuda.zeros(3, dtype="int32"), np.zeros(3, "int32")
    grid = cuda.full(1, 2, dtype="int32")
    sequence = cuda.programs.sequence().repeat(2, (cuda.compile(SOURCE, "mark"), grid, 32, marks)).read(marks, out)
    sequence.run()
    assert out.tolist() == [32, 32, 0] and sequence.graph is None
    assert "Kernel.launch" in str(sequence.capture_error)


def calls_of(be, work, n):
    """Those that enqueue work. What the pool does for the staging memory depends on when earlier copies have ended."""
    work.sequence.repeat(n).run()

    def count():
        calls = be.statistics()["calls"]
        return sum(calls[name] for name in ("launch", "library", "graph_launch", "copy", "fill"))

    before = count()
    work.sequence.run()
    return count() - before


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
    sequence = be.programs.sequence().upload(x, np.zeros(3)).repeat(4, (step, x)).read(x, out)
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
    sequence = be.programs.sequence().upload(x, np.array([1.0, 2.0])).repeat(3, (step, x)).read(x, out)
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
    be.programs.sequence().repeat(8, (step, x)).read(x, out).run()
    assert len(set(out.tolist())) == 8


def test_static_parameters_are_uploaded_once_until_they_change(be):
    table, x, out = be.zeros(4), be.zeros(4), np.zeros(4)
    host = np.arange(4.0)
    sequence = be.programs.sequence().static(table, host).upload(x, np.ones(4)).repeat(2, (add, x, table)).read(x, out)
    sequence.run()
    before = be.statistics()["h2d_bytes"]
    host += 1
    sequence.run()
    assert out.tolist() == [1, 3, 5, 7]
    assert be.statistics()["h2d_bytes"] - before == x.nbytes
    sequence.static(table, host).run()
    assert out.tolist() == [3, 5, 7, 9]
    sequence.static(table, np.zeros(1), 24).run()  # another offset
    assert out.tolist() == [3, 5, 7, 1]


def test_a_static_parameter_is_uploaded_again_where_the_run_was_refused(be):
    table, out = be.zeros(2), np.zeros(2)
    sequence = be.programs.sequence().static(table, np.ones(2)).read(table, out)
    with pytest.raises(InvalidValueError):
        sequence.run_into([np.zeros(3)])
    assert untouched(table)
    sequence.run()
    assert out.tolist() == [1, 1]


def test_uploads_may_change_as_soon_as_submit_returns(be):
    x, out = be.zeros(1 << 20, dtype="float64"), np.zeros(1 << 20)
    host = np.arange(1 << 20, dtype="float64")
    future = be.programs.sequence().upload(x, host).repeat(3, (twice, x)).read(x, out).submit()
    host[:] = -1
    future.result()
    np.testing.assert_array_equal(out, 8 * np.arange(1 << 20, dtype="float64"))


def test_work_enqueued_after_submit_does_not_change_what_is_read(be):
    x, out = be.zeros(1000), np.zeros(1000)
    future = be.programs.sequence().upload(x, np.ones(1000)).repeat(2, (twice, x)).read(x, out).submit()
    x += 5
    assert future.result()[0] is out and future.done() and out.tolist() == [4] * 1000
    assert x.tolist() == [9] * 1000


def test_the_event_loop_goes_on_while_a_run_is_awaited(cpu):
    gate, work = threading.Event(), Work(cpu)
    cpu.current_stream.add_callback(gate.wait)  # the run's work comes after it

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
        sequence = be.programs.sequence().upload(x, np.ones(1000)).read(x, out)
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
    sequence = cuda.programs.sequence()
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
        assert times.device_ns > 0


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
    assert be.programs.sequence().run() == []
    assert be.programs.sequence().repeat(5).submit().result() == []
