"""Each function of the CUDA runtime fails once: a typed error, nothing leaked, and the next call works."""

import numpy as np
import pytest
import runtime_calls

import stator
from stator import _backend, errors

FAILED = 999  # cudaErrorUnknown


def waits(be):
    be.stream(1).wait(be.stream(0).record())


def asks_a_stream(be):
    be.stream(1).done()


def asks_an_event(be):
    be.stream(1).record().done()


def waits_for_a_stream(be):
    be.stream(1).synchronize()


def waits_for_an_event(be):
    be.stream(1).record().synchronize()


def copies(be):
    be.asarray(np.arange(1000))


def fills(be):
    be.zeros((1000,))


def takes_managed_memory(be):
    be.memory.managed(4)


def prefetches(be):
    be.memory.prefetch_to_device(be.memory.managed(4))


def advises(be):
    be.memory.advise(be.memory.managed(4), "read_mostly")


def asks_for_advice(be):
    allocation = be.memory.allocate_unified(4)
    try:
        return allocation.access_hints
    finally:
        be.memory.deallocate_unified(allocation)


def registers(be):
    stator.memory.register_host(np.zeros(1000), device=be).close()


WORK = {
    "stream_wait": waits,
    "event_record": waits,
    "stream_query": asks_a_stream,
    "event_query": asks_an_event,
    "stream_synchronize": waits_for_a_stream,
    "event_synchronize": waits_for_an_event,
    "copy": copies,
    "fill": fills,
    "allocate_from_pool": fills,
    "managed_allocate": takes_managed_memory,
    "prefetch": prefetches,
    "advise": advises,
    "range_attribute": asks_for_advice,
    "host_register": registers,
}


@pytest.mark.parametrize("name", WORK)
def test_every_call_of_the_runtime_may_fail(cuda, name):
    if not _backend.emulated("cuda"):
        pytest.skip("about emulated devices")
    with stator.Backend(str(cuda.device)) as be:
        with runtime_calls.answered(name, FAILED) as answers, pytest.raises(errors.CudaError) as caught:
            WORK[name](be)
        assert answers
        assert caught.value.code == FAILED
        del caught
        WORK[name](be)
        assert not [r for r in be.resources() if r["kind"] not in ("stream", "library")]
