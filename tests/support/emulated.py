"""Programs on emulated devices, in processes of their own, and another library's view of such a device."""

import ctypes
import os
import pathlib
import re
import subprocess
import sys


def library(name):
    """The emulator or its doubles of vendor libraries, by the middle of its name, as the installed stator opens it."""
    from stator import _backend

    _backend.emulated("cuda")  # opens libstator_cuda.so, whose kernels the emulator then knows
    return ctypes.CDLL(str(pathlib.Path(_backend.__file__).with_name("lib") / f"libstator_{name}.so"))


Run = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


def run(program, emulate, warns=False):
    """What the program writes, with STATOR_EMULATE set to the text. Nothing to stderr unless it `warns`."""
    environment = {**os.environ, "STATOR_EMULATE": emulate, "PYTHONPATH": os.path.dirname(__file__)}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert warns or not done.stderr, done.stderr
    return done.stdout + done.stderr


class Range(ctypes.Structure):
    _fields_ = (
        ("start", ctypes.c_void_p),
        ("width", ctypes.c_uint64),
        ("rows", ctypes.c_uint64),
        ("pitch", ctypes.c_uint64),
    )


class Services(ctypes.Structure):
    """The first members of stator::emulator::Services, in csrc/emulator/services.hpp."""

    _fields_ = (
        ("bytes", ctypes.c_uint32),
        ("enqueue", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, Run, Run, ctypes.c_void_p)),
        ("is_capturing", ctypes.c_void_p),
        ("is_stream", ctypes.c_void_p),
        ("synchronize", ctypes.c_void_p),
        ("current_device", ctypes.c_void_p),
        ("compute_capability", ctypes.c_void_p),
        ("check_read", ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.POINTER(Range), ctypes.c_char_p)),
    )


class Consumer:
    """Another library: it has CUDA's calls, as the emulator names them, and reads memory later, on any stream.

    Make it before the first cuda backend, because it makes new devices.
    """

    def __init__(self):
        emulator = library("emulator")
        emulator.stator_emulator_services.restype = ctypes.POINTER(Services)
        emulator.stator_emulator_open.restype = ctypes.POINTER(ctypes.c_void_p)
        self.services = emulator.stator_emulator_services().contents
        table = emulator.stator_emulator_open(os.environ["STATOR_EMULATE"].encode(), None, 0)
        header = pathlib.Path(__file__).parents[2] / "csrc/emulator/runtime/api.hpp"
        names = re.findall(r"\(\*(\w+)\)\(", header.read_text())
        self.calls = dict(zip(names, table[1 : len(names) + 1], strict=True))
        self.seen = []
        self.kept = []

    def call(self, name, *arguments):
        """A call of Api in csrc/emulator/runtime/api.hpp, which must succeed."""
        assert ctypes.CFUNCTYPE(ctypes.c_int)(self.calls[name])(*arguments) == 0

    def new_stream(self, blocking=False):
        stream = ctypes.c_void_p()
        self.call("stream_create", ctypes.byref(stream), ctypes.c_uint(not blocking))
        return stream.value

    def destroy_stream(self, stream):
        self.call("stream_destroy", ctypes.c_void_p(stream))

    def zeros(self, nbytes):
        memory = ctypes.c_void_p()
        self.call("allocate", ctypes.byref(memory), ctypes.c_size_t(nbytes))
        self.call("fill", memory, ctypes.c_int(0), ctypes.c_size_t(nbytes), None)
        self.synchronize(None)
        return memory.value

    @property
    def device(self):
        """The current device of this thread."""
        index = ctypes.c_int(-1)
        self.call("get_device", ctypes.byref(index))
        return index.value

    @device.setter
    def device(self, index):
        self.call("set_device", ctypes.c_int(index))

    def read_later(self, stream, address, count):
        """Enqueues on the stream: appends the float64 numbers at the address to `seen`, or None if they are freed."""

        def read(_):
            memory = Range(address, 8 * count, 1, 0)
            valid = self.services.check_read(ctypes.byref(memory), b"consumer")
            self.seen += (ctypes.c_double * count).from_address(address) if valid else [None]

        self.kept.append(Run(read))
        assert self.services.enqueue(stream, b"consumer", self.kept[-1], Run(), None) == 0

    def synchronize(self, stream):
        self.call("stream_synchronize", ctypes.c_void_p(stream))

    def synchronize_device(self):
        self.call("device_synchronize")
