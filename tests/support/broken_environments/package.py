"""Installations of stator that are not whole."""

import shutil
from pathlib import Path

from broken_environments.healthy import write
from broken_environments.registry import broken, set_package


@broken("files-missing", "libstator_host_*.so")
def no_host_kernels(env):
    for path in env.folder.glob("libstator_host_*.so"):
        path.unlink()


@broken("files-missing", "libstator_cuda.so")
def kernels_of_the_gpu_removed(env):
    (env.folder / "libstator_cuda.so").unlink()


@broken("files-missing", "libstator_host_v3.so")
def copied_in_part(env):
    (env.folder / "libstator_host_v3.so").write_bytes(b"\x7fELF")


@broken("versions-differ", "library 0.0.1")
def library_of_another_version(env):
    set_package(env, version="0.0.1")


@broken("two-stators", "sources/stator")
def sources_before_the_package(env):
    env.path = [str(write(env.root / "sources/stator/__init__.py").parents[1]), *env.path]


@broken("dependency", "numpy 1.24.4 is installed")
def old_numpy(env):
    site = Path(env.path[0])
    shutil.rmtree(site / "numpy-2.3.0.dist-info")
    write(site / "numpy-1.24.4.dist-info/METADATA", "Name: numpy\nVersion: 1.24.4\n")


@broken("dependency", "numpy is not installed")
def no_numpy(env):
    shutil.rmtree(Path(env.path[0]) / "numpy-2.3.0.dist-info")


@broken("cpu-fails", "LibraryNotFoundError")
def products_fail_on_the_cpu(env):
    set_package(env, cpu_error="LibraryNotFoundError: matmul: the library openblas could not be opened")


@broken("import-fails", "GLIBC_2.38")
def library_of_a_newer_system(env):
    set_package(env, failure="ImportError: /lib/libc.so.6: version `GLIBC_2.38' not found", libraries=())


@broken("not-built", "No compiled module")
def sources_alone(env):
    env.extension = None
    set_package(env, failure="ModuleNotFoundError: No module named 'stator._backend'", libraries=())
