"""ScopedResource and ManagedResource: cleanups run once, in order, or are cancelled; those that raise stop no other."""

import gc
import subprocess
import sys

import pytest

import stator
from stator.errors import BackendClosedError, CleanupError, DTypeError, ResourceClosedError
from stator.scopes import ManagedResource, ScopedResource

KINDS = pytest.mark.parametrize("kind", [ScopedResource, ManagedResource])


def managed(be, log, name, **options):
    return be.scopes.create_resource(lambda device: name, log.append, **options)


@KINDS
def test_the_end_of_a_with_block_cleans_up_once(kind):
    log = []
    held = kind("a", log.append)
    with held as resource:
        assert (resource, held.is_available()) == ("a", True)
    assert (log, held.is_available()) == (["a"], False)
    held.close()
    del held
    gc.collect()
    assert log == ["a"]


@KINDS
def test_the_cleanup_runs_where_the_block_raises(kind):
    log = []
    with pytest.raises(KeyError), kind("a", log.append):
        raise KeyError
    assert log == ["a"]


@KINDS
def test_take_cancels_the_cleanup(kind):
    log = []
    held = kind("a", log.append)
    assert held.take() == "a"
    held.close()
    del held
    assert log == []


@KINDS
@pytest.mark.parametrize("method", ["get", "get_mut", "take", "__enter__"])
def test_a_resource_that_is_gone_is_a_typed_error(kind, method):
    for end in (kind.close, kind.take):
        held = kind("a", None)
        assert held.get() == held.get_mut() == "a"
        end(held)
        with pytest.raises(ResourceClosedError, match=f"^{kind.__name__}"):
            getattr(held, method)()
        with pytest.raises(ResourceClosedError):
            held.with_resource(str.upper)


def test_with_resource_gives_what_the_function_returns():
    held = ScopedResource("a")
    assert held.with_resource(str.upper) == "A"
    assert held.is_available()
    with pytest.raises(DTypeError, match="with_resource"):
        held.with_resource(1)
    with pytest.raises(DTypeError, match="cleanup"):
        ScopedResource("a", 1)


def test_a_holder_that_is_collected_cleans_up():
    log = []
    held = ManagedResource("a", log.append)
    del held
    assert log == ["a"]


def test_the_factory_is_given_the_device_and_close_cleans_up_the_newest_first(device):
    log = []
    with stator.Backend(device) as be:
        a = be.scopes.create_resource(lambda found: f"a on {found}", log.append)
        b, c = managed(be, log, "b"), managed(be, log, "c")
        assert be.scopes.active_resource_count()["resource"] == 3
        b.take()
    assert log == ["c", f"a on {be.device_name}"]
    assert not a.is_available() and not c.is_available()
    be.close()
    assert len(log) == 2


def test_cleanups_find_the_backend_open_and_may_make_more(device):
    log = []
    be = stator.Backend(device)
    first = be.scopes.create_resource(
        lambda found: be.ones(3), lambda x: log.append((x.tolist(), managed(be, log, "late")))
    )
    be.close()
    assert log[0][0] == [1.0, 1.0, 1.0]
    assert log[1:] == ["late"]
    assert not first.is_available()


def test_a_cleanup_that_raises_stops_no_other_and_the_error_has_all(device):
    log = []
    be = stator.Backend(device)

    def fail(name):
        raise OSError(name)

    held = [managed(be, log, "a"), be.scopes.create_resource(lambda found: "b", fail)]
    held += [managed(be, log, "c"), be.scopes.create_resource(lambda found: "d", fail)]
    with pytest.raises(CleanupError, match="2 cleanups raised: OSError") as caught:
        be.close()
    assert [str(error) for error in caught.value.errors] == ["d", "b"]
    assert caught.value.__cause__ is caught.value.errors[0]
    assert log == ["c", "a"]
    assert be.closed
    be.close()


def test_a_raising_cleanup_at_the_end_of_a_holder_leaves_the_backend_usable(be):
    held = be.scopes.create_resource(lambda found: 0, lambda x: 1 // x)
    with pytest.raises(ZeroDivisionError):
        held.close()
    assert not held.is_available()
    assert be.scopes.active_resource_count()["resource"] == 0
    assert be.ones(2).tolist() == [1.0, 1.0]


def test_to_count_resources_makes_no_cleanups(device):
    with stator.Backend(device) as be:
        assert be.scopes.active_resource_count()["resource"] == 0
        assert "_cleanups" not in vars(be)


def test_a_factory_that_raises_leaves_nothing(be):
    with pytest.raises(ZeroDivisionError):
        be.scopes.create_resource(lambda found: 1 // 0, print)
    assert be.scopes.active_resource_count()["resource"] == 0


def test_a_closed_backend_makes_no_resource_and_calls_no_factory(device):
    called = []
    be = stator.Backend(device)
    be.close()
    with pytest.raises(BackendClosedError, match=r"scopes\.create_resource"):
        be.scopes.create_resource(called.append, called.append)
    assert not called


def test_a_factory_that_closes_the_backend_has_its_resource_cleaned_up(device):
    log = []
    be = stator.Backend(device)
    with pytest.raises(BackendClosedError):
        be.scopes.create_resource(lambda found: be.close() or "a", log.append)
    assert log == ["a"]


AT_EXIT = """
import os, stator
from stator.scopes import ManagedResource
be, other = stator.Backend("cpu"), stator.Backend("cpu")
say = lambda name: print(name, flush=True)
a = be.scopes.create_resource(lambda device: be.ones(2), lambda x: say(x.tolist()))
b = other.scopes.create_resource(lambda device: "b", lambda name: 1 // 0)
c = ManagedResource("c", say)
d = be.scopes.create_resource(lambda device: "d", say)
d.close()
child = os.fork()
{child}
os.waitpid(child, 0)
{end}
"""


@pytest.mark.parametrize("end", ["", "stator.shutdown()", "raise SystemExit(0)"])
def test_the_end_of_the_process_cleans_up_once_newest_first(end):
    code = AT_EXIT.format(child="if not child: raise SystemExit(0)", end=end)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.split("\n") == ["d", "c", "[1.0, 1.0]", ""]
    assert done.returncode == 0
    assert done.stderr.count("ZeroDivisionError") == 1
    assert done.stderr.startswith("Exception ignored in")
