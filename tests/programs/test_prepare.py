"""Backend.graphs.prepare: what is loaded and made before first calls."""

import gc
import os
import subprocess
import sys

import numpy as np
import pytest

import stator
from stator.errors import CaptureError, DTypeError, InvalidValueError


@pytest.fixture
def fresh(be):
    """A backend that has done nothing yet."""
    with stator.Backend(be.device_name) as backend:
        yield backend
    gc.collect()


def calls_of(backend):
    """A call of each library, and their arrays."""
    rng = np.random.default_rng(0)
    a = backend.asarray(rng.uniform(1, 2, (40, 40)) + 40 * np.eye(40))
    b = backend.asarray(rng.uniform(1, 2, (40, 3)))
    rows = stator.sparse.csr_from_dense(a)
    return {
        "matmul": lambda: a @ b,
        "linalg.solve": lambda: stator.linalg.solve(a, b),
        "fft.fft": lambda: stator.fft.fft(a),
        "sparse.CSR.__matmul__": lambda: rows @ b,
        "random.normal": lambda: backend.random.normal(size=100),
    }


def handles():
    """The handles of libraries that are alive: those of an emulated device, which doubles count."""
    from tests.support.vendor_doubles import objects

    return {name: count for name, count in objects().items() if "Handle_t" in name or name == "gesvdjInfo_t"}


def cost(backend, call):
    """The runtime calls of a call that finds no plans and no memory in a cache, but for polls: how many there are
    depends on when work is done."""
    gc.collect()
    stator.fft.clear_cache()
    stator.linalg.clear_matmul_cache()
    backend.memory.empty_cache()
    backend.synchronize()
    before = backend.statistics()["calls"]
    result = call()
    after = backend.statistics()["calls"]
    del result
    return {n: after[n] - before[n] for n in after if after[n] != before[n] and not n.endswith("_query")}


def needs_no_more(first, backend, call):
    """Whether one of some later calls makes as many; every other one makes the work area that a plan has."""
    later = [cost(backend, call) for _ in range(4)]
    return all(count <= max(one.get(name, 0) for one in later) for name, count in first.items())


def test_first_calls_are_as_any_other(fresh):
    calls = calls_of(fresh)
    fresh.graphs.prepare()
    emulated = fresh.device.type == "cuda" and stator.backend._backend.emulated("cuda")
    before = handles() if emulated else None
    for name, call in calls.items():
        first = cost(fresh, call)
        assert needs_no_more(first, fresh, call), name
    assert before == (handles() if emulated else None)


def test_first_captures_are_as_any_other(fresh):
    calls = calls_of(fresh)
    del calls["linalg.solve"]  # it waits, and is not captured

    def capture(call):
        with fresh.capture() as graph:
            result = call()
        graph.launch()
        return result

    fresh.graphs.prepare()
    for name, call in calls.items():
        first = cost(fresh, lambda call=call: capture(call))
        assert needs_no_more(first, fresh, lambda call=call: capture(call)), name


def test_the_first_use_of_a_library_may_be_in_a_capture(fresh):
    calls = calls_of(fresh)
    del calls["linalg.solve"], calls["random.normal"]
    results = {}
    with fresh.capture() as graph:
        for name, call in calls.items():
            results[name] = call()
    graph.launch()
    for name, result in results.items():
        np.testing.assert_allclose(result.to_numpy(), calls[name]().to_numpy(), rtol=1e-12, err_msg=name)


def test_the_kernels_of_the_first_calls_were_loaded(fresh):
    if fresh.device.type == "cpu":  # whose kernels are loaded with their shared object
        assert fresh.graphs.prepare() is None
        return
    from tests.support.runtime_calls import recorded

    calls = calls_of(fresh)
    with recorded("function_numbers") as loaded:
        fresh.graphs.prepare([*calls])
    loaded = {arguments[1] for arguments in loaded}
    with recorded("launch") as launched:
        for call in calls.values():
            call()
        fresh.synchronize()
    assert launched
    assert {arguments[0] for arguments in launched} <= loaded


