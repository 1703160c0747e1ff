"""Providers and backends that do what a test wants, and packages that register them."""

import sys
import textwrap
import threading
import types

import numpy as np
import pytest

from stator import backends
from stator.backends import _questions


class FakeBackend:
    """A backend of NumPy that notes in `log` when it is closed."""

    def __init__(self, label="backend", log=None, error=None):
        self.label, self.log, self.error = label, [] if log is None else log, error

    def namespace(self):
        return np

    def capabilities(self):
        return {}

    def asarray(self, obj, /):
        return np.asarray(obj)

    def synchronize(self):
        pass

    def close(self):
        self.log.append(self.label)
        if self.error is not None:
            raise self.error


class FakeProvider:
    """A provider whose attributes are the keywords; methods may be given as values, which they return."""

    supported_device_types = ("fake",)

    def __init__(self, name="fake", priority=0, *, compatible=True, available=True, create=FakeBackend, **others):
        self.name, self.priority = name, priority
        self.metadata = backends.ProviderMetadata(name=f"package of {name}", version="1.0")
        self._compatible, self._available, self.create = compatible, available, create
        vars(self).update(others)

    def is_compatible(self):
        return self._compatible() if callable(self._compatible) else self._compatible

    def is_available(self):
        return self._available() if callable(self._available) else self._available

    def capabilities(self):
        return {}


@pytest.fixture
def fake():
    return FakeProvider


@pytest.fixture
def fake_backend():
    return FakeBackend


@pytest.fixture
def impatient(monkeypatch):
    """Waits for all answers but those of hanging.hang(), a function that returns at the end of the test."""
    stuck, go = [], threading.Event()

    def hang():
        stuck.append(threading.current_thread())
        go.wait()

    def wait(answer):
        while answer.running() and answer._thread not in stuck:
            answer._thread.join(0.001)

    monkeypatch.setitem(sys.modules, "hanging", types.SimpleNamespace(hang=hang))
    monkeypatch.setattr(_questions._Answer, "wait", wait)
    yield
    go.set()
    for thread in stuck:
        thread.join()


@pytest.fixture
def install(tmp_path, monkeypatch):
    """A function that writes a package with an entry point, as installers do, and puts it on the path."""
    monkeypatch.syspath_prepend(tmp_path)
    known = set(sys.modules)

    def written(name, source, target="make", package=None):
        package = package or f"package_{name}"
        (tmp_path / f"{package}.py").write_text(textwrap.dedent(source))
        information = tmp_path / f"{package}-1.0.dist-info"
        information.mkdir()
        (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        (information / "entry_points.txt").write_text(f"[stator.backends]\n{name} = {package}:{target}\n")

    yield written
    for module in set(sys.modules) - known:
        if module.startswith("package_"):
            del sys.modules[module]
