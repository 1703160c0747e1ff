"""What an emulated device of this process lets a test change and see: csrc/emulator/runtime/instruments.hpp for PTX and
the runtime's functions, csrc/emulator/vendor/common/call.hpp for the vendor libraries."""

import ctypes
import hashlib
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
import runtime_calls  # noqa: E402
import vendor_doubles as doubles  # noqa: E402

Counted = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint64)
Give = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t)
Rewrite = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, Give, ctypes.c_void_p)


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


class Hooks:
    """Opens the libraries beside libstator. Calls of the runtime's functions come to `on_call(name, site, original,
    arguments)`, PTX to `on_ptx(text)`, vendor calls to `before_vendor(name, arguments)` and `after_vendor(name,
    result)`, which return None where they change nothing."""

    def __init__(self):
        from stator import _backend

        _backend.emulated("cuda")  # opens libstator_cuda.so, whose kernels the emulator then knows
        folder = Path(_backend.__file__).with_name("lib")
        self.library = folder / "libstator.so"
        self.emulator = ctypes.CDLL(str(folder / "libstator_emulator.so"))
        self.vendor = ctypes.CDLL(str(folder / "libstator_vendor.so"))
        self.emulator.stator_emulator_events.restype = ctypes.c_uint64
        self._kept = []  # callbacks, which C++ calls as long as the process lives
        self._frames = (ctypes.c_void_p * 32)()
        self._libc = ctypes.CDLL(None)
        self._range = self._mapped()

    def _mapped(self):
        spans = []
        for line in Path("/proc/self/maps").read_text().splitlines():
            if line.endswith("/libstator.so"):
                low, high = line.split()[0].split("-")
                spans.append((int(low, 16), int(high, 16)))
        return min(s[0] for s in spans), max(s[1] for s in spans)

    def site(self) -> str:
        """Where libstator.so called the cuda table from, as offsets of the frames, from the inside."""
        low, high = self._range
        count = self._libc.backtrace(self._frames, len(self._frames))
        inside = [a - low for a in self._frames[:count] if a and low <= a < high]
        return "+".join(f"{a:x}" for a in inside[:6])

    def launches(self) -> dict[str, int]:
        counts = {}
        self.emulator.stator_emulator_launch_counts(Counted(lambda _, k, n: counts.update({k.decode(): n})), None)
        return counts

    def vendor_calls(self) -> dict[str, int]:
        counts = {}
        self.vendor.stator_vendor_calls(Counted(lambda _, k, n: counts.update({k.decode(): n})), None)
        return counts

    def events(self) -> int:
        return self.emulator.stator_emulator_events()

    def rewrite(self, on_ptx):
        def call(_, text, size, give, into):
            data = ctypes.string_at(text, size)
            other = on_ptx(data)
            if other is not None:
                give(into, other, len(other))

        self._kept.append(Rewrite(call))
        self.emulator.stator_emulator_rewrite(self._kept[-1], None)

    def watch_runtime(self, on_call):
        def seen(name):
            return lambda original, arguments: on_call(name, self.site, original, arguments)

        for name in runtime_calls.ARGUMENTS:
            runtime_calls.watch(name, seen(name))

    def watch_vendor(self, before, after):
        def first(_, name, arguments, count, _result):
            before(name.decode(), [arguments[i] for i in range(count)])
            return False

        def last(_, name, result):
            result[0] = after(name.decode(), result[0])

        doubles.intercept(doubles.Interceptor(None, doubles.Before(first), doubles.After(last)))
