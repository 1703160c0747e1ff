"""What cannot be saved as a graph, and files that are not as they were written."""

import gc
import json
import threading
import tracemalloc
import zipfile

import emulated
import numpy as np
import pytest
import requirements

import stator
from stator.errors import CaptureError, DTypeError, GraphFileError, StatorError
from stator.graphs import graph_files


def refusal(be, tmp_path, function, *args):
    """The text of the error that saving raises; nothing is written, and the function can still be called."""
    with pytest.raises(CaptureError) as caught:
        be.graph(function).save(tmp_path / "saved.graph", *args)
    assert list(tmp_path.iterdir()) == [] and not be.graphs.is_capturing
    return str(caught.value)


def test_other_graphs_are_named(be, tmp_path):
    x = be.ones(3)
    with be.capture() as inner:
        stator.exp(x, out=x)
    assert "graph 'graph'" in refusal(be, tmp_path, lambda: inner.launch())


def test_kernels_of_users_are_named(cuda, tmp_path):
    kernel = cuda.compile("__global__ void add_one(float* x) { x[threadIdx.x] += 1; }", "add_one")
    before, after = cuda.ones(4), cuda.zeros(4, dtype="float32")

    def work(x):
        y = x * before
        kernel.launch(1, 4, after)
        return y + after

    assert "kernel 'add_one'" in refusal(cuda, tmp_path, work, cuda.ones(4))


@requirements.cuda_target
@pytest.mark.emulates
def test_work_of_other_libraries_is_noticed(tmp_path):
    program = f"""
import emulated, stator, sys
from stator.errors import CaptureError
library, be = emulated.Consumer(), stator.Backend("cuda")
x = be.ones(3)
with be.capture(record=True) as graph:
    y = x + 1
    library.read_later(be.current_stream.__cuda_stream__()[1], y.data_ptr, 3)
    z = y * 2
try:
    graph.save({str(tmp_path / "saved.graph")!r}, inputs=[x], outputs=[z])
except CaptureError as error:
    print(error.cause)
"""
    assert emulated.run(program, "h200:threads=1") == "The graph has work of another library\n"


def test_work_at_the_end_of_a_capture_is_named_too(be, tmp_path):
    x = be.ones(3)
    with be.capture() as inner:
        stator.exp(x, out=x)
    with be.capture(record=True) as graph:
        y = x + 1
        inner.launch()
    with pytest.raises(CaptureError, match="graph 'graph'"):
        graph.save(tmp_path / "saved.graph", inputs=[x], outputs=[y])


def test_views_are_refused_that_no_recorded_call_made(be, tmp_path):
    with be.capture(record=True) as graph:
        made = be.ones(4) * 2
    with pytest.raises(CaptureError, match="memory of the graph"):
        graph.save(tmp_path / "saved.graph", outputs=[made[2:]])

    def work(x):
        y, views = x * 2, []
        thread = threading.Thread(target=lambda: views.append(y[1:]))
        thread.start()
        thread.join()
        return views[0] + 1

    assert "memory of the graph" in refusal(be, tmp_path, work, be.ones(4))


def test_views_made_outside_are_refused_where_they_would_no_longer_share_memory(be, tmp_path):
    whole = be.ones((4, 3))
    row = whole[0]
    assert "shares memory" in refusal(be, tmp_path, lambda x: x + row, whole)
    assert "shares memory" in refusal(be, tmp_path, lambda x: whole + row + x, be.ones(3))
    be.graph(lambda x: x + whole[0]).save(tmp_path / "good.graph", be.ones(3))


def test_an_argument_that_no_file_can_have_is_named(be, tmp_path):
    x = be.ones(3)
    assert "type object" in refusal(be, tmp_path, lambda x, kind: x + 1, x, object())
    matrix = stator.sparse.csr_from_dense(be.ones((3, 3)))
    assert "sparse matrix is an argument" in refusal(be, tmp_path, lambda x, a: a @ x, x, matrix)
    assert "generator is an argument" in refusal(be, tmp_path, lambda x, g: x + g.normal(size=3), x, be.random)
    assert "two of the arguments" in refusal(be, tmp_path, lambda x, y: x + y, x, x)


