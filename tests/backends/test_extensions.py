"""Extensions of a backend: their order, which are initialised and shut down, and what happens where one raises."""

import pytest

from stator.backends import ExtensionRegistry
from stator.errors import ExtensionError, InvalidValueError, UnsupportedError


class Extension:
    """An extension that notes in `log` what is done with it, and raises where `error` is set."""

    extension_version = "1.0"

    def __init__(self, name, log, *, compatible=True):
        self.extension_name, self.log, self.compatible, self.error = name, log, compatible, None

    def is_compatible_with(self, backend):
        return self.compatible

    def _do(self, what):
        self.log.append(f"{what} {self.extension_name}")
        if self.error is not None:
            raise self.error

    def initialize(self, backend):
        self._do("begin")

    def shutdown(self):
        self._do("end")

    def capabilities(self):
        return {}

    def handle_operation(self, op, args):
        if self.error is not None:
            raise self.error
        return op, *args


@pytest.fixture
def log():
    return []


@pytest.fixture
def extensions():
    return ExtensionRegistry()


@pytest.fixture
def backend(fake_backend):
    return fake_backend()


def add(extensions, log, names, **options):
    made = [Extension(name, log, **options) for name in names]
    for extension in made:
        extensions.register(extension)
    return made


def test_extensions_are_registered_by_name(extensions, log):
    assert extensions.is_empty() and len(extensions) == 0
    one, two = add(extensions, log, ["one", "two"])
    assert extensions.names() == ["one", "two"] and len(extensions) == 2 and not extensions.is_empty()
    assert extensions.has("one") and not extensions.has("three")
    assert extensions.get("two") is two
    assert extensions.remove("one") is one and extensions.names() == ["two"]
    assert log == []


def test_initialisation_is_in_order_and_shutdown_in_reverse(extensions, log, backend):
    add(extensions, log, "abc")
    assert extensions.initialize_all(backend) == ["a", "b", "c"]
    assert extensions.initialized() == ["a", "b", "c"]
    assert extensions.shutdown_all() == ["c", "b", "a"]
    assert log == ["begin a", "begin b", "begin c", "end c", "end b", "end a"]
    assert extensions.initialized() == []


def test_only_compatible_ones_are_initialised_and_only_initialised_ones_shut_down(extensions, log, backend):
    add(extensions, log, ["a"])
    add(extensions, log, ["other"], compatible=False)
    assert extensions.initialize_all(backend) == ["a"]
    extensions.shutdown_all()
    assert log == ["begin a", "end a"]
    assert extensions.shutdown_all() == [] and len(log) == 2


def test_what_is_initialised_is_not_initialised_again(extensions, log, backend):
    add(extensions, log, ["a"])
    extensions.initialize_all(backend)
    add(extensions, log, ["b"])
    assert extensions.initialize_all(backend) == ["b"]
    assert log == ["begin a", "begin b"]


def test_one_that_cannot_begin_stops_none_of_the_others(extensions, log, backend):
    _, b, _ = add(extensions, log, "abc")
    b.error = OSError("no driver")
    with pytest.raises(ExtensionError, match="b raised OSError: no driver") as caught:
        extensions.initialize_all(backend)
    assert caught.value.errors == {"b": b.error}
    assert caught.value.__cause__.exceptions == (b.error,)
    assert extensions.initialized() == ["a", "c"]
    assert extensions.shutdown_all() == ["c", "a"]


def test_one_that_cannot_end_stops_none_of_the_others_and_is_tried_again(extensions, log, backend):
    a, _, c = add(extensions, log, "abc")
    extensions.initialize_all(backend)
    a.error, c.error = OSError("busy"), ValueError("odd")
    with pytest.raises(ExtensionError) as caught:
        extensions.shutdown_all()
    assert caught.value.errors == {"c": c.error, "a": a.error}
    assert log[-3:] == ["end c", "end b", "end a"]
    a.error = c.error = None
    assert extensions.shutdown_all() == ["c", "a"]


def test_nonsense_from_is_compatible_with_is_an_error_of_that_extension(extensions, log, backend):
    add(extensions, log, ["odd"], compatible="yes")
    add(extensions, log, ["a"])
    with pytest.raises(ExtensionError, match="returned 'yes', not a bool"):
        extensions.initialize_all(backend)
    assert extensions.initialized() == ["a"]


def test_remove_shuts_down_what_is_initialised(extensions, log, backend):
    a, b = add(extensions, log, "ab")
    extensions.initialize_all(backend)
    assert extensions.remove("a") is a
    assert log[-1] == "end a"
    b.error = OSError("busy")
    with pytest.raises(ExtensionError, match="busy"):
        extensions.remove("b")
    assert extensions.is_empty() and extensions.initialized() == []


def test_operations_go_to_the_extension_of_the_name(extensions, log, backend):
    (a,) = add(extensions, log, ["a"])
    with pytest.raises(InvalidValueError, match="not initialised"):
        extensions.handle_operation("a", "scale", (2,))
    extensions.initialize_all(backend)
    assert extensions.handle_operation("a", "scale", (2, 3)) == ("scale", 2, 3)
    assert extensions.handle_operation("a", "reset") == ("reset",)
    a.error = OSError("busy")
    with pytest.raises(ExtensionError, match="OSError: busy in its operation 'scale'"):
        extensions.handle_operation("a", "scale")
    a.error = UnsupportedError("There is no operation 'scale'")
    with pytest.raises(UnsupportedError) as caught:
        extensions.handle_operation("a", "scale")
    assert caught.value is a.error


def test_what_is_no_extension_and_a_name_that_is_taken_are_refused(extensions, log):
    with pytest.raises(ExtensionError) as caught:
        extensions.register(object())
    names = "extension_name extension_version is_compatible_with initialize shutdown capabilities handle_operation"
    assert all(name in str(caught.value) for name in names.split())
    (first,) = add(extensions, log, ["a"])
    with pytest.raises(InvalidValueError, match="already"):
        extensions.register(Extension("a", log))
    assert extensions.get("a") is first


def test_unknown_names_are_typed_errors(extensions, log):
    add(extensions, log, ["known"])
    for call in (extensions.get, extensions.remove, lambda name: extensions.handle_operation(name, "x")):
        for name in ("unknown", 3, ["known"]):
            with pytest.raises(InvalidValueError, match="known"):
                call(name)


def test_the_names_of_other_registries_are_there():
    same = {"register_extension": "register", "get_extension": "get", "has_extension": "has", "extensions": "names"}
    same |= {"remove_extension": "remove"}
    registry = ExtensionRegistry
    assert [n for n, ours in same.items() if getattr(registry, n) is not getattr(registry, ours)] == []
