"""What GitHub reads: the workflow has every section of .ci/run, and each pattern of CODEOWNERS fits files."""

import re

import pytest

from tests.layout.test_layout import FILES, ROOT, name

pytestmark = pytest.mark.skipif(not (ROOT / ".github").is_dir(), reason="a source archive")


def test_pull_requests_run_every_section_once():
    listed = re.search(r"^ALL=\((.*)\)$", (ROOT / ".ci/run").read_text(), re.MULTILINE)[1]
    workflow = (ROOT / ".github/workflows/check.yml").read_text()
    jobs = re.search(r"\n +sections:\n((?: +- .*\n)+)", workflow)[1]
    assert sorted(re.findall(r"[a-z]+", jobs)) == sorted(re.findall(r"[a-z]+", listed))
    assert "run: .ci/run ${{ matrix.sections }}\n" in workflow


def owners():
    lines = (ROOT / ".github/CODEOWNERS").read_text().splitlines()
    return dict(line.split(maxsplit=1) for line in lines if line and not line.startswith("#"))


def test_every_pattern_of_owners_fits_files():
    names = [name(path) for path in FILES]
    assert next(iter(owners())) == "*"
    for pattern, teams in owners().items():
        assert pattern == "*" or any(n.startswith(pattern[1:]) for n in names), pattern
        assert re.fullmatch(r"@[\w-]+/[\w-]+( @[\w-]+/[\w-]+)*", teams)
