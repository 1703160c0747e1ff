"""A plugin of pytest, for run.py: each test has a time limit, each result is a row of the log, what passed is left out.

STATOR_GPU_RUN names a JSON file with log, card, limit (seconds of a test), digests (of folders of tests), passed, and
whether whole folders are selected.
"""

from __future__ import annotations

import faulthandler
import json
import os
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from .log import FAILED, PASSED, append, folder_of

given: dict[str, Any] = json.loads(Path(os.environ["STATOR_GPU_RUN"]).read_text())
passed = set(given["passed"])
waiting: dict[str, set[str]] = {}  # tests of each folder that were collected and have not passed
broken: dict[str, str] = {}  # by test, what failed before its last phase
ran: list[str] = []
is_worker = False
stderr = os.fdopen(os.dup(2), "w")  # pytest captures 2 while a test runs, and loses it if the process ends


def note(step: str, name: str, folder: str, status: str, **more: Any) -> None:
    row = {"card": given["card"], "step": step, "name": name, "digest": given["digests"].get(folder, "")}
    append(Path(given["log"]), row | {"status": status} | more)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Generator[None, Any, Any]:
    # Also ends a test that waits for a device that hangs.
    faulthandler.dump_traceback_later(given["limit"], exit=True, file=stderr)
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


def pytest_collectreport(report: pytest.CollectReport) -> None:
    if report.failed:  # a module that cannot be imported: its folder has not passed
        waiting.setdefault(folder_of(report.nodeid), set()).add(report.nodeid)


def pytest_configure(config: pytest.Config) -> None:
    # An environment variable would not tell: a worker's child processes inherit it.
    global is_worker
    is_worker = hasattr(config, "workerinput")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if is_worker:
        return  # the process that distributes the tests gets the same report
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
    if is_worker or exitstatus not in (0, 1, 5):
        return
    if not ran and not any(waiting.values()):
        session.exitstatus = 0  # all had passed before
    for folder in given["digests"]:
        if given["whole"] and not waiting.get(folder):
            note("tests", folder, folder, PASSED)
