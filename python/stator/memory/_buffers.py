"""BufferDescriptor: memory of a device by its size in bytes, and what makes it."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from stator import _array
from stator._creation import empty
from stator._dtype import dtype as to_dtype
from stator.errors import BackendMismatchError, DTypeError, InvalidValueError, StatorError, renamed
from stator.memory._arguments import byte_count, whole_number
from stator.scopes._held import ScopedResource, hold

if TYPE_CHECKING:
    from stator._array import Array
    from stator._backend import Backend
    from stator._typing import DTypeLike, StreamLike


@dataclass(frozen=True)
class BufferDescriptor:
    """A buffer by its size in bytes, the dtype of its elements (None: uint8), and its usage.

    usage: any word for what the buffer is for, which errors show; it has no effect on the memory.
    Raises: InvalidValueError for a size that is negative, 2**63 bytes or more, or not a multiple of an element.

    >>> stator.memory.BufferDescriptor(1024, dtype="float32").shape
    (256,)
    """

    size: int
    dtype: DTypeLike | None = None
    usage: str = "storage"

    def __post_init__(self) -> None:
        op = "BufferDescriptor"
        object.__setattr__(self, "size", byte_count(self.size, "size", op))
        try:
            itemsize = to_dtype("uint8" if self.dtype is None else self.dtype).itemsize
        except DTypeError as error:
            raise renamed(error, op) from None
        if not isinstance(self.usage, str):
            raise DTypeError(f"Got usage of type {type(self.usage).__name__}", op=op, remedy="Give a string.")
        if self.size % itemsize:
            raise InvalidValueError(
                f"size={self.size} for elements of {itemsize} bytes", op=op, remedy=f"Give a multiple of {itemsize}."
            )

    @property
    def shape(self) -> tuple[int]:
        """The shape of the array that create_buffer() returns: (number of elements,)."""
        return (self.size // to_dtype("uint8" if self.dtype is None else self.dtype).itemsize,)


def create_buffer(backend: Backend, descriptor: BufferDescriptor, op: str = "Backend.memory.create_buffer") -> Array:
    """What Backend.memory.create_buffer does."""
    if not isinstance(descriptor, BufferDescriptor):
        raise DTypeError(
            f"Got descriptor of type {type(descriptor).__name__}",
            op=op,
            remedy="Give a stator.memory.BufferDescriptor.",
        )
    kind = "uint8" if descriptor.dtype is None else descriptor.dtype
    try:
        return empty(descriptor.shape, dtype=kind, device=backend)
    except StatorError as error:
        changed = renamed(error, op)
        changed.add_note(f"for {descriptor.size} bytes of {descriptor.usage}")
        raise changed from None


def create_scoped_buffer(backend: Backend, descriptor: BufferDescriptor) -> ScopedResource[Array]:
    """What Backend.memory.create_scoped_buffer does: the array has a scope of its own."""
    from stator.scopes._scope import end, scope_of_its_own, stack_of

    op = "Backend.memory.create_scoped_buffer"
    stack = stack_of(backend, op)
    with scope_of_its_own(backend) as scope:
        buffer = create_buffer(backend, descriptor, op)
    made: Any = hold(ScopedResource, buffer, lambda _: end(backend, scope.number, op), stack, backend)
    return made  # type: ignore[no-any-return]


def _integer(value: object, op: str, name: str) -> int:
    return whole_number(value, name, op, "Give a whole number of bytes.")


def _bytes_of(array: Array, backend: Backend, start: int, size: int, name: str, op: str) -> Array:
    """The range of an array's bytes as a view, which a call names `name`."""
    if not isinstance(array, _array.Array):
        raise DTypeError(f"Got {name} of type {type(array).__name__}", op=op, remedy="Give an Array.")
    if array.backend is not backend:
        raise BackendMismatchError(
            f"{name} is an array of another backend", op=op, remedy="Move it with to_device(), or make the call there."
        )
    if not array.is_contiguous:
        raise InvalidValueError(
            f"{name} is not contiguous: shape {array.shape}, strides {array.strides}", op=op, remedy="Copy it first."
        )
    if start < 0 or size < 0 or start + size > array.nbytes:
        raise InvalidValueError(
            f"{name}: the bytes from {start} to {start + size} of an array of {array.nbytes} bytes",
            op=op,
            remedy="Give a range inside the array.",
        )
    return array.reshape(-1).view("uint8")[start : start + size]


def copy_buffer(
    backend: Backend, src: Array, src_offset: int, dst: Array, dst_offset: int, size: int, stream: StreamLike | None
) -> None:
    """What Backend.memory.copy_buffer does."""
    op = "Backend.memory.copy_buffer"
    first, second = _integer(src_offset, op, "src_offset"), _integer(dst_offset, op, "dst_offset")
    count = _integer(size, op, "size")
    try:
        source = _bytes_of(src, backend, first, count, "src", op)
        target = _bytes_of(dst, backend, second, count, "dst", op)
        with nullcontext() if stream is None else backend.stream(stream):
            target[...] = source
    except StatorError as error:
        raise error if error.op == op else renamed(error, op) from None
