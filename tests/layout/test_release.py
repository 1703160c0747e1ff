"""What a release says of itself in several files is the same in all of them."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def text(name: str) -> str:
    return (ROOT / name).read_text()


VERSION = re.search(r'^__version__ = "(.+)"$', text("python/stator/_version.py"), re.MULTILINE)[1]


def test_the_citation_and_the_changelog_have_the_version():
    assert f"version: {VERSION}\n" in text("CITATION.cff")
    assert f"\n## [{VERSION}] - " in text("CHANGELOG.md")


def test_the_licence_is_one():
    project = tomllib.loads(text("pyproject.toml"))["project"]
    assert f"license: {project['license']}\n" in text("CITATION.cff")


in_repository = pytest.mark.skipif(not (ROOT / ".github").is_dir(), reason="a source archive")


@in_repository
def test_the_workflow_calls_steps_that_the_script_has():
    steps = set(re.findall(r"^([a-z]+)\) ", text("tools/release.sh"), re.MULTILINE))
    called = set(re.findall(r"tools/release\.sh ([a-z]+)", text(".github/workflows/release.yml")))
    assert called >= {"tag", "sdist", "wheel", "check", "try"}
    assert called <= steps


@in_repository
def test_the_workflow_uploads_for_a_tag_alone():
    jobs = re.split(r"^  (\w+):$", text(".github/workflows/release.yml").partition("\njobs:\n")[2], flags=re.MULTILINE)
    uploads = {name: job for name, job in zip(jobs[1::2], jobs[2::2], strict=True) if "pypi-publish" in job}
    assert list(uploads) == ["upload"]
    assert "if: startsWith(github.ref, 'refs/tags/v')" in uploads["upload"]
    assert "secrets." not in text(".github/workflows/release.yml")
