"""The registry of providers."""

from __future__ import annotations

import builtins
import threading
import warnings
from typing import TYPE_CHECKING, Any

from stator.backends import _checks
from stator.backends._entry import Entry
from stator.backends._installed import Found, installed
from stator.backends._protocols import BackendProvider, ProviderBackend, ProviderMetadata
from stator.backends._questions import ProviderWarning, Question, provider_error
from stator.errors import DeviceUnavailableError, InvalidValueError, ProviderError, StatorError

if TYPE_CHECKING:
    from stator.hardware import DeviceInfo


_NAME, _PRIORITY = ({fact: _checks.PROVIDER_FACTS[fact]} for fact in ("name", "priority"))


class BackendRegistry:
    """Providers of backends by name; `stator.backends.registry` is that of the process.

    discover: has stator's own providers and those of installed packages too, which are looked for when the registry
    is first used. Methods may be called from any thread. A provider must not use the registry in is_compatible() and
    is_available().

    >>> registry = stator.backends.BackendRegistry(discover=True)
    >>> registry.list()[:2]
    ['cpu', 'cuda']
    >>> with registry.create("cpu") as backend:
    ...     backend.namespace().sum(backend.asarray([1.0, 2.0])).tolist()
    3.0
    """

    def __init__(self, *, discover: bool = False) -> None:
        self._lock = threading.RLock()
        self._entries: dict[str, Entry] = {}
        self._failures: list[ProviderError] = []
        self._chosen: str | None = None
        self._to_discover = discover

    def __repr__(self) -> str:
        return f"<stator.backends.BackendRegistry of {', '.join(self._entries) or 'no providers'}>"

    def __len__(self) -> int:
        """The number of providers."""
        return len(self._known())

    def discover(self) -> builtins.list[str]:
        """Registers stator's providers and those of installed packages where they are not there yet.

        Returns the names of the new ones.
        What cannot be used gives a ProviderWarning and is in `failures`: packages that cannot be imported, providers
        that are incompatible, do not answer within 5 seconds, raise, or are nonsense, and names that are taken.
        Imports of packages are waited for, however long they take.
        """
        added = []
        with self._lock:
            self._to_discover = False
            self._failures.clear()
            for found in installed():
                entry = self._entries.get(found.name)
                if entry is not None and entry.source == found.source:
                    continue
                try:
                    self._add(found.load(), found.source, "BackendRegistry.discover")
                except StatorError as error:
                    self._failures.append(_skipped(found, error))
                else:
                    added.append(found.name)
            for failure in self._failures:  # at the end, as a warning may be made an error
                warnings.warn(f"Skipped: {failure}", ProviderWarning, stacklevel=2)
        return added

    def register(self, provider: BackendProvider) -> None:
        """Adds a provider, which list() then has last.

        Raises: ProviderError where it lacks a part of BackendProvider, is incompatible or does not answer;
        InvalidValueError where there is a provider of its name. The registry is then as it was.
        """
        self._known()
        self._add(provider, None, "BackendRegistry.register")

    def remove(self, name: str) -> BackendProvider:
        """Takes a provider out and returns it; closes the backends that it opened first.

        These are the ones of create() that are still alive, and the newest is closed first. Synchronises. Where one
        of them raises, the others are closed and the provider is removed all the same, before the ProviderError, whose
        .errors are what was raised. Raises: InvalidValueError for an unknown name.
        """
        op = "BackendRegistry.remove"
        with self._lock:
            entry = self._entry(name, op)
            del self._entries[name]
            if self._chosen == name:
                self._chosen = None
        errors = entry.close()
        if errors:
            cause = f"{len(errors)} backends of the provider {name!r} could not be closed"
            error = provider_error(name, cause, op=op, errors=tuple(errors), remedy="The provider is removed.")
            raise error from ExceptionGroup("close() of backends", errors)
        return entry.provider

    def has(self, name: str) -> bool:
        """Whether there is a provider of the name."""
        return isinstance(name, str) and name in self._known()

    def get(self, name: str) -> BackendProvider:
        """The provider of the name. Raises: InvalidValueError, which names those that there are."""
        return self._entry(name, "BackendRegistry.get").provider

    def list(self) -> builtins.list[str]:
        """The names of the providers, in the order in which they were registered."""
        return [*self._known()]

    @property
    def failures(self) -> tuple[ProviderError, ...]:
        """Why installed providers were left out at the last look for them; .provider is the name of each."""
        self._known()
        return tuple(self._failures)

    def default(self) -> BackendProvider:
        """The provider of the highest priority that is available.

        Of equal ones it is that which was registered first; after set_default() the chosen one. Providers that do not
        answer within 5 seconds, raise or answer with nonsense are skipped, with a ProviderWarning.
        Raises: DeviceUnavailableError where none is left, or the chosen one is not available.
        """
        return self._default("BackendRegistry.default").provider

    def set_default(self, name: str | None) -> None:
        """Chooses the provider that default() gives; None undoes it. InvalidValueError for an unknown name.

        It has nothing to do with stator.set_default_backend(), which says what stator's functions use.
        """
        with self._lock:
            if name is not None:
                self._entry(name, "BackendRegistry.set_default")
            self._chosen = name

    def create(self, name: str, /, **options: Any) -> ProviderBackend:
        """Opens a backend of the provider with its options, those of stator.Backend for "cpu" and "cuda".

        The registry does not keep it open: close it, or use `with` where it has that.
        Raises: InvalidValueError for an unknown name; the StatorErrors of the provider as they are; ProviderError from
        anything else that it raises, and for a result that is not a backend.
        """
        return self._create(self._entry(name, "BackendRegistry.create"), "BackendRegistry.create", options)

    def create_default(self, **options: Any) -> ProviderBackend:
        """As create(), of the provider that default() gives."""
        op = "BackendRegistry.create_default"
        return self._create(self._default(op), op, options)

    def devices(self) -> builtins.list[DeviceInfo]:
        """The devices of providers that list theirs, by devices(), as stator.hardware.DeviceInfo.

        Those of stator itself are in stator.devices(). One whose devices() raises or gives something else is skipped,
        with a ProviderWarning. Opens nothing.
        """
        found = []
        for name, entry in dict(self._known()).items():
            try:
                found += entry.devices()
            except Exception as error:
                text = f"Skipped the devices of the provider {name!r}: {_checks.described(error)}"
                warnings.warn(text, ProviderWarning, stacklevel=2)
        return found

    def get_plugin_metadata(self, name: str) -> ProviderMetadata:
        """The metadata of the provider of the name. InvalidValueError for an unknown one."""
        return self._entry(name, "BackendRegistry.get_plugin_metadata").provider.metadata

    # The names that other libraries have for these.
    register_plugin = register
    available_backends = list
    create_backend = create
    create_default_backend = create_default
    set_default_backend = set_default

    def _known(self) -> dict[str, Entry]:
        """The entries, those of installed packages included."""
        if self._to_discover:
            with self._lock:
                if self._to_discover:
                    self.discover()
        return self._entries

    def _entry(self, name: str, op: str) -> Entry:
        with self._lock:
            known = self._known()
            if isinstance(name, str) and name in known:
                return known[name]
            failed = [error for error in self._failures if error.provider == name]
        if failed:
            raise provider_error(name, failed[0].cause, op=op, remedy=failed[0].remedy) from failed[0]
        raise InvalidValueError(
            f"There is no provider {name!r}",
            op=op,
            remedy=f"Name one of these: {', '.join(self._entries) or 'none is registered'}.",
        )

    def _add(self, provider: BackendProvider, source: str | None, op: str) -> None:
        if wrong := _checks.provider(provider):
            cause = f"{_checks.shown(provider)} is not a provider: {'; '.join(wrong)}"
            name = type(provider).__name__ if [*_checks.facts(provider, _NAME)] else provider.name
            raise provider_error(name, cause, op=op, remedy="Give it all that BackendProvider has.")
        name = provider.name
        self._refuse_duplicate(name, op)
        if not Question(name, "is_compatible", provider.is_compatible).ask(op):
            cause = f"The provider {name!r} says that it is not compatible with this system"
            raise provider_error(name, cause, op=op, remedy="Its metadata and documentation say what it needs.")
        with self._lock:
            self._refuse_duplicate(name, op)
            self._entries[name] = Entry(provider, source)

    def _refuse_duplicate(self, name: str, op: str) -> None:
        if name in self._entries:
            raise InvalidValueError(
                f"There is a provider {name!r} already, {_checks.shown(self._entries[name].provider)}",
                op=op,
                remedy=f"Remove it first, with remove({name!r}), or give the new one another name.",
            )

    def _default(self, op: str) -> Entry:
        with self._lock:
            entries = dict(self._known())
            chosen = self._chosen
        if chosen is not None:
            if entries[chosen].available.ask(op):
                return entries[chosen]
            raise DeviceUnavailableError(
                f"The provider {chosen!r}, which set_default() chose, is not available",
                op=op,
                remedy="Call set_default(None), which undoes the choice.",
            )
        for entry in _by_priority(entries):
            try:
                if entry.available.ask(op):
                    return entry
            except ProviderError as error:
                warnings.warn(f"Skipped: {error}", ProviderWarning, stacklevel=3)
        raise DeviceUnavailableError(
            f"Of the providers {', '.join(entries) or '(there are none)'} none is available",
            op=op,
            remedy="Register a provider, or install a package that has one.",
        )

    def _create(self, entry: Entry, op: str, options: dict[str, Any]) -> ProviderBackend:
        name = entry.provider.name
        backend = entry.create(op, options)
        with self._lock:
            there = self._entries.get(name) is entry
            if there:
                entry.add(backend)
        if not there:
            backend.close()
            cause = f"The provider {name!r} was removed while it created a backend"
            raise provider_error(name, cause, op=op, remedy="Register it again.")
        return backend


def _skipped(found: Found, error: StatorError) -> ProviderError:
    """The entry in `failures` of an installed provider."""
    cause = f"The provider {found.name!r} of {found.source} cannot be used: {error.cause}"
    skipped = provider_error(found.name, cause, remedy=error.remedy, errors=(error,))
    skipped.__cause__ = error
    return skipped


def _by_priority(entries: dict[str, Entry]) -> builtins.list[Entry]:
    """The entries that have a priority, the highest first."""
    found = []
    for name, entry in entries.items():
        if wrong := [*_checks.facts(entry.provider, _PRIORITY)]:
            warnings.warn(f"Skipped the provider {name!r}: {wrong[0]}", ProviderWarning, stacklevel=4)
        else:
            found.append((entry.provider.priority, entry))
    return [entry for _, entry in sorted(found, key=lambda pair: -pair[0])]
