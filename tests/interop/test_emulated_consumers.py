"""Exported memory of an emulated device is not used again before the work of its consumer's stream.

Nothing runs on an emulated device before a thread waits for it, so that a wait that is missing shows each time.
"""

import emulated
import pytest
import requirements

pytestmark = [requirements.cuda_target, pytest.mark.emulates]

LEGACY = 1
PRELUDE = """
import emulated, numpy as np, stator
library = emulated.Consumer()
be, other = stator.Backend("cuda"), stator.Backend("cuda")
be.zeros(1)  # its stream is the device's first, which runs before others that nothing orders
stream = library.new_stream()
values = list(range(1000))

def exported():
    with be.use():
        return stator.asarray(np.arange(1000.0))

def use_again(be):
    "Takes the memory that was freed last, and writes to it."
    y = be.full((1000,), -1.0, dtype=stator.float64)
    be.synchronize()
    return y.data_ptr
"""


def passes(program, emulate="h200:threads=1"):
    assert emulated.run(PRELUDE + program + "\nprint('passed')", emulate) == "passed\n"


@pytest.mark.parametrize("asked", ["stream", "1", "2", "None", "-1"])
def test_reuse_waits_for_the_stream_of_a_dlpack_consumer(asked):
    passes(f"""
x = exported()
address = x.data_ptr
capsule = x.__dlpack__(stream={asked})
library.read_later({asked if asked not in ("None", "-1") else LEGACY}, address, 1000)
del x, capsule
assert use_again(be) == address
library.synchronize({asked if asked not in ("None", "-1") else LEGACY})
assert library.seen == values
""")


def test_reuse_waits_for_the_legacy_stream_after_the_array_interface():
    passes(f"""
x = exported()
address = x.__cuda_array_interface__["data"][0]
library.read_later({LEGACY}, address, 1000)
del x
assert use_again(be) == address
library.synchronize({LEGACY})
assert library.seen == values
""")


def test_reuse_waits_on_whatever_stream_it_happens():
    passes("""
x = exported()
address = x.data_ptr
capsule = x.__dlpack__(stream=stream)
library.read_later(stream, address, 1000)
del x, capsule
with be.use(), be.stream(1):
    assert use_again(be) == address
library.synchronize(stream)
assert library.seen == values
""")


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_reuse_waits_for_every_consumer(seed):
    passes(
        """
x = exported()
address = x.data_ptr
streams = [stream, 1, stream]
capsules = [x.__dlpack__(stream=s) for s in streams]
for s in streams:
    library.read_later(s, address, 1000)
    capsules.pop()
del x
assert use_again(be) == address
for s in streams:
    library.synchronize(s)
assert library.seen == values * 3
""",
        f"h200:threads=1:seed={seed}",
    )


def test_one_event_per_stream_is_kept_for_an_array_that_is_exported_often():
    passes("""
x = exported()
for _ in range(100):
    x.__dlpack__(stream=stream)
del x
be.synchronize()
calls = be.statistics()["calls"]
use_again(be)
assert be.statistics()["calls"]["stream_wait"] - calls["stream_wait"] == 1
""")


def test_work_of_a_destroyed_stream_is_waited_for():
    passes("""
x = exported()
address = x.data_ptr
capsule = x.__dlpack__(stream=stream)
library.read_later(stream, address, 1000)
library.destroy_stream(stream)
del x, capsule
assert use_again(be) == address
library.synchronize_device()
assert library.seen == values
""")


def test_memory_of_a_closed_backend_is_freed_after_the_consumer():
    passes("""
x = exported()
capsule = x.__dlpack__(stream=stream)
library.read_later(stream, x.data_ptr, 1000)
be.close()
del x, capsule
library.synchronize_device()
assert library.seen == values
""")


@pytest.mark.parametrize("way", ["memory.empty_cache", "close"])
def test_the_cache_is_freed_after_the_consumer(way):
    passes(f"""
x = exported()
capsule = x.__dlpack__(stream=stream)
library.read_later(stream, x.data_ptr, 1000)
del x, capsule
be.{way}()
library.synchronize_device()
assert library.seen == values
""")


