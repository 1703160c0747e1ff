"""Reports of calls that wait for the device, and STATOR_SYNC, with which every launch is waited for."""

import ctypes
import os
import re
import subprocess
import sys
import warnings

import pytest

import stator
from stator import testing
from stator._backend import emulated
from stator.errors import CudaError, DTypeError, InvalidValueError, SynchronizationError

WAITS = {
    "Array.to_numpy": lambda be, x, s: x.to_numpy(),
    "Backend.synchronize": lambda be, x, s: be.synchronize(),
    "Event.synchronize": lambda be, x, s: be.stream(0).record().synchronize(),
    "nonzero": lambda be, x, s: stator.nonzero(x),
    "unique_values": lambda be, x, s: stator.unique_values(x),
    "unique_all": lambda be, x, s: stator.unique_all(x),
    "unique_counts": lambda be, x, s: stator.unique_counts(x),
    "unique_inverse": lambda be, x, s: stator.unique_inverse(x),
    "unique_consecutive": lambda be, x, s: stator.unique_consecutive(x),
    "masked_select": lambda be, x, s: stator.masked_select(x, x > 0),
    "Array.__getitem__": lambda be, x, s: x[x > 0],
    "compress": lambda be, x, s: stator.compress(x[0] > 0, x, axis=0),
    "bincount": lambda be, x, s: stator.bincount(x.astype("int64").reshape(-1)),
    "linalg.inv": lambda be, x, s: stator.linalg.inv(x + 3 * stator.eye(4, device=be)),
    "linalg.cholesky": lambda be, x, s: stator.linalg.cholesky(x + stator.eye(4, device=be)),
    "linalg.eigh": lambda be, x, s: stator.linalg.eigh(x),
    "linalg.svd": lambda be, x, s: stator.linalg.svd(x),
    "linalg.matrix_norm": lambda be, x, s: stator.linalg.matrix_norm(x, ord=2),
    "linalg.matrix_power": lambda be, x, s: stator.linalg.matrix_power(x + stator.eye(4, device=be), -1),
    "linalg.expm": lambda be, x, s: stator.linalg.expm(x),
    "linalg.lstsq": lambda be, x, s: stator.linalg.lstsq(x, x),
    "sparse.csr_from_dense": lambda be, x, s: stator.sparse.csr_from_dense(x),
    "sparse.add": lambda be, x, s: s + s,
}


@pytest.mark.parametrize("name", WAITS)
def test_calls_that_wait_raise_and_name_the_op(be, name):
    x = be.ones((4, 4))
    s = stator.sparse.csr_from_dense(x)
    with be.telemetry.sync_debug("error"):
        with pytest.raises(SynchronizationError, match=f"^{re.escape(name)}: ") as caught:
            WAITS[name](be, x, s)
        y = x + x
    assert caught.value.op == name
    assert caught.value.remedy
    WAITS[name](be, x, s)
    assert y.tolist() == [[2] * 4] * 4


@pytest.mark.parametrize("name", WAITS)
def test_calls_that_wait_warn_once_per_call(be, name):
    x = be.ones((4, 4))
    s = stator.sparse.csr_from_dense(x)
    with be.telemetry.sync_debug("warn"):
        for _ in range(2):
            with pytest.warns(RuntimeWarning) as caught:
                WAITS[name](be, x, s)
            assert [str(w.message) for w in caught] == [f"{name} waits for work of the device"]


def test_calls_that_do_not_wait_are_not_reported(be):
    x = be.ones((64, 64))
    with warnings.catch_warnings(), be.telemetry.sync_debug("warn"):
        warnings.simplefilter("error")
        y = (x @ x + 1).sum(axis=0)
        event = be.stream(0).record()
        be.stream(1).wait(event)
        event.done()
    assert y.shape == (64,)


def test_a_report_ends_with_its_block(be):
    x = be.ones(3)
    with be.telemetry.sync_debug("error"):
        with be.telemetry.sync_debug(None):
            x.to_numpy()
        with pytest.raises(SynchronizationError):
            x.to_numpy()
    x.to_numpy()
    be.telemetry.sync_debug("error")
    with pytest.raises(SynchronizationError):
        x.to_numpy()
    be.telemetry.sync_debug(None)
    x.to_numpy()


def test_memory_is_released_and_the_backend_closes_all_the_same(device):
    with stator.Backend(device) as backend:
        backend.telemetry.sync_debug("error")
        x = backend.ones(1000)
        backend.stream(1).wait(backend.stream(0).record())
        with backend.stream(1):
            y = x + x
        del x, y
    assert backend.closed
    assert backend.resources() == []


def test_a_mode_is_one_of_three(be):
    with pytest.raises(InvalidValueError, match="loud"):
        be.telemetry.sync_debug("loud")
    for mode in (1, True, b"warn"):
        with pytest.raises(DTypeError, match="mode"):
            be.telemetry.sync_debug(mode)
    be.ones(3).to_numpy()


def opened(device, value, monkeypatch):
    monkeypatch.setenv("STATOR_SYNC", value)
    return stator.Backend(device)


def test_with_stator_sync_work_is_done_when_the_call_returns(device, monkeypatch):
    with opened(device, "1", monkeypatch) as backend:
        x = backend.ones((300, 300))
        for work in (lambda: x + x, lambda: x @ x, lambda: x.sum(), lambda: x.copy()):
            work()
            assert backend.stream(0).done()
        with backend.capture() as graph:
            y = x + x
        graph.launch()
        assert backend.stream(0).done()
        assert y[0, 0] == 2


def test_with_stator_sync_memory_is_written_when_the_call_returns(device, monkeypatch):
    if device == "cuda" and not emulated("cuda"):
        pytest.skip("the host does not see the memory of a GPU")
    with opened(device, "1", monkeypatch) as backend:
        x = backend.ones((300, 300))
        for work, first in (
            (lambda: x + x, 2.0),
            (lambda: x @ x, 300.0),
            (lambda: x.sum(), 90000.0),
            (lambda: x.copy(), 1.0),
            (lambda: backend.zeros(3), 0.0),
            (lambda: backend.asarray([7.0]), 7.0),
        ):
            y = work()
            assert ctypes.c_double.from_address(y.data_ptr).value == first
        with backend.capture() as graph:
            y = x + x
        graph.launch()
        assert ctypes.c_double.from_address(y.data_ptr).value == 2


def test_with_stator_sync_the_op_that_failed_is_named(monkeypatch):
    """On the cpu; elsewhere a later call reports it. Large enough that it is not done at once."""

    def failing(backend):
        x = backend.ones((2000, 2000))
        backend.synchronize()
        testing.fault_next_launch(backend)
        y = x + x
        with pytest.raises(CudaError) as caught:
            (y * y).to_numpy()
        return caught.value.op

    with opened("cpu", "0", monkeypatch) as backend:
        assert failing(backend) != "add"
    with opened("cpu", "1", monkeypatch) as backend, pytest.raises(CudaError, match="injected fault") as caught:
        failing(backend)
    assert caught.value.op == "add"


def test_with_stator_sync_an_index_out_of_range_is_raised_at_once(device, monkeypatch):
    with opened(device, "1", monkeypatch) as backend:
        x = backend.ones(4)
        index = stator.asarray([9], device=backend)
        with pytest.raises(IndexError, match="9"):
            stator.take(x, index)
        assert (x + 1).tolist() == [2] * 4


def test_stator_sync_is_0_or_1(device):
    code = f"import stator; stator.Backend({device!r})"
    environment = {**os.environ, "STATOR_SYNC": "yes"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "STATOR_SYNC=yes" in done.stderr
    assert "Set it to 0 or 1" in done.stderr
