"""A plugin of pytest, for run.py: each test has a time limit, each result is a row of the log, what passed is left out.

STATOR_GPU_RUN names a JSON file with log, card, limit (seconds of a test), digests (of folders of tests) and passed.
"""

from __future__ import annotations

import faulthandler
import json
import os
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from .log import FAILED, PASSED, append

given: dict[str, Any] = json.loads(Path(os.environ["STATOR_GPU_RUN"]).read_text())
passed = set(given["passed"])
waiting: dict[str, set[str]] = {}  # tests of each folder that were collected and have not passed
broken: dict[str, str] = {}  # by test, what failed before its last phase
ran: list[str] = []


def folder_of(test: str) -> str:
    """The folder of tests that a result belongs to: "ops/sort" or "graphs"."""
    parts = test.split("::")[0].split("/")[1:-1]
    return "/".join(parts[:2] if parts[:1] == ["ops"] else parts[:1])


def note(step: str, name: str, folder: str, status: str, **more: Any) -> None:
    row = {"card": given["card"], "step": step, "name": name, "digest": given["digests"].get(folder, "")}
    append(Path(given["log"]), row | {"status": status} | more)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Generator[None, Any, Any]:
    faulthandler.dump_traceback_later(given["limit"], exit=True)  # also where the test waits for a device that hangs
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid in passed])
    items[:] = [item for item in items if item.nodeid not in passed]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(ids: list[str]) -> None:
    for test in ids:
        waiting.setdefault(folder_of(test), set()).add(test)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    test = report.nodeid
    if report.failed:
        broken[test] = str(report.longrepr)[-2000:]
    if report.when in ("setup", "call"):
        return  # the last phase, or what xdist says of a process that ended, is still to come
    ran.append(test)
    if message := broken.pop(test, None):
        note("test", test, folder_of(test), FAILED, message=message)
    else:
        waiting.get(folder_of(test), set()).discard(test)
        note("test", test, folder_of(test), PASSED)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    if hasattr(session.config, "workerinput") or exitstatus not in (0, 1, 5):
        return
    if not ran and not any(waiting.values()):
        session.exitstatus = 0  # all had passed before
    for folder in given["digests"]:
        if not waiting.get(folder):
            note("tests", folder, folder, PASSED)