def test_an_array_that_outlives_its_consumer_is_freed_after_it_by_close():
    passes("""
x = exported()
capsule = x.__dlpack__(stream=stream)
library.read_later(stream, x.data_ptr, 1000)
del capsule
be.close()
library.synchronize_device()
assert library.seen == values
""")


def test_foreign_memory_goes_back_after_the_consumer():
    passes("""
x = exported()
address = x.data_ptr
y = stator.from_dlpack(x, device=other)  # the other backend lends it on
capsule = y.__dlpack__(stream=stream)
library.read_later(stream, address, 1000)
del x, y, capsule
other.synchronize()
be.resources()  # frees what waits for it
use_again(be)
library.synchronize_device()
assert library.seen == values
""")


def test_a_consumer_may_give_back_on_any_thread():
    passes("""
import threading
x = exported()
address = x.data_ptr
capsules = [x.__dlpack__(stream=stream)]
library.read_later(stream, address, 1000)
del x
thread = threading.Thread(target=capsules.clear)
thread.start()
thread.join()
assert use_again(be) == address
library.synchronize(stream)
assert library.seen == values
""")


def test_the_end_of_the_process_may_come_before_the_consumer():
    passes("""
import atexit
x = exported()
capsules = [x.__dlpack__(stream=stream)]
library.read_later(stream, x.data_ptr, 1000)
keep = capsules
""")


def test_foreign_memory_of_a_closed_backend_goes_back_after_the_consumer():
    passes("""
x = exported()
address = x.data_ptr
y = stator.from_dlpack(x, device=other)
capsule = y.__dlpack__(stream=stream)
del x, y
other.close()
library.read_later(stream, address, 1000)
del capsule
be.resources()
assert use_again(be) == address
library.synchronize_device()
assert library.seen == values
""")


CAPTURED = """
from stator.errors import CaptureError
library.call("stream_begin_capture", ctypes.c_void_p(stream), 2)  # relaxed: the thread may allocate

def goes_on():
    "The capture is valid, and none of stator's streams joined it."
    graph = ctypes.c_void_p()
    library.call("stream_end_capture", ctypes.c_void_p(stream), ctypes.byref(graph))
    be.synchronize()

def refused(call):
    try:
        call()
    except CaptureError as error:
        return str(error)
"""


@pytest.mark.parametrize(
    "exchange",
    [
        "x.__dlpack__(stream=stream)",
        "stator.asarray(Described(x.data_ptr), device=be)",
    ],
)
def test_an_exchange_with_a_stream_in_capture_is_refused_and_the_capture_goes_on(exchange):
    passes(
        "import ctypes"
        + CAPTURED
        + f"""
class Described:
    def __init__(self, address):
        self.__cuda_array_interface__ = {{
            "shape": (3,), "typestr": "<f8", "data": (address, False), "version": 3, "stream": stream}}

x = exported()
text = refused(lambda: {exchange})
assert "captured into a graph" in text and "before the capture begins" in text, text
goes_on()
y = {exchange}
del x, y
be.synchronize()
"""
    )


def test_an_exchange_with_the_legacy_stream_is_refused_while_a_stream_that_waits_for_it_is_in_capture():
    passes(
        "import ctypes\nstream = library.new_stream(blocking=True)"
        + CAPTURED
        + """
x = exported()
assert "captured into a graph" in refused(lambda: x.__dlpack__(stream=1))
x.__dlpack__(stream=-1)
goes_on()
"""
    )


def test_memory_that_is_given_back_in_a_capture_is_not_used_again():
    passes(
        "import ctypes\nx = exported()\naddress = x.data_ptr\ncapsule = x.__dlpack__(stream=stream)"
        + CAPTURED
        + """
del x, capsule
assert use_again(be) != address
goes_on()
assert use_again(be) != address
assert stator.testing.outstanding("cuda")["memory"] > 0
"""
    )
