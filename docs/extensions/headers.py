"""A page per public C++ header: what it says of itself, and its text."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from texts import escaped

_INTRODUCTION = """# C++ headers

The public headers of libstator, by services and families of ops. Comments in them give shapes, errors and what waits.
"""


def comment(text: str) -> str:
    """The comment that a header begins with."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("//"):
            break
        lines.append(line.removeprefix("//").strip())
    return " ".join(lines)


def page(name: str, text: str) -> str:
    return f"# stator/{name}\n\n{escaped(comment(text))}\n\n```cpp\n{text.rstrip()}\n```\n"


def listing(names: Iterable[str]) -> str:
    entries = "\n".join(sorted(names))
    return f"{_INTRODUCTION}\n```{{toctree}}\n:maxdepth: 1\n\n{entries}\n```\n"


def pages(include: Path) -> dict[str, str]:
    """Markdown by names of pages."""
    found = {}
    for path in sorted((include / "stator").rglob("*.hpp")):
        name = path.relative_to(include / "stator").as_posix()
        found[name.removesuffix(".hpp").replace("/", "_")] = page(name, path.read_text())
    texts = {f"cpp/{name}": text for name, text in found.items()}
    return {**texts, "cpp/index": listing(found)}
