"""The runtime's functions of emulated devices: for tests that see or change what a call of one gives."""

import ctypes
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from emulated import library

_API = Path(__file__).resolve().parents[2] / "csrc/emulator/runtime/api.hpp"

# The arguments of the functions that can be replaced: nothing is wider than a pointer.
ARGUMENTS: dict[str, list[Any]] = {
    "stream_wait": [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint],
    "event_record": [ctypes.c_void_p, ctypes.c_void_p],
    "stream_synchronize": [ctypes.c_void_p],
    "event_synchronize": [ctypes.c_void_p],
    "stream_query": [ctypes.c_void_p],
    "event_query": [ctypes.c_void_p],
    "copy": [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p],
    "fill": [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t, ctypes.c_void_p],
    "allocate_from_pool": [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_void_p],
    "free_in_order": [ctypes.c_void_p, ctypes.c_void_p],
}

_watched: dict[str, list[Any]] = {}  # by name, what a watched function does: its last element
_kept: list[Any] = []  # callbacks, which C++ calls as long as the process lives


def _slot(name: str) -> ctypes.c_void_p:
    order = re.findall(r"\(\*(\w+)\)\(", _API.read_text())
    emulator = library("emulator")
    emulator.stator_emulator_api.restype = ctypes.c_void_p
    return ctypes.c_void_p.from_address(emulator.stator_emulator_api() + 8 + 8 * order.index(name))


def watch(name: str, seen: Callable[[Callable[..., int], tuple[Any, ...]], int]) -> None:
    """From now on a call of the function is seen(what it does, its arguments), also where `answered` answers it."""
    slot = _slot(name)
    kind = ctypes.CFUNCTYPE(ctypes.c_int, *ARGUMENTS[name])
    does = _watched[name] = [kind(slot.value)]
    _kept.append(kind(lambda *arguments: seen(does[-1], arguments)))
    slot.value = ctypes.cast(_kept[-1], ctypes.c_void_p).value


@contextmanager
def answered(name: str, status: int) -> Iterator[list[int]]:
    """Calls of the function return the status and do nothing else; gives the list of the statuses returned."""
    answers: list[int] = []

    def answer(*_: Any) -> int:
        answers.append(status)
        return status

    if name in _watched:
        _watched[name].append(answer)
        try:
            yield answers
        finally:
            _watched[name].pop()
        return
    slot, held = _slot(name), ctypes.CFUNCTYPE(ctypes.c_int, *ARGUMENTS[name])(answer)
    before = slot.value
    slot.value = ctypes.cast(held, ctypes.c_void_p).value
    try:
        yield answers
    finally:
        slot.value = before


__all__ = ["ARGUMENTS", "answered", "watch"]
