"""Documentation of Python objects as Markdown."""

from __future__ import annotations

import inspect
import re

_SPECIAL = re.compile(r"([\\*_\[\]<>{}|#$~])")
_PARAMETER = re.compile(r"(^|(?<=\. ))([a-z_][\w, ]{0,40}?): ")


def escaped(text: str) -> str:
    """Plain text as Markdown: what stands between backquotes is code, and nothing else has a meaning."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return _SPECIAL.sub(r"\\\1", text.replace("`", "'"))
    return "`".join(part if i % 2 else _SPECIAL.sub(r"\\\1", part) for i, part in enumerate(parts))


def paragraph(lines: list[str]) -> str:
    text = escaped(" ".join(line.strip() for line in lines))
    return _PARAMETER.sub(lambda m: f"{m[1]}**{m[2]}**: ", text)


def markdown(text: str | None) -> str:
    """A docstring: its paragraphs, and its examples as code with their output."""
    blocks: list[str] = []
    for block in inspect.cleandoc(text or "").split("\n\n"):
        lines = block.splitlines()
        first = next((i for i, line in enumerate(lines) if line.lstrip().startswith(">>>")), len(lines))
        if lines[:first]:
            blocks.append(paragraph(lines[:first]))
        if lines[first:]:
            blocks.append("```pycon\n" + "\n".join(lines[first:]) + "\n```")
    return "\n\n".join(blocks)
