"""What devices say of themselves against the figures of the GPUs that the emulator's profiles stand for."""

import json
from pathlib import Path

import emulated
import pytest
import requirements

pytestmark = [requirements.cuda_target, pytest.mark.emulates]
TABLE = Path(__file__).with_name("profiles.tsv")
PROFILES = ("h200", "h100", "a100", "laptop")

PROGRAM = """
import json, stator
from stator import hardware
found = []
for device in stator.get_devices_by_type("cuda"):
    info, caps = device.as_dict(), hardware.capabilities_of(device.device).as_dict()
    hints = hardware.hints.derive(hardware.capabilities_of(device.device))
    found.append({**caps, **caps["memory_hierarchy"], **info, "peaks": caps["peak_gflops"],
                  "workgroup": hints.preferred_workgroup_size[0], "batch": hints.optimal_batch_size,
                  "alignment": hints.memory_alignment})
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def found():
    program = "import stator.hardware.hints\n" + PROGRAM
    return dict(zip(PROFILES, json.loads(emulated.run(program, ",".join(PROFILES))), strict=True))


def rows():
    lines = [line for line in TABLE.read_text().splitlines() if not line.startswith("#")]
    head = lines[0].split("\t")
    return [dict(zip(head, line.split("\t"), strict=True)) for line in lines[1:]]


def lookup(values, name):
    for part in name.split("."):
        values = values[part]
    return values


@pytest.mark.parametrize("row", rows(), ids=lambda row: row["field"])
def test_a_field_is_what_the_source_says(found, row):
    got = {profile: lookup(found[profile], row["field"]) for profile in PROFILES}
    wanted = {profile: json.loads(row[profile]) for profile in PROFILES}
    for profile in PROFILES:
        if isinstance(wanted[profile], float):
            assert got[profile] == pytest.approx(wanted[profile], rel=0.01), profile
        else:
            assert got[profile] == wanted[profile], profile


def test_every_row_names_its_source():
    assert not [row["field"] for row in rows() if len(row["source"]) < 5]


def test_the_free_memory_falls_by_what_is_allocated():
    program = """
import stator
before = stator.get_devices_by_type("cuda")[0]
with stator.Backend("cuda") as be:
    x = be.empty(1 << 28, dtype="uint8")
    free = be.devices.info().memory_free
    be.synchronize()
    del x
print(before.memory_free == before.memory_total, before.memory_free - free >= 1 << 28)
"""
    assert emulated.run(program, "h200:threads=1") == "True True\n"


def test_what_the_profile_does_not_say_is_none():
    """The ratio of float64 is known of the profile's compute capability; a persisting part of L2 of no profile."""
    program = """
from stator.hardware import capabilities_of
print(capabilities_of("cuda").custom_capabilities.get("max_persisting_l2_cache_size"))
"""
    assert emulated.run(program, "h200") == "None\n"


def test_under_wsl_the_host_cannot_use_managed_memory_at_the_same_time():
    program = """
from stator.hardware import capabilities_of
for device in ("cuda:0", "cuda:1"):
    found = capabilities_of(device)
    print(found.supports_unified_memory, found.concurrent_managed_access)
"""
    assert emulated.run(program, "laptop,wsl") == "True True\nTrue False\n"
