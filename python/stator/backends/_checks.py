"""Whether objects are what they should be: all that is wrong with one of them, in words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from stator.backends._protocols import BACKEND_METHODS, PROVIDER_METHODS, ProviderMetadata

_NAME = re.compile(r"[\w.-]+")


def is_name(value: object) -> bool:
    return isinstance(value, str) and _NAME.fullmatch(value) is not None


def _read(of: object, name: str, missing: str) -> tuple[Any, str]:
    """An attribute, and what is wrong with it; nothing is where that is empty."""
    try:
        return getattr(of, name), ""
    except AttributeError:
        return None, f"it has no {missing}"
    except Exception as error:
        return None, f"{name} raised {described(error)}"


def methods(of: object, names: Sequence[str]) -> Iterator[str]:
    """What is wrong with the methods that an object should have."""
    for name in names:
        found, wrong = _read(of, name, f"{name}()")
        if wrong:
            yield wrong
        elif not callable(found):
            yield f"{name} is {shown(found)}, not a method"


def facts(of: object, rules: dict[str, tuple[Any, str]]) -> Iterator[str]:
    """What is wrong with the attributes that an object should have: by name a test and the rule."""
    for name, (fits, rule) in rules.items():
        value, wrong = _read(of, name, name)
        if wrong:
            yield wrong
        elif not fits(value):
            yield f"{name} is {shown(value)}, not {rule}"


def _is_types(value: object) -> bool:
    return isinstance(value, (tuple, list)) and len(value) > 0 and all(isinstance(v, str) and v for v in value)


PROVIDER_FACTS: dict[str, tuple[Any, str]] = {
    "name": (is_name, 'a string of letters, digits, "_", "-" and "."'),
    "priority": (lambda v: isinstance(v, int) and not isinstance(v, bool), "an integer"),
    "metadata": (lambda v: isinstance(v, ProviderMetadata), "a ProviderMetadata"),
    "supported_device_types": (_is_types, "a tuple of one or more strings"),
}


def provider(of: object) -> list[str]:
    """All that is wrong with a provider."""
    if isinstance(of, type):
        return [f"it is the class {of.__name__}, not an object of it"]
    return [*facts(of, PROVIDER_FACTS), *methods(of, PROVIDER_METHODS)]


def backend(of: object) -> list[str]:
    """All that is wrong with a backend."""
    return [*methods(of, BACKEND_METHODS)]


def described(error: BaseException) -> str:
    """An exception in words; one whose text cannot be made has only its type."""
    try:
        text = str(error)
    except Exception:
        text = ""
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def shown(value: object) -> str:
    """The value, or its type where its text is long or cannot be made."""
    try:
        text = repr(value)
    except Exception:
        text = ""
    return text if text and len(text) <= 60 else f"an object of type {type(value).__name__}"
