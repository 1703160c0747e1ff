"""The libraries of the package run on systems of glibc 2.34, and of the libstdc++ of GCC 11 that they have."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from stator import _array

FOLDER = Path(_array.__file__).parent
NEWEST = {"GLIBC": (2, 34), "GLIBCXX": (3, 4, 29), "CXXABI": (1, 3, 13)}


@pytest.mark.skipif(shutil.which("objdump") is None, reason="objdump of binutils lists the symbols")
def test_no_library_needs_a_newer_symbol():
    libraries = [*FOLDER.glob("*.so"), *FOLDER.glob("lib/*.so")]
    assert libraries
    newer = set()
    for library in libraries:
        text = subprocess.run(["objdump", "-T", library], capture_output=True, text=True, check=True).stdout
        for family, version, symbol in re.findall(r"\((GLIBC|GLIBCXX|CXXABI)_([0-9.]+)\)\s+(\S+)", text):
            if tuple(map(int, version.split("."))) > NEWEST[family]:
                newer.add((library.name, f"{family}_{version}", symbol))
    assert newer == set()
