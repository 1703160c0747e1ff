"""docs/recipes.md lists every file that names its examples, and the picture of the architecture has every room."""

import re

import pytest

from tests.layout.test_layout import ARROWS, FILES, ROOT, name

PAGE = ROOT / "docs/recipes.md"
SECTIONS = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", PAGE.read_text(), re.MULTILINE | re.DOTALL))
SEARCHED = ("csrc/", "pyx/", "python/stator/", "tests/cpp/", "tests/emulator/")
HASH = {".py", ".pyi", ".pyx", ".pxd", ".pxi"}
# Recipes whose example is used far beyond the files that define it, and those without one.
OPEN = {"A reduction", "A view", "A dtype", "A test"}


def without_comments(path):
    text = path.read_text()
    if path.suffix in HASH:
        return re.sub(r'""".*?"""|#[^\n]*', "", text, flags=re.DOTALL)
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL)


CODE = {
    name(path): without_comments(path)
    for path in FILES
    if name(path).startswith(SEARCHED) and path.suffix in HASH | {".cpp", ".hpp", ".cu", ".cuh", ".def"}
}


def names_and_paths(section):
    """The names in backticks from Example to the list, and the paths of the section."""
    example = section.partition("Example: ")[2].partition("\n1. ")[0]
    names = [word for word in re.findall(r"`([\w:]+)`", example) if word not in ("cuda", "STATOR_DTYPES")]
    return names, re.findall(r"`([\w.]+(?:/[\w.]+)+)`", section)


@pytest.mark.parametrize("recipe", sorted(SECTIONS.keys() - OPEN))
def test_a_recipe_lists_the_files_of_its_example(recipe):
    names, paths = names_and_paths(SECTIONS[recipe])
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(names)})(?!\w)")
    found = {path for path, text in CODE.items() if pattern.search(text)}
    assert found
    assert not {path for path in found if not any(path == p or path.startswith(p + "/") for p in paths)}


@pytest.mark.parametrize("recipe", sorted(SECTIONS.keys() - {"A test"}))
def test_the_files_of_a_recipe_exist(recipe):
    names, paths = names_and_paths(SECTIONS[recipe])
    assert names
    assert paths
    assert not [path for path in paths if not (ROOT / path).exists()]


def test_the_table_counts_the_files_of_every_recipe():
    rows = dict(re.findall(r"^\| \[(.*?)\]\(#.*?\) \| (.*?) \|$", PAGE.read_text(), re.MULTILINE))
    assert list(rows) == [title[0].lower() + title[1:] for title in SECTIONS if title != "A test"]
    for title, row in rows.items():
        items = re.findall(r"^\d+\. (.*?):", SECTIONS[title[0].upper() + title[1:]], re.MULTILINE | re.DOTALL)
        files = re.findall(r"`((?!tests/|python/stator/_catalogue)[\w.]+/[\w./]+)`", " ".join(items))
        assert sum(map(int, re.findall(r"\d+", row.partition(";")[0]))) == len(files), title


def test_the_picture_has_every_room():
    drawn = re.findall(r'class="room"[^>]*>([\w/]+)<', (ROOT / "docs/pictures/rooms.svg").read_text())
    assert sorted(drawn) == sorted([*ARROWS, "python/stator", "pyx/stator", "csrc/include/stator"])
