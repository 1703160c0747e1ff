"""Several emulated devices in one process: which is current, and whose memory is taken."""

import emulated
import pytest
import requirements

pytestmark = [requirements.cuda_target, pytest.mark.emulates]

PRELUDE = """
import ctypes, emulated, numpy as np, stator
from stator.errors import BackendMismatchError
library = emulated.Consumer()

class Described:
    "Another library's array of three float64 numbers."
    def __init__(self, address):
        self.__cuda_array_interface__ = {
            "shape": (3,), "typestr": "<f8", "data": (address, False), "version": 3, "stream": None}

def refused(call):
    try:
        call()
    except BackendMismatchError as error:
        return str(error)
"""


def passes(program):
    assert emulated.run(PRELUDE + program + "\nprint('passed')", "h200:threads=1,a100") == "passed\n"


@pytest.mark.parametrize("mine", [0, 1])
def test_calls_leave_the_current_device_as_it_was(mine):
    passes(f"""
library.device = {mine}
with stator.Backend("cuda:{1 - mine}") as be, be.use():
    assert library.device == {mine}
    x = stator.asarray(np.arange(9.0).reshape(3, 3)) + 1
    x.to_numpy()
    assert library.device == {mine}
    np.testing.assert_allclose((x @ x).to_numpy(), x.to_numpy() @ x.to_numpy())
    stator.linalg.inv(x).to_numpy()
    assert library.device == {mine}
    be.synchronize()
    del x
assert library.device == {mine}
""")


def test_an_error_leaves_the_current_device_as_it_was():
    passes("""
with stator.Backend("cuda:1") as be, be.use():
    x = be.zeros(3)
    try:
        x.__dlpack__(stream=12345)
    except stator.errors.CudaError:
        pass
    assert library.device == 0
""")


def test_memory_of_a_closed_backend_waits_for_its_own_device():
    passes("""
be = stator.Backend("cuda:1")
library.device = 1
stream = library.new_stream()
with be.use():
    x = stator.asarray(np.arange(1000.0))
library.read_later(stream, x.data_ptr, 1000)
capsule = x.__dlpack__(stream=stream)
del x
library.device = 0
be.close()
del capsule
assert library.seen == list(range(1000))
""")


def test_the_array_interface_of_another_devices_memory_is_refused():
    passes("""
with stator.Backend("cuda:0") as be:
    library.device = 1
    address = library.zeros(24)
    text = refused(lambda: stator.asarray(Described(address), device=be))
    assert "cuda:1" in text and "cuda:0" in text, text
    library.device = 0
    x = stator.asarray(Described(library.zeros(24)), device=be)
    assert x.shape == (3,)
    del x
""")


def test_the_array_interface_of_ordinary_memory_is_refused():
    passes("""
with stator.Backend("cuda:0") as be:
    text = refused(lambda: stator.asarray(Described(np.zeros(3).ctypes.data), device=be))
    assert "host" in text, text
""")


def test_dlpack_memory_of_another_device_than_it_says_is_refused():
    passes("""
class Wrong:
    def __init__(self, x):
        self.x = x
    def __dlpack_device__(self):
        return 2, 0
    def __dlpack__(self, stream=None, **options):
        capsule = self.x.__dlpack__(**options)
        pointer = emulated.pointer_of(capsule, b"dltensor_versioned")
        device_index = ctypes.c_int32.from_address(pointer + 44)  # of its DLManagedTensorVersioned
        assert device_index.value == 1
        device_index.value = 0
        return capsule

be, far = stator.Backend("cuda:0"), stator.Backend("cuda:1")
text = refused(lambda: stator.from_dlpack(Wrong(far.zeros(3)), device=be))
assert "cuda:1" in text and "cuda:0" in text, text
""")


def test_foreign_memory_of_a_device_that_faulted_goes_back_by_close():
    program = """
numbers = np.zeros(3)
library.device = 1
pointer = library.zeros(24)
library.device = 0
be = stator.Backend("cuda:1")
given = Described(pointer)
gone = weakref.ref(given)
with be.use():
    x = stator.asarray(given, copy=False)
    y = x + 1
    library.read_later(y.__cuda_array_interface__["stream"], 16, 1)  # no address of the device
    del x, y, given
be.close()
stator.zeros(1, device="cpu")
assert gone() is None
print("passed")
"""
    text = emulated.run("import weakref\n" + PRELUDE + program, "h200:threads=1,a100", warns=True)
    assert text.startswith("passed\n")
    assert "leaked" not in text
