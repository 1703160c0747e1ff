"""The examples of docs/devices.md run as they stand, and print what the page says."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from requirements import cuda_target

pytestmark = pytest.mark.emulates
ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/devices.md"


@pytest.mark.parametrize("target", ["cpu", pytest.param("cuda", marks=cuda_target)])
def test_the_page_prints_what_it_says(target, tmp_path):
    environment = {**os.environ, "STATOR_EMULATE": "h200:threads=1,a100:threads=1"}
    command = [sys.executable, ROOT / "tests/support/run_page.py", PAGE, target]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr


def test_links_lead_somewhere_and_the_readme_links_the_page():
    links = re.findall(r"\]\(([^)#]+)\)", PAGE.read_text())
    assert "decisions.md" in links
    assert not [link for link in links if not (PAGE.parent / link).is_file()]
    assert "(docs/devices.md)" in (ROOT / "README.md").read_text()
