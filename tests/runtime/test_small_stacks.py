"""Threads whose stacks are smaller than what kernels need: the workers do their work."""

import threading

import numpy as np
import pytest

import stator

CALLS = {
    "add": lambda be, x: (x + 1).to_numpy(),
    "sum": lambda be, x: x.sum().to_numpy(),
    "fft": lambda be, x: stator.fft.fft(x).to_numpy(),
    "svd": lambda be, x: stator.linalg.svdvals(x).to_numpy(),
    "eig": lambda be, x: stator.linalg.eigvals(x).to_numpy(),
    "solve": lambda be, x: stator.linalg.solve(x, x).to_numpy(),
    "index": lambda be, x: x[be.asarray([0, 1])].to_numpy(),
    "graph": lambda be, x: be.graph(lambda x: x + 1)(x).to_numpy(),
    "while_loop": lambda be, x: be.graphs.while_loop(lambda a: (a < 10).all(), lambda a: a + 1, be.zeros(3)).to_numpy(),
}


@pytest.mark.parametrize("call", CALLS)
def test_a_thread_of_64_kib_gets_the_result(be, call):
    x = be.asarray(np.random.default_rng(0).standard_normal((40, 40)))
    want, got = CALLS[call](be, x), []  # what is imported by the first call is imported here
    before = threading.stack_size(64 << 10)
    try:
        thread = threading.Thread(target=lambda: got.append(CALLS[call](be, x)))
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    np.testing.assert_allclose(got[0], want, rtol=1e-12)
