"""Ctrl-C at any moment: what was begun is undone, and the next call works."""

import contextlib
import dis
import functools
import gc
import os
import sys
import time
from pathlib import Path

import pytest

import stator
from stator import _backend
from stator.errors import CaptureError
from stator.monitor import ResourceLimits
from stator.programs._in_flight import InFlight

OURS = f"{Path(stator.__file__).parent}{os.sep}", contextlib.__file__
POINTS = 120  # of each block, at most


# After these instructions Python looks for signals. A block that `with` begins and ends has none at its borders.
LOOKS = ("RESUME", "CALL", "CALL_KW", "CALL_FUNCTION_EX", "JUMP_BACKWARD")


@functools.cache
def handlers(code):
    """The offsets at which the code goes on after errors, each for a range of instructions."""
    return dis.Bytecode(code).exception_entries


def handler_of(code, instruction):
    return next((e.target for e in handlers(code) if e.start <= instruction < e.end), None)


def in_destructor(frame):
    """Whether Python would report an exception that is raised there, and go on."""
    while frame is not None and frame.f_code.co_name != "__del__":
        frame = frame.f_back
    return frame is not None


class Interrupter:
    """Raises KeyboardInterrupt at one of the calls where Python code of stator's looks for signals. at=0: counts them.

    It comes before the instruction that follows, which therefore has to be in the same `try`.
    """

    def __init__(self, at):
        self.at, self.count = at, 0
        self.last = {}

    def enter(self, frame, event, argument):
        if not frame.f_code.co_filename.startswith(OURS) or in_destructor(frame):
            return None
        frame.f_trace_lines, frame.f_trace_opcodes = False, True
        self.last.pop(id(frame), None)
        return self.step

    def step(self, frame, event, argument):
        if event == "opcode":
            code, now = frame.f_code, frame.f_lasti
            before = self.last.get(id(frame))
            self.last[id(frame)] = now
            looks = before is not None and dis.opname[code.co_code[before]] in LOOKS
            if looks and handler_of(code, before) == handler_of(code, now):
                self.count += 1
                if self.count == self.at:
                    raise KeyboardInterrupt
        return self.step

    def run(self, work, *args):
        before = sys.gettrace()
        sys.settrace(self.enter)
        try:
            work(*args)
        finally:
            sys.settrace(before)


def capture(be, x, folder):
    with be.capture() as graph:
        stator.exp(x)
    graph.launch()


def capture_for_a_file(be, x, folder):
    with be.capture(record=True) as graph:
        y = x * 2
    graph.save(folder / "saved.graph", inputs=[x], outputs=[y])


def begin_and_end(be, x, folder):
    try:
        be.graphs.begin_capture(1)
        be.graphs.end_capture()
    except KeyboardInterrupt:
        with contextlib.suppress(CaptureError):
            be.graphs.end_capture()
        raise


def function(be, x, folder):
    f = be.graph(lambda x: (x * 2 - 1, x[:1]))
    for _ in range(3):
        f(x)


def draws(be, x, folder):
    be.graph(lambda x: x + be.random.uniform(size=3))(x)


def loop(be, x, folder):
    be.graphs.while_loop(lambda c: stator.sum(c) < 50, lambda c: c * 3, x, limit=9)


def branch(be, x, folder):
    be.graphs.cond(stator.sum(x) > 0, lambda x: x, lambda x: -x, x)


def save(be, x, folder):
    be.graph(lambda x: x * 2).save(folder / "saved.graph", x)


def load(be, x, folder):
    be.graphs.load(folder / "kept.graph")(x)


def sequence_of(be, x):
    def step(y):
        y += 1

    y = be.zeros(3)
    return (
        be.programs.sequence()
        .upload(y, x.to_numpy())
        .prefix((step, y))
        .repeat(2, (step, y))
        .read(y, bytearray(y.nbytes))
    )


def run(be, x, folder):
    sequence_of(be, x).run()


def submit(be, x, folder):
    sequence_of(be, x).submit().result()


def scope(be, x, folder):
    with be.scoped(budget=2**20) as scope:
        scope.keep(x + 1)


def buffer(be, x, folder):
    be.memory.create_scoped_buffer(stator.memory.BufferDescriptor(64)).close()


