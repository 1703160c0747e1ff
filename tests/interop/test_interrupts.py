"""Ctrl-C at any moment, also while an error is being raised, ends in KeyboardInterrupt."""

import subprocess
import sys

import pytest

# Every interrupt must come out of the inner loop: none may be lost, and none may take the process with it.
PROGRAM = """
import itertools, os, signal, threading, time
import stator
from stator.errors import StatorError

backend = stator.Backend("cpu")
generator = stator.random.Generator(backend, seed=1)
x = backend.ones((3,))
failing = {calls}
came, expected = 0, {interrupts}

def interrupt(*_):
    global armed
    if armed:
        armed = False
        raise KeyboardInterrupt

def send():
    while came < expected:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.0005)

armed = False
signal.signal(signal.SIGINT, interrupt)
threading.Thread(target=send, daemon=True).start()
while came < expected:
    try:
        armed = True
        for call in itertools.cycle(failing):
            try:
                call()
            except StatorError:
                pass
    except KeyboardInterrupt:
        came += 1
assert float(stator.sum(x)) == 3.0
print(came)
"""
DRAWS = """[
    lambda: generator.spawn(-1), lambda: generator.seed(-1), lambda: generator.uniform(1.0, 0.0),
    lambda: generator.integers(3, 1), lambda: generator.permutation(-1), lambda: generator.choice(2, 3, False),
    lambda: generator.multinomial(-1, [0.5, 0.5]), lambda: stator.nn.dropout(x, 2.0, rng=generator),
]"""
OTHERS = "[lambda: x[7], lambda: x.reshape(2, 2), lambda: stator.matmul(x, backend.ones((2, 2)))]"


@pytest.mark.parametrize(
    ("calls", "interrupts"),
    [("[lambda: generator.spawn(-1)]", 1000), (DRAWS, 500), (OTHERS, 500)],
    ids=["spawn", "draws", "others"],
)
def test_an_interrupt_while_an_error_is_raised_is_a_keyboard_interrupt(calls, interrupts):
    program = PROGRAM.format(calls=calls, interrupts=interrupts)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=600, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{interrupts}\n", "")


REPLAYS = """
class Same:
    def __hash__(self):
        return hash("same")
    def __eq__(self, other):
        return isinstance(other, Same)

replayed = backend.graph(lambda x, values: (x * 2, [x + 1]))
"""
LAUNCHES = "[lambda: replayed(x, {'a': [Same()]}), lambda: replayed(x, (1.5, 'text')), lambda: replayed(x, [7])]"
LATER = """
later = threading.Thread(target=lambda: print(replayed(x, [7])[0].tolist()))
later.start()
later.join(60)
"""


def test_an_interrupt_while_a_graph_is_replayed_leaves_no_lock(tmp_path):
    begin, end = PROGRAM.split("came, expected", 1)
    program = begin.format(calls="[]") + REPLAYS + f"failing = {LAUNCHES}\ncame, expected" + end.format(interrupts=500)
    done = subprocess.run(
        [sys.executable, "-c", program + LATER], capture_output=True, text=True, timeout=600, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "500\n[2.0, 2.0, 2.0]\n", "")


# Ends the call of the main thread within a function of a name, some time after it has begun.
SENDER = """
import os, signal, sys, threading, time

def has_begun(name):
    frame = sys._current_frames()[threading.main_thread().ident]
    while frame is not None and frame.f_code.co_name != name:
        frame = frame.f_back
    return frame is not None

def interrupt(name):
    while not has_begun(name):
        time.sleep(0.001)
    time.sleep(0.1)
    os.kill(os.getpid(), signal.SIGINT)
"""

# A function holds the stream up until all waits were interrupted; one that Ctrl-C does not end is ended by the sender.
WAITING = (
    SENDER
    + """
import stator

be = stator.Backend("cpu")
x = be.ones(1000)
go, late = threading.Event(), threading.Event()
be.stream(0).add_callback(go.wait)
y = x + 1
event = be.stream(0).record()

def send():
    interrupt("<lambda>")
    if not ended.wait(60):
        late.set()
        go.set()

for wait in (lambda: be.synchronize(), lambda: be.stream(0).synchronize(), lambda: event.synchronize(),
             lambda: y.to_numpy(), lambda: y[0].item(), lambda: y.tolist(), lambda: be.close()):
    ended = threading.Event()
    sender = threading.Thread(target=send)
    try:
        sender.start()
        wait()
    except KeyboardInterrupt:
        ended.set()
    assert ended.is_set() and not late.is_set(), wait
    sender.join()
go.set()
assert y.tolist() == [2.0] * 1000
be.close()
"""
)


def run(program, **environment):
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=600, check=False, **environment
    )


def test_an_interrupt_ends_a_wait_and_the_backend_goes_on():
    done = run(WAITING)
    assert (done.returncode, done.stderr) == (0, "")


LONG = (
    SENDER
    + """
import stator

be = stator.Backend("cpu")
w, u = be.ones((64, 64)), be.ones(64)

def for_ever():
    stator.nn.spectral_norm(w, u, n_iterations=2**31)

try:
    threading.Thread(target=interrupt, args=("for_ever",)).start()
    for_ever()
except KeyboardInterrupt:
    print("interrupted", (w + 1).sum().item())
"""
)


def test_an_interrupt_ends_a_call_that_enqueues_for_ever():
    done = run(LONG)
    assert (done.returncode, done.stdout, done.stderr) == (0, "interrupted 8192.0\n", "")


ENDLESS = """
import stator
be = stator.Backend("cpu")
y = be.graphs.while_loop(lambda x: (x > 0).all(), lambda x: x * 1, be.ones(3))
print("ends")
"""


def test_the_end_of_the_process_does_not_wait_for_work_that_nobody_sees():
    done = run(ENDLESS)
    assert (done.returncode, done.stdout, done.stderr) == (0, "ends\n", "")
