"""stator's own backends are those of providers, and its functions are not concerned by others."""

import os
import subprocess
import sys

import pytest
from requirements import cuda_target

import stator
from stator.backends import BackendRegistry, _checks
from stator.errors import DeviceUnavailableError, DTypeError, InvalidValueError


@pytest.fixture
def registry():
    return BackendRegistry(discover=True)


def test_stators_backend_has_all_that_a_providers_has(cpu):
    assert _checks.backend(cpu) == []


def test_the_namespace_works_on_the_backends_arrays(cpu):
    x = cpu.asarray([1.0, 2.0])
    assert cpu.namespace() is stator
    assert cpu.namespace().sum(x).backend is cpu


@pytest.mark.parametrize("name", ["cpu", "cuda"])
def test_stators_providers_say_what_is_there_and_open_nothing(registry, name, cpu):
    provider = registry.get(name)
    assert provider.is_available() == stator.is_available(name)
    assert provider.metadata.version == stator.__version__
    assert provider.supported_device_types == (name,)
    if provider.is_available():
        assert provider.capabilities() == stator.hardware.capabilities_of(name)
    else:
        with pytest.raises(DeviceUnavailableError, match=name):
            provider.capabilities()


def test_a_provider_of_stator_refuses_devices_that_it_has_not(registry):
    with pytest.raises(InvalidValueError, match="cuda:1"):
        registry.create("cpu", device="cuda:1")
    with registry.create("cpu", device="cpu", memory_limit=1 << 20) as backend:
        assert backend.options["memory_limit"] == 1 << 20


def test_stators_functions_take_no_backend_of_another_provider(fake, fake_backend):
    backend = fake_backend()
    for call in (stator.set_default_backend, lambda device: stator.zeros(3, device=device)):
        with pytest.raises(DTypeError, match="FakeBackend"):
            call(backend)


def test_the_two_defaults_do_not_concern_each_other(registry, fake, cpu):
    registry.register(fake(priority=1000))
    assert stator.default_backend() is cpu
    assert registry.default().name == "fake"
    registry.set_default("cpu")
    assert stator.default_backend() is cpu
    with stator.Backend("auto") as auto:
        assert isinstance(auto, stator.Backend)


@pytest.mark.emulates
@cuda_target
def test_an_emulated_gpu_can_be_created_and_is_not_the_default():
    code = """
from stator.backends import registry
print(registry.default().name, registry.get("cuda").is_available())
with registry.create("cuda") as backend:
    print(backend.device, backend.asarray([1, 2]).tolist())
"""
    environment = {**os.environ, "STATOR_EMULATE": "h200:threads=1"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.stdout == "cpu True\ncuda:0 [1, 2]\n", done.stderr


def test_names_are_loaded_on_first_use():
    assert "registry" in dir(stator.backends)