def test_only_the_kernels_of_the_named_ops_are_loaded(fresh):
    if fresh.device.type == "cpu":
        assert fresh.graphs.prepare([]) is None
        return
    from tests.support.runtime_calls import recorded

    counts = []
    for ops in ([], ["nn.softmax"], ["nn"], ["sparse.CSR.__matmul__"], None):
        with recorded("function_numbers") as loaded:
            fresh.graphs.prepare(ops)
        counts.append(len(loaded))
    assert counts[0] == 0 < counts[1] == counts[2] < counts[3] < counts[4]


def test_only_the_libraries_of_the_named_ops_are_opened(fresh):
    fresh.graphs.prepare(["random.normal", "sort"])
    assert not [r for r in fresh.resources() if r["kind"] == "library"]
    fresh.graphs.prepare(["fft.fft"])
    made = [r for r in fresh.resources() if r["kind"] == "library"]
    assert len(made) == (2 if fresh.device.type == "cuda" else 0)  # of the stream, and of what a capture takes for it


def test_the_current_stream_is_prepared(fresh):
    with fresh.stream(1):
        fresh.graphs.prepare(["matmul"])
        x = fresh.ones((20, 20))
        first = cost(fresh, lambda: x @ x)
        assert first == cost(fresh, lambda: x @ x)


def test_nothing_is_under_way_when_it_returns(fresh):
    fresh.graphs.prepare(["matmul"])
    assert fresh.stream(0).done()


def test_unknown_names_are_refused_with_the_nearest_ones(be):
    with pytest.raises(
        InvalidValueError, match=r"Backend.graphs.prepare: There is no op 'linalg.sovle'. Name linalg.solve"
    ):
        be.graphs.prepare(["linalg.sovle"])
    with pytest.raises(InvalidValueError, match=r"'zzz'. Name one of stator.op_table"):
        be.graphs.prepare(["zzz"])
    for wrong in ("matmul", 3, [3], {"matmul": None, 4: None}):
        with pytest.raises(DTypeError, match=r"Backend.graphs.prepare: Got ops="):
            be.graphs.prepare(wrong)


def test_a_capture_goes_on_where_it_is_refused(be):
    x = be.ones(3)
    with be.capture() as graph:
        y = x + 1
        with pytest.raises(CaptureError, match=r"Backend.graphs.prepare: Stream 0 is being captured"):
            be.graphs.prepare()
    graph.launch()
    assert y.tolist() == [2, 2, 2]


@pytest.mark.parametrize("ops", [None, ["matmul", "linalg.solve", "fft", "sparse"]])
def test_every_failing_call_of_the_runtime_leaves_nothing_behind(be, ops):
    before = stator.testing.outstanding(be.device.type)
    for at in range(100):
        with stator.Backend(be.device_name) as fresh:
            stator.testing.inject(fresh, fail_at=at)
            try:
                fresh.graphs.prepare(ops)
                failed = False
            except stator.errors.StatorError:
                failed = True
            finally:
                count = stator.testing.lift(fresh)
            assert not [r for r in fresh.resources() if r["kind"] in ("graph", "buffer")]
            fresh.graphs.prepare(ops)
            x = fresh.ones((40, 40))
            assert float((x @ x)[0, 0]) == 40
            del x
        gc.collect()
        assert stator.testing.outstanding(be.device.type) == before
        if count <= at:
            break
    assert at > 1 and not failed


MISSING = """
import stator
with stator.Backend("cpu") as be:
    be.graphs.prepare()
    be.graphs.prepare(["sort", "sparse", "outer", "linalg.trace"])
    for ops in (["matmul"], ["sort", "linalg.solve"], ["linalg"]):
        try:
            be.graphs.prepare(ops)
        except stator.errors.LibraryNotFoundError as error:
            print(error.op)
"""


def test_a_library_that_is_missing_is_an_error_where_a_named_op_needs_it():
    environment = {**os.environ, "STATOR_OPENBLAS": "/nowhere/libopenblas.so"}
    command = [sys.executable, "-c", MISSING]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == ["matmul", "linalg.solve", "linalg.cholesky"]
