"""The common part of the commands that write one section of docs/accuracy.md."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import stator

Section = Callable[[stator.Backend], list[str]]
Replaced = Callable[[str, list[str]], str]


def write_section(prog: str, description: str | None, section: Section, replaced: Replaced) -> int:
    """Prints the section, and with --write puts it into the page by `replaced`."""
    parser = argparse.ArgumentParser(prog=prog, description=description)
    parser.add_argument("--write", type=Path, metavar="PAGE", help="replace the section of that Markdown page")
    args = parser.parse_args()
    with stator.Backend("cpu") as be:
        lines = section(be)
    print("\n".join(lines))
    if args.write:
        args.write.write_text(replaced(args.write.read_text(), lines))
    return 0
