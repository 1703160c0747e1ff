"""python workload.py LIBRARY [once|onwards] [NAME...]: runs calls while allocations of C++ fail, one after the other.

LIBRARY is failing_new.cpp as a shared object, which the process has preloaded. Each call runs with its first allocation
failing, then with its second, until it needs fewer. With `onwards` all later allocations fail too, as they do when
memory is gone. Prints one JSON object: for each call how many failures it saw and what was wrong.
"""

import ctypes
import gc
import json
import os
import sys
from pathlib import Path

import numpy as np

import stator
from stator.errors import OutOfMemoryError

failing = ctypes.PyDLL(sys.argv[1])  # keeps the GIL: nothing else runs between arming and the call
failing.fail_allocation.argtypes = [ctypes.c_long, ctypes.c_int]
failing.allocations.restype = ctypes.c_long
ONWARDS = sys.argv[2:3] == ["onwards"]


def calls(be):
    """The workload: name -> function without arguments, whose results are compared between runs."""
    linalg, fft, sparse = stator.linalg, stator.fft, stator.sparse
    rng = np.random.default_rng(0)
    x = be.asarray(rng.uniform(0.5, 2, (6, 8)))
    square = be.asarray(rng.uniform(0, 1, (6, 6)) + 6 * np.eye(6))
    large = be.asarray(rng.uniform(0, 1, (40, 40)) + 40 * np.eye(40))
    deep = be.asarray(rng.uniform(0, 1, (1, 2, 1, 2, 1, 2, 1, 2)))  # more axes than shapes hold without an allocation
    many = be.zeros((1 << 18,))  # queued for the workers
    index, mask = be.asarray([3, 1, 1]), x > 1
    csr = sparse.csr_from_dense(be.asarray(np.eye(6) + np.eye(6, k=1)))
    host, key = np.arange(12.0).reshape(3, 4), (slice(None, None, 2), None, ..., 1)
    be.random.seed(1)
    state, side = be.random.get_state(), be.stream(3)

    def put(key, value):
        target = stator.copy(x)
        target[key] = value
        return target

    def draw():
        generator = stator.random.Generator(be, seed=5)
        return generator.normal(size=5), generator.choice(9, 4, p=[1 / 9] * 9), generator.spawn(2)[1].get_state()[:2]

    def spawned():
        be.random.set_state(state)
        return [child.get_state()[:2] for child in be.random.spawn(3)]

    def on_a_stream():
        with be.stream(side):
            y = x + 1
            happened = side.record()
        be.stream(1).wait(happened)
        happened.synchronize()
        return y

    def open_and_close():
        with stator.Backend("cpu") as other:
            kept = other.asarray(host)
            shared = stator.from_dlpack(host, device=other)
            lent = np.from_dlpack(kept + shared)
        return lent

    def unwrap(data):
        return np.asarray(data.data)

    return {
        "zeros": lambda: be.zeros((2, 3)),
        "full": lambda: be.full((2,) * 8, 2.0),
        "arange": lambda: be.arange(5),
        "asarray": lambda: be.asarray(host),
        "asarray of a list": lambda: be.asarray([[1, 2], [3, 4]]),
        "from_dlpack": lambda: stator.from_dlpack(host, device=be) + 1,
        "copy": lambda: stator.copy(deep),
        "pinned": lambda: stator.memory.pinned_empty((4,), device=be).fill(0),
        "managed": lambda: stator.memory.host_view(be.memory.managed((4,))).fill(0),
        "unified": lambda: be.memory.deallocate_unified(be.memory.allocate_unified(64)),
        "add": lambda: x + 1,
        "add deep": lambda: deep + deep,
        "work of several threads": lambda: stator.exp(many) + many,
        "out": lambda: stator.exp(x, out=be.empty((6, 8))),
        "clip": lambda: stator.clip(x, 0.7, 1.2),
        "where": lambda: stator.where(mask, x, 0.0),
        "sum": lambda: stator.sum(x, axis=(0, 1)),
        "mean deep": lambda: stator.mean(deep, axis=(1, -1)),
        "cumulative_sum": lambda: stator.cumulative_sum(x, axis=1),
        "item": lambda: float(stator.sum(x)),
        "getitem": lambda: x[key],
        "getitem by an array": lambda: x[index],
        "getitem by arrays and slices": lambda: x[index, 1:3],
        "getitem by a mask": lambda: x[mask],
        "setitem": lambda: put(key, 2.0),
        "setitem by an array": lambda: put(index, 3.0),
        "setitem by a mask": lambda: put(mask, 0.0),
        "take": lambda: stator.take(x, index, axis=1),
        "scatter_add": lambda: stator.index_add(x, 0, index, x[:3]),
        "reshape": lambda: stator.reshape(x.T, (2, 2, 2, 2, 3)),
        "views": lambda: [stator.squeeze(deep), stator.flip(deep), stator.moveaxis(deep, 1, 0), deep.mT],
        "broadcast_arrays": lambda: stator.broadcast_arrays(deep, be.zeros((3, 1, 1, 1, 1, 1, 1, 1, 1))),
        "split": lambda: [*stator.split(deep, 2, axis=3), *stator.unstack(deep, axis=1)],
        "concat": lambda: stator.concat([x, x], axis=1),
        "pad": lambda: stator.pad(x, 1),
        "sort": lambda: stator.sort(x, axis=0),
        "topk": lambda: stator.topk(x, 3),
        "unique": lambda: stator.unique_all(be.asarray([3, 1, 3])),
        "histogram": lambda: stator.histogram(x, 4, range=(0, 2)),
        "matmul": lambda: large @ large,
        "einsum": lambda: stator.einsum("ij,jk,kl->il", square, square, square),
        "solve": lambda: linalg.solve(large, large[0]),
        "solve small": lambda: linalg.solve(square, square),
        "svd": lambda: linalg.svd(large)[1],
        "qr": lambda: linalg.qr(large),
        "fft": lambda: fft.rfft(x, n=13),
        "stft": lambda: fft.stft(be.arange(64) * 1.0, 16),
        "sparse": lambda: [csr @ x, (csr @ csr).to_dense(), csr.T.to_coo().to_dense()],
        "sparse sums": lambda: [(csr + csr).to_dense(), csr.sum(axis=1)],
        "draw": draw,
        "spawn": spawned,
        "softmax": lambda: stator.nn.softmax(x, axis=1),
        "streams": on_a_stream,
        "buffer": lambda: unwrap(stator.copy(x)),
        "to_numpy": lambda: x.T.to_numpy(),
        "dlpack": lambda: np.from_dlpack(stator.copy(x)),
        "figures": lambda: [len(be.statistics()["calls"]), be.memory.stats()["limit"], bool(be.resources())],
        "text": lambda: repr(x),
        "open and close": open_and_close,
    }


