"""Functions of Python that streams call in their order."""

import gc
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest

import stator
from stator.errors import BackendClosedError, CudaError, DTypeError, OutOfMemoryError, UnsupportedError


class Unraisable:
    """What sys.unraisablehook is given."""

    def __init__(self, monkeypatch):
        self.seen = []
        monkeypatch.setattr(sys, "unraisablehook", lambda args: self.seen.append((args.object, args.exc_type)))


def test_a_callback_runs_between_the_work_before_and_after_it(be):
    out = np.empty(1000)
    seen = []
    with be.stream(1) as stream:
        x = be.zeros(1000) + 1
        stream.add_callback(lambda: seen.append("first"))
        be.stream(2).wait(stream.record())
    be.stream(2).add_callback(lambda: seen.append("second"))
    with be.stream(2):
        (x + 1).to_numpy(out=out)
    assert seen == ["first", "second"] and (out == 2).all()


def test_later_work_waits_until_the_callback_has_returned(be):
    go = threading.Event()
    releasing = threading.Timer(0.05, go.set)
    releasing.start()
    with be.stream(1) as stream:
        stream.add_callback(go.wait)
        y = be.ones(1000) + 1
    assert not stream.done() or go.is_set()
    assert (y.to_numpy() == 2).all() and go.is_set()
    releasing.join()


def test_on_cpu_a_callback_runs_on_no_thread_that_waits(cpu):
    """In the main thread, what the handler of a signal raises would end it."""
    threads = []
    for _ in range(20):
        with cpu.stream(1) as stream:
            _ = cpu.zeros(200_000) + 1
            stream.add_callback(lambda: threads.append(threading.get_ident()))
            stream.synchronize()
    assert len(threads) == 20 and threading.get_ident() not in threads


def test_a_callback_is_released_when_it_has_run(be):
    class Function:
        def __call__(self):
            pass

    function = Function()
    gone = weakref.ref(function)
    be.stream(1).add_callback(function)
    del function
    be.stream(1).synchronize()
    gc.collect()
    assert gone() is None


def test_what_a_callback_raises_goes_to_the_hook_and_the_stream_goes_on(be, monkeypatch):
    unraisable = Unraisable(monkeypatch)

    def fails():
        raise KeyError("planned")

    def leaves():
        sys.exit(3)

    with be.stream(1) as stream:
        stream.add_callback(fails)
        stream.add_callback(leaves)
        y = be.ones(3) + 1
    assert y.tolist() == [2, 2, 2]
    assert unraisable.seen == [(fails, KeyError), (leaves, SystemExit)]


CALLS = {
    "op": lambda be, x, stream: x + 1,
    "new": lambda be, x, stream: be.zeros(3),
    "read": lambda be, x, stream: x.to_numpy(),
    "write": lambda be, x, stream: x.copy_from(bytes(24)),
    "synchronize": lambda be, x, stream: stream.synchronize(),
    "wait for all": lambda be, x, stream: be.synchronize(),
    "callback": lambda be, x, stream: stream.add_callback(print),
    "record": lambda be, x, stream: stream.record(),
    "close": lambda be, x, stream: be.close(),
    "open": lambda be, x, stream: stator.Backend("cpu"),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_callback_that_calls_stator_is_told(be, name):
    x, stream, seen = be.ones(3), be.stream(1), []

    def call():
        try:
            CALLS[name](be, x, stream)
        except UnsupportedError as error:
            seen.append(error.cause)

    stream.add_callback(call)
    stream.synchronize()
    assert len(seen) == 1 and "callback" in seen[0]
    assert (x + 1).tolist() == [2, 2, 2]


def test_objects_of_stator_that_end_in_a_callback_are_released_later(be, device):
    x = [be.ones(1000), stator.Backend(device)]
    x.append(x[1].ones(3))
    be.stream(1).add_callback(x.clear)
    be.stream(1).synchronize()
    assert not x
    assert not [r for r in be.resources() if r["kind"] == "buffer"]


def test_close_waits_for_callbacks(device):
    be, seen = stator.Backend(device), []
    with be.stream(1) as stream:
        _ = be.zeros(1000) + 1
        for i in range(3):
            stream.add_callback(lambda i=i: seen.append(i))
    be.close()
    assert seen == [0, 1, 2]
    with pytest.raises(BackendClosedError):
        stream.add_callback(print)


def test_a_backend_that_is_dropped_stays_until_its_callbacks_have_run(be, device):
    go, seen = threading.Event(), []
    other = stator.Backend(device)
    stream = other.stream(1)
    threading.Timer(0.05, go.set).start()
    stream.add_callback(go.wait)
    stream.add_callback(lambda: seen.append(1))
    last = stream.record()
    del other, stream
    (be.ones(3) + 1).tolist()  # releases what was dropped
    last.synchronize()
    assert seen == [1]


BRIEF = """
import sys, threading, stator
device = sys.argv[1]
be, other, cpu = stator.Backend(device), stator.Backend(device), stator.Backend("cpu")
called, go, x = threading.Event(), threading.Event(), cpu.ones(3)
be.stream(1).add_callback(lambda: called.set() or go.wait())
waiting = threading.Thread(target=be.stream(1).synchronize)
waiting.start()
called.wait()
threading.Timer(0.3, go.set).start()
y = other.ones(1000) + 1
del y, other
print(cpu.asarray(x + 1).tolist())
waiting.join()
"""


def test_an_op_that_releases_a_backend_lets_a_callback_have_the_interpreter(cuda, device):
    """The end of the other backend waits for the device, and that for the callback."""
    command = [sys.executable, "-c", BRIEF, device]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.stdout == "[2.0, 2.0, 2.0]\n" and not done.stderr


def test_callbacks_of_a_device_that_failed_are_dropped(device):
    if device != "cpu":
        pytest.skip("a fault that is injected")
    go, seen = threading.Event(), []
    called = weakref.ref(dropped := lambda: seen.append(1))
    with stator.Backend(device) as be, be.stream(1) as stream:
        stream.add_callback(go.wait)
        stator.testing.fault_next_launch(be)
        x = be.zeros(100_000) + 1
        stream.add_callback(dropped)
        go.set()
        with pytest.raises(CudaError, match="injected fault"):
            x.to_numpy()
        del dropped, x
    stator.ones(1)
    gc.collect()
    assert not seen and called() is None


@pytest.mark.parametrize("function", [None, 3, "name"])
def test_what_cannot_be_called_is_refused(be, function):
    with pytest.raises(DTypeError, match=r"Stream\.add_callback.*function without arguments"):
        be.stream(1).add_callback(function)


def test_a_call_that_fails_calls_and_keeps_nothing(be):
    seen, stream = [], be.stream(1)
    for at in range(20):
        function = lambda at=at: seen.append(at)  # noqa: E731  (a weak reference to each)
        gone = weakref.ref(function)
        stator.testing.inject(be, fail_at=at)
        try:
            stream.add_callback(function)
            failed = False
        except (CudaError, OutOfMemoryError):
            failed = True
        finally:
            count = stator.testing.lift(be)
        del function
        stream.synchronize()
        be.resources()
        assert gone() is None
        if count <= at:
            break
    assert at == 1 and not failed and seen == [1]
