"""The life of backends: opened, closed, opened again, several at once, in asyncio; and those that were not closed."""

import asyncio
import gc
import subprocess
import sys
import threading
import warnings

import pytest

import stator
from stator.backends.traits import adapt
from stator.errors import BackendClosedError, BackendMismatchError, InvalidValueError


def test_a_closed_backend_is_opened_again_as_it_was(device):
    be = stator.Backend(device, deterministic=True, memory_limit=1 << 24)
    x = be.ones(3)
    be.close()
    be.close()
    assert (be.closed, adapt(be).is_initialized()) == (True, False)
    with pytest.raises(BackendClosedError, match="reopen"):
        adapt(be).initialize()
    with be.reopen() as again:
        assert again.options == be.options
        assert again.device_name == be.device_name
        assert again.ones(2).tolist() == [1.0, 1.0]
        with pytest.raises(BackendClosedError):
            x.tolist()
    assert be.closed


def test_an_open_backend_is_not_reopened(be):
    adapt(be).initialize()
    assert adapt(be).is_initialized()
    with pytest.raises(InvalidValueError, match="reopen"):
        be.reopen()


def test_shutdown_is_close(device):
    be = stator.Backend(device)
    adapt(be).shutdown()
    assert be.closed


def test_backends_of_one_device_are_apart(device):
    with stator.Backend(device) as a, stator.Backend(device) as b:
        x, y = a.ones(2), b.ones(2)
        with pytest.raises(BackendMismatchError):
            stator.add(x, y)
        a.close()
        assert (y + 1).tolist() == [2.0, 2.0]


def test_async_with_makes_it_current_and_closes_it_on_another_thread(device):
    on = []

    async def work():
        async with stator.Backend(device) as be:
            assert stator.default_backend() is be
            await be.current_stream
            be.scopes.create_resource(lambda found: 0, lambda x: on.append(threading.get_ident())).with_resource(
                kept.append
            )
            holders.append(be.scopes.create_resource(lambda found: 0, lambda x: on.append(threading.get_ident())))
        assert stator.default_backend() is not be
        return be

    kept, holders = [], []
    assert asyncio.run(work()).closed
    assert len(on) == 2
    assert on[1] != threading.get_ident()


def test_async_with_closes_where_the_block_raises(device):
    async def work():
        async with stator.Backend(device) as be:
            found.append(be)
            raise KeyError

    found = []
    with pytest.raises(KeyError):
        asyncio.run(work())
    assert found[0].closed


def test_collecting_an_unclosed_backend_with_live_resources_warns_with_counts(device):
    be = stator.Backend(device)
    cycle = [be, be.ones(3), be.ones(4), be.current_stream.record()]
    cycle.append(cycle)
    del be
    with pytest.warns(ResourceWarning, match="2 of kind buffer, 1 of kind event$"):
        del cycle
        gc.collect()


@pytest.mark.parametrize("end", ["closed", "empty", "arrays go first"])
def test_other_backends_are_collected_without_a_word(device, end):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        be = stator.Backend(device)
        x = be.ones(3) + 1
        cycle = [be, x]
        if end != "closed":
            cycle.pop()
            if end == "empty":
                x = None
        else:
            be.close()
        cycle.append(cycle)
        del be, cycle
        gc.collect()
        del x
        gc.collect()


EXIT = """
import stator
be = stator.Backend("cpu")
x = be.ones(3)
cycle = [be, x]
cycle.append(cycle)
y = stator.ones(3, device="cpu")
class Late:
    def __del__(self): print(be.closed)
late = Late()
"""


def test_nothing_is_said_at_the_end_of_the_process():
    command = [sys.executable, "-W", "error", "-X", "dev", "-c", EXIT]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
