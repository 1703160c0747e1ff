"""Broken environments, each of which the doctor must diagnose, by one finding with what was seen, and by no other."""

import pytest
from broken_environments import BROKEN, caches, driver, libraries, system
from broken_environments.healthy import healthy

from stator._doctor.examination import PROBES, examine
from stator._doctor.finding import CATALOGUE


def names(findings):
    return [finding.name for finding in findings]


def test_the_healthy_environment_has_no_finding(tmp_path):
    assert examine(healthy(tmp_path)) == []


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_environment_is_diagnosed(tmp_path, case):
    expected, seen, breaks = BROKEN[case]
    env = healthy(tmp_path)
    breaks(env)
    found = examine(env)
    assert sorted(names(found)) == sorted(expected)
    finding = next(f for f in found if f.name == expected[0])
    assert seen in finding.seen
    assert finding.why and finding.remedy


def test_every_kind_of_finding_is_made_by_a_test():
    elsewhere = {"probe-failed", "emulated"}
    assert {name for expected, _, _ in BROKEN.values() for name in expected} | elsewhere == {k.name for k in CATALOGUE}
    assert len(BROKEN) >= 30


def test_faults_do_not_hide_each_other(tmp_path):
    env = healthy(tmp_path)
    cases = (
        driver.driver_older_than_the_runtime,
        libraries.two_copies_of_a_library,
        caches.cache_full,
        system.few_open_files,
        system.more_threads_than_cpus,
    )
    for breaks in cases:
        breaks(env)
    expected = {name for breaks in cases for name in BROKEN[breaks.__name__][0]}
    assert set(names(examine(env))) == expected


def test_a_probe_that_fails_is_a_finding_and_the_others_go_on(tmp_path):
    env = healthy(tmp_path)
    env.start_method = "fork"

    def fails(env):
        raise RuntimeError("no such probe")

    found = examine(env, (fails, *PROBES))
    assert names(found) == ["probe-failed", "fork"]
    assert "RuntimeError: no such probe" in found[0].seen


def test_errors_come_first(tmp_path):
    env = healthy(tmp_path)
    for breaks in (system.processes_by_fork, system.few_open_files, libraries.no_openblas):
        breaks(env)
    assert [f.severity.value for f in examine(env)] == ["error", "warning", "note"]
