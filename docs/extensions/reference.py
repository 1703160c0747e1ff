"""The reference of the site: a page per part of the package and per public C++ header, and a page of what was
asked for, written before Sphinx reads.

Everything comes from the package itself: signatures, documentation, and for functions that are ops the facts of the op
table. The pages are Markdown in docs/reference, which git ignores.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import coverage
import headers
import members

HERE = Path(__file__).resolve().parent


def write(app: Any) -> None:
    """Writes all pages of the reference."""
    folder = Path(app.srcdir) / "reference"
    shutil.rmtree(folder, ignore_errors=True)
    top = Path(app.srcdir).parent
    pages = {
        **members.pages(),
        **headers.pages(top / "csrc/include"),
        "asked_for": coverage.page(top / "tests/coverage"),
    }
    for name, text in pages.items():
        path = folder / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def setup(app: Any) -> dict[str, Any]:
    app.connect("builder-inited", write)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
