"""The examples of docs/backends.md run as they stand, and print what the page says."""

import doctest
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import stator
from stator import backends

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/backends.md"


def test_the_page_prints_what_it_says(tmp_path):
    command = [sys.executable, ROOT / "tests/support/run_page.py", PAGE, "cpu"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["BackendRegistry", "ExtensionRegistry", "ProviderMetadata"])
def test_examples_in_docstrings_run(name):
    text = inspect.getdoc(getattr(backends, name))
    example = doctest.DocTestParser().get_doctest(text, {"stator": stator}, name, None, None)
    assert example.examples
    doctest.DocTestRunner(verbose=False).run(example, out=(shown := []).append)
    assert not shown, "".join(shown)


def test_links_lead_somewhere_and_the_readme_links_the_page():
    links = re.findall(r"\]\(([^)#]+)\)", PAGE.read_text())
    assert links and not [link for link in links if not (PAGE.parent / link).is_file()]
    assert "(docs/backends.md)" in (ROOT / "README.md").read_text()
