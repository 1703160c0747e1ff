"""Graphs that are saved to files and loaded, in this process, in another one and on another device."""

import json
import subprocess
import sys
import zipfile

import calls
import numpy as np
import pytest

import stator
from stator import linalg, nn
from stator.errors import CaptureError, DTypeError, InvalidValueError, ShapeError, StatorError
from tests.graphs.test_graph_ops import FUNCTIONS, TABLE, arrays_of, values

RUN = """
import sys, numpy as np, stator
device, path, inputs, outputs, times = sys.argv[1:]
with stator.Backend(device) as be:
    function = be.graphs.load(path)
    given = np.load(inputs)
    for _ in range(int(times)):
        made = function(*(be.asarray(given[name]) for name in given.files))
    np.savez(outputs, *(x.to_numpy() for x in (made if isinstance(made, tuple) else (made,))))
"""


def drawn(*shape, seed=0, dtype="float64"):
    return np.random.default_rng(seed).uniform(0.5, 2, shape).astype(dtype)


def elsewhere(tmp_path, device, path, inputs, times=1):
    """The results of a file's function in another process."""
    np.savez(tmp_path / "inputs.npz", *inputs)
    command = [sys.executable, "-c", RUN, device, *map(str, (path, tmp_path / "inputs.npz", tmp_path / "o.npz", times))]
    subprocess.run(command, check=True, capture_output=True, text=True)
    with np.load(tmp_path / "o.npz") as found:
        return [found[name] for name in found.files]


def elementwise(be):
    shift = be.asarray(drawn(4, seed=1))
    return lambda x: (stator.exp(-x) * 2 + shift, abs(x) ** 0.5, x.astype("float32") > 1)


def products(be):
    weight = be.asarray(drawn(4, 3, seed=1))
    return lambda x: (x @ weight, stator.einsum("ij,kj->ik", x, x), (x @ x.T).mT)


def norms_and_transforms(be):
    return lambda x: (
        linalg.vector_norm(x, axis=1),
        linalg.diagonal(x, offset=1) * linalg.trace(x[:4]),
        linalg.cross(x[:, :3], x[:, 1:]),
        stator.fft.rfft(x, axis=0),
    )


def reductions(be):
    return lambda x: (
        x.sum(axis=0),
        stator.std(x, correction=1),
        x.max(axis=1, keepdims=True),
        stator.cumulative_sum(x, axis=0),
    )


def indexing(be):
    rows, mask = be.asarray([3, 1]), be.asarray([True, False, True, False])

    def work(x):
        y = stator.copy(x)
        y[0, ::2] = 7
        y[rows] += x[:2]
        y.T[1] *= 2
        return y[rows, 1], y[..., None, 1:], stator.where(mask, y, 0.0)

    return work


def training_step(be):
    weight, label = be.asarray(drawn(4, 3, seed=1)), be.asarray([0, 2, 1, 1, 0])

    def step(x):
        nonlocal weight
        probabilities = nn.softmax(x @ weight, axis=-1)
        loss = nn.cross_entropy(x @ weight, label)
        weight -= 0.1 * (x.T @ (probabilities - 0.2))
        return loss, weight

    return step


def loop(be):
    return lambda x: be.graphs.while_loop(
        lambda c: stator.max(c[0]) < 100, lambda c: (c[0] * 2, c[1] + 1), (x, be.zeros(()))
    )


def branch(be):
    return lambda x: be.graphs.cond(stator.sum(x) > 3, lambda x: x * 2, lambda x: x - 1, x)


def draws(be):
    return lambda x: (be.random.normal(size=4), nn.dropout(x, 0.5)[0], stator.random.uniform(size=2, device=be))


PROGRAMS = [draws, elementwise, products, norms_and_transforms, reductions, indexing, training_step, loop, branch]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_another_process_computes_the_same(be, tmp_path, program):
    x, path = be.asarray(drawn(5, 4)), tmp_path / "saved.graph"
    be.graph(program(be)).save(path, x)
    expected = values(be.graph(program(be))(be.asarray(drawn(5, 4, seed=2))))
    found = elsewhere(tmp_path, be.device.type, path, [drawn(5, 4, seed=2)])
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


