"""Devices that this build has no code for, or that cannot be used."""

from dataclasses import replace

from broken_environments.registry import broken, set_driver, set_images, set_package, set_variables


@broken("device-unsupported", "compute capability 7.5")
def gpu_before_ampere(env):
    set_driver(env, devices=(replace(env.driver.devices[0], name="Tesla T4", capability=(7, 5)),))


@broken("device-unsupported", "machine code for 9.0 and PTX for no architecture")
def newer_gpu_and_no_ptx(env):
    set_images(env, ("code", 90, 900))
    set_driver(env, devices=(replace(env.driver.devices[0], capability=(12, 0)),))


@broken("device-jit cache-cold", "compute capability 12.0")
def kernels_compiled_at_first_use(env):
    set_driver(env, devices=(replace(env.driver.devices[0], capability=(12, 0)),))


@broken("jit-disabled", "CUDA_DISABLE_PTX_JIT=1")
def compilation_disabled(env):
    kernels_compiled_at_first_use(env)
    set_variables(env, CUDA_DISABLE_PTX_JIT="1")


@broken("jit-forced cache-cold", "CUDA_FORCE_PTX_JIT=1")
def compilation_forced(env):
    set_variables(env, CUDA_FORCE_PTX_JIT="1")


@broken("device-prohibited", "compute mode 2")
def compute_mode_prohibited(env):
    set_driver(env, devices=(replace(env.driver.devices[0], compute_mode=2),))


@broken("device-exclusive", "compute mode 3")
def compute_mode_exclusive(env):
    set_driver(env, devices=(replace(env.driver.devices[0], compute_mode=3),))


@broken("emulation-fails", "'h2000' is not a device profile")
def emulated_device_of_no_profile(env):
    set_variables(env, STATOR_EMULATE="h2000")
    set_package(env, cuda_usable=False, cuda_reason="STATOR_EMULATE=h2000: 'h2000' is not a device profile")
