"""Managed memory: arrays that NumPy sees without a copy, what is tracked of them, and what is refused."""

import threading

import numpy as np
import pytest

import stator
from stator import errors
from stator.memory import host_view


def counted(be):
    return be.scopes.active_resource_count()["managed"]


def test_numpy_and_the_device_write_the_same_memory(be):
    x = be.memory.managed((2, 3), "float32")
    seen = host_view(x)
    seen[...] = [[1, 2, 3], [4, 5, 6]]
    assert (x + 1).tolist() == [[2, 3, 4], [5, 6, 7]]
    x[0] = 9
    assert host_view(x).tolist() == [[9, 9, 9], [4, 5, 6]]
    assert seen.tolist() == [[9, 9, 9], [4, 5, 6]]


def test_a_view_waits_for_every_stream_that_uses_the_memory(be):
    x = be.memory.managed(1000)
    with be.stream(1):
        x[:500] = 1
    with be.stream(2):
        x[500:] = 2
    assert host_view(x).sum() == 1500


@pytest.mark.parametrize(
    "part",
    [
        lambda x: x[1:3],
        lambda x: x[:, ::2],
        lambda x: x[::-1, 1],
        lambda x: x.T,
        lambda x: x[2, 3],
        lambda x: x[4:],
    ],
)
def test_views_of_a_part_have_its_layout(be, part):
    x = be.memory.managed((4, 4), "int32")
    host_view(x)[...] = np.arange(16).reshape(4, 4)
    assert host_view(part(x)).tolist() == part(np.arange(16).reshape(4, 4)).tolist()


@pytest.mark.parametrize("dtype", ["bool", "float16", "bfloat16", "complex128", "uint64"])
def test_views_have_the_dtype_of_the_array(be, dtype):
    x = be.memory.managed(3, dtype)
    x[...] = be.ones(3, dtype=dtype)
    seen = host_view(x)
    assert seen.dtype == x.dtype.numpy()
    assert seen.astype(complex).tolist() == [1, 1, 1]


def test_a_view_that_repeats_elements_is_read_only(be):
    x = be.memory.managed(1)
    assert not host_view(stator.broadcast_to(x, (3,))).flags.writeable


def test_default_dtype_and_shapes(be):
    assert be.memory.managed(3).dtype.name == "float64"
    assert [host_view(be.memory.managed(shape)).shape for shape in ((), (0,), (2, 0))] == [(), (0,), (2, 0)]


def test_it_is_counted_as_managed_memory(be):
    before = counted(be)
    x = be.memory.managed(10)
    assert counted(be) == before + 1
    assert [(r["bytes"], r["origin"]) for r in be.resources() if r["kind"] == "managed"] == [
        (80, "Backend.memory.managed")
    ]
    assert be.telemetry.resource_usage().buffers_allocated >= 1
    del x
    assert counted(be) == before


def test_a_scope_frees_it_and_what_numpy_has_stays(be):
    with be.scoped() as scope:
        x, kept = be.memory.managed(3), scope.keep(be.memory.managed(3))
        seen = host_view(x)
        seen[...] = 5
    with pytest.raises(errors.BackendClosedError, match=r"memory.host_view: .*scope"):
        host_view(x)
    assert seen.tolist() == [5, 5, 5]
    host_view(kept)[...] = 1
    assert kept.tolist() == [1, 1, 1]


def test_a_view_outlives_its_backend(device):
    with stator.Backend(device) as be:
        seen = host_view(be.memory.managed(3))
        seen[...] = 7
    assert seen.tolist() == [7, 7, 7]
    assert [(r["kind"], r["exported"]) for r in be.resources()] == [("managed", True)]
    del seen
    assert not be.resources()


def test_the_memory_limit_counts_it(device):
    with stator.Backend(device, memory_limit=8 << 20) as be:
        x = be.memory.managed(4 << 20, "uint8")
        with pytest.raises(errors.OutOfMemoryError, match=r"Backend\.memory\.managed") as caught:
            be.memory.managed(6 << 20, "uint8")
        assert caught.value.limit == 8 << 20
        del x, caught
        assert host_view(be.memory.managed(6 << 20, "uint8")).size == 6 << 20


@pytest.mark.parametrize(("policy", "reuses"), [("caching", 1), ("none", 0)])
def test_what_is_freed_is_kept_as_the_policy_says(device, policy, reuses):
    with stator.Backend(device, pool_policy=policy) as be:
        x = be.memory.managed(100)
        x[...] = 1
        be.synchronize()
        before = be.memory.stats()["reuses"]
        del x
        assert (be.memory.stats()["cached_bytes"] > 0) == bool(reuses)
        be.memory.managed(100)
        assert be.memory.stats()["reuses"] - before == reuses


def test_memory_that_is_still_in_use_is_not_handed_out_again(be):
    be.memory.empty_cache()
    go = threading.Event()
    x = be.memory.managed(1 << 16)
    be.stream(1).add_callback(lambda: go.wait(300))
    with be.stream(1):
        x[...] = 1
    del x
    y = be.memory.managed(1 << 16)
    host_view(y)[...] = 2
    go.set()
    be.synchronize()
    assert host_view(y).min() == 2


def test_freed_memory_goes_back_to_the_device(device):
    with stator.Backend(device) as be:
        x = be.memory.managed(1 << 20)
        del x
        be.memory.empty_cache()
        stats = be.memory.stats()
        assert stats["live_bytes"] == stats["cached_bytes"] == 0


@pytest.mark.parametrize(
    ("shape", "dtype", "error"),
    [
        (-1, "int8", errors.ShapeError),
        ((2, -1), "int8", errors.ShapeError),
        (2**63, "int8", errors.StatorError),
        (2**62, "float64", errors.ShapeError),
        (2**60, "int8", errors.OutOfMemoryError),
        (1.5, "int8", errors.DTypeError),
        (4, "float33", errors.DTypeError),
    ],
)
def test_shapes_and_dtypes_are_checked(be, shape, dtype, error):
    with pytest.raises(error, match=r"^Backend\.memory\.managed"):
        be.memory.managed(shape, dtype)
    assert be.memory.managed(2, "int8").shape == (2,)


def test_ordinary_memory_has_no_view(be):
    with pytest.raises(errors.InvalidValueError, match=r"memory\.host_view: .*Backend\.memory\.managed"):
        host_view(be.ones(3))
    with pytest.raises(errors.DTypeError, match=r"memory\.host_view"):
        host_view(np.ones(3))


def test_a_closed_backend_has_none(device):
    be = stator.Backend(device)
    be.close()
    calls = {
        "managed": lambda: be.memory.managed(3),
        "allocate_unified": lambda: be.memory.allocate_unified(3),
        "supports_unified": be.memory.supports_unified,
    }
    for name, call in calls.items():
        with pytest.raises(errors.BackendClosedError, match=rf"Backend\.memory\.{name}: "):
            call()