def test_a_file_of_one_device_runs_on_another(be, tmp_path):
    path = tmp_path / "saved.graph"
    with stator.Backend("cpu") as cpu:
        function = cpu.graph(training_step(cpu))
        function.save(path, cpu.asarray(drawn(5, 4)))
        expected = values(function(cpu.asarray(drawn(5, 4))))
    found = values(be.graphs.load(path)(be.asarray(drawn(5, 4))))
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_constants_that_the_work_writes_go_on_from_call_to_call(be, tmp_path):
    path, total = tmp_path / "saved.graph", be.asarray([1.0, 2.0])

    def add(x):
        nonlocal total
        total += x
        return total * 1

    be.graph(add).save(path, be.ones(2))
    total[...] = 99  # the file has the values that it was saved with
    function = be.graphs.load(path)
    assert [function(be.full(2, 10.0)).tolist() for _ in range(3)] == [[11, 12], [21, 22], [31, 32]]


def test_draws_go_on_from_the_state_that_was_saved(be, tmp_path):
    path, own = tmp_path / "saved.graph", stator.random.Generator(be, seed=3)

    def draw(x):
        return be.random.normal(size=4), own.uniform(size=3), nn.dropout(x, 0.5)[0], be.random.integers(9, size=5)

    be.random.seed(11)
    function, x = be.graph(draw), be.ones(32)
    function.save(path, x)
    loaded, expected = be.graphs.load(path), [values(function(x)) for _ in range(4)]
    be.random.seed(5)  # those of the file are not the backend's
    for want in expected:
        for a, b in zip(values(loaded(x)), want, strict=True):
            np.testing.assert_array_equal(a, b)


def test_the_gradient_of_dropout_has_the_mask_of_the_call(be, tmp_path):
    path = tmp_path / "saved.graph"

    def step(x):
        y, state = nn.dropout(x, 0.5)
        return y, nn.dropout_backward(x, 0.5, state)

    be.graph(step).save(path, be.ones(64))
    loaded = be.graphs.load(path)
    first, second = (values(loaded(be.ones(64))) for _ in range(2))
    np.testing.assert_array_equal(*first)
    np.testing.assert_array_equal(*second)
    assert not np.array_equal(first[0], second[0])


def test_a_recorded_capture_is_saved_with_its_inputs_and_outputs(be, tmp_path):
    x, scale = be.asarray(drawn(3)), be.asarray(2.0)
    with be.capture(record=True) as graph:
        y = x * scale
        z = y.sum()
    graph.save(tmp_path / "saved.graph", inputs=[x], outputs=[y, z])
    found = be.graphs.load(tmp_path / "saved.graph")(be.asarray([1.0, 2.0, 3.0]))
    assert [a.tolist() for a in found] == [[2, 4, 6], 12]


def test_work_of_streams_that_are_not_captured_is_not_in_the_file(be, tmp_path):
    x = be.ones(3)
    with be.capture(record=True) as graph:
        with be.stream(1):
            factor = be.full(3, 2.0) * 3
        be.stream(1).synchronize()
        y = x * factor
    graph.save(tmp_path / "saved.graph", inputs=[x], outputs=[y])
    with zipfile.ZipFile(tmp_path / "saved.graph") as archive:
        assert [step[0] for step in json.loads(archive.read("program.json"))["steps"]] == ["multiply"]
    assert be.graphs.load(tmp_path / "saved.graph")(x).tolist() == [6, 6, 6]


def test_a_capture_that_was_not_recorded_cannot_be_saved(be, tmp_path):
    x = be.ones(3)
    with be.capture() as graph:
        y = x + 1
    with pytest.raises(CaptureError, match="record=True"):
        graph.save(tmp_path / "saved.graph", inputs=[x], outputs=[y])
    assert list(tmp_path.iterdir()) == []


