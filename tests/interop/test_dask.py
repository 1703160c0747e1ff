"""dask.array over chunks of stator: results are those over NumPy chunks, and stay on the device."""

import operator
import subprocess
import sys

import numpy as np
import pytest

import stator
import stator.numpy as snp

dask = pytest.importorskip("dask", reason="dask is not installed")
da = pytest.importorskip("dask.array", reason="dask is not installed")

HOST = np.random.default_rng(0).normal(size=(60, 12))
SQUARE = HOST[:12]
CALLS = {
    "sum": lambda d: d.sum(),
    "sum of rows": lambda d: d.sum(axis=1),
    "mean": lambda d: d.mean(),
    "mean of rows": lambda d: d.mean(axis=1, keepdims=True),
    "std": lambda d: d.std(axis=0),
    "var": lambda d: d.var(),
    "moment": lambda d: d.moment(3),
    "nanmean": lambda d: da.nanmean(d, axis=0),
    "max": lambda d: d.max(axis=0),
    "argmax": lambda d: d.argmax(axis=0),
    "any": lambda d: (d > 2).any(axis=1),
    "dot": lambda d: d.T.dot(d),
    "tensordot": lambda d: da.tensordot(d, d, axes=((0,), (0,))),
    "matmul": lambda d: d @ d.T,
    "einsum": lambda d: da.einsum("ij,ik->jk", d, d),
    "outer": lambda d: da.outer(d[:, 0], d[0]),
    "exp": lambda d: da.exp(d) + 2 * d,
    "where": lambda d: da.where(d > 0, d, 0.0),
    "cumsum": lambda d: d.cumsum(axis=0),
    "slices": lambda d: d[5:40:3, ::-1],
    "mask": lambda d: d[d[:, 0] > 0],
    "concatenate": lambda d: da.concatenate([d, d], axis=1),
    "reshape": lambda d: d.reshape(-1),
    "rechunk": lambda d: d.rechunk((30, 12)),
    "map_blocks": lambda d: d.map_blocks(lambda block: block * 2),
    "map_overlap": lambda d: d.map_overlap(lambda block: block + 1, depth=1, boundary="reflect"),
    "cov": lambda d: da.cov(d.T),
    "median": lambda d: da.median(d, axis=0),
    "norm": lambda d: da.linalg.norm(d),
    "qr": lambda d: abs(da.linalg.qr(d.rechunk((20, 12)))[1]),
    "singular values": lambda d: da.linalg.svd(d.rechunk((20, 12)))[1],
}


def chunked(x):
    return da.from_array(x, chunks=(20, 5))


def computed(x):
    return x.compute(scheduler="synchronous")


@pytest.mark.parametrize("name", CALLS)
def test_calls_are_those_over_numpy_chunks(be, name):
    got, want = computed(CALLS[name](chunked(be.asarray(HOST)))), computed(CALLS[name](chunked(HOST)))
    assert isinstance(got, stator.Array) and got.backend is be
    np.testing.assert_allclose(got.to_numpy(), want, rtol=1e-10, atol=1e-12)


def test_chunks_are_found_in_a_truncated_decomposition(be):
    x = HOST[:, :3] @ np.random.default_rng(1).normal(size=(3, 12))
    state = da.random.RandomState(0, RandomState=snp.random.RandomState)
    found = da.linalg.svd_compressed(chunked(be.asarray(x)), 3, seed=state)
    u, s, v = dask.compute(*found, scheduler="synchronous")
    assert all(isinstance(part, stator.Array) for part in (u, s, v))
    np.testing.assert_allclose(s.to_numpy(), np.linalg.svd(x)[1][:3], rtol=1e-10)
    np.testing.assert_allclose((u * s @ v).to_numpy(), x, atol=1e-10)


def test_draws_are_made_on_the_device(be):
    state = da.random.RandomState(3, RandomState=snp.random.RandomState)
    got = computed(state.normal(size=(40, 4), chunks=10))
    assert got.backend is be and len({float(v) for v in got.to_numpy()[:, 0]}) == 40


def test_chunks_are_made_by_map_blocks(be):
    d = chunked(HOST).map_blocks(be.asarray, meta=be.zeros((0, 0)))
    got = computed(d.mean(axis=0))
    assert got.backend is be
    np.testing.assert_allclose(got.to_numpy(), HOST.mean(axis=0))


@pytest.mark.parametrize("op", [operator.add, operator.mul, operator.matmul])
def test_operators_beside_an_array(be, op):
    x = be.asarray(SQUARE)
    d = chunked(x)
    for a, b in ((d, x), (x, d), (d, d)):
        got = computed(op(a, b))
        assert isinstance(got, stator.Array)
        np.testing.assert_allclose(got.to_numpy(), op(SQUARE, SQUARE))


def test_threads_share_the_device(be):
    got = (chunked(be.asarray(HOST)) ** 2).sum(axis=0).compute(scheduler="threads", num_workers=2)
    np.testing.assert_allclose(got.to_numpy(), (HOST**2).sum(axis=0))


def test_processes_exchange_chunks(cpu):
    d = chunked(cpu.asarray(HOST)).mean(axis=1)
    context = {"multiprocessing.context": "spawn", "num_workers": 1}
    with dask.config.set(context):
        got = d.compute(scheduler="processes")
    np.testing.assert_allclose(got.to_numpy(), HOST.mean(axis=1))


def test_the_meta_of_a_mean_is_an_array_from_the_start():
    """Also where stator's arrays existed before dask was imported."""
    code = """
import stator
x = stator.ones((4, 6), device="cpu")
import dask.array as da
got = da.from_array(x, chunks=2).mean(axis=1)
assert isinstance(got._meta, stator.Array), type(got._meta)
assert got.compute().tolist() == [1.0] * 4
print("right")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100)
    assert done.stdout == "right\n", done.stderr


@pytest.mark.parametrize(
    "call",
    [lambda d: da.tril(d[:12]), lambda d: da.argtopk(d, 2, axis=0), lambda d: d + HOST],
    ids=["tril", "argtopk", "add"],
)
def test_what_mixes_in_arrays_of_numpy_says_so(be, call):
    with pytest.raises(TypeError, match="asarray"):
        computed(call(chunked(be.asarray(HOST))))


def test_import_of_stator_does_not_load_dask():
    code = "import sys, stator; stator.ones(2, device='cpu'); assert 'dask' not in sys.modules; print('right')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100)
    assert done.stdout == "right\n", done.stderr


def test_the_size_of_a_chunk_is_that_of_its_elements(be):
    from dask.sizeof import sizeof

    assert sizeof(be.ones((1000, 1000))) >= 8_000_000
    assert sizeof(be.ones((1000, 1000))[::2]) >= 4_000_000


def test_names_follow_the_contents(be):
    from dask.base import tokenize

    x = be.asarray(HOST)
    assert tokenize(x) == tokenize(be.asarray(HOST)) == tokenize(x.copy())
    assert len({tokenize(y) for y in (x, x + 1, x.astype("float32"), x.reshape(-1), x.T)}) == 5
    assert da.from_array(x, chunks=(20, 5)).name == da.from_array(be.asarray(HOST), chunks=(20, 5)).name
