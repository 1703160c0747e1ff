"""Valid calls of each op: a module per family of the op table, with an entry for each of its ops.

`python -m stator verify` takes its calls from here, and so do the tests of launches, dtypes, graphs, waits and wrong
arguments and the search for leaks. What the op table states (dtypes, tolerance, launches) is read from it; references
that depend on nothing of stator are in the tests.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

from stator._catalogue.entry import Entry
from stator._catalogue.given import table


@cache
def entries() -> dict[str, Entry]:
    """The entry of each op of the table, in its order, which is that of the families."""
    found: dict[str, Entry] = {}
    for family in dict.fromkeys(row["family"] for row in table().values()):
        found |= import_module(f"{__name__}.{family}").ENTRIES
    return found


__all__ = ["Entry", "entries"]