def test_arrays_and_matrices_are_known_by_their_memory(be, tmp_path):
    matrix = stator.sparse.csr_from_dense(be.asarray(np.triu(drawn(3, 3))))

    def work(x):
        doubled = x.T * 2  # the T of a vector is another object of the same view
        scaled = matrix * 3.0
        return doubled.T + 1, matrix.T @ x, scaled.T @ x, (scaled @ x).T

    be.graph(work).save(tmp_path / "saved.graph", be.zeros(3))
    x = be.asarray([1.0, 2.0, 3.0])
    for a, b in zip(values(be.graphs.load(tmp_path / "saved.graph")(x)), values(work(x)), strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_loaded_function_can_be_saved_again(be, tmp_path):
    x = be.asarray(drawn(5, 4))
    be.graph(indexing(be)).save(tmp_path / "first.graph", x)
    be.graphs.load(tmp_path / "first.graph").save(tmp_path / "second.graph", x)
    for a, b in zip(values(be.graphs.load(tmp_path / "second.graph")(x)), values(indexing(be)(x)), strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_loaded_function_runs_within_a_capture(be, tmp_path):
    be.graph(lambda x: x * 2 + 1).save(tmp_path / "saved.graph", be.ones(3))
    function, x = be.graphs.load(tmp_path / "saved.graph"), be.asarray([1.0, 2.0, 3.0])
    with be.capture() as graph:
        y = function(x) - 1
    graph.launch()
    assert y.tolist() == [2, 4, 6]


@pytest.mark.parametrize("dtype", [d.name for d in stator._dtype.all_dtypes])
def test_constants_of_every_dtype_are_kept_by_their_bits(be, tmp_path, dtype):
    constant = be.asarray(np.arange(-3, 3).reshape(2, 3)).astype(dtype)
    empty = be.zeros((0, 3), dtype=dtype)
    be.graph(lambda: (constant.T, stator.concat([empty, constant]))).save(tmp_path / "saved.graph")
    found, joined = be.graphs.load(tmp_path / "saved.graph")()
    assert found.dtype == joined.dtype == dtype and joined.shape == (2, 3)
    np.testing.assert_array_equal(found.astype("complex128").to_numpy(), constant.T.astype("complex128").to_numpy())


def test_structures_and_other_arguments_are_compared_with_those_of_the_file(be, tmp_path):
    x = be.ones((2, 3))

    def work(batch, axis, *, scale, kind=None):
        return {"mean": [stator.mean(batch["x"], axis=axis, dtype=kind) * scale]}

    be.graph(work).save(tmp_path / "saved.graph", {"x": x}, 1, scale=0.5)
    loaded = be.graphs.load(tmp_path / "saved.graph")
    assert loaded({"x": x * 4}, 1, scale=0.5)["mean"][0].tolist() == [2, 2]
    for error, named, args, scale in (
        (ShapeError, r"\[0\]\['x'\] has shape \(3, 2\)", ({"x": x.T}, 1), 0.5),
        (DTypeError, "dtype float32", ({"x": x.astype("float32")}, 1), 0.5),
        (DTypeError, "type list", ({"x": [1]}, 1), 0.5),
        (InvalidValueError, r"\[1\] is 0", ({"x": x}, 0), 0.5),
        (InvalidValueError, r"\['scale'\] is 2", ({"x": x}, 1), 2.0),
        (InvalidValueError, "saved with", ({"y": x}, 1), 0.5),
        (InvalidValueError, "saved with", ({"x": x},), 0.5),
    ):
        with pytest.raises(error, match=named):
            loaded(*args, scale=scale)
    assert loaded({"x": x}, 1, scale=0.5)["mean"][0].tolist() == [0.5, 0.5]
    be.graph(work).save(tmp_path / "saved.graph", {"x": x}, (0, 1), scale=np.float32("nan"), kind=np.float32)
    loaded = be.graphs.load(tmp_path / "saved.graph")
    made = loaded({"x": x}, (0, 1), scale=np.float32("nan"), kind=np.float32)["mean"][0]
    assert made.dtype == "float32" and made.shape == ()


def difference(be, path, call):
    """What is wrong with the call from a file, or None."""
    be.random.seed(5)
    expected = values(call())
    be.random.seed(5)
    try:
        be.graph(lambda: tuple(arrays_of(call()))).save(path)
        found = values(be.graphs.load(path)())
    except StatorError as error:
        return f"{type(error).__name__}: {error}"
    alike = len(found) == len(expected) and all(
        np.array_equal(a, b, equal_nan=True) for a, b in zip(found, expected, strict=True)
    )
    return None if alike else "other values"


def test_every_op_that_can_be_captured_can_be_saved(be, tmp_path):
    capturable = [name for name in FUNCTIONS if TABLE[name]["capture"] != "not_capturable"]
    path = tmp_path / "saved.graph"
    checked = {name: difference(be, path, calls.both(be, name)[0]) for name in capturable}
    assert {name: said for name, said in checked.items() if said} == {}
    assert len(checked) > 250


def deep(x):
    for _ in range(20):
        x = stator.sin(x) + 1
    return x


def in_a_loop(x):
    return deep(x.backend.graphs.while_loop(lambda c: stator.sum(c) < 0, deep, deep(x)))


@pytest.mark.parametrize("work", [deep, in_a_loop])
def test_a_loaded_graph_owns_no_more_memory_than_the_function_that_was_saved(be, tmp_path, work):
    path, x, own = tmp_path / "saved.graph", be.ones(2**15), be.graph(work)
    own.save(path, x)
    loaded = be.graphs.load(path)
    expected = own(x).to_numpy()
    for _ in range(3):
        np.testing.assert_array_equal(loaded(x).to_numpy(), expected)
    own(x)
    own(x)
    assert loaded.cache_info().nbytes <= own.cache_info().nbytes
