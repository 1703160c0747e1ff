"""Broken environments of the driver."""

from dataclasses import replace

from broken_environments.healthy import write
from broken_environments.registry import (
    broken,
    set_driver,
    set_package,
    set_variables,
    without_driver,
    without_kernel_module,
)
from stator._doctor.facts import Driver


@broken("no-gpu", "cannot open shared object file")
def no_gpu(env):
    without_driver(env)
    without_kernel_module(env)


@broken("driver-missing", "/sys/bus/pci/devices/0000:01:00.0")
def gpu_on_the_bus_without_driver(env):
    without_driver(env)
    without_kernel_module(env)
    write(env.at("/sys/bus/pci/devices/0000:00:1f.3/vendor"), "0x8086\n")
    write(env.at("/sys/bus/pci/devices/0000:01:00.0/vendor"), "0x10de\n")
    write(env.at("/sys/bus/pci/devices/0000:01:00.0/class"), "0x030200\n")


@broken("driver-missing", "/proc/driver/nvidia/version")
def container_without_the_library(env):
    without_driver(env)


@broken("driver-missing", "wrong ELF class")
def driver_of_another_processor(env):
    without_driver(env)
    set_driver(env, error="libcuda.so.1: wrong ELF class: ELFCLASS32")


@broken("driver-old", "CUDA 12.4")
def driver_older_than_the_runtime(env):
    set_driver(env, version=12040)


@broken("cuda-unusable", "cudaErrorSystemNotReady")
def runtime_that_cannot_use_the_device(env):
    set_package(env, cuda_usable=False, cuda_reason="the NVIDIA driver reports cudaErrorSystemNotReady")


@broken("driver-stub", "lib64/stubs")
def stub_library(env):
    set_driver(env, path="/usr/local/cuda/lib64/stubs/libcuda.so.1", init=34, version=13000, devices=())


@broken("driver-mismatch driver-refuses", "575.51.03")
def driver_updated_without_restart(env):
    set_driver(env, path="/usr/lib/libcuda.so.575.51.03", init=803, devices=())


@broken("driver-refuses", "fabric manager")
def fabric_manager_does_not_run(env):
    set_driver(env, init=802, devices=())


@broken("driver-crashed", "SIGSEGV")
def driver_crashes(env):
    env.driver = env.driver_of_all = Driver(failure="it was ended by SIGSEGV")


@broken("device-files-missing driver-refuses", "dev/nvidia-uvm")
def container_without_a_device_file(env):
    set_driver(env, init=999, devices=())
    env.at("/dev/nvidia-uvm").unlink()


@broken("device-files-forbidden no-devices", "dev/nvidia0")
def device_file_of_another_group(env):
    set_driver(env, init=100, devices=())
    env.accessible = lambda path, mode: path.name != "nvidia0"


@broken("no-devices", "lists 0 devices")
def mig_without_an_instance(env):
    set_driver(env, init=100, devices=())


@broken("devices-hidden", "CUDA_VISIBLE_DEVICES=''")
def devices_hidden_by_an_empty_variable(env):
    set_variables(env, CUDA_VISIBLE_DEVICES="")
    env.driver = replace(env.driver, init=100, devices=())


@broken("devices-hidden", "CUDA_VISIBLE_DEVICES='-1' hides 1 of 1")
def devices_hidden_by_minus_one(env):
    set_variables(env, CUDA_VISIBLE_DEVICES="-1")
    env.driver = replace(env.driver, init=100, devices=())


@broken("devices-wrong", "leaves 0 of 1")
def index_of_a_device_that_is_not_there(env):
    set_variables(env, CUDA_VISIBLE_DEVICES="7")
    env.driver = replace(env.driver, init=100, devices=())


@broken("devices-wrong", "has 2 entries and leaves 1 of 1")
def one_index_too_many(env):
    set_variables(env, CUDA_VISIBLE_DEVICES="0,1")


@broken("build-without-cuda", "no libstator_cuda.so")
def host_build_on_a_machine_with_a_gpu(env):
    set_package(env, cuda_built=False)
    (env.folder / "libstator_cuda.so").unlink()
