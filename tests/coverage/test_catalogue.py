"""The catalogue of calls has one entry for each op of the table, in the module of its family, and needs NumPy only."""

import subprocess
import sys
from importlib import import_module

import pytest

from stator._catalogue import entries
from stator._catalogue.given import table

FAMILIES = sorted({row["family"] for row in table().values()})


@pytest.mark.parametrize("family", FAMILIES)
def test_a_module_has_the_entries_of_its_family(family):
    of_family = {name for name, row in table().items() if row["family"] == family}
    assert import_module(f"stator._catalogue.{family}").ENTRIES.keys() == of_family


def test_every_op_has_an_entry():
    assert entries().keys() == table().keys()


def test_it_imports_neither_scipy_nor_pytest():
    program = (
        "import sys; from stator._catalogue import entries; entries(); print({*sys.modules} & {'scipy', 'pytest'})"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
