"""The registry of providers: what it takes, which is the default, and what remove() closes."""

import gc
import weakref

import pytest

import stator
from stator.backends import BackendRegistry, ProviderMetadata, ProviderWarning
from stator.errors import DeviceUnavailableError, DTypeError, InvalidValueError, ProviderError, ShapeError


@pytest.fixture
def registry():
    return BackendRegistry()


def test_a_registry_has_what_was_registered_in_that_order(registry, fake):
    one, two = fake("one"), fake("two")
    assert len(registry) == 0
    registry.register(two)
    registry.register(one)
    assert registry.list() == ["two", "one"] and len(registry) == 2
    assert registry.has("one") and not registry.has("three") and not registry.has([])
    assert registry.get("one") is one
    assert registry.get_plugin_metadata("two") == ProviderMetadata("package of two", "1.0")


def test_the_default_has_the_highest_priority_of_those_available(registry, fake):
    for name, priority, available in (("low", -1, True), ("first", 5, True), ("second", 5, True), ("high", 9, False)):
        registry.register(fake(name, priority, available=available))
    assert registry.default().name == "first"


def test_no_default_where_none_is_available(registry, fake):
    with pytest.raises(DeviceUnavailableError, match="none"):
        registry.default()
    registry.register(fake("away", available=False))
    with pytest.raises(DeviceUnavailableError, match="away"):
        registry.create_default()


def test_a_chosen_default_is_taken_and_never_replaced(registry, fake):
    there = [False]
    registry.register(fake("usual", 9))
    registry.register(fake("chosen", 0, available=lambda: there[0]))
    registry.set_default("chosen")
    with pytest.raises(DeviceUnavailableError, match="chosen"):
        registry.default()
    there[0] = True
    assert registry.default().name == "chosen"
    registry.set_default(None)
    assert registry.default().name == "usual"


def test_a_removed_provider_is_no_longer_the_chosen_default(registry, fake):
    registry.register(fake("usual"))
    registry.register(fake("chosen"))
    registry.set_default("chosen")
    registry.remove("chosen")
    assert registry.default().name == "usual"


def test_stators_providers_alone_give_what_auto_gives():
    registry = BackendRegistry(discover=True)
    for name in {*registry.list()} - {"cpu", "cuda"}:
        registry.remove(name)
    with stator.Backend("auto") as auto, registry.create_default() as backend:
        assert backend.device_name == auto.device_name
    assert registry.default().supported_device_types == (auto.device.type,)


def test_a_duplicate_is_refused(registry, fake):
    first = fake("taken")
    registry.register(first)
    with pytest.raises(InvalidValueError, match="taken"):
        registry.register(fake("taken", 7))
    assert registry.get("taken") is first


def test_an_incompatible_provider_is_refused(registry, fake):
    with pytest.raises(ProviderError, match="not compatible") as caught:
        registry.register(fake("other", compatible=False))
    assert caught.value.provider == "other"
    assert registry.list() == []


class Nameless:
    @property
    def name(self):
        raise OSError("no name")


NONSENSE = {
    "a class": (lambda fake: fake, "the class FakeProvider"),
    "an object": (lambda fake: object(), "it has no name"),
    "a name with a space": (lambda fake: fake("a b"), "name is 'a b'"),
    "a priority that is a bool": (lambda fake: fake(priority=True), "priority is True"),
    "metadata of another type": (lambda fake: fake(metadata={}), "metadata is {}"),
    "a name that raises": (lambda fake: Nameless(), "name raised OSError: no name"),
    "types as one string": (lambda fake: fake(supported_device_types="cpu"), "supported_device_types is 'cpu'"),
    "no types": (lambda fake: fake(supported_device_types=()), "supported_device_types is ()"),
    "a method that is none": (lambda fake: fake(create=3), "create is 3, not a method"),
}


@pytest.mark.parametrize("kind", NONSENSE)
def test_nonsense_is_refused_with_what_is_wrong(registry, fake, kind):
    make, text = NONSENSE[kind]
    with pytest.raises(ProviderError) as caught:
        registry.register(make(fake))
    assert text in str(caught.value)
    registry.register(fake("good"))
    assert registry.list() == ["good"]


def test_all_that_is_wrong_is_said_at_once(registry, fake):
    with pytest.raises(ProviderError) as caught:
        registry.register(fake(priority="high", metadata=None, create=None))
    assert all(word in str(caught.value) for word in ("priority", "metadata", "create"))


def test_metadata_has_eight_fields():
    given = {"name": "a", "version": "1.2", "description": "d", "author": "b", "license": "MIT"}
    lists = {"supported_architectures": ["x86-64"], "required_features": ["AVX2"], "optional_features": ("AMX", "F16C")}
    found = ProviderMetadata(**given, **lists)
    assert {name: getattr(found, name) for name in given} == given
    assert {name: getattr(found, name) for name in lists} == {name: tuple(values) for name, values in lists.items()}


def test_metadata_names_every_field_of_a_wrong_type():
    with pytest.raises(DTypeError) as caught:
        ProviderMetadata(name=3, version="1", required_features="AVX2", optional_features=[1])
    assert all(f"{n}=" in str(caught.value) for n in ("name", "required_features", "optional_features"))
    assert "version" not in caught.value.cause
    assert ProviderMetadata("a", "1", supported_architectures=["x86-64"]).supported_architectures == ("x86-64",)


def test_unknown_names_are_typed_errors_that_list_the_names(registry, fake):
    registry.register(fake("known"))
    calls = (registry.get, registry.remove, registry.create, registry.set_default, registry.get_plugin_metadata)
    for call in calls:
        for name in ("unknown", "", 3, ["known"]):
            with pytest.raises(InvalidValueError, match="known"):
                call(name)
    assert registry.list() == ["known"]


