"""Which devices there are, providers' included, and which is the best."""

import numpy as np
import pytest

import stator
from stator import errors, hardware
from stator.hardware import BackendType, DeviceInfo, enumeration


@pytest.fixture
def gpus():
    """Adds devices to those of the process, until the test ends."""
    names = []

    def add(*devices):
        name = f"test{len(names)}"
        enumeration.add_source(name, lambda: devices)
        names.append(name)

    yield add
    for name in names:
        enumeration.remove_source(name)


def gpu(index, gflops=1000.0, memory=1 << 30, **fields):
    given = {"type": BackendType.CUDA, "provider": "test", "double_precision": True, **fields}
    return DeviceInfo(index=index, memory_total=memory, peak_gflops={"float32": gflops}, **given)


def test_the_host_is_the_first_device():
    first = stator.devices()[0]
    assert (first.device, first.type, first.provider) == ("cpu", BackendType.CPU, "stator")
    assert 0 < first.memory_free <= first.memory_total


def test_types_have_names_for_people():
    shown = {kind.value: str(kind) for kind in BackendType}
    assert shown == {
        "auto": "Auto", "cpu": "CPU", "cuda": "CUDA", "metal": "Metal", "rocm": "ROCm", "webgpu": "WebGPU",
    }  # fmt: skip


def test_a_gpu_is_better_than_the_host_and_a_faster_one_better_than_others(gpus):
    gpus(gpu(0, 1000.0), gpu(1, 2000.0), gpu(2, None))
    assert stator.find_best_device({"provider": "test"}).index == 1
    assert stator.find_best_device().type is BackendType.CUDA


def test_of_equally_fast_ones_more_memory_wins_and_then_the_lower_index(gpus):
    gpus(gpu(3, memory=1 << 30), gpu(2, memory=2 << 30), gpu(1, memory=2 << 30))
    assert stator.find_best_device({"provider": "test"}).index == 1


def test_an_emulated_device_is_taken_only_where_it_is_asked_for(gpus):
    gpus(gpu(7, 1e9, emulated=True))
    assert stator.find_best_device().emulated is False
    assert stator.find_best_device({"emulated": True, "min_gflops": 1e8}).index == 7


def test_a_real_gpu_is_better_than_a_faster_emulated_one(gpus):
    gpus(gpu(6, 10.0), gpu(7, 1e9, emulated=True))
    assert stator.find_best_device({"emulated": True, "provider": "test"}).index == 6


def test_requirements_leave_out_what_lacks_something(gpus):
    gpus(gpu(0, 5000.0, compute_capability=(7, 0)), gpu(1, 1000.0, compute_capability=(9, 0)))
    assert stator.find_best_device({"min_compute_capability": (8, 0), "provider": "test"}).index == 1


def test_what_is_not_known_fulfils_nothing(gpus):
    gpus(gpu(0, memory_free=None))
    with pytest.raises(errors.DeviceUnavailableError, match="cuda:0 bytes of free memory: needs 1, has an unknown"):
        stator.find_best_device({"provider": "test", "min_free_memory": 1})


def test_where_nothing_fits_the_error_says_what_each_device_lacks(gpus):
    gpus(gpu(4, double_precision=False))
    with pytest.raises(errors.DeviceUnavailableError) as caught:
        stator.find_best_device({"min_memory": 2**60, "double_precision": True})
    assert "cpu bytes of memory: needs 1152921504606846976" in str(caught.value)
    assert "cuda:4" in str(caught.value)
    assert "no double_precision" in str(caught.value)


def test_unknown_requirements_are_named_at_once():
    with pytest.raises(errors.InvalidValueError, match="colour, size"):
        stator.find_best_device({"size": 1, "colour": 2, "min_memory": 3})


def test_all_wrong_values_are_named_at_once():
    with pytest.raises(errors.InvalidValueError) as caught:
        stator.DeviceRequirements(min_memory=-1, min_gflops="fast", min_compute_capability=8.0, emulated="yes")
    for name in ("min_memory=-1", "min_gflops='fast'", "min_compute_capability=8.0", "emulated='yes'"):
        assert name in str(caught.value)
    with pytest.raises(errors.DTypeError, match="requirements of type int"):
        stator.find_best_device(3)
    assert stator.DeviceRequirements(min_memory=np.int64(5), min_gflops=np.float32(2)).min_memory == 5


def test_devices_are_found_by_type(gpus):
    gpus(gpu(5))
    assert 5 in [each.index for each in stator.get_devices_by_type("cuda")]
    assert [each.type for each in stator.get_devices_by_type(BackendType.CPU)] == [BackendType.CPU]
    assert stator.get_devices_by_type("metal") == ()
    assert stator.is_device_type_available("cuda")
    assert not stator.is_device_type_available("webgpu")
    assert stator.is_device_type_available("auto")


@pytest.mark.parametrize("call", [stator.get_devices_by_type, stator.is_device_type_available])
def test_an_unknown_type_is_refused(call):
    with pytest.raises(errors.InvalidValueError, match="tpu"):
        call("tpu")


def test_auto_is_no_type_of_devices():
    with pytest.raises(errors.InvalidValueError, match="find_best_device"):
        stator.get_devices_by_type("auto")


def test_a_source_that_raises_hides_nothing_but_its_own_devices():
    def fails():
        raise OSError("no driver")

    hardware.add_source("broken", fails)
    try:
        with pytest.warns(RuntimeWarning, match=r"provider 'broken' were skipped: OSError: no driver"):
            assert stator.devices()[0].device == "cpu"
    finally:
        hardware.remove_source("broken")


def test_a_source_that_lists_something_else_is_skipped():
    hardware.add_source("odd", lambda: ["cuda:0"])
    try:
        with pytest.warns(RuntimeWarning, match="listed a str"):
            stator.devices()
    finally:
        hardware.remove_source("odd")


def test_names_of_sources_are_taken_once():
    hardware.add_source("twice", list)
    with pytest.raises(errors.InvalidValueError, match="twice"):
        hardware.add_source("twice", list)
    hardware.remove_source("twice")
    with pytest.raises(errors.InvalidValueError, match="twice"):
        hardware.remove_source("twice")
    with pytest.raises(errors.DTypeError, match="source"):
        hardware.add_source("number", 3)


def test_capabilities_of_a_device_that_is_not_there_are_refused():
    with pytest.raises(errors.DeviceUnavailableError):
        hardware.capabilities_of("cuda:999")
    with pytest.raises(errors.InvalidValueError):
        hardware.capabilities_of("tpu")


def test_records_become_plain_values():
    import json

    for device in stator.devices():
        assert json.loads(json.dumps(device.as_dict()))["device"] == device.device
    assert json.loads(json.dumps(hardware.capabilities_of("cpu").as_dict()))["type"] == "cpu"
