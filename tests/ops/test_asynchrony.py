"""Ops that the table calls asynchronous neither copy to the host nor wait; those that it calls sync do copy."""

from functools import partial

import calls
import pytest
from cases import TABLE

import stator
from stator.errors import HostCopyError

WAITS = ("stream_synchronize", "event_synchronize")


def waits(be):
    made = be.statistics()["calls"]
    return {name: count for name, count in made.items() if name in WAITS}


def rows(sync):
    return [n for n, r in TABLE.items() if r["sync"] == sync and n != "synchronize"]


@pytest.mark.parametrize("name", rows("async"))
def test_asynchronous_ops_copy_nothing_and_do_not_wait(be, name):
    both = calls.both(be, name)
    be.synchronize()
    before = waits(be)
    with be.forbid_host_copies():
        for call in both:
            if call is not None:
                call()
    assert waits(be) == before


def waiting(be):
    """Calls with the arguments for which the entry is `sync`; other calls of these ops do not wait."""
    eye, window = stator.eye(3, device=be), be.ones((64,))
    return {
        "matrix_norm": partial(stator.linalg.matrix_norm, eye, ord=2),
        "matrix_power": partial(stator.linalg.matrix_power, eye, -1),
        "istft": partial(stator.fft.istft, be.zeros((33, 9), dtype="complex128"), 64, window=window),
    }


@pytest.mark.parametrize("name", rows("sync"))
def test_ops_that_synchronise_say_so_where_copies_are_forbidden(be, name):
    call = waiting(be).get(name) or calls.call(be, name)
    call()
    with be.forbid_host_copies(), pytest.raises(HostCopyError, match="bytes"):
        call()
    call()


def test_synchronize_waits(be):
    before = sum(waits(be).values())
    be.synchronize()
    assert sum(waits(be).values()) > before
