"""The runtime's functions of emulated devices: for tests that see or change what a call of one gives."""

import ctypes
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from emulated import library

_API = Path(__file__).resolve().parents[2] / "csrc/emulator/runtime/api.hpp"
_GRAPH_API = _API.parent / "graph/api.hpp"

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
    "pool_set_attribute": [ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p],
    "allocate_from_pool": [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_void_p],
    "managed_allocate": [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint],
    "prefetch": [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p],
    "advise": [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int],
    "range_attribute": [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t],
    "free_in_order": [ctypes.c_void_p, ctypes.c_void_p],
    "host_register": [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint],
    "host_unregister": [ctypes.c_void_p],
    "function_numbers": [ctypes.c_void_p, ctypes.c_void_p],
    "launch": [ctypes.c_void_p] * 4 + [ctypes.c_size_t, ctypes.c_void_p],
    "graph.executable_set_kernel": [ctypes.c_void_p] * 3,
    "graph.launch": [ctypes.c_void_p] * 2,
}

_watched: dict[str, list[Any]] = {}  # by name, what a watched function does: its last element
_kept: list[Any] = []  # callbacks, which C++ calls as long as the process lives


def _slot(name: str) -> ctypes.c_void_p:
    if not os.environ.get("STATOR_EMULATE"):
        pytest.skip("watches the functions of an emulated runtime")
    order = re.findall(r"\(\*(\w+)\)\(", _API.read_text())
    of_graphs = re.findall(r"\(\*(\w+)\)\(", re.sub(r".*struct GraphApi", "", _GRAPH_API.read_text(), flags=re.DOTALL))
    order += [f"graph.{function}" for function in of_graphs]  # the last member
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


@contextmanager
def recorded(name: str) -> Iterator[list[tuple[Any, ...]]]:
    """Gives the list of the arguments of each call of the function, which does what it always does."""
    slot, kind = _slot(name), ctypes.CFUNCTYPE(ctypes.c_int, *ARGUMENTS[name])
    before, seen = slot.value, []
    does = kind(before)

    def record(*arguments: Any) -> int:
        seen.append(arguments)
        return does(*arguments)

    held = kind(record)
    slot.value = ctypes.cast(held, ctypes.c_void_p).value
    try:
        yield seen
    finally:
        slot.value = before


def emulated_free_memory() -> int:
    """What cudaMemGetInfo of the emulated device says."""
    kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_size_t), ctypes.POINTER(ctypes.c_size_t))
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    assert kind(_slot("memory_info").value)(ctypes.byref(free), ctypes.byref(total)) == 0
    return free.value


__all__ = ["ARGUMENTS", "answered", "emulated_free_memory", "recorded", "watch"]