@pytest.mark.parametrize(
    ("named", "change"),
    [
        ("Generator.seed", lambda be: be.random.seed(1)),
        ("Generator.set_state", lambda be: be.random.set_state((1, 0, 0, "cpu"))),
        ("Generator.spawn", lambda be: be.random.spawn(1)),
        ("random.set_state", lambda be: stator.random.set_state((1, 0, 0, "cpu"), device=be)),
    ],
)
def test_changes_of_a_generator_are_refused(be, tmp_path, named, change):
    def work(x):
        change(be)
        return x + be.random.normal(size=3)

    assert named in refusal(be, tmp_path, work, be.ones(3))


def test_an_array_of_another_backend_is_refused(be, tmp_path):
    with stator.Backend("cpu") as other:
        x, y = other.ones(3), be.ones(3)

        def argument(y):
            x[0] = 2.0
            return y + 1

        def result(y):
            with other.use():
                stator.ones(3)
            return y + 1

        assert "an array of another backend" in refusal(be, tmp_path, argument, y)
        assert "a result of another backend" in refusal(be, tmp_path, result, y)


def test_saving_within_a_capture_is_refused(be, tmp_path):
    function = be.graph(lambda x: x + 1)
    with be.capture(), pytest.raises(CaptureError, match="being captured"):
        function.save(tmp_path / "saved.graph", be.ones(3))


def test_an_error_of_the_function_leaves_no_recording_behind(be, tmp_path):
    def broken(x):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        be.graph(broken).save(tmp_path / "saved.graph", be.ones(3))
    be.graph(lambda x: x + 1).save(tmp_path / "saved.graph", be.ones(3))
    assert be.graphs.load(tmp_path / "saved.graph")(be.ones(3)).tolist() == [2, 2, 2]


def test_a_failure_to_write_leaves_the_file_that_was_there(be, tmp_path, monkeypatch):
    path, constant = tmp_path / "saved.graph", be.ones(3)
    be.graph(lambda x: x * 2).save(path, be.ones(3))
    before = path.read_bytes()
    monkeypatch.setattr(graph_files, "bytes_of", lambda x: (_ for _ in ()).throw(MemoryError))
    with pytest.raises(MemoryError):
        be.graph(lambda x: x + constant).save(path, be.ones(3))
    assert [*tmp_path.iterdir()] == [path] and path.read_bytes() == before
    with pytest.raises(FileNotFoundError):
        be.graph(lambda x: x * 2).save(tmp_path / "missing" / "saved.graph", be.ones(3))


def test_other_threads_are_not_recorded(be, tmp_path):
    begun, ended, found = threading.Event(), threading.Event(), []

    def other():
        begun.wait()
        with stator.Backend("cpu") as own:
            found.append((own.ones(2) + 1).tolist())
        ended.set()

    def work(x):
        begun.set()
        ended.wait()
        return x * 2

    thread = threading.Thread(target=other)
    thread.start()
    be.graph(work).save(tmp_path / "saved.graph", be.ones(3))
    thread.join()
    with zipfile.ZipFile(tmp_path / "saved.graph") as archive:
        steps = json.loads(archive.read("program.json"))["steps"]
    assert found == [[2, 2]] and [step[0] for step in steps] == ["multiply"]


def test_a_file_that_cannot_be_read_is_named(be, tmp_path):
    with pytest.raises(GraphFileError, match=r"missing\.graph"):
        be.graphs.load(tmp_path / "missing.graph")
    with pytest.raises(DTypeError, match="path"):
        be.graphs.load(3)


def saved(be, path):
    """A file with constants, a loop, draws and every kind of argument that is short to make."""
    scale, rows = be.asarray([2.0, 3.0, 4.0]), be.asarray([1, 0])

    def work(x, axis):
        y = be.graphs.while_loop(lambda c: stator.sum(c) < 50, lambda c: c * scale, x, limit=100)
        y[0, ::2] = 1.5
        z = stator.astype(y[rows], "float32") + be.random.uniform(size=3, dtype="float32")
        return {"z": [z, stator.clip(y, -np.inf, 9.0)], "sum": stator.sum(y, axis=axis)}

    be.graph(work).save(path, be.ones((2, 3)), 1)
    return path.read_bytes()


def outcome(be, path):
    """The error of loading and calling; other errors than those of stator pass."""
    try:
        made = be.graphs.load(path)(be.ones((2, 3)), 1)
        return None if made is None else "made"
    except StatorError as error:
        return type(error).__name__


