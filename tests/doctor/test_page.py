"""docs/doctor.md has every kind of finding, as the code has it."""

from pathlib import Path

from stator._doctor import page
from stator._doctor.finding import CATALOGUE, Severity

PAGE = Path(__file__).resolve().parents[2] / "docs/doctor.md"


def test_the_page_has_the_catalogue():
    from stator._doctor import examination  # noqa: F401  (imports the probes, which define the kinds)

    assert PAGE.read_text().endswith("\n\n" + page.catalogue() + "\n")


def test_kinds_have_names_of_their_own_and_whole_sentences():
    names = [kind.name for kind in CATALOGUE]
    assert len(set(names)) == len(names)
    for kind in CATALOGUE:
        assert kind.severity in Severity and kind.what and "|" not in kind.what + kind.why + kind.remedy
        assert kind.why.endswith(".") and kind.remedy.endswith("."), kind.name
