"""Objects whose __init__ never ran: every use of one is a typed error or harmless, and never ends the process."""

import json
import subprocess
import sys
from pathlib import Path


def test_every_use_is_typed_or_harmless(tmp_path):
    walk = Path(__file__).parent / "half_made" / "walk.py"
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", walk],
        cwd=tmp_path,  # a method that writes a file gets any text for its path
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert not json.loads(done.stdout)
