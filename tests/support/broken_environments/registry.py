"""Ways to break the healthy environment of healthy.py, for tests of `python -m stator doctor`."""

import shutil
from dataclasses import replace
from pathlib import Path

from broken_environments.healthy import fat_binary, shared_object

BROKEN = {}  # by its name: the findings that are expected, a part of what is seen, and what breaks the environment


def broken(expected, seen):
    def register(function):
        assert function.__name__ not in BROKEN
        BROKEN[function.__name__] = (expected.split(), seen, function)
        return function

    return register


def set_variables(env, **variables):
    env.variables = {**env.variables, **variables}


def set_driver(env, **changes):
    env.driver = env.driver_of_all = replace(env.driver, **changes)


def set_package(env, **changes):
    env.package = replace(env.package, **changes)


def set_images(env, *images):
    shared_object(env.folder / "libstator_cuda.so", nv_fatbin=fat_binary(*images))


def without_library(env, name):
    """Removes a library from its wheel; returns the file that it was."""
    found = next(library for library in env.package.libraries if library.name == name)
    Path(found.path).unlink()
    others = tuple(replace(x, path="") if x is found else x for x in env.package.libraries)
    set_package(env, libraries=others)
    return Path(found.path)


def without_driver(env):
    set_driver(
        env, path=None, init=None, version=None, devices=(), error="libcuda.so.1: cannot open shared object file"
    )


def without_kernel_module(env):
    for name in ("dev", "proc/driver"):
        shutil.rmtree(env.at(name))
