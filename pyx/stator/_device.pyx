# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=python
# cython: annotation_typing=False, freethreading_compatible=True
"""Devices, before a backend is opened on one."""
from libcpp.string cimport string

from stator.cpp cimport backend as cpp


def available(kind: str) -> tuple[bool, str]:
    """Whether a Backend of "cpu" or "cuda" can be opened, and why not. Creates no context."""
    cdef cpp.DeviceType type = cpp.cuda if kind == "cuda" else cpp.cpu
    cdef string reason
    cdef bint usable
    with nogil:
        usable = cpp.is_available(type, &reason)
    return usable, reason.decode()


def device_count(kind: str) -> int:
    """How many devices of "cpu" or "cuda" there are."""
    return cpp.device_count(cpp.cuda if kind == "cuda" else cpp.cpu)


def parse_device(text: str) -> str:
    """The full name of a device: "cuda:0" for "cuda"."""
    cdef bytes encoded = text.encode()
    return cpp.parse_device(<const char*>encoded).str().decode()


def shutdown() -> None:
    """Closes every open backend; the exit hook."""
    with nogil:
        cpp.shutdown()
