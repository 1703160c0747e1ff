"""What NVML says of a GPU, which is found by its address on the PCI bus."""

from types import SimpleNamespace

import pytest

import stator
from stator import _devices
from stator.hardware import cuda, nvml
from stator.monitor import _figures


class Nvml:
    """A double of NVIDIA's binding, with two GPUs in the order of their addresses."""

    NVMLError = ValueError

    def __init__(self):
        self.asked = []

    def nvmlDeviceGetHandleByPciBusId(self, place):
        self.asked.append(place)
        return {"00000000:1a:00.0": 0, "00000001:b3:02.0": 1}.get(place, "gone")

    def nvmlDeviceGetMemoryInfo(self, handle):
        if handle == "gone":
            raise ValueError("no such device")
        return type("Info", (), {"free": 1000 + handle})

    def nvmlDeviceGetUtilizationRates(self, handle):
        return type("Rates", (), {"gpu": 40 + handle})


REPORT = {
    "name": "A GPU",
    "driver_version": 13000,
    "runtime_version": 13000,
    "compute_capability": (9, 0),
    "total_memory": 2000,
}
# As CUDA_VISIBLE_DEVICES=1,0 numbers them.
PLACES = [(1, 0xB3, 2), (0, 0x1A, 0), (0, 7, 0)]


@pytest.fixture
def double(monkeypatch):
    found = Nvml()

    def report(kind, index):
        places = dict(zip(("pci_domain_id", "pci_bus_id", "pci_device_id"), PLACES[index], strict=True))
        return {**REPORT, "attributes": places}

    monkeypatch.setattr(nvml, "binding", lambda: found)
    monkeypatch.setattr(stator._backend, "emulated", lambda kind: False)
    monkeypatch.setattr(_devices, "device_report", report)
    nvml.bus_id.cache_clear()
    yield found
    nvml.bus_id.cache_clear()


@pytest.mark.parametrize(("index", "free", "percent"), [(0, 1001, 41.0), (1, 1000, 40.0)])
def test_a_gpu_is_found_by_its_place_and_not_by_its_number(double, index, free, percent):
    assert cuda.info(index).memory_free == free
    backend = SimpleNamespace(device_name=f"cuda:{index}")
    assert _figures.gpu_percent(backend) == percent


def test_what_nvml_does_not_know_is_none(double):
    assert nvml.memory_free(2) is None
    assert double.asked == ["00000000:07:00.0"]


def test_without_nvml_nothing_is_known(double, monkeypatch):
    monkeypatch.setattr(nvml, "binding", lambda: None)
    assert nvml.memory_free(0) is nvml.gpu_percent(0) is None


def test_a_part_of_a_gpu_has_no_figures(double, monkeypatch):
    monkeypatch.setitem(REPORT, "name", "A GPU MIG 1g.10gb")
    assert nvml.memory_free(0) is None


def test_a_device_that_has_a_context_is_asked_itself(double, monkeypatch):
    report = {**REPORT, "attributes": {"memory_free": 77}}
    assert cuda.info(0, report).memory_free == 77
    assert not double.asked


def test_emulated_devices_and_the_cpu_are_not_asked(double, monkeypatch):
    monkeypatch.setattr(stator._backend, "emulated", lambda kind: True)
    assert nvml.memory_free(0) is None
    assert _figures.gpu_percent(SimpleNamespace(device_name="cpu")) is None
    assert not double.asked
