"""Providers of installed packages: how they are found, and that none that fails harms the registry."""

import threading
import time
import warnings

import pytest

from stator.backends import BackendRegistry, ProviderWarning, _questions
from stator.errors import ProviderError

PROVIDER = """
import time
from stator.backends import ProviderMetadata

class Provider:
    name = NAME
    priority = 1000
    metadata = ProviderMetadata("test", "1.0")
    supported_device_types = ("cpu",)
    def is_compatible(self): return True
    def is_available(self): return True
    def capabilities(self): return {}
    def create(self, **options): raise OSError
"""


def provider(name, change=""):
    return PROVIDER.replace("NAME", repr(name)) + change


def use_it(registry):
    """That a registry does its work."""
    assert registry.list()[:2] == ["cpu", "cuda"]
    with registry.create("cpu") as backend:
        assert backend.asarray([1, 2]).tolist() == [1, 2]


@pytest.mark.parametrize("target", ["Provider", "make", "given"])
def test_an_entry_point_names_a_provider_or_what_gives_one(install, target):
    install("found", provider("found", "\ndef make(): return Provider()\ngiven = Provider()\n"), target)
    registry = BackendRegistry(discover=True)
    assert registry.list() == ["cpu", "cuda", "found"]
    assert registry.default().name == "found" and registry.failures == ()


def test_an_empty_registry_looks_for_packages_when_it_is_told_to(install):
    registry = BackendRegistry()
    install("later", provider("later"), "Provider")
    assert registry.list() == []
    assert registry.discover() == ["cpu", "cuda", "later"]
    assert registry.discover() == []
    registry.remove("later")
    assert registry.discover() == ["later"]


RAISES = "\ndef {0}(self): raise OSError('driver gone')\nProvider.{0} = {0}\n"
RETURNS = "\nProvider.{0} = lambda self: {1}\n"
HANGS = "\nimport hanging\nProvider.{0} = lambda self: hanging.hang()\n"
# By kind: the source of the package, and what the warning says.
REFUSED = {
    "cannot be imported": ("import no_such_module", "cannot be imported: ModuleNotFoundError"),
    "has a mistake": ("def :", "cannot be imported: SyntaxError"),
    "ends the process": ("raise SystemExit(3)", "cannot be imported: SystemExit: 3"),
    "lacks its target": ("", "cannot be imported: AttributeError"),
    "raises when called": ("def Provider(): raise OSError('no')", r"Provider\(\) raised OSError: no"),
    "is nonsense": ("Provider = 42", "42 is not a provider|is not a provider: it has no name"),
    "lacks methods": (provider("bad", "\ndel Provider.create, Provider.is_available"), "no is_available.*no create"),
    "has another name": (provider("other"), "its name is 'other'"),
    "raises in an attribute": (provider("bad", "\nProvider.priority = property(lambda self: 1 / 0)"), "ZeroDivision"),
    "is incompatible": (provider("bad", RETURNS.format("is_compatible", False)), "not compatible"),
    "raises in is_compatible": (provider("bad", RAISES.format("is_compatible")), "OSError: driver gone"),
    "answers with nonsense": (provider("bad", RETURNS.format("is_compatible", "'yes'")), "returned 'yes', not a bool"),
    "hangs in is_compatible": (provider("bad", HANGS.format("is_compatible")), "has not returned after 5 seconds"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_a_package_that_fails_is_left_out(install, impatient, kind):
    source, text = REFUSED[kind]
    install("bad", source, "Provider")
    install("good", provider("good"), "Provider")
    registry = BackendRegistry(discover=True)
    with pytest.warns(ProviderWarning, match=text):
        names = registry.list()
    assert names == ["cpu", "cuda", "good"]
    (failure,) = registry.failures
    assert failure.provider == "bad" and "package_bad 1.0" in failure.cause
    for call in (registry.get, registry.create):
        with pytest.raises(ProviderError, match="package_bad") as caught:
            call("bad")
        assert caught.value.__cause__ is failure
    use_it(registry)


def test_a_name_that_is_taken_stays_with_who_had_it(install):
    install("cpu", provider("cpu"), "Provider", package="package_of_an_impostor")
    registry = BackendRegistry(discover=True)
    with pytest.warns(ProviderWarning, match="impostor"):
        assert registry.list() == ["cpu", "cuda"]
    assert "stator" in repr(registry.get("cpu"))
    use_it(registry)


UNANSWERED = {
    "hangs": (HANGS.format("is_available"), "has not returned after 5 seconds"),
    "raises": (RAISES.format("is_available"), "OSError: driver gone"),
    "ends its thread": ("\nProvider.is_available = lambda self: exit(2)\n", "SystemExit: 2"),
    "answers with nonsense": (RETURNS.format("is_available", "None"), "returned None, not a bool"),
}


@pytest.mark.parametrize("kind", UNANSWERED)
def test_the_default_is_never_a_provider_that_does_not_say_whether_it_is_available(install, impatient, kind):
    change, text = UNANSWERED[kind]
    install("bad", provider("bad", change), "Provider")
    registry = BackendRegistry(discover=True)
    with pytest.warns(ProviderWarning, match=text):
        assert registry.default().name in ("cpu", "cuda")
    registry.set_default("bad")
    with pytest.raises(ProviderError, match=text):
        registry.default()
    registry.set_default(None)
    use_it(registry)


def test_a_warning_that_is_made_an_error_leaves_a_whole_registry(install):
    install("bad", "import no_such_module", "Provider", package="a_first_one")
    install("good", provider("good"), "Provider")
    registry = BackendRegistry(discover=True)
    with pytest.raises(ProviderWarning, match="a_first_one"), warnings.catch_warnings():
        warnings.simplefilter("error")
        registry.list()
    assert registry.list() == ["cpu", "cuda", "good"]


def test_providers_are_asked_without_a_thread_where_none_can_be_had(fake, monkeypatch):
    def start(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    registry = BackendRegistry()
    registry.register(fake())
    assert registry.default().name == "fake"


def test_five_seconds_are_waited():
    assert _questions.SECONDS == 5


def test_a_call_that_hangs_is_waited_for_once_and_asked_again_when_it_has_returned(fake, monkeypatch):
    monkeypatch.setattr(_questions, "SECONDS", 0)
    hold, begun, calls = threading.Event(), threading.Event(), []
    registry = BackendRegistry()
    registry.register(fake(available=lambda: calls.append(1) or begun.set() or hold.wait()))
    with pytest.raises(ProviderError, match="has not returned"):
        registry._entry("fake", "").available.ask("")
    begun.wait()
    with pytest.raises(ProviderError, match="has not returned"):
        registry._entry("fake", "").available.ask("")
    assert len(calls) == 1
    monkeypatch.setattr(_questions, "SECONDS", 60)
    hold.set()
    while any(thread.name == "stator provider" for thread in threading.enumerate()):
        time.sleep(0.001)
    assert registry.default().name == "fake" and len(calls) == 2


def test_a_package_may_use_the_registry_when_it_is_imported(install, monkeypatch):
    registry = BackendRegistry(discover=True)
    monkeypatch.setattr("stator.backends.registry", registry)
    install("early", provider("early", "\nfrom stator import backends\nseen = backends.registry.list()\n"), "Provider")
    assert registry.list() == ["cpu", "cuda", "early"]


def test_a_second_look_tells_what_fails_now(install):
    install("bad", "import no_such_module", "Provider")
    registry = BackendRegistry(discover=True)
    for _ in range(2):
        with pytest.warns(ProviderWarning, match="no_such_module"):
            registry.discover()
        assert len(registry.failures) == 1
