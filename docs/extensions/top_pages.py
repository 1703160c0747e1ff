"""Files at the top of the repository that are pages of the site too, where links to them lead."""

from __future__ import annotations

from typing import Any

PAGES = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}


def follow(app: Any, name: str, source: list[str]) -> None:
    """Links out of docs/ become links to the pages."""
    up = "../" * name.count("/")
    for file, page in PAGES.items():
        source[0] = source[0].replace(f"]({up}../{file}", f"]({up}{page}")


def setup(app: Any) -> dict[str, Any]:
    app.connect("source-read", follow)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
