"""Fixtures of the whole suite.

Each test runs on the cpu, and on cuda where a GPU is usable; with STATOR_REQUIRE_DEVICE=cuda an unusable GPU is a
failure. With --emulate=h200 (or another value of STATOR_EMULATE) the tests of devices run only on an emulated GPU, and
others do not run, but for those that emulate devices in processes of their own (the mark `emulates`). After each test
the backend's tracker must be empty again.
"""

import collections
import gc
import os
import re
import signal
import tempfile
import time

import pytest

REQUIRED = os.environ.get("STATOR_REQUIRE_DEVICE", "")
_passed = {"all": 0, "cuda": 0}


def pytest_addoption(parser):
    parser.addoption("--emulate", metavar="DEVICES", help="run the tests of devices on emulated ones: h200:races")


def pytest_configure(config):
    if emulated := config.getoption("--emulate"):
        os.environ["STATOR_EMULATE"] = emulated  # before stator is imported, and for the processes that tests start
    if not hasattr(config, "workerinput"):  # the workers of pytest-xdist inherit it
        folder = tempfile.TemporaryDirectory(prefix="stator-code-")
        config.add_cleanup(folder.cleanup)
        os.environ["STATOR_CACHE_DIR"] = folder.name
    else:  # pytest-xdist ignores interrupts, which processes inherit
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _devices(config):
    if config.getoption("--emulate"):
        return ["cuda"]
    try:
        import stator
    except ImportError:
        return ["cpu"]  # tests/layout runs without a build
    return ["cpu", "cuda"] if REQUIRED == "cuda" or stator.is_available("cuda") else ["cpu"]


def pytest_generate_tests(metafunc):
    if "device" in metafunc.fixturenames:
        metafunc.parametrize("device", _devices(metafunc.config), indirect=True, scope="module")


@pytest.fixture(scope="module")
def device(request):
    """The name of the device that the test runs on."""
    return request.param


@pytest.fixture(scope="module")
def _module_backend(device):
    import stator

    with stator.Backend(device) as backend:
        yield backend
    gc.collect()
    assert not backend.resources()
    if device == "cuda" and os.environ.get("STATOR_EMULATE"):
        import vendor_doubles

        left = {kind: count for kind, count in vendor_doubles.objects().items() if count}
        assert not left, "handles or descriptors of libraries are alive"


def _live(backend):
    """The objects that a test must not leave alive; streams, library handles and cached programs stay."""
    return [r for r in backend.resources() if r["kind"] not in ("stream", "library", "program")]


def _emptied(backend, request):
    """Runs a test with the backend as the current one, and checks that the test leaks nothing."""
    with backend.use():
        yield backend
    if getattr(request.node, "failed", False):
        return  # the traceback holds the test's arrays
    end = time.monotonic() + 60  # a thread that has just ended a future lets go of its objects a moment later
    while _live(backend):
        gc.collect()
        backend.synchronize()
        assert not _live(backend) or time.monotonic() < end, "the test left live resources"


@pytest.fixture
def be(_module_backend, request):
    """The backend of the module and the device."""
    yield from _emptied(_module_backend, request)


@pytest.fixture(scope="module")
def _module_cpu():
    import stator

    with stator.Backend("cpu") as backend:
        yield backend


@pytest.fixture
def cpu(_module_cpu, request):
    """A cpu backend, for tests about host memory, which run once, with or without a GPU."""
    yield from _emptied(_module_cpu, request)


@pytest.fixture
def cuda(_module_backend, request):
    """A cuda backend, for tests about device memory."""
    if _module_backend.device.type != "cuda":
        pytest.skip("about device memory")
    yield from _emptied(_module_backend, request)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    item.failed = getattr(item, "failed", False) or report.failed
    return report


def pytest_runtest_logreport(report):
    """Counts the tests that passed: here, because pytest-xdist's main process sees reports and never runs a test."""
    if report.when == "call" and report.passed:
        _passed["all"] += 1
        _passed["cuda"] += "cuda" in re.split(r"[\[\]-]", report.nodeid)


def _emulates(item):
    return "device" in getattr(item, "fixturenames", ()) or item.get_closest_marker("emulates") is not None


def pytest_collection_modifyitems(config, items):
    if config.getoption("--emulate"):
        others = [item for item in items if not _emulates(item)]
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if _emulates(item)]
    items.sort(key=lambda item: "layout" not in item.path.parts)  # the cheapest tests first; the sort is stable


def pytest_collection_finish():
    """Tests that look for leaks collect garbage after each step. What the modules of all tests have made, a million
    objects, need not be visited each time."""
    gc.collect()
    gc.freeze()


def pytest_sessionfinish(session):
    if session.config.option.collectonly:
        return
    if not _passed["all"] or (REQUIRED == "cuda" and not _passed["cuda"]):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter, config):
    counts = collections.Counter()  # what tests counted and recorded as the property "counts"
    for report in terminalreporter.stats.get("passed", []):
        counts.update(dict(report.user_properties).get("counts", {}) if report.when == "call" else {})
    for text, count in sorted(counts.items()):
        terminalreporter.write_line(f"{text}: {count}")
    if REQUIRED:
        terminalreporter.write_line(f"tests passed on cuda: {_passed['cuda']}")