def test_a_file_that_is_cut_off_or_changed_anywhere_is_refused_or_read(be, tmp_path):
    path = tmp_path / "saved.graph"
    whole = saved(be, path)
    for end in range(0, len(whole), max(1, len(whole) // 60)):
        path.write_bytes(whole[:end])
        with pytest.raises(GraphFileError):
            be.graphs.load(path)
    rng = np.random.default_rng(0)
    for place in range(0, len(whole), 5):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        assert outcome(be, path) in ("GraphFileError", "made")
    path.write_bytes(whole)
    assert outcome(be, path) == "made"


def fields(node, path=()):
    """The offsets in a text, each with what is there."""
    yield path, node
    for key, item in node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ():
        yield from fields(item, (*path, key))


def changed(text, place, value):
    text = json.loads(json.dumps(text))
    node = text
    for key in place[:-1]:
        node = node[key]
    node[place[-1]] = value
    return text


def write(path, text, constants):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("program.json", json.dumps(text))
        for name, raw in constants.items():
            archive.writestr(name, raw)


def contents(path):
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    return json.loads(members.pop("program.json")), members


WRONG = (None, True, -1, 10**30, 2.5, "nope", [], {}, [[]], {"value": 999}, {"value": -1}, {"nope": 1}, {"tuple": 3})


def test_a_wrong_value_in_any_field_gives_an_error_of_stator_or_another_program(be, tmp_path):
    path = tmp_path / "saved.graph"
    saved(be, path)
    text, constants = contents(path)
    refused = 0
    for number, (place, _) in enumerate(list(fields(text))[1:]):
        value = WRONG[number % len(WRONG)]
        write(path, changed(text, place, value), constants)
        refused += outcome(be, path) != "made"
        assert not be.graphs.is_capturing
    assert refused > 100


@pytest.mark.parametrize(
    ("place", "value", "named"),
    [
        (("format",), 2, "Format 2"),
        (("format",), "1", "Format '1'"),
        (("steps", 0, 0), "os.system", "os.system"),
        (("steps", 0, 0), "__class__", "__class__"),
        (("steps", 0, 0), "shutdown", "shutdown"),
        (("steps", 1, 1, 0), {"value": 99}, "value 99"),
        (("steps", 0, 3), [50], "value 50"),
        (("values",), 7, "values instead of 7"),
        (("inputs", 0), ["float64", [2**70]], "shape"),
        (("constants", 0), ["float64", [10**12]], "bytes for float64"),
        (("constants", 0), ["nope", [3]], "nope"),
        (("generators",), [], "generator"),
        (("result",), {"value": 99}, "value 99"),
        (("result",), {"dict": [[{"value": 0}, 1]]}, "value 0 of 0"),
        (("arguments",), {"tuple": [{"tuple": []}, {"dict": []}]}, "not the inputs"),
    ],
)
def test_a_changed_field_is_named(be, tmp_path, place, value, named):
    path = tmp_path / "saved.graph"
    saved(be, path)
    text, constants = contents(path)
    write(path, changed(text, place, value), constants)
    with pytest.raises(GraphFileError) as caught:
        be.graphs.load(path)
    assert named in str(caught.value)


def peak(work):
    """The bytes of Python's own memory that the work needs at most; its error where it raises one of stator."""
    tracemalloc.start()
    try:
        work()
    except StatorError as error:
        return tracemalloc.get_traced_memory()[1], error
    finally:
        tracemalloc.stop()
    return tracemalloc.get_traced_memory()[1], None


def nested(depth, kind):
    node = 1
    for _ in range(depth):
        node = {"tuple": [node]} if kind == "tuples" else [node]
    return node


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("result",), {"tuple": {"range": [0, 300_000_000, 1]}}),
        (("result",), {"tuple": {"tuple": {"range": [0, 300_000_000, 1]}}}),
        (("result",), {"dict": {"range": [0, 300_000_000, 1]}}),
        (("result",), nested(300, "tuples")),
        (("result",), nested(900, "lists")),
        (("result",), {"dict": [[nested(300, "tuples"), 1]]}),
        (("steps", 1, 1, 0), nested(900, "lists")),
        (("steps", 0, 2), {"axis": {"range": [0, 300_000_000, 1]}}),
        (("steps", 0, 2), {f"o{i}": {"range": [0, 2**18, 1]} for i in range(5)}),
    ],
)
def test_a_small_file_is_refused_before_it_makes_much(be, tmp_path, place, value):
    path = tmp_path / "saved.graph"
    saved(be, path)
    text, constants = contents(path)
    write(path, changed(text, place, value), constants)
    used, error = peak(lambda: be.graphs.load(path))
    assert isinstance(error, GraphFileError) and used < 2**23


