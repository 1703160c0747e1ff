"""The versions of linters are stated once, in the extra `lint` of pyproject.toml."""

import re
import tomllib

import pytest

from tests.layout.test_layout import FILES, ROOT, name

EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
PINNED = dict(re.fullmatch(r"([\w-]+)(?:\[\w+\])?==([\d.]+)", line).groups() for line in EXTRAS["lint"])
HOOKS = ROOT / ".pre-commit-config.yaml"

in_repository = pytest.mark.skipif(not HOOKS.is_file(), reason="a source archive")


def test_the_linters_are_pinned():
    assert set(PINNED) == {"clang-format", "cython-lint", "mypy", "pyright", "ruff"}


@in_repository
def test_hooks_have_the_versions_of_the_extra():
    hooks = re.findall(r"repo: https://\S+/(?:mirrors-)?([\w-]+?)(?:-pre-commit)?\n +rev: v(\S+)", HOOKS.read_text())
    assert set(dict(hooks)) == {"clang-format", "cython-lint", "ruff"}
    assert not [hook for hook in hooks if PINNED[hook[0]] != hook[1]]


def test_no_other_file_has_a_version():
    version = re.compile(rf"\b(?:{'|'.join(PINNED)})(?:\[\w+\])?[\"' ]*(?:==|>=|~=|<)\s*\d")
    files = [p for p in FILES if p.suffix in {".md", ".py", ".sh", ".toml", ".yml", ".yaml"} or p.name == "run"]
    found = {name(p): len(version.findall(p.read_text())) for p in files}
    assert {n: count for n, count in found.items() if count} == {"pyproject.toml": len(PINNED)}