def plain(value):
    """A copy of the result as nested lists, which compares exactly."""
    if isinstance(value, stator.Array):
        return plain(value.to_numpy())
    if hasattr(value, "to_dense"):
        return plain(value.to_dense())
    if isinstance(value, np.ndarray):
        return [list(value.shape), value.tobytes().hex()]
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return value


def fault(error):
    return f"{type(error).__module__}.{type(error).__name__}: {error}"


def attempt(call, k):
    """Runs the call with its k-th allocation failing: (whether there was one, result, error)."""
    failing.fail_allocation(k, ONWARDS)
    try:
        result, error = call(), None
    except BaseException as e:  # reported to the test
        result, error = None, e
    return failing.allocations() >= k, result, error


def is_typed(error):
    """Page-locked memory is counted like that of a device: such an error has figures instead."""
    return isinstance(error, OutOfMemoryError) and ("Host memory" in str(error) or error.requested > 0)


def check(be, name, call):
    """How many failures there were, were typed, and were survived; and what was wrong."""
    expected = plain(call())
    gc.collect()
    live = len(be.resources())
    seen = {"failures": 0, "typed": 0, "survived": 0, "wrong": []}
    while True:
        k = seen["failures"] + 1
        print(name, k, file=sys.stderr, flush=True)  # for a crash
        failed, result, error = attempt(call, k)
        if not failed and error is None:
            return seen
        seen["failures"] += 1
        if error is None:
            seen["survived"] += plain(result) == expected
        elif is_typed(error):
            seen["typed"] += 1
        else:
            seen["wrong"].append(f"allocation {k}: {fault(error)}")
        result = error = None
        try:
            if plain(call()) != expected:
                seen["wrong"].append(f"after allocation {k}: another result")
        except BaseException as e:  # reported to the test
            seen["wrong"].append(f"after allocation {k}: {fault(e)}")
        if len(be.resources()) != live:
            gc.collect()
            if len(be.resources()) > live:
                seen["wrong"].append(f"after allocation {k}: {len(be.resources()) - live} objects more")
                live = len(be.resources())


def table_calls(be):
    """A call of every function of the op table."""
    sys.path.insert(0, str(Path(__file__).parents[2] / "support"))
    import calls

    table = [row for row in stator.op_table() if row["shape_class"] != "method"]
    changing = [row["name"] for row in table if row["family"] == "random" or row["name"].endswith("_step")]
    changing += ["setitem", "index_put", "put_along_axis", "empty"]  # and results that differ between runs

    def quiet(call):
        return lambda: [call(), None][1]

    for name in [row["name"] for row in table]:
        for layout, call in zip(("", " transposed"), calls.both(be, name), strict=True):
            if call is not None:
                yield name + layout, quiet(call) if name in changing else call


def main():
    found = {}
    with stator.Backend("cpu") as be, be.use():
        work = list(calls(be).items())
        if os.environ.get("STATOR_HOST_MEMORY") == "table":
            work += table_calls(be)
        for name, call in work:
            if not sys.argv[3:] or name in sys.argv[3:]:
                found[name] = check(be, name, call)
    print(json.dumps(found))


main()
