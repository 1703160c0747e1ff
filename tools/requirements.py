"""Prints what extras of pyproject.toml require, a line each: python tools/requirements.py lint"""

import sys
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).resolve().parents[1] / "pyproject.toml").read_text())["project"]
for extra in sys.argv[1:]:
    listed = project["optional-dependencies"][extra]
    print(*(line for line in listed if not line.startswith(f"{project['name']}[")), sep="\n")
