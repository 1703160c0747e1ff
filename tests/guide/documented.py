"""The examples of the documentation, and how many there are: `python -m tests.guide.documented`.

They are those of public docstrings, which tests/interop/test_docstrings.py runs, the blocks ```python of pages, which
tests/guide/test_pages.py runs, and the programs of the gallery, which the build of the site runs.
"""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import stator
from stator._accessor import Accessor
from tests.support.run_page import BLOCK

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
PAGES += sorted(page for page in (ROOT / "docs").glob("*/*.md") if page.parent.name not in ("reference", "gallery"))
_FENCE = re.compile(r"^[ \t>]*(`{3,}|~{3,}|:{3,})[ \t]*(\S*)[^\n]*\n(.*?)^[ \t>]*\1", re.MULTILINE | re.DOTALL)
_PYTHON = re.compile(r"\{?(?:(?:code|code-block|sourcecode)\})?(py|py3|python|python3|ipython|pycon|\{code.*)$")
_NOT_RUN = re.compile(r"# not run: \w.{10,}")


def _modules(package: ModuleType) -> Iterator[ModuleType]:
    """The package and the public modules below it."""
    yield package
    for found in pkgutil.iter_modules(getattr(package, "__path__", ()), package.__name__ + "."):
        if not found.name.rpartition(".")[2].startswith("_"):
            yield from _modules(importlib.import_module(found.name))


def _is_ours(of: Any) -> bool:
    module = getattr(of, "__module__", None)
    return not isinstance(module, str) or module.partition(".")[0] == "stator"


def _members(name: str, of: Any) -> Iterator[tuple[str, Any]]:
    """The object, and the public members of a class."""
    if not _is_ours(of):
        return
    yield name, of
    for member in dir(of) if isinstance(of, type) else ():
        if not member.startswith("_"):
            found = inspect.getattr_static(of, member, None)
            found = getattr(found, "__func__", found)
            accessor = getattr(of, member, None)
            if isinstance(accessor, type) and issubclass(accessor, Accessor):  # what a service does for a backend
                yield from _members(f"{name}.{member}", accessor)
            elif _is_ours(found):
                yield f"{name}.{member}", found


def docstrings() -> dict[str, str]:
    """Public docstrings with examples, each once, by the shortest name of what they are of."""
    names: dict[str, str] = {}
    for module in _modules(stator):
        for name in ("", *(name for name in dir(module) if not name.startswith("_"))):
            of = getattr(module, name) if name else module
            if name and inspect.ismodule(of):
                continue
            for full, found in _members(f"{module.__name__}.{name}".rstrip("."), of):
                if type(found).__module__ == "typing":  # a variable of types has the documentation of its class
                    continue
                text = getattr(found, "__doc__", None)
                if isinstance(text, str) and ">>>" in text:
                    text = inspect.cleandoc(text)
                    names[text] = min(names.get(text, full), full, key=lambda name: (len(name), name))
    return {name: text for text, name in sorted(names.items(), key=lambda item: item[1])}


def number(text: str) -> int:
    """Of the examples of a docstring: lines that begin with >>>."""
    return len(doctest.DocTestParser().get_examples(text))


def blocks(page: str) -> tuple[int, int, list[str]]:
    """How many blocks of Python run, how many say why they do not, and the first lines of others."""
    run = [found.group(2) for found in BLOCK.finditer(page)]
    left = list(run)
    marked, others = 0, []
    for found in _FENCE.finditer(page):
        language, code = found.group(2), found.group(3)
        if not _PYTHON.match(language):
            continue
        if language == "python" and code in left:
            left.remove(code)
        elif _NOT_RUN.match(code):
            marked += 1
        else:
            others.append(code.partition("\n")[0])
    return len(run), marked, others


def main() -> None:
    found = docstrings()
    pages = [blocks(page.read_text()) for page in PAGES]
    sessions = [number(page.read_text()) for page in PAGES]
    counts = {
        f"examples (>>>) in {len(found)} public docstrings": sum(map(number, found.values())),
        f"blocks of Python on {sum(run > 0 for run, _, _ in pages)} pages": sum(run for run, _, _ in pages),
        "examples (>>>) on pages": sum(sessions),
        "programs of the gallery": len(list((ROOT / "examples").glob("[0-9][0-9]_*.py"))),
    }
    for what, count in counts.items():
        print(f"{count:4} {what}")
    print(f"{sum(counts.values()):4} in all")
    print(f"{sum(marked for _, marked, _ in pages):4} marked as not run, with the reason")


if __name__ == "__main__":
    main()
