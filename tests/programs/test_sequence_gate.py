"""Sequences: what the gate before every run refuses, what is in flight, and failures, in each form."""

import gc
import threading
import time

import numpy as np
import pytest
from sequence_forms import FORMS, SOURCE, N, Work, add, kinds, twice, untouched

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
from stator.programs._in_flight import InFlight

form = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)


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
            be.programs.sequence(stream=side).upload(work.x[3:5], np.zeros(2, "float32")),
            be.programs.sequence(stream=side).repeat(1, (twice, work.x[::7])),
            be.programs.sequence(stream=side).read(work.x, out),
            work.sequence,
        ):
            with pytest.raises(InFlightError, match=r"float32 of shape .* is in flight") as seen:
                other.run()
            assert isinstance(seen.value, RuntimeError) and seen.value.op == "LaunchSequence.run"
        z = be.zeros(N, dtype="float32")
        be.programs.sequence().read(z, work.out)  # is not a run
        with pytest.raises(InFlightError, match=r"The output of the read 0 .* with the output of the read 0"):
            be.programs.sequence(stream=side).read(z, work.out).run()
        with pytest.raises(InFlightError, match="The static parameter 0"):
            be.programs.sequence(stream=side).static(work.y, np.zeros(N, "float32")).run()
        del other, z
    finally:
        end()
    work.assert_done()
    work.sequence.run()


def test_two_sequences_over_one_buffer_take_turns(be):
    x, out = be.zeros(4), np.zeros(4)
    first = be.programs.sequence().upload(x, np.ones(4)).repeat(2, (twice, x)).read(x, out)
    second = be.programs.sequence().repeat(3, (add, x, be.ones(4))).read(x, out)
    first.submit().result()
    second.submit().result()
    assert out.tolist() == [7] * 4


def test_disjoint_parts_of_an_array_may_be_in_flight_together(be):
    x = be.zeros(4)
    outs = np.zeros(2), np.zeros(2)
    futures = [
        be.programs.sequence().upload(part, np.ones(2)).repeat(n, (twice, part)).read(part, out).submit()
        for part, n, out in zip((x[:2], x[2:]), (1, 2), outs, strict=True)
    ]
    assert [f.result()[0].tolist() for f in futures] == [[2, 2], [4, 4]]


def test_arrays_of_no_repetition_are_not_looked_at(be, monkeypatch):
    work, end = submitted(be, monkeypatch)
    try:
        with be.stream(1) as side:
            z = be.zeros(2)  # where the run uses it, so that both are in order
        be.programs.sequence(stream=side).repeat(0, (twice, work.x)).prefix((add, z, z)).run()
    finally:
        end()
    del z


# The gate.


@form
def test_what_is_refused_has_touched_nothing(be, form):
    work = Work(be)
    with be.forbid_host_copies(), pytest.raises(HostCopyError):
        form(work.sequence)
    work.out.flags.writeable = False
    if form is not FORMS["run_into"]:
        with pytest.raises(InvalidValueError, match=r"The read 0: .*read-only"):
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
        be.programs.sequence()


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
    sequence = be.programs.sequence()
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
                describe(be.programs.sequence())
        with pytest.raises(BackendMismatchError, match=r"Backend\.programs\.sequence"):
            be.programs.sequence(stream=other.stream(0))


def test_read_only_arrays_are_not_uploaded_to(be):
    host = np.zeros(4)
    host.flags.writeable = False
    x = stator.from_dlpack(host, device=be) if be.device.type == "cpu" else None
    if x is None:
        return
    with pytest.raises(InvalidValueError, match="read-only"):
        be.programs.sequence().upload(x, np.zeros(4))


# Failures.


def test_a_function_that_returns_a_value_is_refused_before_the_uploads(be):
    x = be.zeros(2)
    sequence = be.programs.sequence().upload(x, np.ones(2)).repeat(2, (lambda x: x + 1, x))
    with pytest.raises(DTypeError, match="Step 0 of the repeated part returned a value"):
        sequence.run()
    assert untouched(x) and not be.graphs.is_capturing


def test_an_exception_of_a_step_ends_the_run(be):
    x, out = be.zeros(2), np.zeros(2)

    def fail(x):
        raise ZeroDivisionError

    for describe in (lambda s: s.prefix((fail, x)), lambda s: s.repeat(2, (fail, x))):
        with pytest.raises(ZeroDivisionError):
            describe(be.programs.sequence().upload(x, np.ones(2)).read(x, out)).submit()
        assert be.programs.sequence().upload(x, np.full(2, 3.0)).read(x, out).run()[0].tolist() == [3, 3]


@form
def test_a_fault_of_a_kernel_is_raised_by_the_run(be, form):
    x, at, out = be.zeros(3), be.asarray([0, 7]), np.zeros(3)

    def take(x, at):
        x[:2] = stator.take(x, at)

    sequence = be.programs.sequence().upload(x, np.ones(3)).repeat(1, (take, x, at)).read(x, out)
    sequence.read(at, bytearray(8), 0, 8)
    into = [np.zeros(3), bytearray(8)]
    with pytest.raises(OutOfRangeError):
        sequence.run_into(into) if form is FORMS["run_into"] else form(sequence)
    be.synchronize()
    assert be.programs.sequence().upload(x, np.ones(3)).read(x, out).run()[0].tolist() == [1, 1, 1]


@pytest.mark.parametrize("form", [FORMS["run"], FORMS["submit"], FORMS["run_borrowed"]])
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
    assert repr(work.sequence) == ("<stator.programs.LaunchSequence of 2 uploads, 1 steps, 3 times 1 steps, 2 reads>")
    while InFlight.of(be)._runs:
        time.sleep(0.001)