def test_members_that_overlap_are_refused_before_they_are_read(be, tmp_path):
    path, size, count = tmp_path / "saved.graph", 2**20, 40
    saved(be, path)
    text, constants = contents(path)
    text["constants"] += [["uint8", [size]]] * count
    first = len(constants)
    write(path, text, {**constants, "constants/big": bytes(size)})
    with zipfile.ZipFile(path, "a") as archive:
        big = archive.getinfo("constants/big")
        for number in range(count):
            archive.writestr(f"constants/{first + number}", b"")
            made = archive.getinfo(f"constants/{first + number}")
            made.header_offset, made.file_size = big.header_offset, big.file_size
            made.compress_size, made.CRC = big.compress_size, big.CRC
    used, error = peak(lambda: be.graphs.load(path))
    assert isinstance(error, GraphFileError) and "members of" in str(error) and used < 2**23


def test_arguments_that_are_nested_deeper_than_a_file_can_have_are_refused(be, tmp_path):
    value = 1
    for _ in range(60):
        value = (value,)
    assert "nested deeper" in refusal(be, tmp_path, lambda x, options: x + 1, be.ones(3), value)
    for _ in range(25):
        (value,) = value
    be.graph(lambda x, options: x + 1).save(tmp_path / "saved.graph", be.ones(3), value)
    assert be.graphs.load(tmp_path / "saved.graph")(be.ones(3), value).tolist() == [2, 2, 2]


def test_a_range_that_is_an_argument_may_be_long(be, tmp_path):
    be.graph(lambda x, r: x + len(r) / 2**40).save(tmp_path / "saved.graph", be.ones(3), range(2**40))
    assert be.graphs.load(tmp_path / "saved.graph")(be.ones(3), range(2**40)).tolist() == [2, 2, 2]


def test_an_interrupt_while_a_file_is_written_comes_out_as_one(be, tmp_path, monkeypatch):
    def interrupted(archive, data, written):
        archive.open("constants/0", "w")  # what is being written when Ctrl-C comes
        raise KeyboardInterrupt

    constant = be.ones(3)
    monkeypatch.setattr(zipfile.ZipFile, "writestr", interrupted)
    with pytest.raises(KeyboardInterrupt):
        be.graph(lambda x: x + constant).save(tmp_path / "saved.graph", be.ones(3))
    assert [*tmp_path.iterdir()] == [] and not be.graphs.is_capturing


def test_indices_of_a_matrix_in_a_file_are_checked(be, tmp_path):
    path, matrix = tmp_path / "saved.graph", stator.sparse.csr_from_dense(be.asarray(np.eye(3)))
    be.graph(lambda x: matrix @ x).save(path, be.ones(3))
    assert be.graphs.load(path)(be.asarray([1.0, 2.0, 3.0])).tolist() == [1, 2, 3]
    text, constants = contents(path)
    write(path, text, {name: b"\x77" * len(raw) for name, raw in constants.items()})
    with pytest.raises(GraphFileError):
        be.graphs.load(path)


def test_an_open_part_and_a_missing_constant_are_refused(be, tmp_path):
    path = tmp_path / "saved.graph"
    saved(be, path)
    text, constants = contents(path)
    steps = [step for step in text["steps"] if step[0] != "Backend.end_part"]
    write(path, {**text, "steps": steps}, constants)
    with pytest.raises(GraphFileError, match="no end"):
        be.graphs.load(path)
    write(path, text, dict(list(constants.items())[:-1]))
    with pytest.raises(GraphFileError, match="constants/"):
        be.graphs.load(path)


def test_each_call_of_the_runtime_may_fail_while_a_graph_is_saved_loaded_and_called(be, tmp_path):
    path = tmp_path / "saved.graph"

    def work():
        scale = be.full(3, 2.0)
        be.graph(lambda x: be.graphs.cond(stator.sum(x) > 3, lambda x: x * scale, lambda x: x, x) + 1).save(
            path, be.ones(3)
        )
        return be.graphs.load(path)(be.full(3, 5.0)).tolist() == [11] * 3

    assert work()
    for at in range(200):
        path.unlink(missing_ok=True)
        stator.testing.inject(be, fail_at=at)
        try:
            done = work()
        except StatorError:
            done = None
        finally:
            calls = stator.testing.lift(be)
        gc.collect()
        be.synchronize()
        assert not be.graphs.is_capturing and len(list(tmp_path.iterdir())) <= 1
        assert not [r for r in be.resources() if r["kind"] in ("buffer", "event", "graph")]
        if calls <= at:
            break
    assert done and at > 20
    assert work()
