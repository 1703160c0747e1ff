"""Runs the examples of a page: `python run_page.py PAGE DEVICE`.

The blocks ```python run in their order with one namespace, and those marked ```python cuda only on cuda. A block
```text after one is what it prints, where doctest's "..." stands for what differs from run to run.
"""

import doctest
import io
import re
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path

BLOCK = re.compile(r"^```python( cuda)?\n(.*?)^```\n(?:\s*^```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)


def examples(page: str, device: str) -> Iterator[tuple[str, str]]:
    """The code of each block, on the lines that it has in the page, and what it prints."""
    for found in BLOCK.finditer(page):
        cuda, code, output = found.groups()
        if device == "cuda" or not cuda:
            yield "\n" * page.count("\n", 0, found.start(2)) + code, output or ""


def difference(expected: str, got: str) -> str:
    """Where the output is not as the page says, in words; empty where it is."""
    checker, example = doctest.OutputChecker(), doctest.Example("", expected)
    if checker.check_output(expected, got, doctest.ELLIPSIS):
        return ""
    return checker.output_difference(example, got, doctest.ELLIPSIS)


def run(path: Path, device: str) -> None:
    """Ends the process with status 1 where a block prints something else."""
    names: dict[str, object] = {"__name__": "__main__"}
    for code, expected in examples(path.read_text(), device):
        printed = io.StringIO()
        with redirect_stdout(printed):
            exec(compile(code, str(path), "exec"), names)
        if wrong := difference(expected, printed.getvalue()):
            line = len(code) - len(code.lstrip("\n")) + 1
            sys.exit(f"{path}, the block on line {line}:\n{wrong}")


if __name__ == "__main__":
    run(Path(sys.argv[1]), sys.argv[2])
