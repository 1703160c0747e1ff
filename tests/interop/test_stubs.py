"""The stubs equal what tools/generate_stubs.py writes for this build."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_stubs_are_up_to_date():
    command = [sys.executable, str(ROOT / "tools" / "generate_stubs.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
