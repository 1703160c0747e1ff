"""What is reported when the driver has to compile the kernels of this build for a GPU."""

import logging

import pytest

from stator import _backend, _devices, _table
from stator.hardware import first_use


@pytest.mark.parametrize(
    ("codes", "capability", "runs"),
    [
        (["90"], (9, 0), True),
        (["80"], (8, 6), True),
        (["86"], (8, 0), False),
        (["80", "90"], (12, 0), False),
        (["90a"], (9, 0), True),
        (["100a"], (10, 3), False),
        (["100"], (10, 3), True),
        ([], (9, 0), False),
    ],
)
def test_machine_code_runs_on_its_major_version_from_its_minor_one_on(codes, capability, runs):
    assert first_use.has_machine_code(codes, capability) is runs


def test_a_gpu_without_machine_code_is_told_once(monkeypatch, caplog):
    report = {"name": "A GPU", "compute_capability": (12, 0)}
    monkeypatch.setattr(_backend, "emulated", lambda kind: False)
    monkeypatch.setattr(_devices, "device_report", lambda kind, index: report)
    monkeypatch.setattr(first_use, "_told", set())
    with caplog.at_level(logging.WARNING, "stator"):
        for device in ("cpu", "cuda:3", "cuda:3"):
            first_use.tell_first_use(device)
    (record,) = caplog.records
    assert "cuda:3 (A GPU) has compute capability 12.0" in record.getMessage()
    assert "be.graphs.prepare(ops)" in record.getMessage()


def test_the_build_says_for_what_it_has_machine_code():
    assert bool(_table.build()["machine_code"]) == _table.build()["cuda"]
