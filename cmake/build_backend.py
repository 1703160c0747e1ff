"""scikit-build-core with two answers that depend on the settings.

STATOR_CUDA=OFF needs no CUDA wheels to build; STATOR_SABI=OFF makes a wheel for one Python version. Both are read from
`-C cmake.define.NAME=...`.
"""

from scikit_build_core import build as _build
from scikit_build_core.build import build_sdist, get_requires_for_build_sdist

CUDA = "cuda-toolkit[nvcc,cudart,cccl,crt,nvtx,nvvm]==13.0.*"

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]


def _is_off(settings, name):
    return str((settings or {}).get(f"cmake.define.{name}", "")).upper() in {"OFF", "0", "FALSE", "NO"}


def _with_tag(settings):
    return {**settings, "wheel.py-api": ""} if _is_off(settings, "STATOR_SABI") else settings


def _with_cuda(requires, settings):
    return requires if _is_off(settings, "STATOR_CUDA") else [*requires, CUDA]


def get_requires_for_build_wheel(config_settings=None):
    return _with_cuda(_build.get_requires_for_build_wheel(config_settings), config_settings)


def get_requires_for_build_editable(config_settings=None):
    return _with_cuda(_build.get_requires_for_build_editable(config_settings), config_settings)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return _build.build_wheel(wheel_directory, _with_tag(config_settings), metadata_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return _build.build_editable(wheel_directory, _with_tag(config_settings), metadata_directory)


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    return _build.prepare_metadata_for_build_wheel(metadata_directory, _with_tag(config_settings))


def prepare_metadata_for_build_editable(metadata_directory, config_settings=None):
    return _build.prepare_metadata_for_build_editable(metadata_directory, _with_tag(config_settings))
