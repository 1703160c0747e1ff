"""Accessors: what one service does for a backend, as an attribute of it, such as Backend.memory."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Generic, TypeVar, cast, overload

from stator._backend import Backend
from stator.errors import DTypeError

if TYPE_CHECKING:
    from typing import Self


class Accessor:
    """What one service does for a backend. Made by Backend at each use; it keeps the backend alive."""

    __slots__ = ("_backend",)
    _backend: Backend

    def __new__(cls, backend: Backend) -> Self:
        if not isinstance(backend, Backend):
            raise DTypeError(
                f"Got backend of type {type(backend).__name__}",
                op=cls.__name__,
                remedy="Use the attribute of a Backend.",
            )
        self = super().__new__(cls)
        self._backend = backend
        return self

    def __reduce__(self) -> tuple[type[Self], tuple[Backend]]:
        return type(self), (self._backend,)

    def __repr__(self) -> str:
        return f"<{type(self).__module__.rpartition('.')[0]}.{type(self).__name__} of {self._backend.device_name}>"


A = TypeVar("A", bound=Accessor)


class AccessorAttribute(Generic[A]):
    """An attribute of Backend that is an accessor; of the class it is the accessor's class. Loads it on first use.

    Its annotation names the class. package: where that is not stator.<name of the attribute>.
    """

    def __init__(self, doc: str, package: str = "") -> None:
        self._package = package
        self._kind: type[A] | None = None
        self.__doc__ = doc

    def __set_name__(self, owner: type, name: str) -> None:
        self._module = f"stator.{self._package or name}._accessor"
        self._name = owner.__annotations__[name].removeprefix("AccessorAttribute[").removesuffix("]")

    @overload
    def __get__(self, backend: None, owner: type) -> type[A]: ...
    @overload
    def __get__(self, backend: Backend, owner: type) -> A: ...
    def __get__(self, backend: Backend | None, owner: type) -> A | type[A]:
        kind = self._kind
        if kind is None:
            kind = self._kind = cast("type[A]", getattr(import_module(self._module), self._name))
        return kind if backend is None else kind(backend)