def test_create_passes_options_on(registry, fake):
    registry.register(fake(create=lambda **options: seen.update(options) or backend))
    seen, backend = {}, stator.Backend("cpu")
    with backend:
        assert registry.create("fake", size=3) is backend and seen == {"size": 3}
        assert registry.create_default(name="x") is backend and seen == {"size": 3, "name": "x"}


def test_what_create_raises_is_typed(registry, fake):
    def raising(**options):
        raise options["error"]

    registry.register(fake(create=raising))
    with pytest.raises(ProviderError, match="OSError: no device") as caught:
        registry.create("fake", error=OSError("no device"))
    assert isinstance(caught.value.__cause__, OSError) and caught.value.errors == (caught.value.__cause__,)
    own = ShapeError("odd")
    with pytest.raises(ShapeError) as caught:
        registry.create("fake", error=own)
    assert caught.value is own


def test_a_result_of_create_that_is_no_backend_is_closed_and_refused(registry, fake):
    closed = []

    class Half:
        def close(self):
            closed.append(self)

    registry.register(fake(create=Half))
    with pytest.raises(ProviderError, match=r"no namespace\(\).*no asarray\(\).*no synchronize\(\)"):
        registry.create("fake")
    assert len(closed) == 1


def test_remove_closes_the_backends_newest_first(registry, fake, fake_backend):
    log = []
    provider = fake(create=lambda label: fake_backend(label, log))
    registry.register(provider)
    registry.register(fake("other", create=lambda: fake_backend("of another provider", log)))
    kept = [registry.create("fake", label=i) for i in range(3)]
    kept.append(registry.create("other"))
    assert registry.remove("fake") is provider
    assert log == [2, 1, 0]
    assert registry.list() == ["other"]
    registry.register(provider)
    registry.remove("fake")
    assert log == [2, 1, 0]


def test_remove_goes_on_where_a_backend_cannot_be_closed(registry, fake, fake_backend):
    log, error = [], OSError("stuck")
    registry.register(fake(create=lambda label, error=None: fake_backend(label, log, error)))
    kept = [registry.create("fake", label="a"), registry.create("fake", label="b", error=error)]
    with pytest.raises(ProviderError, match="could not be closed") as caught:
        registry.remove("fake")
    assert caught.value.errors == (error,) and len(kept) == 2
    assert log == ["b", "a"]
    assert not registry.has("fake")


def test_remove_closes_backends_of_stator():
    registry = BackendRegistry(discover=True)
    other = stator.Backend("cpu")
    mine = registry.create("cpu", deterministic=True)
    registry.remove("cpu")
    assert mine.closed and not other.closed
    other.close()


def test_the_registry_keeps_no_backend_alive(registry, fake, fake_backend):
    log = []
    registry.register(fake(create=lambda: fake_backend("x", log)))
    seen = weakref.ref(registry.create("fake"))
    gc.collect()
    assert seen() is None
    registry.remove("fake")
    assert log == []


def test_backends_without_weak_references_are_closed_too(registry, fake, fake_backend):
    class Slotted:
        __slots__ = ()
        capabilities = namespace = asarray = synchronize = fake_backend.namespace

        def close(self):
            log.append("closed")

    log = []
    registry.register(fake(create=Slotted))
    registry.create("fake")
    registry.remove("fake")
    assert log == ["closed"]


def test_a_provider_that_is_removed_while_it_creates_leaves_nothing_open(registry, fake, fake_backend):
    log = []

    def create():
        registry.remove("fake")
        return fake_backend("late", log)

    registry.register(fake(create=create))
    with pytest.raises(ProviderError, match="was removed"):
        registry.create("fake")
    assert log == ["late"]


def test_a_priority_that_became_nonsense_is_skipped(registry, fake):
    spoilt = fake("spoilt", 9)
    registry.register(spoilt)
    registry.register(fake("good"))
    spoilt.priority = "highest"
    with pytest.warns(ProviderWarning, match="spoilt"):
        assert registry.default().name == "good"


def test_the_names_of_other_registries_are_there():
    same = {"register_plugin": "register", "available_backends": "list", "create_backend": "create"}
    same |= {"create_default_backend": "create_default", "set_default_backend": "set_default"}
    assert [n for n, ours in same.items() if getattr(BackendRegistry, n) is not getattr(BackendRegistry, ours)] == []


def test_devices_of_providers_are_listed_behind_stators_own(fake, monkeypatch):
    registry = BackendRegistry()
    monkeypatch.setattr(stator.backends, "registry", registry)
    chip = stator.hardware.DeviceInfo(stator.hardware.BackendType.WEBGPU, name="a chip", provider="chips")
    registry.register(fake("without"))
    registry.register(fake("chips", devices=lambda: [chip]))
    assert stator.devices()[0].device == "cpu" and stator.devices()[-1] is chip
    registry.remove("chips")
    assert chip not in stator.devices()


def test_a_provider_that_cannot_list_its_devices_hides_none_of_others(registry, fake):
    chip = stator.hardware.DeviceInfo(stator.hardware.BackendType.WEBGPU, provider="chips")
    for name, listing in (("raises", lambda: 1 / 0), ("odd", lambda: ["cpu"]), ("chips", lambda: (chip,))):
        registry.register(fake(name, devices=listing))
    with pytest.warns(ProviderWarning) as shown:
        assert registry.devices() == [chip]
    texts = [str(warning.message) for warning in shown]
    assert ["'raises': ZeroDivisionError" in texts[0], "'odd': DTypeError" in texts[1], len(texts)] == [True, True, 2]
