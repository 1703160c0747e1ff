"""Two emulated devices in one process: whose arrays are whose, and how they go from one to the other."""

import emulated
import pytest
import requirements

pytestmark = [requirements.cuda_target, pytest.mark.emulates]

PRELUDE = """
import ctypes, emulated, numpy as np, stator
from stator import errors
library = emulated.Consumer()
first, second = stator.Backend("cuda:0"), stator.Backend("cuda:1")
values = np.arange(12, dtype="float32").reshape(3, 4)
x = first.asarray(values)

def refused(call):
    try:
        call()
    except errors.BackendMismatchError as error:
        return str(error)
"""


def passes(program, devices="h200:threads=1,a100:threads=1"):
    done = "\ndel x\nfor be in (first, second):\n    be.synchronize()\n    assert not [r for r in be.resources()\n"
    done += "        if r['kind'] == 'buffer'], be.resources()\n    be.close()\nprint('passed')\n"
    assert emulated.run(PRELUDE + program + done, devices) == "passed\n"


def test_arrays_stay_on_their_device_and_mixing_is_a_typed_error():
    passes("""
y = x + 1
assert (x.device, y.device) == ("cuda:0", "cuda:0")
with second.use():
    assert stator.exp(x).device == "cuda:0"
    z = stator.zeros((3, 4))
    assert z.device == "cuda:1"
assert "backend" in refused(lambda: x + z)
assert "backend" in refused(lambda: stator.matmul(x, z.T))
assert "backend" in refused(lambda: stator.concat([x, z]))
np.testing.assert_array_equal(x.to_numpy(), values)
del y, z
""")


def test_a_copy_goes_from_device_to_device_and_leaves_the_current_one():
    passes("""
library.device = 1
with first.forbid_host_copies():
    y = x.to(second.device)
    z = x[:, ::2].T.to_device("cuda:1")
    back = y.to(first)
    empty = first.zeros((0, 3)).to(second)
assert library.device == 1
assert y.backend is second and z.device == "cuda:1" and back.backend is first
assert first.statistics()["library_calls"] == 2 and first.statistics()["d2h_bytes"] == 0
np.testing.assert_array_equal(y.to_numpy(), values)
np.testing.assert_array_equal(z.to_numpy(), values[:, ::2].T)
np.testing.assert_array_equal(back.to_numpy(), values)
assert library.device == 1
assert (empty.shape, empty.device) == ((0, 3), "cuda:1")
z.backend.close()
del y, z, back, empty
""")


def test_a_copy_waits_for_the_stream_that_wrote_the_array():
    passes("""
first.stream(3).wait(first.stream(0).record())
with first.stream(3):
    y = x * 2
with second.stream(2):
    z = y.to(second)
    w = y[:, ::2].to(second)
np.testing.assert_array_equal(z.to_numpy(), values * 2)
np.testing.assert_array_equal(w.to_numpy(), values[:, ::2] * 2)
del y, z, w
""")


def test_where_the_runtime_refuses_the_copy_goes_through_the_host():
    passes("""
emulator = emulated.library("emulator")
emulator.stator_emulator_api.restype = ctypes.POINTER(ctypes.c_void_p)
table = emulator.stator_emulator_api()
place = 1 + list(library.calls).index("copy_peer")
invalid_value = 1
kind = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p, ctypes.c_int] * 2, ctypes.c_size_t, ctypes.c_void_p)
refuse = kind(lambda *arguments: invalid_value)
table[place] = ctypes.cast(refuse, ctypes.c_void_p).value
y = x.to(second)
table[place] = library.calls["copy_peer"]
assert first.statistics()["d2h_bytes"] == x.nbytes
np.testing.assert_array_equal(y.to_numpy(), values)
del y
""")


PEERS = "h200:threads=1,h200:threads=1"


def test_devices_that_reach_each_other_copy_without_the_host():
    passes(
        """
y = x.to(second)
back = y.to(first)
assert first.statistics()["d2h_bytes"] == second.statistics()["d2h_bytes"] == 0
np.testing.assert_array_equal(back.to_numpy(), values)
del y, back
""",
        PEERS,
    )


def test_another_library_copies_exported_memory_to_its_own_device():
    passes(
        """
by_pointers, invalid_value = 4, 1
kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p)
copy = kind(library.calls["copy"])
first.synchronize()
library.device = 1
stream, memory = library.new_stream(), library.zeros(x.nbytes)
assert copy(memory, x.data_ptr, x.nbytes, by_pointers, stream) == invalid_value  # a pool is only its device's
capsule = x.__dlpack__(stream=-1)
assert copy(memory, x.data_ptr, x.nbytes, by_pointers, stream) == 0
library.synchronize(stream)
library.destroy_stream(stream)
y = second.zeros(values.shape, dtype="float32")
second.synchronize()
library.call("copy", ctypes.c_void_p(y.data_ptr), ctypes.c_void_p(memory), ctypes.c_size_t(x.nbytes), 4, None)
library.synchronize(None)
np.testing.assert_array_equal(y.to_numpy(), values)
library.device = 0
del capsule, y
""",
        PEERS,
    )


def test_a_closed_backend_gives_no_array():
    passes("""
closed = stator.Backend("cuda:1")
y = closed.zeros(3)
closed.close()
try:
    y.to(first)
except errors.BackendClosedError:
    y = None
assert y is None
try:
    x.to(closed)
except errors.BackendClosedError:
    y = "refused"
assert y == "refused"
""")


def test_enumeration_makes_no_call_that_needs_a_context_and_leaves_the_current_device():
    program = """
import ctypes, emulated, stator
from stator import hardware
library = emulated.Consumer()
emulator = emulated.library("emulator")
emulator.stator_emulator_api.restype = ctypes.POINTER(ctypes.c_void_p)
table = emulator.stator_emulator_api()
called = []
kept = []
making = ("pool_", "allocate", "stream_create", "event_create", "host_allocate", "launch", "library_load")
for place, name in enumerate(library.calls, 1):
    if name.startswith(making):
        refuse = ctypes.CFUNCTYPE(ctypes.c_int)(lambda name=name: called.append(name) or 999)
        kept.append(refuse)
        table[place] = ctypes.cast(refuse, ctypes.c_void_p).value
library.device = 1
assert len(kept) > 8
assert [d.device for d in stator.devices()] == ["cpu", "cuda:0", "cuda:1"]
assert [hardware.capabilities_of(d.device).name for d in stator.devices()] == [d.name for d in stator.devices()]
assert stator.find_best_device({"emulated": True}).device == "cuda:1"
assert library.device == 1
assert called == [], called
print("passed")
"""
    assert emulated.run(program, "a100,h200") == "passed\n"


def test_nobody_gets_an_emulated_device_without_asking():
    program = """
import stator
assert [d.emulated for d in stator.devices()] == [False, True, True]
assert stator.find_best_device().device == stator.Backend("auto").device == "cpu"
assert stator.find_best_device({"emulated": True, "device_type": "cuda"}).device == "cuda:1"
try:
    stator.find_best_device({"device_type": "cuda"})
except stator.errors.DeviceUnavailableError as error:
    assert "cuda:0 is emulated; cuda:1 is emulated" in str(error), error
    print("passed")
"""
    assert emulated.run(program, "a100,h200") == "passed\n"
