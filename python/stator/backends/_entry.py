"""A registered provider, and the backends that were opened by it."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from stator.backends import _checks
from stator.backends._protocols import BackendProvider, ProviderBackend
from stator.backends._questions import Question, provider_error
from stator.errors import DTypeError, StatorError

if TYPE_CHECKING:
    from stator.hardware import DeviceInfo


class Entry:
    """source: the installed package that it comes from; None for one that a program registered."""

    def __init__(self, provider: BackendProvider, source: str | None) -> None:
        self.provider = provider
        self.source = source
        self.available = Question(provider.name, "is_available", provider.is_available)
        self._opened: list[Callable[[], ProviderBackend | None]] = []  # the oldest first

    def create(self, op: str, options: dict[str, Any]) -> ProviderBackend:
        """A new backend of the provider, which add() does not know yet."""
        name = self.provider.name
        try:
            backend = self.provider.create(**options)
        except StatorError:
            raise
        except Exception as error:
            cause = f"create() of the provider {name!r} raised {_checks.described(error)}"
            remedy = "See what it raised: the options may differ, or the package is broken."
            raise provider_error(name, cause, op=op, remedy=remedy, errors=(error,)) from error
        if wrong := _checks.backend(backend):
            with suppress(Exception):
                backend.close()
            cause = f"create() of the provider {name!r} gave {_checks.shown(backend)}: {'; '.join(wrong)}"
            raise provider_error(name, cause, op=op, remedy="Its backends need all that ProviderBackend has.")
        return backend

    def devices(self) -> list[DeviceInfo]:
        """The devices that the provider lists, which it need not do."""
        listing = getattr(self.provider, "devices", None)
        if listing is None:
            return []
        from stator.hardware import DeviceInfo

        found = [*listing()]
        for each in found:
            if not isinstance(each, DeviceInfo):
                raise DTypeError(f"devices() gave {_checks.shown(each)}, not a DeviceInfo")
        return found

    def add(self, backend: ProviderBackend) -> None:
        """Notes an open backend, without keeping it alive."""
        self._opened = [reference for reference in self._opened if reference() is not None]
        try:
            self._opened.append(weakref.ref(backend))
        except TypeError:  # its class permits no weak references
            self._opened.append(lambda: backend)

    def close(self) -> list[Exception]:
        """Closes the backends that are still there, newest first; what that raised."""
        errors = []
        while self._opened:
            backend = self._opened.pop()()
            try:
                if backend is not None:
                    backend.close()
            except Exception as error:
                errors.append(error)
        return errors
