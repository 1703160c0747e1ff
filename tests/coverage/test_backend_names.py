"""The public names of Backend: few, and those that its page lists."""

import re
from pathlib import Path

import stator

PAGE = Path(__file__).resolve().parents[2] / "docs/backend.md"
NAMES = {name for name in dir(stator.Backend) if not name.startswith("_")}


def test_new_features_belong_to_a_service():
    assert len(NAMES) <= 45


def test_the_page_lists_them():
    table = PAGE.read_text().partition("Backend itself has only these names:")[2]
    rows = [line.split("|")[2] for line in table.splitlines() if line.startswith("| ")][1:]
    assert sorted(re.findall(r"`(\w+)`", "".join(rows))) == sorted(NAMES)
