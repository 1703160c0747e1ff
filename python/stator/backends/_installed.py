"""What is installed: stator's own providers, and the entry points of other packages."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from typing import cast

from stator.backends import _checks
from stator.backends._builtin import PRIORITY, StatorProvider
from stator.backends._protocols import BackendProvider
from stator.backends._questions import provider_error

GROUP = "stator.backends"


@dataclass(frozen=True)
class Found:
    """A provider that is not loaded yet: its name, the package that it comes from, and what loads it."""

    name: str
    source: str
    load: Callable[[], BackendProvider]


def installed() -> Iterator[Found]:
    """stator's providers, then those of entry points, by the order of their packages on Python's path."""
    for kind in PRIORITY:
        yield Found(kind, "stator", partial(StatorProvider, kind))
    for point in entry_points(group=GROUP):
        package = f"{point.dist.name} {point.dist.version}" if point.dist else "an unknown package"
        yield Found(point.name, package, partial(_loaded, point))


def _loaded(point: EntryPoint) -> BackendProvider:
    """The provider of an entry point, which names it, or a class or function that gives it."""
    remedy = "Repair, update or uninstall the package; other providers are not concerned."
    try:
        found = point.load()
    except (Exception, SystemExit) as error:
        cause = f"{point.value} cannot be imported: {_checks.described(error)}"
        raise provider_error(point.name, cause, remedy=remedy, errors=(error,)) from error
    if isinstance(found, type) or inspect.isroutine(found):
        try:
            found = found()
        except (Exception, SystemExit) as error:
            cause = f"{point.value}() raised {_checks.described(error)}"
            raise provider_error(point.name, cause, remedy=remedy, errors=(error,)) from error
    wrong = _checks.provider(found)
    if not wrong and found.name != point.name:
        wrong = [f"its name is {found.name!r}, and that of the entry point {point.name!r}"]
    if wrong:
        raise provider_error(point.name, f"{point.value} is not a provider: {'; '.join(wrong)}", remedy=remedy)
    return cast(BackendProvider, found)
