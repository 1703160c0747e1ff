"""Buffers by their size in bytes, and what is counted."""

import numpy as np
import pytest

import stator
from stator.errors import BackendClosedError, DTypeError, InvalidValueError, OutOfMemoryError, ShapeError
from stator.memory import BufferDescriptor


def test_a_buffer_is_a_vector_of_so_many_bytes(be):
    x = be.memory.create_buffer(BufferDescriptor(64))
    y = be.memory.create_buffer(BufferDescriptor(64, dtype="complex64", usage="accumulator"))
    assert [(a.shape, a.dtype.name, a.backend is be) for a in (x, y)] == [
        ((64,), "uint8", True),
        ((8,), "complex64", True),
    ]
    assert be.memory.create_buffer(BufferDescriptor(0)).shape == (0,)


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"size": -1}, InvalidValueError),
        ({"size": 2**63}, InvalidValueError),
        ({"size": 6, "dtype": "float32"}, InvalidValueError),
        ({"size": 1.5}, DTypeError),
        ({"size": True}, DTypeError),
        ({"size": 4, "dtype": "float33"}, DTypeError),
        ({"size": 4, "usage": 1}, DTypeError),
    ],
)
def test_descriptors_are_checked(fields, error):
    with pytest.raises(error, match=r"^BufferDescriptor"):
        BufferDescriptor(**fields)


def test_sizes_are_integers_of_any_library_and_no_bools(be):
    x, of_numpy = be.zeros(8), np.int64(8)
    sizes = {
        "memory.allocate_unified": be.memory.allocate_unified,
        "memory.copy_buffer": lambda n: be.memory.copy_buffer(x, 0, x, 0, n),
        "memory.create_arena": be.memory.create_arena,
        "memory.create_sub_buffer": lambda n: be.memory.create_sub_buffer(x, n, BufferDescriptor(8)),
        "memory.record": lambda n: be.memory.record(max_events=n),
        "scoped": lambda n: be.scoped(budget=n),
        "memory.trim": be.memory.trim,
    }
    for name, call in sizes.items():
        call(of_numpy)
        with pytest.raises(DTypeError, match=rf"^Backend\.{name}: Got \w+ of type bool"):
            call(True)
    be.memory.record(False)
    assert BufferDescriptor(of_numpy) == BufferDescriptor(8)


def test_what_is_no_descriptor_or_does_not_fit_is_refused(be):
    for create in (be.memory.create_buffer, be.memory.create_scoped_buffer):
        with pytest.raises(DTypeError, match=create.__name__):
            create(64)
        with pytest.raises((OutOfMemoryError, ShapeError), match=create.__name__) as caught:
            create(BufferDescriptor(2**62, usage="weights"))
        assert caught.value.__notes__ == [f"for {2**62} bytes of weights"]
    assert be.scopes.active_resource_count()["buffer"] == be.scopes.active_resource_count()["resource"] == 0


def test_a_scoped_buffer_is_freed_at_the_end(be):
    with be.memory.create_scoped_buffer(BufferDescriptor(64)) as x:
        x[...] = 3
        assert x.tolist() == [3] * 64
        other = be.ones(2)
        assert be.scopes.active_resource_count()["resource"] == 1
    with pytest.raises(BackendClosedError, match="scope"):
        x.tolist()
    assert be.scopes.active_resource_count()["resource"] == 0
    assert other.tolist() == [1.0, 1.0]


def test_a_scoped_buffer_that_is_taken_is_an_array_like_others(be):
    x = be.memory.create_scoped_buffer(BufferDescriptor(8)).take()
    x[...] = 1
    assert x.tolist() == [1] * 8


def test_a_scope_frees_its_buffers(be):
    with be.scoped():
        held = be.memory.create_scoped_buffer(BufferDescriptor(8))
        x = held.get()
    assert not held.is_available()
    with pytest.raises(BackendClosedError):
        x.tolist()


def test_resources_are_counted_by_kind(be):
    before = be.scopes.active_resource_count()
    x, event = be.ones(3), be.current_stream.record()
    with be.capture() as graph:
        y = x + 1
    pinned = stator.memory.pinned_empty(4, device=be)
    held = be.scopes.create_resource(lambda device: 1, lambda x: None)
    after = be.scopes.active_resource_count()
    changed = {kind: count - before[kind] for kind, count in after.items() if count != before[kind]}
    assert changed.pop("stream", 1) == 1
    assert changed == {"buffer": 2, "event": 1, "graph": 1, "pinned": 1, "resource": 1}
    assert before.keys() >= {"managed", "library", "program"}
    del x, event, graph, y, pinned, held
