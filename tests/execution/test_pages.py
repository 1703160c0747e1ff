"""The examples of docs/execution run as they stand, and print what the pages say.

They are scripts with their output below, not doctests, since programs this long are copied more easily without prompts.
Each page is a process of its own, which chooses a device. A missing event between streams is an error there.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from requirements import cuda_target
from run_page import difference, examples

pytestmark = pytest.mark.emulates
ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs/execution").glob("*.md"))
RUNS = [
    pytest.param(page, device, id=f"{page.stem}-{device}", marks=cuda_target if device == "cuda" else ())
    for page in PAGES
    for device in ("cpu", "cuda")
    if any(examples(page.read_text(), device))
]


def run(page: Path, device: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {"STATOR_DEVICE": device, "STATOR_EMULATE": "h200:threads=1", "STATOR_CHECK": "order"}
    command = [sys.executable, ROOT / "tests/support/run_page.py", page, device]
    return subprocess.run(
        command, cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True, check=False, timeout=120
    )


@pytest.mark.parametrize(("page", "target"), RUNS)
def test_a_page_prints_what_it_says(page, target, tmp_path):
    done = run(page, target, tmp_path)
    assert done.returncode == 0, done.stderr


def test_a_block_that_prints_something_else_is_named(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```python\nx = 1\n```\n\n```python\nprint(x)\n```\n\n```text\n2\n```\n")
    done = run(page, "cpu", tmp_path)
    assert done.returncode == 1
    assert "the block on line 6" in done.stderr


def test_blocks_for_cuda_are_left_out_elsewhere():
    page = "```python cuda\na\n```\n```python\nb\n```\n\n```text\nc\n```\n"
    assert list(examples(page, "cpu")) == [("\n\n\n\nb\n", "c\n")]
    assert list(examples(page, "cuda")) == [("\na\n", ""), ("\n\n\n\nb\n", "c\n")]


def test_dots_stand_for_what_differs_and_for_nothing_else():
    assert difference("in ... ms\n", "in 7 ms\n") == ""
    assert difference("in 7 ms\n", "in 8 ms\n")
    assert difference("", "more\n")


def anchors(page: Path) -> set[str]:
    """The names that GitHub gives to the headings."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_somewhere(page):
    links = re.findall(r"\]\(([^)#]+)(?:#([^)]+))?\)", page.read_text())
    assert any("decisions.md" in target for target, _ in links)
    for target, heading in links:
        to = page.parent / target
        assert to.is_file(), target
        assert not heading or heading in anchors(to), heading


def test_the_readme_links_every_page():
    linked = re.findall(r"\]\(docs/execution/([\w.]+)\)", (ROOT / "README.md").read_text())
    assert sorted(linked) == [page.name for page in PAGES]
