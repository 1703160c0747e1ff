"""The doubles of the vendor libraries, through their own functions: for programs that run on emulated devices."""

import ctypes
from collections.abc import Callable
from contextlib import contextmanager

from emulated import library

_VISIT = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint64)
_BEFORE = ctypes.CFUNCTYPE(
    ctypes.c_bool, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_uint32, ctypes.POINTER(ctypes.c_int)
)


class _Interceptor(ctypes.Structure):
    _fields_ = (("self", ctypes.c_void_p), ("before", ctypes.c_void_p), ("after", ctypes.c_void_p))


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

    def before(_self, called, _arguments, _count, result):
        if called.decode() != name:
            return False
        result[0] = status
        answers.append(status)
        return True

    held = _BEFORE(before)
    interceptor = _Interceptor(None, ctypes.cast(held, ctypes.c_void_p).value, None)
    vendor = library("vendor")
    vendor.stator_vendor_intercept(ctypes.byref(interceptor))
    try:
        yield answers
    finally:
        vendor.stator_vendor_intercept(None)


def end_at_any_call() -> Callable[[], None]:
    """From now on each call of a double ends the process by SIGABRT, also when no Python runs any more."""
    interceptor = _Interceptor(None, ctypes.cast(ctypes.CDLL(None).abort, ctypes.c_void_p).value, None)
    library("vendor").stator_vendor_intercept(ctypes.byref(interceptor))
    return lambda: interceptor  # which the library reads until the process has ended


__all__ = ["answered", "calls", "end_at_any_call", "objects"]
