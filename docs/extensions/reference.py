"""The reference of the site: a page per part of the package and per public C++ header, and a page of what was
asked for, written before Sphinx reads.

Everything comes from the package itself: signatures, documentation, and for functions that are ops the facts of the op
table. The pages are Markdown in docs/reference, which git ignores.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import coverage
import headers
import members

HERE = Path(__file__).resolve().parent


def write(app: Any) -> None:
    """Writes the pages of the reference that have changed, so that Sphinx reads no others again."""
    folder = Path(app.srcdir) / "reference"
    top = Path(app.srcdir).parent
    pages = {
        **members.pages(),
        **headers.pages(top / "csrc/include"),
        "asked_for": coverage.page(top / "tests/coverage"),
    }
    wanted = {folder / f"{name}.md": text for name, text in pages.items()}
    for path in set(folder.rglob("*.md")) - set(wanted):
        path.unlink()
    for path, text in wanted.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.is_file() or path.read_text() != text:
            path.write_text(text)


def setup(app: Any) -> dict[str, Any]:
    app.connect("builder-inited", write)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
