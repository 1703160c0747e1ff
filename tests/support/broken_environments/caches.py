"""Caches of the driver that do not keep what it compiles."""

from pathlib import Path

from broken_environments.devices import kernels_compiled_at_first_use
from broken_environments.healthy import write
from broken_environments.registry import broken, set_images, set_package, set_variables


@broken("cache-disabled device-jit", "CUDA_CACHE_DISABLE=1")
def cache_disabled(env):
    kernels_compiled_at_first_use(env)
    set_variables(env, CUDA_CACHE_DISABLE="1")


@broken("cache-read-only", "plain/cache")
def cache_below_a_file(env):
    write(env.root / "plain")
    set_variables(env, CUDA_CACHE_PATH=str(env.root / "plain/cache"))


@broken("cache-read-only", ".nv/ComputeCache")
def cache_folder_of_another_user(env):
    (Path(env.variable("HOME")) / ".nv/ComputeCache").mkdir(parents=True)
    env.accessible = lambda path, mode: path.name != "ComputeCache"


@broken("cache-read-only", "HOME")
def cache_without_a_home(env):
    env.variables = {}


@broken("cache-read-only", "plain/configured")
def configured_cache_below_a_file(env):
    write(env.root / "plain")
    set_package(env, configuration={"jit_cache_path": str(env.root / "plain/configured")})


@broken("cache-size-wrong", "CUDA_CACHE_MAXSIZE=4G")
def cache_size_with_a_unit(env):
    set_variables(env, CUDA_CACHE_MAXSIZE="4G")


@broken("cache-small cache-cold device-jit", "1000 bytes")
def cache_smaller_than_the_build(env):
    kernels_compiled_at_first_use(env)
    set_images(env, ("ptx", 80, 600), ("ptx", 80, 400))
    set_variables(env, CUDA_CACHE_MAXSIZE="999")


@broken("cache-full", "has 95 of 100 bytes")
def cache_full(env):
    write(env.root / "cache/8/f/kernel", "x" * 95)
    set_variables(env, CUDA_CACHE_PATH=str(env.root / "cache"), CUDA_CACHE_MAXSIZE="100")
