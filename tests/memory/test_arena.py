"""Parts of one buffer: views at offsets of its bytes, by themselves and by name."""

import numpy as np
import pytest

import stator
from stator.errors import BackendMismatchError, DTypeError, InvalidValueError, OutOfMemoryError, ShapeError
from stator.memory import BufferDescriptor

OP = r"^Backend\.memory\.create_sub_buffer"


def test_a_sub_buffer_shares_the_memory_and_keeps_it_alive(be):
    whole = be.zeros(64, dtype="uint8")
    part = be.memory.create_sub_buffer(whole, 16, BufferDescriptor(8, dtype="float32"))
    part[...] = 1.5
    assert whole.to_numpy()[16:24].tobytes() == np.full(2, 1.5, "float32").tobytes()
    del whole
    assert (part + 1).tolist() == [2.5, 2.5]


@pytest.mark.parametrize(
    ("offset", "descriptor", "error"),
    [
        (2, BufferDescriptor(4, dtype="float32"), InvalidValueError),
        (-4, BufferDescriptor(4), InvalidValueError),
        (60, BufferDescriptor(8), InvalidValueError),
        (0, 8, DTypeError),
        (0.5, BufferDescriptor(4), DTypeError),
    ],
)
def test_a_misaligned_or_outlying_sub_buffer_is_refused(be, offset, descriptor, error):
    whole = be.zeros(64, dtype="uint8")
    with pytest.raises(error, match=OP):
        be.memory.create_sub_buffer(whole, offset, descriptor)


def test_a_sub_buffer_of_another_backend_or_a_view_with_gaps_is_refused(be):
    with stator.Backend(be.device_name) as other, pytest.raises(BackendMismatchError, match=OP):
        be.memory.create_sub_buffer(other.zeros(8), 0, BufferDescriptor(8))
    with pytest.raises(InvalidValueError, match="contiguous"):
        be.memory.create_sub_buffer(be.zeros(8)[::2], 0, BufferDescriptor(8))
    with pytest.raises(DTypeError, match=OP):
        be.memory.create_sub_buffer(np.zeros(8), 0, BufferDescriptor(8))


def test_parts_of_an_arena_are_aligned_and_do_not_overlap(be):
    arena = be.memory.create_arena(4096)
    shapes = {"a": (3, 5), "b": 7, "c": (), "d": (0, 4)}
    parts = {name: arena.take(name, shape, "float32") for name, shape in shapes.items()}
    for i, part in enumerate(parts.values()):
        part[...] = i
    assert {name: part.shape for name, part in arena.items()} == {"a": (3, 5), "b": (7,), "c": (), "d": (0, 4)}
    assert [np.unique(part.to_numpy()).tolist() for part in parts.values()] == [[0], [1], [2], []]
    assert [arena.offset(name) for name in parts] == [0, 256, 512, 768]
    assert arena["a"] is parts["a"]
    assert arena.offset("b") == parts["b"].data_ptr - arena.array.data_ptr
    assert arena.used + arena.free == 4096
    small = arena.take("e", 3, "uint8", alignment=1)
    assert small.data_ptr == arena.array.data_ptr + arena.used - 3


def test_a_part_keeps_the_memory_of_its_arena(be):
    before = be.memory.stats()["live_bytes"]
    part = be.memory.create_arena(4096).take("a", 4)
    part[...] = 2
    assert part.tolist() == [2] * 4
    assert be.memory.stats()["live_bytes"] >= before + 4096
    del part
    assert be.memory.stats()["live_bytes"] == before


def test_what_does_not_fit_cuts_nothing_off(be):
    arena = be.memory.create_arena(1024)
    arena.take("a", 100, "uint8")
    with pytest.raises(OutOfMemoryError, match=r"^BufferArena\.take"):
        arena.take("b", 1000, "uint8")
    assert arena.used == 100
    assert arena.take("b", 768, "uint8").shape == (768,)


@pytest.mark.parametrize(
    ("arguments", "options", "error"),
    [
        (("a", 4), {}, InvalidValueError),
        ((1, 4), {}, DTypeError),
        (("b", -1), {}, ShapeError),
        (("b", 1.5), {}, DTypeError),
        (("b", 4, "float33"), {}, DTypeError),
        (("b", 4), {"alignment": 24}, InvalidValueError),
        (("b", 4), {"alignment": 4}, InvalidValueError),
    ],
)
def test_parts_are_checked(be, arguments, options, error):
    arena = be.memory.create_arena(1024)
    arena.take("a", 1)
    with pytest.raises(error, match=r"^BufferArena\.take"):
        arena.take(*arguments, **options)
    assert list(arena) == ["a"]


def test_arenas_are_checked(be):
    for size, alignment in ((-1, 256), (64, 3), (64, 0)):
        with pytest.raises(InvalidValueError):
            be.memory.create_arena(size, alignment=alignment)
    with pytest.raises(DTypeError, match=r"^Backend\.memory\.create_arena"):
        be.memory.create_arena("x")
    with pytest.raises(InvalidValueError, match=r"^BufferArena\.offset"):
        be.memory.create_arena(64).offset("none")
