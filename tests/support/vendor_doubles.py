"""The doubles of the vendor libraries, through their own functions: for programs that run on emulated devices."""

import ctypes
from collections.abc import Callable
from contextlib import contextmanager

from emulated import library

_VISIT = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint64)


class Argument(ctypes.Structure):
    """Of csrc/emulator/vendor/common/call.hpp, as the types below."""

    _fields_ = (("address", ctypes.c_void_p), ("bytes", ctypes.c_uint32))


Before = ctypes.CFUNCTYPE(
    ctypes.c_bool,
    ctypes.c_void_p,
    ctypes.c_char_p,
    ctypes.POINTER(Argument),
    ctypes.c_uint32,
    ctypes.POINTER(ctypes.c_int),
)
After = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_int))


class Interceptor(ctypes.Structure):
    _fields_ = (("self", ctypes.c_void_p), ("before", Before), ("after", After))


_outer = Interceptor()  # what stays between callers and doubles, whatever else a test answers


def intercept(interceptor: Interceptor) -> None:
    """Puts it between callers and doubles until the process ends: it also sees what `answered` answers."""
    global _outer
    _outer = interceptor
    library("vendor").stator_vendor_intercept(ctypes.byref(_outer))


def calls() -> dict[str, int]:
    """How often each function of the doubles was called."""
    found: dict[str, int] = {}
    visit = _VISIT(lambda _, name, count: found.__setitem__(name.decode(), count))
    library("vendor").stator_vendor_calls(visit, None)
    return found


def objects() -> dict[str, int]:
    """How many handles and descriptors of each kind are alive."""
    found: dict[str, int] = {}
    visit = _VISIT(lambda _, name, count: found.__setitem__(name.decode(), count))
    library("vendor").stator_vendor_objects(visit, None)
    return found


@contextmanager
def answered(name: str, status: int):
    """Calls of the function return the status and do nothing else; gives the list of the statuses returned."""
    answers: list[int] = []

    def before(_self, called, arguments, count, result):
        if _outer.before and _outer.before(_outer.self, called, arguments, count, result):
            return True
        if called.decode() != name:
            return False
        result[0] = status
        answers.append(status)
        return True

    interceptor = Interceptor(_outer.self, Before(before), _outer.after)
    vendor = library("vendor")
    vendor.stator_vendor_intercept(ctypes.byref(interceptor))
    try:
        yield answers
    finally:
        vendor.stator_vendor_intercept(ctypes.byref(_outer))


def end_at_any_call() -> Callable[[], None]:
    """From now on each call of a double ends the process by SIGABRT, also when no Python runs any more."""
    interceptor = Interceptor(None, ctypes.cast(ctypes.CDLL(None).abort, Before), After())
    library("vendor").stator_vendor_intercept(ctypes.byref(interceptor))
    return lambda: interceptor  # which the library reads until the process has ended


__all__ = [
    "After",
    "Argument",
    "Before",
    "Interceptor",
    "answered",
    "calls",
    "end_at_any_call",
    "intercept",
    "objects",
]
