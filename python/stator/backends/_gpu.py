"""The one GPU backend of a process, for libraries that are not handed theirs."""

from __future__ import annotations

import threading

from stator._backend import Backend
from stator.backends import _checks
from stator.backends._protocols import ProviderBackend
from stator.backends._questions import provider_error
from stator.errors import InvalidValueError

_lock = threading.Lock()
_registered: ProviderBackend | None = None


def register_gpu_backend(backend: ProviderBackend) -> None:
    """Sets what gpu_backend() returns, once in the life of a process.

    backend: stator's on a GPU, or a provider's. It is kept alive, but who opened it closes it.
    Raises: InvalidValueError where there is one already, and for stator's on the cpu; ProviderError for what is not a
    backend.
    """
    global _registered
    op = "register_gpu_backend"
    if wrong := _checks.backend(backend):
        name, cause = type(backend).__name__, f"{_checks.shown(backend)} is not a backend: {'; '.join(wrong)}"
        raise provider_error(name, cause, op=op, remedy="Give it all that ProviderBackend has.")
    if isinstance(backend, Backend) and backend.device_name == "cpu":
        raise InvalidValueError(f"{backend!r} is not on a GPU", op=op, remedy="Give one of Backend('cuda').")
    with _lock:
        if _registered is not None:
            raise InvalidValueError(
                f"There is a GPU backend already, {_checks.shown(_registered)}",
                op=op,
                remedy="Use it, by gpu_backend(): it is set once, so that all libraries of a process agree.",
            )
        _registered = backend


def gpu_backend() -> ProviderBackend | None:
    """The backend that register_gpu_backend() was given; None before that."""
    return _registered


def has_gpu_backend() -> bool:
    """Whether register_gpu_backend() was given a backend."""
    return _registered is not None
