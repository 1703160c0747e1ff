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
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{interrupts}\n", "")
