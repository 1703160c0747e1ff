"""The tables of what scikit-learn and SciPy do with stator's arrays are what running them gives."""

import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MADE_WITH = {"numpy": "2.4.", "scikit-learn": "1.9.", "scipy": "1.17."}


def other_versions():
    try:
        return [name for name, start in MADE_WITH.items() if not version(name).startswith(start)]
    except PackageNotFoundError as error:
        return [error.name]


@pytest.mark.slow
@pytest.mark.skipif(bool(other_versions()), reason="the tables are of NumPy 2.4, scikit-learn 1.9 and SciPy 1.17")
def test_the_tables_are_fresh():
    command = [sys.executable, str(ROOT / "tools" / "array_api_tables.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=500)
    assert done.returncode == 0, done.stdout + done.stderr
