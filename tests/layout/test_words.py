"""Comments, strings and pages have none of the words that docs/style.md bans."""

import re
from pathlib import Path

import pytest

from tests.layout.test_layout import FILES, ROOT, name

PAGE = ROOT / "docs/style.md"
CPP = {".cpp", ".hpp", ".cu", ".cuh", ".def", ".inc", ".S"}
PYTHON = {".py", ".pyx", ".pxd", ".pxi", ".cmake", ".sh"}
PROSE = {
    "cpp": re.compile(r'(?://[^\n]*\s*)+|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL),
    "python": re.compile(
        r'"""(?:\\.|[^\\])*?"""'
        r"|'''(?:\\.|[^\\])*?'''"
        r'|"(?:\\.|[^"\\\n])*"'
        r"|'(?:\\.|[^'\\\n])*'|(?:#[^\n]*\s*)+",
        re.DOTALL,
    ),
}
CODE_OF_PAGES = re.compile(r"^```.*?^```|`[^`\n]*`", re.DOTALL | re.MULTILINE)


def banned() -> dict[str, str]:
    """Patterns and what to write instead: the table of the page."""
    rows = re.findall(r"^\| `(.+)` \| (.+) \|$", PAGE.read_text().partition("\n## Banned\n")[2], re.MULTILINE)
    return {pattern.replace("\\|", "|"): instead for pattern, instead in rows}


def prose(path: Path) -> str:
    """Comments and strings of code, pages without their code, in one line."""
    text = path.read_text()
    if path.suffix == ".md":
        parts = [CODE_OF_PAGES.sub("`", text)]
    else:
        parts = [match.group() for match in PROSE["cpp" if path.suffix in CPP else "python"].finditer(text)]
    return "\n".join(re.sub(r"\s*\n\s*(?://+|#+)?\s*", " ", part) for part in parts)


TEXTS = {
    name(path): prose(path)
    for path in FILES
    if path.suffix in CPP | PYTHON | {".md"} and path not in (PAGE, Path(__file__).resolve())
}


@pytest.mark.parametrize("pattern", banned())
def test_no_text_has_banned_words(pattern):
    whole = re.compile(rf"(?<![\w])(?:{pattern})(?![\w])", re.IGNORECASE)
    found = [f"{file}: {match.group()}" for file, text in TEXTS.items() for match in whole.finditer(text)]
    assert not found, f"write: {banned()[pattern]}"


def test_the_page_has_patterns():
    assert len(banned()) >= 20


def test_words_are_found_across_lines_and_not_in_code(tmp_path):
    source = tmp_path / "a.cpp"
    source.write_text('// two\n// lines\nint anew = 1;  // why\nf("it\'s");\n')
    assert prose(source) == '// two lines \n// why \n"it\'s"'
    page = tmp_path / "a.md"
    page.write_text("Two\nlines and `code`.\n\n```sh\ncommand\n```\n")
    assert prose(page).split() == ["Two", "lines", "and", "`.", "`"]
