"""The blocks ```python of all pages run, and print what the pages say; links lead somewhere.

They are scripts with their output below, not doctests, since programs this long are copied more easily without prompts.
Each page is a process of its own, which chooses a device. All run on the cpu; those that have blocks for cuda, and more
where the devices differ most, also on the emulated device. A missing event between streams is an error there.
"""

import os
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from requirements import cuda_target
from run_page import difference, examples

from tests.guide.documented import PAGES, blocks

pytestmark = pytest.mark.emulates
ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
FOLDERS = ("tutorials", "howto", "from_others")
GUIDE = [page for page in PAGES if page.parent.name in FOLDERS or page.name == "start.md"]
# Pages and folders without a block for cuda that run there too.
ALSO_CUDA = {
    "graphs.md",
    "telemetry.md",
    "programs",
    "programs.md",
    "memory/managed_memory.md",
    "memory/foreign_memory.md",
    "scopes.md",
    "streams.md",
    "memory.md",
    "tutorials/streams.md",
}
ALSO_CUDA |= {"tutorials/graphs.md", "howto/repeat_results.md", "howto/find_memory_growth.md"}
# Packages that only some pages import.
NEEDS = {"start.md": ["sklearn"], "howto/share_arrays.md": ["torch"], "array_api.md": ["sklearn"]}
ENVIRONMENT = {"STATOR_EMULATE": "h200:threads=1,h200:threads=1", "STATOR_CHECK": "order"}
# Pages about devices and settings say what they need themselves; None unsets a variable.
ENVIRONMENTS = {
    "devices.md": {"STATOR_EMULATE": "h200:threads=1,a100:threads=1", "STATOR_DEVICE": None},
    "config.md": {"STATOR_EMULATE": None, "STATOR_CHECK": None, "STATOR_DEVICE": None},
}
# Pages with a session (>>>) that another test runs.
SESSIONS = {"tutorials/cython.md"}  # tests/cpp/test_consumers.py
# Files that pages write.
WRITES = {"memory/foreign_memory.md": "memory.html"}


def name(page: Path) -> str:
    return page.relative_to(DOCS if DOCS in page.parents else ROOT).as_posix()


def code(page: Path, device: str) -> list[str]:
    return [code for code, _ in examples(page.read_text(), device)]


RUNS = [
    pytest.param(page, device, id=f"{name(page)}-{device}", marks=cuda_target if device == "cuda" else ())
    for page in PAGES
    for device in ("cpu", "cuda")
    if page.name != "README.md"  # it has no output: tests/interop/test_readme.py
    if code(page, device)
    and (
        device == "cpu"
        or not ALSO_CUDA.isdisjoint((name(page), page.parent.name))
        or len(code(page, "cuda")) > len(code(page, "cpu"))
    )
]


def run(page: Path, device: str, folder: Path) -> subprocess.CompletedProcess[str]:
    wanted = {"STATOR_DEVICE": device, **ENVIRONMENT, **ENVIRONMENTS.get(page.name, {})}
    environment = {key: value for key, value in {**os.environ, **wanted}.items() if value is not None}
    command = [sys.executable, ROOT / "tests/support/run_page.py", page, device]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=180
    )


@pytest.mark.parametrize(("page", "target"), RUNS)
def test_a_page_prints_what_it_says(page, target, tmp_path):
    for package in NEEDS.get(name(page), []):
        pytest.importorskip(package)
    done = run(page, target, tmp_path)
    assert done.returncode == 0, done.stderr
    if file := WRITES.get(name(page)):
        assert (tmp_path / file).stat().st_size > 1000


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_block_of_python_runs_or_says_why_not(page):
    others = [line for line in blocks(page.read_text())[2] if not (line.startswith(">>>") and name(page) in SESSIONS)]
    assert not others, "make the block ```python, or let it begin with the comment `# not run: ` and the reason"


def test_blocks_that_would_not_run_are_found():
    page = "```python\na\n```\n\n- b\n\n  ```python\n  c\n  ```\n\n```py\nd\n```\n"
    page += "\n```py\n# not run: needs a GPU\ne\n```\n"
    page += "\n```{code-block} python\nf\n```\n\n```python cuda\ng\n```\n\n~~~python\nh\n~~~\n"
    assert blocks(page) == (2, 1, ["  c", "d", "f", "h"])


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


@pytest.mark.parametrize("page", GUIDE, ids=name)
def test_headings_skip_no_level(page):
    levels = [len(marks) for marks in re.findall(r"^(#+) ", without_code(page), re.MULTILINE)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


@pytest.mark.parametrize("page", GUIDE, ids=name)
def test_there_is_no_raw_html(page):
    assert not re.search(r"<[a-zA-Z/!]", re.sub(r"`[^`]*`", "", without_code(page)))


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_index_lists_every_page(folder):
    index = (DOCS / folder / "index.md").read_text()
    listed = [line for tree in re.findall(r"```\{toctree\}\n(.*?)```", index, re.DOTALL) for line in tree.split()]
    pages = {page.stem for page in (DOCS / folder).glob("*.md")} - {"index"}
    assert pages <= set(listed)
