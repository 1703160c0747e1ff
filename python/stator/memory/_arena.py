"""Parts of one buffer: views at offsets of its bytes, by themselves or by name in an arena."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from stator import _array
from stator._dtype import dtype as to_dtype
from stator.errors import DTypeError, InvalidValueError, OutOfMemoryError, ShapeError, StatorError, renamed
from stator.memory._buffers import BufferDescriptor, _bytes_of, _integer, create_buffer

if TYPE_CHECKING:
    from stator._array import Array
    from stator._backend import Backend
    from stator._typing import DTypeLike


def create_sub_buffer(backend: Backend, parent: Array, offset: int, descriptor: BufferDescriptor) -> Array:
    """What Backend.memory.create_sub_buffer does."""
    op = "Backend.memory.create_sub_buffer"
    if not isinstance(descriptor, BufferDescriptor):
        raise DTypeError(
            f"Got descriptor of type {type(descriptor).__name__}",
            op=op,
            remedy="Give a stator.memory.BufferDescriptor.",
        )
    kind = to_dtype("uint8" if descriptor.dtype is None else descriptor.dtype)
    start = _integer(offset, op, "offset")
    try:
        if isinstance(parent, _array.Array) and (parent.data_ptr + start) % kind.itemsize:
            raise InvalidValueError(
                f"offset={start}, which is not aligned to the {kind.itemsize} bytes of {kind.name}",
                op=op,
                remedy=f"Give an offset at which the address is a multiple of {kind.itemsize}.",
            )
        return _bytes_of(parent, backend, start, descriptor.size, "parent", op).view(kind)
    except StatorError as error:
        raise error if error.op == op else renamed(error, op) from None


class _Part(NamedTuple):
    offset: int
    array: Array


class BufferArena(Mapping[str, "Array"]):
    """One buffer that is divided into named arrays, one after the other. Made by Backend.memory.create_arena().

    An arena is a mapping of names to arrays. Each array keeps the memory of the whole buffer alive.

    >>> arena = be.memory.create_arena(4096)
    >>> weights = arena.take("weights", (3, 5), dtype="float32")
    >>> bias = arena.take("bias", 5)
    >>> arena.offset("bias"), arena.used, sorted(arena)
    (256, 296, ['bias', 'weights'])
    """

    def __init__(self, backend: Backend, size: int, alignment: int = 256) -> None:
        op = "Backend.memory.create_arena"
        count, align = _integer(size, op, "size"), _integer(alignment, op, "alignment")
        if align < 1 or align & (align - 1) or align > 2**20:
            raise InvalidValueError(f"alignment={align}", op=op, remedy="Give a power of two up to 2**20.")
        try:
            self.array = create_buffer(backend, BufferDescriptor(count, usage="arena"), op)
        except StatorError as error:
            raise renamed(error, op) from None
        self.alignment = align
        self.used = 0
        self._parts: dict[str, _Part] = {}

    @property
    def free(self) -> int:
        """The number of bytes after the last array."""
        return self.array.nbytes - self.used

    def take(
        self,
        name: str,
        shape: int | Sequence[int],
        dtype: DTypeLike = "float64",
        *,
        alignment: int | None = None,
    ) -> Array:
        """The next array of the arena, uninitialised. Asynchronous.

        alignment: of its offset, in bytes, a power of two; None is the arena's. Raises: OutOfMemoryError if the rest
        of the arena is too small, which leaves it unchanged; InvalidValueError for a name that is used already, and for
        an alignment that is not a power of two or is less than the size of an element.
        """
        op = "BufferArena.take"
        if not isinstance(name, str):
            raise DTypeError(f"Got name of type {type(name).__name__}", op=op, remedy="Give a string.")
        if name in self._parts:
            raise InvalidValueError(f"name={name!r}, which is used already", op=op, remedy="Give another name.")
        try:
            kind = to_dtype(dtype)
        except DTypeError as error:
            raise renamed(error, op) from None
        extents = tuple(
            _integer(n, op, "shape")
            for n in (shape if isinstance(shape, Sequence) and not isinstance(shape, str) else (shape,))
        )
        if any(n < 0 for n in extents):
            raise ShapeError(f"shape={extents}", op=op, remedy="Give lengths of at least 0.")
        align = self.alignment if alignment is None else _integer(alignment, op, "alignment")
        if align < kind.itemsize or align & (align - 1):
            raise InvalidValueError(
                f"alignment={align} for elements of {kind.itemsize} bytes",
                op=op,
                remedy=f"Give a power of two of at least {kind.itemsize}.",
            )
        start = -(-self.used // align) * align
        size = math.prod(extents) * kind.itemsize
        if start + size > self.array.nbytes:
            raise OutOfMemoryError(
                f"{size} bytes at offset {start} of an arena of {self.array.nbytes} bytes",
                op=op,
                remedy="Create a larger arena, or another one.",
            )
        part = self.array[start : start + size].view(kind).reshape(extents)
        self._parts[name] = _Part(start, part)
        self.used = start + size
        return part

    def offset(self, name: str) -> int:
        """The offset of an array from the beginning of the arena, in bytes. InvalidValueError for an unknown name."""
        return self._found(name, "BufferArena.offset").offset

    def __getitem__(self, name: str) -> Array:
        return self._parts[name].array

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    def _found(self, name: str, op: str) -> _Part:
        if name not in self._parts:
            raise InvalidValueError(
                f"name={name!r}, which the arena does not have", op=op, remedy=f"Give one of {sorted(self)}."
            )
        return self._parts[name]

    def __repr__(self) -> str:
        return f"<stator.BufferArena of {self.array.nbytes} bytes, {self.used} used by {len(self)} parts>"
