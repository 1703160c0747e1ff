"""Calls of the CUDA runtime that few ops need: queries of streams and events, and what cuda cannot do."""

import numpy as np
import pytest
import vendor_doubles as doubles

import stator
from stator import _backend, errors, linalg, testing


def test_streams_and_events_tell_when_their_work_has_finished(cuda):
    x = cuda.ones((1000,))
    start = cuda.stream(0).record()
    first, second = cuda.stream(1), cuda.stream(2)
    first.wait(start)
    with first:
        y = x + x
    end = first.record()
    second.wait(end)
    with second:
        z = y * y
    assert z.to_numpy()[0] == 4
    assert end.done()
    assert first.done()
    assert end.milliseconds_since(start) >= 0


def test_a_gpu_has_no_fault_to_inject(cuda):
    with pytest.raises(errors.CudaError) as caught:
        testing.fault_next_launch(cuda)
    assert caught.value.name == "cudaErrorNotSupported"
    assert float(cuda.ones((3,)).sum()) == 3


SOLVER = {
    1: "CUSOLVER_STATUS_NOT_INITIALIZED",
    2: "CUSOLVER_STATUS_ALLOC_FAILED",
    3: "CUSOLVER_STATUS_INVALID_VALUE",
    4: "CUSOLVER_STATUS_ARCH_MISMATCH",
    6: "CUSOLVER_STATUS_EXECUTION_FAILED",
    7: "CUSOLVER_STATUS_INTERNAL_ERROR",
    9: "CUSOLVER_STATUS_NOT_SUPPORTED",
    99: "cuSOLVER error",
}
FFT = {
    1: "invalid plan",
    2: "allocation failed",
    3: "invalid type",
    4: "invalid value",
    5: "internal error",
    6: "execution failed",
    7: "setup failed",
    8: "invalid size",
    9: "unaligned data",
    99: "cuFFT error",
}
STATUSES = [("cusolverDnXgeqrf", code, name) for code, name in SOLVER.items()]
STATUSES += [("cufftXtExec", code, name) for code, name in FFT.items()]


@pytest.mark.parametrize(("symbol", "code", "name"), STATUSES)
def test_a_status_has_its_name_and_its_call(cuda, symbol, code, name):
    if not _backend.emulated("cuda"):
        pytest.skip("about emulated devices")
    x = cuda.asarray(np.eye(40) + 0j)
    call = linalg.qr if symbol.startswith("cusolver") else stator.fft.fft
    call(x)  # opens the library
    with doubles.answered(symbol, code), pytest.raises(errors.CudaError) as caught:
        call(x)
    assert (caught.value.code, caught.value.name, caught.value.call) == (code, name, symbol)
    call(x)
