"""Handles, workspaces and refusals of the vendor libraries, with their doubles, in processes of their own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import requirements

pytestmark = [requirements.cuda_target, pytest.mark.emulates]
START = """
import atexit, gc
import numpy as np
import stator
from stator import linalg
import vendor_doubles as doubles
spread = np.random.default_rng(0).normal(size=(3, 40, 40))
definite = spread @ spread.swapaxes(1, 2) + 40 * np.eye(40)
"""


def run(program, emulate="h200:threads=1"):
    """What a program wrote to stdout and to stderr. It has 3 matrices of 40 x 40, some of them positive definite."""
    support = str(Path(__file__).parents[1] / "support")
    environment = {**os.environ, "STATOR_EMULATE": emulate, "PYTHONPATH": support}
    done = subprocess.run(
        [sys.executable, "-c", START + program], env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def test_a_workspace_belongs_to_its_library():
    program = """
with stator.Backend("cuda") as be, be.use():
    x = be.ones((64, 64))
    x @ x
    linalg.solve(be.asarray(spread), be.asarray(spread))
    kept = [r for r in be.resources() if r["kind"] not in ("stream", "library")]
    print([r["bytes"] for r in kept], sum(r["bytes"] for r in be.resources() if r["kind"] == "library") > 1 << 20)
"""
    assert run(program) == ("[32768] True\n", "")


def test_memory_that_is_exhausted_has_a_workspace_among_its_owners():
    program = """
with stator.Backend("cuda", memory_limit=40 << 20) as be, be.use():
    x = be.ones((64, 64))
    x @ x
    try:
        be.zeros((20 << 20,), dtype="uint8")
    except stator.errors.OutOfMemoryError as error:
        print("largest owners 32.0 MiB workspace of matmul, " in str(error))
"""
    assert run(program) == ("True\n", "")


def test_a_backend_that_nobody_holds_is_released_with_its_handles():
    program = """
be = stator.Backend("cuda")
x = be.ones((64, 64))
y = x @ x
del be, x, y
gc.collect()
stator.Backend("cpu").close()
print(stator.testing.outstanding("cuda"), sum(doubles.objects().values()))
"""
    assert run(program) == ("{'memory': 0, 'pinned': 0, 'streams': 0, 'events': 0, 'contexts': 0, 'graphs': 0} 0\n", "")


def test_every_handle_of_cublas_has_a_workspace_of_the_pool():
    program = """
with stator.Backend("cuda") as be, be.use():
    a = be.asarray(spread)
    linalg.solve(a, a), a @ a, linalg.qr(a), linalg.cholesky(be.asarray(definite))
    seen = doubles.calls()
    print(seen["cublasCreate_v2"] == seen["cublasSetWorkspace_v2"] > 0)
"""
    assert run(program) == ("True\n", "")


def test_a_status_of_cublas_has_its_name():
    program = """
with stator.Backend("cuda") as be, be.use():
    a = be.asarray(spread)
    stator.fft.fft(a)  # opens the doubles
    with doubles.answered("cublasCreate_v2", 3):
        try:
            linalg.solve(a, a)
        except stator.errors.CudaError as error:
            print(error.name)
    np.testing.assert_allclose(linalg.solve(a, a).to_numpy(), np.tile(np.eye(40), (3, 1, 1)), atol=1e-9)
"""
    assert run(program) == ("CUBLAS_STATUS_ALLOC_FAILED\n", "")


@pytest.mark.parametrize("symbol", ["cusolverDnXsyevd_bufferSize", "cusolverDnXsyevd"])
def test_a_size_that_cusolver_refuses_has_a_remedy(symbol):
    program = f"""
with stator.Backend("cuda") as be, be.use():
    a = be.asarray(definite[0])
    stator.fft.fft(a)
    with doubles.answered("{symbol}", 3):
        try:
            linalg.eigh(a)
        except stator.errors.UnsupportedError as error:
            print(error)
    np.testing.assert_allclose(linalg.eigvalsh(a).to_numpy(), np.linalg.eigvalsh(definite[0]), rtol=1e-9)
"""
    message, errors = run(program)
    assert "(40, 40)" in message
    assert "to_device" in message
    assert errors == ""


def test_a_large_batch_is_rotated_in_pieces():
    program = """
a = np.random.default_rng(1).normal(size=(65537, 2, 1)).astype(np.float32)
with stator.Backend("cuda") as be, be.use():
    u, s, vh = (x.to_numpy() for x in linalg.svd(be.asarray(a), full_matrices=False))
    np.testing.assert_allclose(u * s[:, None] @ vh, a, atol=1e-5)
    print(doubles.calls()["cusolverDnSgesvdjBatched"])
"""
    assert run(program) == ("2\n", "")


def test_handles_are_released_with_their_own_device_current():
    program = """
backends = [stator.Backend(f"cuda:{i}") for i in range(2)]
for be in backends:
    with be.use():
        a = be.asarray(definite)
        a @ a, linalg.qr(a), linalg.cholesky(a), stator.fft.fft(a)
        del a
stator.fft.clear_cache()
for be in backends:
    be.close()
print(sum(doubles.objects().values()))
"""
    assert run(program, "h200:threads=1,a100:threads=1") == ("0\n", "")


def test_no_library_is_called_after_its_own_exit_handlers():
    program = """
be = stator.Backend("cuda")
with be.use():
    a = be.asarray(definite)
    kept = a @ a, linalg.qr(a), linalg.cholesky(a), stator.fft.fft(a), stator.sparse.csr_from_dense(a[0]) @ a[0]
be.synchronize()
atexit._clear()  # as in a program without Python, where std::atexit is the only hook
held = doubles.end_at_any_call()
"""
    assert run(program) == ("", "")


@pytest.mark.parametrize("seed", range(1, 4))
def test_a_pivot_that_is_not_a_number_is_found_in_every_matrix_of_a_batch(seed):
    program = """
a = np.tile(definite[0], (12, 1, 1))
for i in range(12):
    a[i, i, i] = np.nan
with stator.Backend("cuda") as be, be.use():
    factor, info = linalg.cholesky(be.asarray(a), check=False)
    print((info.to_numpy() > 0).all())
"""
    assert run(program, f"h200:threads=1:seed={seed}") == ("True\n", "")
