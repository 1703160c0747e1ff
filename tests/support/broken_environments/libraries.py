"""Vendor libraries that are missing, wrong or there twice."""

from pathlib import Path

from broken_environments.healthy import shared_object, write
from broken_environments.registry import broken, set_package, set_variables, without_library


@broken("library-missing", "libcusolver.so.12")
def no_cusolver(env):
    without_library(env, "cusolver")


@broken("library-replaced", "libcufft.so.12")
def no_cufft(env):
    without_library(env, "cufft")


@broken("library-missing", "libcufft.so.12")
def no_cufft_where_libraries_are_required(env):
    without_library(env, "cufft")
    set_package(env, configuration={"require_libraries": True})


@broken("library-optional", "libcusparseLt.so.0")
def no_cusparselt(env):
    without_library(env, "cusparseLt")


@broken("nvrtc-missing", "libnvrtc.so.13")
def no_nvrtc(env):
    without_library(env, "nvrtc")


@broken("library-major", "nvidia/cublas/lib/libcublas.so.12")
def wheel_of_another_major(env):
    without_library(env, "cublas")
    shared_object(Path(env.path[0]) / "nvidia/cublas/lib/libcublas.so.12")


@broken("library-major", "libcublas.so.12.4.5")
def toolkit_of_another_major(env):
    without_library(env, "cublas")
    path = shared_object(env.root / "toolkit/lib64/libcublas.so.12.4.5")
    set_variables(env, CUDA_HOME=str(path.parents[1]))


@broken("library-broken", "should have")
def library_cut_short_by_a_full_disk(env):
    path = Path(env.package.libraries[1].path)
    path.write_bytes(path.read_bytes()[:-10])


@broken("library-broken", "another processor")
def library_of_another_processor(env):
    shared_object(Path(env.package.libraries[1].path), machine=183)


@broken("library-twice", "other/libcublas.so.13")
def two_copies_of_a_library(env):
    path = shared_object(env.root / "other/libcublas.so.13")
    set_variables(env, LD_LIBRARY_PATH=f"/nowhere:{path.parent}")


@broken("library-elsewhere", "usr/lib64/libcublas.so.13")
def copy_in_the_system(env):
    shared_object(env.at("/usr/lib64/libcublas.so.13"))


@broken("library-elsewhere", "usr/local/cuda/lib/libcublas.so.13")
def copy_in_a_folder_of_the_linker(env):
    write(env.at("/etc/ld.so.conf"), "include ld.so.conf.d/*.conf\n")
    write(env.at("/etc/ld.so.conf.d/cuda.conf"), "# of a package\n/usr/local/cuda/lib\n")
    shared_object(env.at("/usr/local/cuda/lib/libcublas.so.13"))


@broken("openblas-missing", "libopenblas.so.0")
def no_openblas(env):
    without_library(env, "openblas")


@broken("openblas-variable", "does not begin as a shared object")
def openblas_variable_names_a_text(env):
    set_variables(env, STATOR_OPENBLAS=str(write(env.root / "openblas.so", "INPUT(-lopenblas)\n")))


@broken("openblas-variable", "No such file")
def openblas_variable_names_nothing(env):
    set_variables(env, STATOR_OPENBLAS="/nowhere/libopenblas.so")


@broken("openblas-wrong", "libopenblas64_.so")
def openblas_with_64_bit_integers(env):
    path = shared_object(env.root / "libopenblas64_.so", dynstr=b"\0cblas_sgemm64_\0scipy_cblas_sgemm64_\0")
    set_variables(env, STATOR_OPENBLAS=str(path))
