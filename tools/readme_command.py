"""Prints the README's command below the comment "# demo", "# tests" or "# consumer", which .ci/run then runs."""

import re
import sys
from pathlib import Path

readme = (Path(__file__).resolve().parents[1] / "README.md").read_text()
found = re.search(rf"^# {re.escape(sys.argv[1])}\n(.*?)(?=^```|^# )", readme, re.MULTILINE | re.DOTALL)
if not found:
    sys.exit(f"README.md has no command under '# {sys.argv[1]}'")
print(found[1].strip())
