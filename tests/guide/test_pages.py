"""The examples of the guide (start, tutorials, how-to, from other libraries) run, and print what the pages say.

Each page is a process of its own. All run on the cpu; those that have blocks for cuda, and a few more, also on the
emulated device. A missing event between streams is an error there.
"""

import os
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from requirements import cuda_target
from run_page import examples

pytestmark = pytest.mark.emulates
ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
FOLDERS = ("tutorials", "howto", "from_others")
PAGES = [DOCS / "start.md", *(page for folder in FOLDERS for page in sorted((DOCS / folder).glob("*.md")))]
# Pages without a block for cuda that are cheap there, where the device differs most from the cpu.
ALSO_CUDA = {"tutorials/streams.md", "tutorials/graphs.md", "howto/repeat_results.md", "howto/find_memory_growth.md"}
# Packages that only some pages import.
NEEDS = {"start.md": ["sklearn"], "howto/share_arrays.md": ["torch"]}


def name(page: Path) -> str:
    return page.relative_to(DOCS).as_posix()


def blocks(page: Path, device: str) -> list[str]:
    return [code for code, _ in examples(page.read_text(), device)]


RUNS = [
    pytest.param(page, device, id=f"{name(page)}-{device}", marks=cuda_target if device == "cuda" else ())
    for page in PAGES
    for device in ("cpu", "cuda")
    if blocks(page, device)
    and (device == "cpu" or name(page) in ALSO_CUDA or len(blocks(page, "cuda")) > len(blocks(page, "cpu")))
]


@pytest.mark.parametrize(("page", "target"), RUNS)
def test_a_page_prints_what_it_says(page, target, tmp_path):
    for package in NEEDS.get(name(page), []):
        pytest.importorskip(package)
    command = [sys.executable, ROOT / "tests/support/run_page.py", page, target]
    environment = {"STATOR_DEVICE": target, "STATOR_EMULATE": "h200:threads=1,h200:threads=1", "STATOR_CHECK": "order"}
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
    )
    assert done.returncode == 0, done.stderr


def without_code(page: Path) -> str:
    return re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """The names that GitHub and MyST give to the headings."""
    headings = re.findall(r"^#+ (.*)$", without_code(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page):
    for target, heading in re.findall(r"\]\(([^)#:]*)(?:#([^)]+))?\)", without_code(page)):
        to = page.parent / target if target else page
        if "reference/" in target:  # made by the build of the site
            continue
        assert to.is_file(), target
        assert not heading or heading in anchors(to), heading


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_included_files_are_there(page):
    for target in re.findall(r"^```\{literalinclude\} (.*)$", page.read_text(), re.MULTILINE):
        assert (page.parent / target).is_file(), target


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_headings_skip_no_level(page):
    levels = [len(marks) for marks in re.findall(r"^(#+) ", without_code(page), re.MULTILINE)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_there_is_no_raw_html(page):
    assert not re.search(r"<[a-zA-Z/!]", re.sub(r"`[^`]*`", "", without_code(page)))


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_index_lists_every_page(folder):
    index = (DOCS / folder / "index.md").read_text()
    listed = [line for tree in re.findall(r"```\{toctree\}\n(.*?)```", index, re.DOTALL) for line in tree.split()]
    pages = {page.stem for page in (DOCS / folder).glob("*.md")} - {"index"}
    assert pages <= set(listed)
