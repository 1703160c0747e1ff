"""Functions that return as many objects as they are asked for: absurd counts are errors, and signals get through."""

import gc
import signal
import subprocess
import sys

import pytest

import stator
from stator.errors import OutOfMemoryError

MANY = 10**7  # some seconds and gigabytes


def calls(be, n):
    """name -> function that makes about n objects."""
    x = be.ones((3, 4))
    long = stator.broadcast_to(be.ones((1,)), (n,))
    return {
        "split": lambda: stator.split(x, n),
        "split a long axis": lambda: stator.split(long, n),
        "unstack": lambda: stator.unstack(long),
        "spawn": lambda: be.random.spawn(n),
        "iterate": lambda: list(long),
    }


@pytest.mark.parametrize("name", ["split", "split a long axis", "unstack", "spawn"])
def test_more_objects_than_any_memory_holds(be, name):
    with pytest.raises(OutOfMemoryError, match=f"{2**40} results"):
        calls(be, 2**40)[name]()
    assert len(calls(be, 5)[name]()) == 5


def test_an_array_for_the_host_that_no_memory_holds(be):
    with pytest.raises(OutOfMemoryError, match=r"Host memory|requested 8\.0 TiB"):
        stator.broadcast_to(be.ones((1,)), (2**40,)).to_numpy()


LIMITED = f"""
import resource, sys
import stator
sys.path.insert(0, {__file__.rpartition("/")[0]!r})
from test_absurd_counts import MANY, calls
with stator.Backend("cpu") as be:
    work = calls(be, MANY)
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + (200 << 20), resource.getrlimit(resource.RLIMIT_AS)[1]))
    for name in ("split", "unstack", "spawn"):
        for _ in range(2):  # what the first one made is free again
            try:
                work[name]()
            except stator.errors.OutOfMemoryError as error:
                print(name, error.op, "Host memory" in str(error))
    del work
    assert len(stator.split(be.ones((3,)), 3)) == 3
    assert not [r for r in be.resources() if r["kind"] == "buffer"]
"""


def test_memory_that_ends_on_the_way():
    done = subprocess.run([sys.executable, "-c", LIMITED], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    seen = done.stdout.splitlines()
    assert seen == [f"{name} {op} True" for name, op in (("split",) * 2, ("unstack",) * 2, ("spawn", "random.spawn"))
                    for _ in range(2)]  # fmt: skip


@pytest.mark.parametrize("name", ["split", "unstack", "spawn", "iterate"])
def test_a_signal_ends_a_long_loop(be, name):
    class Interrupted(Exception):
        pass

    def interrupt(*_):
        raise Interrupted(sys.getallocatedblocks())

    call = calls(be, MANY)[name]
    gc.disable()  # an exception of a handler that runs within a callback of the collector would be dropped
    before = signal.signal(signal.SIGVTALRM, interrupt)
    try:
        blocks = sys.getallocatedblocks()
        with pytest.raises(Interrupted) as caught:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0.1)  # of the process's own work, so that the call has begun
            call()
        made = caught.value.args[0] - blocks
        assert made < MANY  # without the check the handler runs when all objects are made
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
        gc.enable()
