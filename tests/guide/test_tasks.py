"""Each task of docs/howto/index.md has a page within three links of the start page, whose first screen has the call.

That the code runs is asserted by test_pages.py, that of CMake and Cython by tests/cpp/test_consumers.py.
`python -m tests.guide.test_tasks` prints how far each page is.
"""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
INDEX = DOCS / "howto/index.md"
START = DOCS / "index.md"
ROW = re.compile(r"^\| \[(.+?)\]\((.+?)(?:#(.+?))?\) \| (.+) \|$", re.MULTILINE)
SCREEN = 45  # lines


def page(link: str, of: Path) -> Path:
    """The file of a link or of an entry of a toctree."""
    target = (of.parent / link).resolve()
    return target if target.suffix == ".md" else target.with_name(f"{target.name}.md")


def links(of: Path) -> set[Path]:
    """The pages that a page links to, by text, cards and its toctrees."""
    text = of.read_text()
    trees = re.findall(r"^```\{toctree\}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    found = re.findall(r"\]\(([^)#:]+)", text) + re.findall(r"^:link: (.+)$", text, re.MULTILINE)
    found += re.findall(r"^(?:.* <)?([\w/]+)>?$", "\n".join(trees), re.MULTILINE)
    return {target for target in (page(link, of) for link in found) if target.is_file()}


def distances() -> dict[Path, int]:
    """How many links each page is from the start page."""
    known, last = {START: 0}, {START}
    while last:
        last = {target for of in last for target in links(of)} - set(known)
        known |= dict.fromkeys(last, max(known.values()) + 1)
    return known


DISTANCES = distances()
TASKS = ROW.findall(INDEX.read_text())


def first_screen(target: Path, heading: str) -> str:
    """The first lines after the heading, with the texts that they take from other files."""
    text = target.read_text()
    for directive, file in re.findall(r"^(```\{(?:include|literalinclude)\} (.+)$)", text, re.MULTILINE):
        text = text.replace(directive, "```\n" + (target.parent / file).read_text())
    if heading:
        names = re.finditer(r"^#+ (.*)$", text, re.MULTILINE)
        text = next(text[name.start() :] for name in names if name[1].lower().replace(" ", "-") == heading)
    return "\n".join(text.splitlines()[:SCREEN])


@pytest.mark.parametrize(("task", "link", "heading", "calls"), TASKS, ids=[task[0] for task in TASKS])
def test_a_task_has_its_page(task, link, heading, calls):
    target = page(link, INDEX)
    assert DISTANCES[target] <= 3, f"the page is {DISTANCES[target]} links from the start page"
    fences = "".join(re.findall(r"^`{3,}.*?(?:^`{3,}|\Z)", first_screen(target, heading), re.MULTILINE | re.DOTALL))
    for call in re.findall(r"`(.+?)`", calls):
        assert call in fences, f"no code on the first screen has {call}"


def test_every_row_is_read_and_every_page_has_one():
    rows = [line for line in INDEX.read_text().splitlines() if line.startswith("| [")]
    assert len(rows) == len(TASKS) >= 20
    pages = {path.name for path in INDEX.parent.glob("*.md")} - {"index.md"}
    assert pages == {link for _, link, _, _ in TASKS if "/" not in link}


def test_every_page_is_within_three_links():
    pages = {path for path in DOCS.rglob("*.md") if not {"reference", "gallery"} & set(path.relative_to(DOCS).parts)}
    assert {path.name: DISTANCES.get(path) for path in pages if DISTANCES.get(path, 9) > 3} == {}


if __name__ == "__main__":
    for task, link, heading, _ in TASKS:
        target = page(link, INDEX)
        print(f"{DISTANCES[target]} links to {target.relative_to(DOCS)}{'#' * bool(heading)}{heading}: {task}")
