"""When foreign memory is its owner's again: once the array is unreferenced, and no later than at the next wait."""

import weakref

import numpy as np
import pytest

import stator


class Source(np.ndarray):
    """Memory of which a test can tell when it is let go of."""


def made():
    x = np.arange(6.0).view(Source)
    return x, weakref.ref(x)


WAYS = {
    "from_dlpack": lambda x, be: stator.from_dlpack(x, device=be),
    "asarray": lambda x, be: be.asarray(x, copy=False),
}
USES = {
    "nothing": lambda s: None,
    "item": lambda s: s[0].item(),
    "a view": lambda s: s[1:].tolist(),
    "an op": lambda s: stator.sum(s + 1).item(),
    "a graph": lambda s: s.backend.graph(lambda x: x + 1)(s).tolist(),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("way", WAYS)
def test_memory_of_the_host_is_released_with_the_last_array(cpu, way, use):
    source, alive = made()
    array = WAYS[way](source, cpu)
    USES[use](array)
    view = array[2:]
    del source, array
    assert alive() is not None
    del view
    assert alive() is None


def test_a_loop_over_arrays_does_not_grow(cpu):
    sources = []
    for _ in range(50):
        source, alive = made()
        array = stator.from_dlpack(source, device=cpu)
        array[0].item()
        del source, array
        sources.append(alive())
    assert sources == [None] * 50


WAITS = {
    "Backend.synchronize": lambda be: be.synchronize(),
    "Stream.synchronize": lambda be: be.stream(0).synchronize(),
    "Event.synchronize": lambda be: be.stream(0).record().synchronize(),
    "empty_cache": lambda be: be.memory.empty_cache(),
    "resources": lambda be: be.resources(),
}


@pytest.mark.parametrize("wait", WAITS)
def test_memory_of_a_device_is_released_by_the_next_wait(be, wait):
    source = be.arange(6.0)
    array = stator.from_dlpack(source, device=be)
    result = array + 1
    be.current_stream.synchronize()
    assert [r["exported"] for r in be.resources()].count(True) >= 1
    del source, array
    WAITS[wait](be)
    assert [r["kind"] for r in be.resources()].count("buffer") == 1
    del result
