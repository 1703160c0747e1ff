"""The examples in the documentation of devices and of the methods about them run as they stand."""

import doctest
import inspect

import pytest

import stator
from stator import hardware
from stator.hardware.backend_methods import BackendDevices

OBJECTS = {
    **{f"hardware.{name}": getattr(hardware, name) for name in hardware.__all__},
    **{f"Backend.{name}": value for name, value in vars(BackendDevices).items() if not name.startswith("_")},
}
EXAMPLES = {name: found for name, found in OBJECTS.items() if ">>>" in (inspect.getdoc(found) or "")}


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_runs(cpu, name):
    parsed = doctest.DocTestParser().get_doctest(
        inspect.getdoc(EXAMPLES[name]), {"stator": stator, "be": cpu}, name, None, 0
    )
    report = []
    result = doctest.DocTestRunner(verbose=False).run(parsed, out=report.append)
    assert result.attempted
    assert not result.failed, "".join(report)


def test_every_name_is_documented_in_a_sentence():
    first = {name: (inspect.getdoc(found) or "").partition("\n")[0] for name, found in OBJECTS.items()}
    assert not {name: line for name, line in first.items() if len(line) > 100 or not line.endswith((".", ":"))}
