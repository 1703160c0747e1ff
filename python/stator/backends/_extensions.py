"""Extensions: objects that add something to a backend, begun and ended together."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from stator.backends import _checks
from stator.backends._protocols import ProviderBackend
from stator.errors import DTypeError, ExtensionError, InvalidValueError, StatorError


class BackendExtension(Protocol):
    """What an extension has."""

    @property
    def extension_name(self) -> str:
        """Letters, digits, "_", "-" and "."."""

    @property
    def extension_version(self) -> str:
        """Its version."""

    def is_compatible_with(self, backend: ProviderBackend) -> bool:
        """Whether it can extend the backend."""

    def initialize(self, backend: ProviderBackend) -> None:
        """Begins. Where it raises, it has begun nothing: shutdown() is not called."""

    def shutdown(self) -> None:
        """Ends, and releases what it holds. The backend is still open."""

    def capabilities(self) -> Mapping[str, Any]:
        """What it can do."""

    def handle_operation(self, op: str, args: Sequence[Any]) -> Any:
        """Performs an operation of its own. Raises UnsupportedError for one that it lacks."""


_FACTS: dict[str, tuple[Any, str]] = {
    "extension_name": (_checks.is_name, 'a string of letters, digits, "_", "-" and "."'),
    "extension_version": (lambda v: isinstance(v, str), "a string"),
}
_METHODS = ("is_compatible_with", "initialize", "shutdown", "capabilities", "handle_operation")


class ExtensionRegistry:
    """Extensions by name, initialised in the order of registration and shut down in the reverse order.

    An extension is initialised for one backend at a time. Methods may be called from any thread; one at a time runs.

    >>> extensions = stator.backends.ExtensionRegistry()
    >>> len(extensions), extensions.names()
    (0, [])
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._extensions: dict[str, BackendExtension] = {}
        self._initialized: list[str] = []  # in the order in which they were

    def __len__(self) -> int:
        """The number of extensions."""
        return len(self._extensions)

    def is_empty(self) -> bool:
        """Whether there are none."""
        return not self._extensions

    def register(self, extension: BackendExtension) -> None:
        """Adds an extension, and does not initialise it.

        Raises: ExtensionError where it lacks a part of BackendExtension, InvalidValueError where its name is taken.
        """
        op = "ExtensionRegistry.register"
        if wrong := [*_checks.facts(extension, _FACTS), *_checks.methods(extension, _METHODS)]:
            cause = f"{_checks.shown(extension)} is not an extension: {'; '.join(wrong)}"
            raise ExtensionError(cause, op=op, remedy="Give it all that BackendExtension has.")
        name = extension.extension_name
        with self._lock:
            if name in self._extensions:
                raise InvalidValueError(
                    f"There is an extension {name!r} already", op=op, remedy=f"Remove it first, with remove({name!r})."
                )
            self._extensions[name] = extension

    def get(self, name: str) -> BackendExtension:
        """The extension of the name. Raises: InvalidValueError, which names those that there are."""
        return self._named(name, "ExtensionRegistry.get")

    def has(self, name: str) -> bool:
        """Whether there is an extension of the name."""
        return isinstance(name, str) and name in self._extensions

    def names(self) -> list[str]:
        """The names, in the order of registration."""
        return [*self._extensions]

    def initialized(self) -> list[str]:
        """The names of those that are initialised, in the order in which they were."""
        return [*self._initialized]

    def remove(self, name: str) -> BackendExtension:
        """Takes an extension out and returns it; shuts it down first where it is initialised.

        Raises: InvalidValueError for an unknown name; ExtensionError from what shutdown() raises, and the extension is
        removed all the same.
        """
        op = "ExtensionRegistry.remove"
        with self._lock:
            extension = self._named(name, op)
            del self._extensions[name]
            if name in self._initialized:
                self._initialized.remove(name)
                try:
                    extension.shutdown()
                except Exception as error:
                    raise _failed(op, "shut down", {name: error}) from error
        return extension

    def initialize_all(self, backend: ProviderBackend) -> list[str]:
        """Initialises those that are compatible with the backend and not initialised yet; returns their names.

        Where one raises, the others are initialised all the same, before the ExtensionError that has all errors.
        """
        errors: dict[str, Exception] = {}
        begun = []
        with self._lock:
            for name, extension in [*self._extensions.items()]:
                if name in self._initialized:
                    continue
                try:
                    compatible = extension.is_compatible_with(backend)
                    if not isinstance(compatible, bool):
                        raise DTypeError(f"is_compatible_with() returned {_checks.shown(compatible)}, not a bool")
                    if compatible:
                        extension.initialize(backend)
                        begun.append(name)
                        self._initialized.append(name)
                except Exception as error:
                    errors[name] = error
        if errors:
            raise _failed("ExtensionRegistry.initialize_all", "initialised", errors) from _group(errors)
        return begun

    def shutdown_all(self) -> list[str]:
        """Shuts down those that are initialised, the last one first; returns their names.

        Where one raises, the others are shut down all the same, before the ExtensionError that has all errors. It
        stays initialised, so that another call tries again.
        """
        errors: dict[str, Exception] = {}
        ended = []
        with self._lock:
            for name in reversed(self.initialized()):
                try:
                    self._extensions[name].shutdown()
                except Exception as error:
                    errors[name] = error
                else:
                    ended.append(name)
                    self._initialized.remove(name)
        if errors:
            raise _failed("ExtensionRegistry.shutdown_all", "shut down", errors) from _group(errors)
        return ended

    def handle_operation(self, name: str, op: str, args: Sequence[Any] = ()) -> Any:
        """What handle_operation(op, args) of the extension of the name returns.

        Raises: InvalidValueError for an unknown name, and for an extension that is not initialised; the StatorErrors
        of the extension as they are, ExtensionError from anything else that it raises.
        """
        call = "ExtensionRegistry.handle_operation"
        extension = self._named(name, call)
        if name not in self._initialized:
            raise InvalidValueError(
                f"The extension {name!r} is not initialised", op=call, remedy="Call initialize_all(backend) first."
            )
        try:
            return extension.handle_operation(op, args)
        except StatorError:
            raise
        except Exception as error:
            cause = f"The extension {name!r} raised {_checks.described(error)} in its operation {op!r}"
            failed = ExtensionError(
                cause, op=call, remedy="The error is in .errors; other extensions are not concerned."
            )
            failed.errors = {name: error}
            raise failed from error

    # The names that other libraries have for these.
    register_extension = register
    get_extension = get
    has_extension = has
    remove_extension = remove
    extensions = names

    def _named(self, name: str, op: str) -> BackendExtension:
        if self.has(name):
            return self._extensions[name]
        raise InvalidValueError(
            f"There is no extension {name!r}",
            op=op,
            remedy=f"Name one of these: {', '.join(self._extensions) or 'none is registered'}.",
        )


def _failed(op: str, what: str, errors: dict[str, Exception]) -> ExtensionError:
    texts = "; ".join(f"{name} raised {_checks.described(error)}" for name, error in errors.items())
    error = ExtensionError(
        f"Extensions could not be {what}: {texts}",
        op=op,
        remedy="The errors are in .errors by name; other extensions are not concerned.",
    )
    error.errors = dict(errors)
    return error


def _group(errors: dict[str, Exception]) -> ExceptionGroup[Exception]:
    return ExceptionGroup("errors of extensions", [*errors.values()])