def profile(be, x, folder):
    with be.telemetry.profile(folder / "trace.json"):
        stator.exp(x)


def measure(be, x, folder):
    with be.telemetry.measure():
        stator.exp(x)


def host_copies(be, x, folder):
    with be.forbid_host_copies():
        stator.exp(x)


def current(be, x, folder):
    with be.use(), be.stream(1), stator.printoptions(precision=2):
        stator.exp(x)


def wait_reports(be, x, folder):
    with be.telemetry.sync_debug("error"):
        stator.exp(x)


BLOCKS = (
    *(capture, capture_for_a_file, begin_and_end, function, draws, loop, branch, save, load, run, submit, scope),
    *(buffer, profile, measure, host_copies, wait_reports, current),
)


def state(be):
    """What a block may have changed, and must have changed back."""
    return (
        be.graphs.is_capturing,
        _backend.current_scopes(),
        _backend.current_backends(),
        be.current_stream.index,
        be.telemetry.enabled,
        stator.get_printoptions(),
        len(InFlight.of(be)._runs),
        len([r for r in be.resources() if r["kind"] in ("buffer", "event", "graph", "pinned")]),
    )


def wait_for(condition):
    """What a run that was submitted holds is dropped by another thread, a moment after its end."""
    for _ in range(10_000):
        gc.collect()
        if condition():
            return
        time.sleep(0.01)


# A file that was opened and not yet entered is closed by Python, which says so.
@pytest.mark.filterwarnings("ignore:Exception ignored in. <_io:pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.__name__)
def test_an_interrupt_at_any_instruction_undoes_what_was_begun(be, tmp_path, block):
    x = be.ones(3)
    be.graph(lambda x: x * 2).save(tmp_path / "kept.graph", x)
    block(be, x, tmp_path)  # what only a first call does, such as imports
    counter = Interrupter(0)
    counter.run(block, be, x, tmp_path)
    gc.collect()
    before, files = state(be), {*tmp_path.iterdir()}
    step = -(-counter.count // POINTS)
    for at in range(1, counter.count + 1, step):
        with pytest.raises(KeyboardInterrupt):
            Interrupter(at).run(block, be, x, tmp_path)
        wait_for(lambda: state(be) == before)
        assert state(be) == before, at
        assert {*tmp_path.iterdir()} == files, at
        with be.capture() as graph:
            y = x + 1
        graph.launch()
        assert y.tolist() == [2, 2, 2], at
        del graph, y
    block(be, x, tmp_path)
    wait_for(lambda: state(be) == before)
    assert state(be) == before


def test_an_interrupt_sets_all_resource_limits_or_none(be):
    before, wanted = be.telemetry.resource_limits(), ResourceLimits(max_memory=2**40, max_kernels=7)
    counter = Interrupter(0)
    counter.run(be.telemetry.set_resource_limits, wanted)
    assert counter.count > 2
    for at in range(1, counter.count + 1):
        be.telemetry.set_resource_limits(before)
        with pytest.raises(KeyboardInterrupt):
            Interrupter(at).run(be.telemetry.set_resource_limits, wanted)
        assert be.telemetry.resource_limits() in (before, wanted), at


def interrupted(*_):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    "call",
    [
        lambda be, x: be.graph(interrupted)(x),
        lambda be, x: be.graphs.while_loop(interrupted, lambda c: c, x),
        lambda be, x: be.graphs.while_loop(lambda c: stator.sum(c) < 9, interrupted, x),
        lambda be, x: be.graphs.cond(stator.sum(x) > 0, interrupted, lambda x: x, x),
        lambda be, x: be.graphs.cond(stator.sum(x) > 0, lambda x: x, interrupted, x),
        lambda be, x: be.programs.sequence().repeat(2, (interrupted, x)).run(),
        lambda be, x: be.programs.sequence().prefix((interrupted, x)).run(),
    ],
)
def test_an_interrupt_in_the_functions_of_a_user_undoes_what_was_begun(be, call):
    x = be.ones(3)
    before = state(be)
    with pytest.raises(KeyboardInterrupt):
        call(be, x)
    gc.collect()
    assert state(be) == before
    with be.capture() as graph:
        y = x + 1
    graph.launch()
    assert y.tolist() == [2, 2, 2]
