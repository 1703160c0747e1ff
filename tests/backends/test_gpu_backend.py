"""The GPU backend of the process is set once."""

import pytest

from stator import backends
from stator.errors import InvalidValueError, ProviderError


@pytest.fixture(autouse=True)
def unset(monkeypatch):
    monkeypatch.setattr("stator.backends._gpu._registered", None)


def test_there_is_none_before_one_is_registered():
    assert backends.gpu_backend() is None
    assert not backends.has_gpu_backend()


def test_it_is_set_once(fake_backend):
    first = fake_backend()
    backends.register_gpu_backend(first)
    assert backends.gpu_backend() is first and backends.has_gpu_backend()
    for again in (fake_backend(), first):
        with pytest.raises(InvalidValueError, match="already"):
            backends.register_gpu_backend(again)
    assert backends.gpu_backend() is first


def test_what_is_no_backend_and_stators_cpu_are_refused(cpu):
    with pytest.raises(ProviderError, match="no namespace"):
        backends.register_gpu_backend(object())
    with pytest.raises(InvalidValueError, match="not on a GPU"):
        backends.register_gpu_backend(cpu)
    assert not backends.has_gpu_backend()
